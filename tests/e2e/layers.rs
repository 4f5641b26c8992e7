//! The arrows between the crates, and what only one of them may do, held against the manifests and the sources.
//!
//! ARCHITECTURE.md says which rules these are and why. Deliberately not here: what the sandbox promises, which is
//! tried with real calls elsewhere.

use std::path::{Path, PathBuf};

use host_tests::repository;
use toml::{Table, Value};

mod modules;
mod source;

use source::Source;

/// The crates, lowest first, each with its folder beneath `host/`. One imports only from those before it.
const LAYERS: &[(&str, &str)] = &[
    ("host-message", "message"),
    ("host-text", "text"),
    ("host-files", "files"),
    ("host-git", "git"),
    ("host-schema", "schema"),
    ("host-http", "http"),
    ("host-capability", "capability"),
    ("host-process", "process"),
    ("host-undo", "undo"),
    ("host-programs", "programs"),
    ("host-plugin", "plugin"),
    ("host-manifest", "manifest"),
    ("host-bundle", "bundle"),
    ("host-registry", "registry"),
    ("host-model", "model"),
    ("host-shell", "shell"),
    ("host-tool", "tool"),
    ("host-journal", "journal"),
    ("host-agent", "agent"),
    ("host-terminal", "terminal"),
    ("host-settings", "settings"),
    ("host-extensions", "extensions"),
    ("host-import", "import"),
    ("host-sessions", "sessions"),
    ("host-app", "app"),
    ("host-devkit", "devkit"),
    ("host-mcp", "mcp"),
    ("host-acp", "acp"),
    ("host", "cli"),
];

/// Dependencies that belong to some crates alone, with why.
const KEPT: &[(&str, &[&str], &str)] = &[
    ("landlock", &["host-process"], "programs are confined in one place"),
    ("seccompiler", &["host-process"], "programs are confined in one place"),
    ("brush-parser", &["host-shell"], "shell lines are read in one place"),
    ("rmcp", &["host-mcp"], "one crate knows the Model Context Protocol"),
    ("agent-client-protocol", &["host-acp"], "one crate knows the Agent Client Protocol"),
    ("anyhow", &["host"], "an error below the binary says which of its cases it is"),
    ("wasmtime", &["host-plugin"], "guests run in one place"),
    ("wasmtime-wasi", &["host-plugin"], "guests run in one place"),
    (
        "reqwest",
        &["host-http", "host-plugin", "host-registry", "host-model"],
        "what else speaks HTTP goes through one of them",
    ),
    ("wit-bindgen-c", &["host-devkit"], "`host run` builds no plugin"),
    ("wit-bindgen-core", &["host-devkit"], "`host run` builds no plugin"),
    ("wit-component", &["host-plugin", "host-devkit"], "`host run` builds no plugin; tests of admission do"),
    ("wit-parser", &["host-plugin", "host-devkit"], "`host run` builds no plugin; tests of admission do"),
    (
        "tokio",
        &[
            "host-process",
            "host-plugin",
            "host-registry",
            "host-model",
            "host-tool",
            "host-agent",
            "host-terminal",
            "host-settings",
            "host-extensions",
            "host-app",
            "host-devkit",
            "host-mcp",
            "host-acp",
            "host",
        ],
        "what lies lower waits for nothing",
    ),
    ("host-evals", &["host"], "the tasks for the agent run against the binary"),
    ("host-fuzz", &["host"], "what fuzzing found is tried beside the other promises"),
    ("host-tests", &["host"], "what is tested from outside is the binary"),
    ("clap", &["host"], "a command line is one frontend of several"),
    ("clap_complete", &["host"], "a command line is one frontend of several"),
];

/// The standard streams.
const STREAMS: &[&str] = &["stdin()", "stdout()", "stderr()"];

/// What prints or reads the process's own surroundings.
const SURROUNDINGS: &[&str] = &[
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "env::{",
    "env::args",
    "env::current_dir",
    "env::home_dir",
    "env::remove_var",
    "env::set_current_dir",
    "env::set_var",
    "env::temp_dir",
    "env::var",
];

