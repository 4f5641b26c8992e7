//! Plugins built against earlier contracts still work: `tests/compat` keeps them, never rebuilt.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_manifest::{Manifest, Source};
use host_plugin::{BackgroundPrograms, Invocation, Plugin};
use host_tests::server::{Answer, Server};
use host_tests::{Bench, repository, runtime, text};
use serde_json::{Value, json};

/// Every plugin fixture, with its path.
fn fixtures() -> Vec<(PathBuf, Manifest, Arc<Plugin>)> {
    let root = repository().join("tests/compat");
    let files = |folder: &Path| -> Vec<PathBuf> {
        let mut files: Vec<_> = std::fs::read_dir(folder).expect("read").flatten().map(|entry| entry.path()).collect();
        files.sort();
        files
    };
    let folders = files(&root).into_iter().filter(|path| path.is_dir());
    let components = folders.flat_map(|folder| files(&folder)).filter(|file| file.extension() == Some("wasm".as_ref()));
    components
        .map(|file| {
            let json = std::fs::read_to_string(file.with_extension("json")).expect("it has a manifest");
            let manifest = Manifest::parse(&json, Source::File(file.clone())).expect("a host of today reads it");
            let declared = manifest.declared(Path::new("/")).expect("its scopes are valid");
            let component = std::fs::read(&file).expect("read");
            (file, manifest.clone(), Arc::new(Plugin::new(manifest.plugin_name(), component, declared)))
        })
        .collect()
}

/// The arguments of one call of each tool, and what its output must contain.
fn task(tool: &str, server: &Server) -> (Value, &'static str) {
    match tool {
        "read_file" => (json!({"path": "a.txt"}), "one two"),
        "edit" => (json!({"path": "a.txt", "old_string": "two", "new_string": "2"}), "a.txt"),
        "shell" => (json!({"command": "echo from a program"}), "from a program"),
        "memory" => (json!({"action": "save", "fact": "the gate is open"}), "Saved as"),
        "web_fetch" => (json!({"url": server.url("/")}), "from a server"),
        "word_count" => (json!({"path": "a.txt"}), "1 lines, 2 words, 8 bytes"),
        other => panic!("no task for `{other}`"),
    }
}

/// Starts a program in the background, and waits for its end.
async fn goes_on(bench: &Bench) {
    let background: Arc<BackgroundPrograms> = Arc::default();
    let arguments = json!({"command": "echo from the background", "background": true});
    let shown = bench.preview("shell", arguments.clone()).await.expect("it has a preview").map(Arc::new);
    let background = Some(background);
    let start = Invocation { shown, background: background.clone(), ..bench.invocation("shell", arguments) };
    let mut said = text(&bench.invoke(start).await.expect("it starts"));
    let wait = bench.invocation("process", json!({"action": "wait", "id": "p1"}));
    said += &text(&bench.invoke(Invocation { background, ..wait }).await.expect("it ends"));
    assert!(
        said.contains("from the background\n") && said.contains("p1 echo from the background: exit code 0"),
        "{said}"
    );
}

// promise contract.compatible: A component built against an earlier contract keeps working.
#[tokio::test]
async fn compat_plugins_built_against_earlier_contracts_still_work() {
    let server = Server::start(|_| Answer::ok("from a server").header("content-type", "text/plain")).await;
    let mut seen = Vec::new();
    for (file, manifest, plugin) in fixtures() {
        let place = file.display();
        let described = runtime().describe(&plugin).await.unwrap_or_else(|error| panic!("{place}: {error}"));
        let names: Vec<&str> = described.iter().map(|tool| tool.spec.name.as_str()).collect();
        assert_eq!(names, manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>(), "{place}");
        let http = format!("http=127.0.0.1:{}", server.port());
        let bench = Bench::with(plugin, &["fs-read=.", "fs-write=.", "process=*", "state=write", &http]);
        bench.file("a.txt", "one two\n");
        let (arguments, says) = task(names[0], &server);
        let output = bench.call(names[0], arguments).await.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(text(&output).contains(says), "{place}: {}", text(&output));
        if names[0] == "edit" {
            assert_eq!(bench.content("a.txt"), "one 2\n", "{place}");
        }
        if names.contains(&"process") {
            goes_on(&bench).await;
            seen.push("process".to_owned());
        }
        seen.push(names[0].to_owned());
    }
    assert_eq!(server.requests().len(), seen.iter().filter(|name| *name == "web_fetch").count());
    // Each capability, and each language whose compiler adds imports of its own.
    for (tool, at_least) in [
        ("read_file", 1),
        ("edit", 1),
        ("shell", 2),
        ("process", 1),
        ("memory", 1),
        ("web_fetch", 1),
        ("word_count", 3),
    ] {
        assert!(seen.iter().filter(|name| *name == tool).count() >= at_least, "{tool}: {seen:?}");
    }
}
