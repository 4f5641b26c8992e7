//! Machine code that comes with the binary: what is used of it, and that everything else is compiled.
//!
//! The binary that the tests run has none, as every build but a release. What is tried here is what a release does with
//! it, by a runtime in this process.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use host_plugin::{
    CodeIdentity, CompileEvent, CompileOptions, Digest, Plugin, PortableCompiler, Precompiled, Runtime, RuntimeOptions,
};
use host_tests::{Bench, guest};
use serde_json::json;

/// The guest, compiled as for a release.
static RELEASE: LazyLock<Release> = LazyLock::new(|| {
    let component: &'static [u8] = guest("misbehave").component().expect("it is read").into_owned().leak();
    let compiler = PortableCompiler::new().expect("this system has a level of processors");
    let code: &'static [u8] = compiler.compile(component).expect("it compiles").leak();
    let identity = CodeIdentity { component: sha256(component), engine: compiler.identity(), code: sha256(code) };
    Release { component, identity, code }
});

#[derive(Clone, Copy)]
struct Release {
    component: &'static [u8],
    identity: CodeIdentity,
    code: &'static [u8],
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digits = Digest::of(bytes).to_string();
    std::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("two digits"))
}

impl Release {
    /// The same, with this as its code.
    fn with_code(self, code: Vec<u8>) -> Self {
        Self { code: code.leak(), ..self }
    }

    /// The built-in plugin, with its code.
    fn plugin(&self) -> Plugin {
        // SAFETY: a compiler of this process made the code. What the tests change of it must never be loaded: that is
        // what they try.
        let precompiled = unsafe { Precompiled::new(self.identity, self.code) };
        self.without_code().with_precompiled(precompiled)
    }

    fn without_code(&self) -> Plugin {
        let known = guest("misbehave");
        Plugin::new(known.name().clone(), self.component, known.declared().clone())
    }
}

/// Calls the plugin as a process does that has just started, which must work; returns whether its component was
/// compiled.
async fn compiles(plugin: Plugin, cache: Option<&Path>) -> bool {
    let events: Arc<Mutex<Vec<CompileEvent>>> = Arc::default();
    let seen = Arc::clone(&events);
    let listener = move |event| seen.lock().expect("no listener panics").push(event);
    let runtime = Runtime::new(RuntimeOptions {
        cache: cache.map(Into::into),
        compile: CompileOptions { listener: Some(Arc::new(listener)), ..CompileOptions::default() },
        ..RuntimeOptions::default()
    });
    let bench = Bench::new("misbehave", &[]);
    let output = runtime.call(&plugin, bench.invocation("echo", json!({"text": "still here"}))).await;
    assert_eq!(host_tests::text(&output.expect("the call works")), "still here");
    let events = events.lock().expect("no listener panics").len();
    assert!(events == 0 || events == 2, "{events} events");
    events > 0
}

fn entries(cache: &Path) -> BTreeSet<PathBuf> {
    let paths = fs::read_dir(cache).expect("it is there").map(|entry| entry.expect("read").path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "aot")).collect()
}

// promise cache.precompiled: The first call of a tool whose code came with the binary compiles nothing, with a cache or
//   without; the code becomes an entry of the cache like any other.
#[tokio::test]
async fn precompiled_code_of_the_binary_is_used_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    assert!(!compiles(RELEASE.plugin(), Some(&cache)).await);
    let kept = entries(&cache);
    assert_eq!(kept.len(), 1);
    // A later start needs the entry alone, and one whose entry was changed has the code again.
    assert!(!compiles(RELEASE.without_code(), Some(&cache)).await);
    for entry in &kept {
        fs::write(entry, "changed").expect("written");
    }
    assert!(!compiles(RELEASE.plugin(), Some(&cache)).await);
    assert!(!compiles(RELEASE.without_code(), Some(&cache)).await);

    assert!(!compiles(RELEASE.plugin(), None).await);
    let file = folder.path().join("file");
    fs::write(&file, "no folder").expect("written");
    assert!(!compiles(RELEASE.plugin(), Some(&file)).await);
    // The control: without the code each of these compiles.
    assert!(compiles(RELEASE.without_code(), None).await);
    assert!(compiles(RELEASE.without_code(), Some(&folder.path().join("other"))).await);
}