/// What makes a scope, and so can make grants wider.
const WIDENS: &[&str] = &["Scope::parse"];

/// What makes something callable by a model.
const CALLABLE: &[&str] = &["impl Tool for", "impl host_tool::Tool for"];

/// What ends the process, and who may.
const ENDS: &[&str] = &["fn main()", "process::exit", "process::abort"];

/// What reaches a file, a program or the network.
const REACHES: &[&str] = &[
    "fs::",
    "std::fs",
    "std::process",
    "process::Command",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    ".canonicalize(",
    ".exists(",
    ".is_dir(",
    ".is_file(",
    ".is_symlink(",
    ".metadata(",
    ".read_dir(",
    ".read_link(",
    ".symlink_metadata(",
    ".try_exists(",
];

// promise design.layers: Imports run one way.
#[test]
fn imports_run_one_way() {
    let wrong: Vec<String> = LAYERS.iter().flat_map(|(name, folder)| wrong_arrows(name, &manifest(folder))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_of_the_host_is_a_crate_with_its_place_in_the_order() {
    let mut folders: Vec<String> = std::fs::read_dir(repository().join("host"))
        .expect("the crates of the host")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    folders.sort();
    let mut known: Vec<&str> = LAYERS.iter().map(|(_, folder)| *folder).collect();
    known.sort_unstable();
    assert_eq!(folders, known);
    for (name, folder) in LAYERS {
        let manifest = manifest(folder);
        assert_eq!(manifest["package"]["name"].as_str(), Some(*name));
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
        assert_eq!(inherits, Some(true), "`{name}` has to set `[lints] workspace = true`");
    }
}

#[test]
fn layers_architecture_lists_every_crate_in_its_order() {
    let text = read(&repository().join("ARCHITECTURE.md"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `host")?.split('`').next());
    let listed: Vec<String> = rows.filter(|name| !name.starts_with('/')).map(|name| format!("host{name}")).collect();
    let known: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, known, "ARCHITECTURE.md lists the crates otherwise");
}

#[test]
fn layers_every_crate_has_a_front_page_that_names_what_is_deliberately_not_there() {
    for (name, folder) in LAYERS {
        let root = ["lib.rs", "main.rs"].map(|file| sources(folder).join(file)).into_iter().find(|path| path.exists());
        let root = root.unwrap_or_else(|| panic!("`{name}` has neither lib.rs nor main.rs"));
        let page = front_page(&read(&root));
        assert!(page.contains("Deliberately not here"), "{}: its front page is `{page}`", root.display());
    }
}

// promise design.edges: Only the binary prints, reads the environment or the home folder, and only `main` ends the
//   process.
#[test]
fn layers_only_the_binary_prints_or_reads_the_environment() {
    check(SURROUNDINGS, |folder, _| folder == "cli", "only host/cli prints and reads the environment");
    let draws = |folder: &str, _: &str| ["cli", "terminal"].contains(&folder);
    check(STREAMS, draws, "only host/cli, and the terminal that it opens, use the standard streams");
}

// promise design.scopes: Only the binary and manifests make a scope from text.
#[test]
fn layers_only_users_words_and_manifests_make_a_scope() {
    let allowed = |folder: &str, file: &str| match folder {
        "capability" | "settings" | "extensions" => true,
        "manifest" => ["manifest.rs", "manifest/settings.rs"].contains(&file),
        // A case says what it grants, in a sandbox of its own.
        "devkit" => file == "cases/prepared.rs",
        _ => false,
    };
    check(WIDENS, allowed, "a grant is a person's word, or what a manifest asks for");
}

// promise design.tools: Only plugins and the agent itself implement `Tool`.
#[test]
fn only_plugins_and_the_agent_itself_are_tools() {
    let tools = [
        ("tool", "plugin_tool.rs"),
        ("agent", "activate_skill.rs"),
        ("agent", "ask_user.rs"),
        ("agent", "tool_search.rs"),
        ("agent", "complete.rs"),
        ("agent", "present_plan.rs"),
        ("agent", "subagent.rs"),
    ];
    let allowed = |folder: &str, file: &str| tools.contains(&(folder, file));
    check(CALLABLE, allowed, "whatever else a model calls runs in a component");
}

// promise design.edges
#[test]
fn only_main_ends_the_process() {
    check(ENDS, |folder, file| folder == "cli" && file == "main.rs", "only main ends the process");
}

// promise design.permits: The lattice does no I/O; a permit names the root and the path beneath it.
#[test]
fn the_lattice_touches_nothing() {
    check(REACHES, |folder, _| !["capability", "text"].contains(&folder), "this crate does no I/O");
}

/// The string literals of the host's crates, each with its file and line; without those of tests.
pub(crate) fn texts() -> Vec<(String, usize, String)> {
    let mut texts = Vec::new();
    for (_, folder) in LAYERS {
        for (file, source) in source::beneath(&sources(folder)) {
            let file = format!("host/{folder}/src/{file}");
            texts.extend(source.texts().iter().map(|text| (file.clone(), text.line, text.text.clone())));
        }
    }
    texts
}

#[test]
fn modules_of_a_crate_form_no_cycle_of_more_than_two() {
    let mut wrong = Vec::new();
    for (name, folder) in LAYERS {
        let files: Vec<(String, String)> =
            source::beneath(&sources(folder)).iter().map(|(file, source)| (file.clone(), source.code())).collect();
        let found = modules::cycles(&files);
        wrong.extend(found.iter().map(|cycle| format!("a cycle in `{name}`:\n  {}", cycle.join("\n  "))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fails with every place that has one of the words and is not allowed to.
#[test]
fn layers_every_crate_is_quick_to_build_again() {
    let root: Table = read(&repository().join("Cargo.toml")).parse().expect("a manifest is TOML");
    let level = |name: &str| root["profile"]["dev"]["package"].get(name)?.get("opt-level")?.as_integer();
    let slow: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).filter(|name| level(name) != Some(0)).collect();
    assert!(slow.is_empty(), "optimised in each build for tests; add to `profile.dev.package`: {slow:?}");
}

fn check(words: &[&str], allowed: impl Fn(&str, &str) -> bool, rule: &str) {
    let mut wrong = Vec::new();
    let mut permitted = 0;
    for (_, folder) in LAYERS {
        let root = sources(folder);
        for (file, source) in source::beneath(&root) {
            let found = source.find(words).into_iter();
            if allowed(folder, &file) {
                permitted += found.len();
            } else {
                wrong.extend(found.map(|(line, word)| format!("host/{folder}/src/{file}:{line} has `{word}`: {rule}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(permitted > 0, "nobody does this at all, so the words of the rule are out of date: {rule}");
}

/// What is wrong with the dependencies of a crate, a line each.
fn wrong_arrows(name: &str, manifest: &Table) -> Vec<String> {
    let place = |wanted: &str| LAYERS.iter().position(|(layer, _)| *layer == wanted);
    let mut wrong = Vec::new();
    for dependency in dependencies(manifest) {
        let ours = dependency == "host"
            || dependency.starts_with("host-")
                && !["host-evals", "host-fuzz", "host-tests"].contains(&dependency.as_str());
        if ours && place(&dependency) >= place(name) {
            wrong.push(format!("`{name}` imports `{dependency}`, which lies above it or in no layer"));
        } else if ours && place(&dependency).is_none() {
            wrong.push(format!("`{name}` imports `{dependency}`, which lies in no layer"));
        }
        for (kept, owners, why) in KEPT {
            if dependency == *kept && !owners.contains(&name) {
                wrong.push(format!("`{name}` imports `{kept}`, which is for `{}`: {why}", owners.join("`, `")));
            }
        }
    }
    wrong
}

/// All packages that a manifest names, whatever for and on whatever system.
fn dependencies(manifest: &Table) -> Vec<String> {
    const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let of_targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let places = std::iter::once(manifest).chain(of_targets.filter_map(Value::as_table));
    places
        .flat_map(|place| TABLES.iter().filter_map(|table| place.get(*table)?.as_table()))
        .flatten()
        .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
        .collect()
}

/// The text of the `//!` lines that a file opens with.
fn front_page(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The modules, crates and programs that a front page names in brackets as the place of what is deliberately not there.
fn named_elsewhere(front_page: &str) -> Vec<&str> {
    let Some((_, elsewhere)) = front_page.split_once("Deliberately not here") else { return Vec::new() };
    let names = elsewhere.split("(`").skip(1).filter_map(|rest| rest.split_once("`)").map(|(name, _)| name));
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-' | b':'));
    names.filter(is_name).collect()
}

#[test]
fn layers_front_pages_name_modules_that_exist() {
    let files = rust_files();
    let exists = |name: &str| {
        let last = name.rsplit("::").next().unwrap_or_default();
        let package = name.replace('_', "-");
        repository().join("host").join(package.trim_start_matches("host-")).is_dir()
            || repository().join("plugins").join(last).is_dir()
            || files.iter().any(|file| file.file_stem().is_some_and(|stem| stem == last))
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in &files {
        for name in named_elsewhere(&front_page(&read(file))) {
            count += 1;
            if !exists(name) {
                wrong.push(format!("{}: `{name}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty() && count > 50, "{count} names; these modules do not exist:\n{}", wrong.join("\n"));
    assert_eq!(
        named_elsewhere("Deliberately not here: x (`gone`), `other`, and Y (`host-tool`)."),
        ["gone", "host-tool"]
    );
    assert!(!exists("gone_module") && exists("host_tool") && exists("crate::layers"));
}

/// The formatter holds code to this width, and leaves comments alone.
#[test]
fn layers_comments_are_at_most_as_wide_as_code() {
    const WIDTH: usize = 120;
    let too_wide = |line: &str| {
        let comment = line.trim_start();
        // A table and a single word cannot be broken.
        let can_be_broken =
            comment.starts_with("//") && !comment.contains("| ") && comment.split_whitespace().count() > 2;
        can_be_broken && line.chars().count() > WIDTH
    };
    let mut wrong = Vec::new();
    for file in rust_files() {
        let text = read(&file);
        let lines = text.lines().enumerate().filter(|(_, line)| too_wide(line));
        wrong.extend(lines.map(|(at, _)| format!("{}:{}", file.display(), at + 1)));
    }
    assert!(wrong.is_empty(), "comments of over {WIDTH} characters:\n{}", wrong.join("\n"));
    assert!(too_wide(&format!("    /// {}", "word ".repeat(24))) && !too_wide(&format!("/// {}", "x".repeat(200))));
}

/// A crate without an example needs no documentation tests, which take a process for each crate: the manifests leave
/// them out, and an example would not be run.
#[test]
fn layers_examples_in_comments_would_be_run() {
    let is_example = |line: &str| {
        let comment = line.trim_start();
        let fence = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!")).unwrap_or_default().trim();
        fence.strip_prefix("```").is_some_and(|language| language.is_empty() || language.starts_with("rust"))
    };
    for (name, folder) in LAYERS {
        let folder = repository().join("host").join(folder);
        let has_tests = !read(&folder.join("Cargo.toml")).contains("doctest = false");
        for file in rust_files().into_iter().filter(|file| file.starts_with(&folder)) {
            let text = read(&file);
            // Every other fence ends a block.
            let mut opens = true;
            let examples = text.lines().filter(|line| {
                let is_fence = line.trim_start().starts_with("//") && line.contains("```");
                let begins = is_fence && opens;
                opens ^= is_fence;
                begins && is_example(line)
            });
            let examples = examples.count();
            assert!(has_tests || examples == 0, "{name}: remove `doctest = false`: {} has an example", file.display());
        }
    }
    assert!(is_example("    /// ```") && is_example("//! ```rust,no_run") && !is_example("/// ```text"));
}

/// The sources of the host's crates and of the tests.
fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![repository().join("host"), repository().join("tests/e2e")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.is_symlink() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files
}

fn manifest(folder: &str) -> Table {
    read(&repository().join("host").join(folder).join("Cargo.toml")).parse().expect("a manifest is TOML")
}

fn sources(folder: &str) -> PathBuf {
    repository().join("host").join(folder).join("src")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn layers_forbidden_import_is_named_wherever_it_is() {
    for (name, manifest, wrong) in [
        ("host-tool", "[dependencies]\nhost-plugin.workspace = true\nserde = '1'", None),
        ("host-tool", "[dependencies]\nhost-agent.workspace = true", Some("`host-tool` imports `host-agent`")),
        ("host-tool", "[dependencies]\nhost-tests = { path = '../../tests' }", Some("from outside")),
        ("host-tool", "[dependencies]\nhost-bench.workspace = true", Some("in no layer")),
        ("host-model", "[dev-dependencies]\nhost-tool.workspace = true", Some("`host-model` imports `host-tool`")),
        ("host-model", "[build-dependencies]\nhost = { path = '../cli' }", Some("`host-model` imports `host`")),
        ("host-plugin", "[target.'cfg(unix)'.dependencies]\nhost-bundle.workspace = true", Some("`host-bundle`")),
        ("host-plugin", "[dependencies]\nlower = { package = 'host-tool', path = '../tool' }", Some("`host-tool`")),
        ("host-plugin", "[dependencies]\nhost-plugin.workspace = true", Some("`host-plugin` imports `host-plugin`")),
        ("host-capability", "[dev-dependencies]\ntokio.workspace = true", Some("waits for nothing")),
        ("host-agent", "[dependencies]\nanyhow.workspace = true", Some("which is for `host`")),
        ("host-tool", "[dependencies]\nwasmtime.workspace = true", Some("guests run in one place")),
        ("host", "[dependencies]\nanyhow.workspace = true\nhost-agent.workspace = true", None),
    ] {
        let found = wrong_arrows(name, &manifest.parse().expect("TOML"));
        match wrong {
            None => assert!(found.is_empty(), "{manifest}: {found:?}"),
            Some(words) => assert!(found.len() == 1 && found[0].contains(words), "{manifest}: {found:?}"),
        }
    }
}

#[test]
fn a_forbidden_word_is_found_in_code_and_nowhere_else() {
    for (text, lines) in [
        ("fn f() {\n    println!(\"x\");\n}", &[2][..]),
        ("fn f() { std::env::var_os(\"X\"); }", &[1]),
        ("use std::env::{self, var};", &[1]),
        ("use std::io::stdout;\nfn f() { stdout().lock(); }", &[2]),
        ("// println!()\n/* dbg!() /* dbg!() */ dbg!() */ /// dbg!()\nfn f() {}", &[]),
        ("const A: &str = \"dbg!() \\\" dbg!()\"; const B: &str = r#\"dbg!() \" dbg!()\"#;", &[]),
        ("const A: char = '\"'; fn f<'a>(x: &'a str) { dbg!(x) } const B: char = '\\'';", &[1]),
        ("fn f() { my_println!(); sprint!(); output.stdout.take(); env!(\"X\"); }", &[]),
        ("#[cfg(test)]\nmod tests {\n    fn f() { println!(); }\n}\nfn g() { dbg!() }", &[5]),
        ("#[cfg(test)]\nuse std::env::{var};\nfn g() { dbg!() }", &[3]),
        ("#[cfg(test)]\n#[allow(unused)]\nfn f(x: [u8; 2]) { dbg!() }\nfn g() { dbg!() }", &[4]),
        ("#[cfg(not(test))]\nfn f() { dbg!() }", &[2]),
    ] {
        let found = Source::parse(text).find(&[SURROUNDINGS, STREAMS].concat());
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{text}: {found:?}");
    }
    assert_eq!(Source::parse("#[cfg(test)]\nmod tests;\nmod real;").test_modules(), ["tests"]);
}