// promise cache.precompiled
#[tokio::test]
async fn precompiled_code_is_loaded_while_a_model_answers_and_not_compiled() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = Runtime::new(RuntimeOptions { cache: Some(folder.path().into()), ..RuntimeOptions::default() });
    runtime.warm(&RELEASE.plugin());
    let kept = entries(folder.path());
    assert_eq!(kept.len(), 1);
    let code = |entry: &PathBuf| fs::read(entry).expect("read").starts_with(RELEASE.code);
    assert!(kept.iter().all(code), "it is the code of the binary");
    // Its thread keeps the lowest priority.
    std::thread::scope(|scope| scope.spawn(|| runtime.compile_ahead([&RELEASE.plugin()])).join()).expect("ended");
    assert!(entries(folder.path()) == kept && kept.iter().all(code));
}

// promise cache.precompiled-checked: Code in the binary that was made for a different component or engine, that is cut
//   or changed, or that this machine cannot run, is not used: the component is compiled.
#[tokio::test]
async fn precompiled_code_that_is_not_exactly_this_components_is_compiled_instead() {
    let good = *RELEASE;
    let identity = good.identity;
    let changed = |at: usize| {
        let mut code = good.code.to_vec();
        code[at] ^= 1;
        good.with_code(code)
    };
    let end = good.code.len();
    let mut other_engine = identity.engine;
    other_engine[31] ^= 1;
    let other = |identity| Release { identity, ..good };
    let mut rows = vec![
        ("another component", other(CodeIdentity { component: sha256(b"other"), ..identity })),
        ("another engine", other(CodeIdentity { engine: other_engine, ..identity })),
        ("no engine", other(CodeIdentity { engine: [0; 32], ..identity })),
        ("nothing", good.with_code(Vec::new())),
        ("half", good.with_code(good.code[..end / 2].to_vec())),
        ("one byte less", good.with_code(good.code[..end - 1].to_vec())),
        ("one byte more", good.with_code([good.code, &[0]].concat())),
        ("the first byte", changed(0)),
        ("the middle byte", changed(end / 2)),
        ("the last byte", changed(end - 1)),
    ];
    // What only the engine notices, since the digest is that of these bytes.
    let mut unloadable =
        vec![("no code at all", good.with_code(b"no code".to_vec())), ("another version", older(&good))];
    if cfg!(target_arch = "x86_64") {
        unloadable.push(("a feature that this processor does not have", needing_more(&good)));
    }
    for (what, release) in unloadable {
        rows.push((what, Release { identity: CodeIdentity { code: sha256(release.code), ..identity }, ..release }));
    }
    for (what, release) in rows {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(compiles(release.plugin(), Some(folder.path())).await, "{what} was used");
        // What was compiled is what is kept.
        assert!(!compiles(RELEASE.without_code(), Some(folder.path())).await, "{what}");
        let kept = entries(folder.path()).into_iter().map(|entry| fs::read(entry).expect("read"));
        assert!(kept.into_iter().all(|entry| !entry.starts_with(release.code) || release.code.is_empty()), "{what}");
    }
}

/// The code as the engine of an earlier version would have written it.
fn older(release: &Release) -> Release {
    // The version stands before the name of the target, each behind its length.
    let architecture = std::env::consts::ARCH.as_bytes();
    let is_version = |bytes: &[u8]| {
        matches!(bytes, [0, 2, tens, ones, _, target @ ..]
            if tens.is_ascii_digit() && ones.is_ascii_digit() && target.starts_with(architecture))
    };
    let mut code = release.code.to_vec();
    let at = (0..code.len()).find(|at| is_version(&code[*at..])).expect("it names its version");
    code[at + 2..at + 4].copy_from_slice(b"47");
    release.with_code(code)
}

/// The code as if it used a feature that no processor has.
fn needing_more(release: &Release) -> Release {
    let (feature, unknown) = (b"has_popcnt", b"has_p0pcnt");
    let mut code = release.code.to_vec();
    let at = code.windows(feature.len()).position(|bytes| bytes == feature).expect("it names what it uses");
    code[at..at + unknown.len()].copy_from_slice(unknown);
    release.with_code(code)
}
