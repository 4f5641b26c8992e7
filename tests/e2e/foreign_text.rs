//! What a manifest, a model, a file or a project wrote never hides, steers the terminal or turns the direction of
//! writing where a user reads it: each class of unsafe characters, in each place that shows foreign text. The texts of
//! a manifest are rejected with such a character, and its data is escaped.

mod rows;

use std::path::Path;
use std::sync::Arc;

use host_bundle::{Bundle, Parts};
use host_manifest::{Manifest, Source, SourceManifest};
use host_plugin::admission::CONTRACT;
use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::{guest, runtime};
use serde_json::json;

use crate::mcp::{Server, tool};

/// One character of each class that is drawn as nothing or turns what is around it.
const HIDDEN: &[char] = &[
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{3164}',
    '\u{180e}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{200e}',
    '\u{202e}',
    '\u{2060}',
    '\u{2063}',
    '\u{2066}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{fff9}',
    '\u{1d173}',
    '\u{e0041}',
    '\u{e0101}',
];

/// Those that a terminal obeys.
const STEERING: &[char] = &['\u{1b}', '\r', '\u{7f}', '\u{9b}'];

/// A word with all of them: `a`, a hidden character, `b`, and so on.
fn hidden() -> String {
    HIDDEN.iter().flat_map(|c| ['x', *c]).chain(['x']).collect()
}

fn steering() -> String {
    STEERING.iter().flat_map(|c| ['x', *c]).chain(['x']).collect::<String>() + &hidden()
}

/// Checks that a text shows the codes of hidden characters and has none of them.
#[track_caller]
fn escaped(place: &str, text: &str) {
    assert!(text.contains("\\u{200b}") && text.contains("\\u{e0041}"), "{place} does not show them: {text}");
    hides_nothing(place, text);
}

#[track_caller]
fn hides_nothing(place: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|c| HIDDEN.contains(c) || *c == '\u{9b}').collect();
    assert!(found.is_empty(), "{place} has {found:?}: {text}");
}

#[track_caller]
fn both(place: &str, ended: &Ended) {
    escaped(place, &format!("{}{}", ended.stdout, ended.stderr));
}

/// A plugin whose data has the hidden characters.
async fn manifest() -> Manifest {
    let text = format!(
        "name = \"acme/counts\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\ndescription = \"Counts.\"\n\
         [capabilities.fs-read]\nscope = \"*\"\nreason = \"to read\"\n\
         [capabilities.http]\nscope = \"*\"\nreason = \"to send\"\n\
         [config.region]\ndescription = \"Region.\"\ndefault = \"eu {}\"\n\
         [secrets.token]\ndescription = \"Token.\"\nservers = [\"a.example\"]\noptional = true\n",
        hidden()
    );
    let source = SourceManifest::parse(&text, &Source::File("plugin.toml".into())).expect("it is right");
    let tools = runtime().describe(guest("counts")).await.expect("it describes itself");
    Manifest::new(source, CONTRACT, tools).expect("it is right")
}

fn bundle(folder: &Path, manifest: Manifest) -> String {
    let component = guest("counts").component().expect("it is read").into_owned();
    let bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
    let path = folder.join("counts.tar");
    std::fs::write(&path, bundle.to_archive()).expect("written");
    path.display().to_string()
}

/// A text of a manifest: its place in an error, and how it is set.
type Text = (&'static str, fn(&mut Manifest, String));

/// Each text of a manifest that is shown.
const TEXTS: &[Text] = &[
    ("license", |it, text| it.license = text),
    ("description", |it, text| it.description = Some(text)),
    ("source", |it, text| it.source = Some(format!("https://a.example/{text}"))),
    ("homepage", |it, text| it.homepage = Some(format!("https://a.example/{text}"))),
    ("capabilities.fs-read.scope", |it, text| it.capabilities.get_mut("fs-read").expect("there").scope = text),
    ("capabilities.fs-read.reason", |it, text| it.capabilities.get_mut("fs-read").expect("there").reason = text),
    ("config.region.description", |it, text| it.config.get_mut("region").expect("there").description = text),
    ("secrets.token.description", |it, text| it.secrets.get_mut("token").expect("there").description = text),
    ("tools.count_lines.title", |it, text| it.tools[0].spec.title = Some(text)),
    ("tools.count_lines.description", |it, text| it.tools[0].spec.description = text),
];

// promise plugin.manifest-texts
#[tokio::test]
async fn text_of_a_manifest_that_hides_or_forges_a_line_is_rejected_with_its_place() {
    let good = manifest().await;
    let forged = "to count\nSigned by E7620F1842B4E81F, which you trust for it.";
    for (place, set) in TEXTS {
        let with = |text: String| {
            let mut manifest = good.clone();
            set(&mut manifest, text);
            Host::new(["plugin"])
                .file("p/counts.wasm", guest("counts").component().expect("it is read"))
                .file("p/counts.json", manifest.to_json())
                .file(".host/plugins/counts.wasm", guest("counts").component().expect("it is read"))
                .file(".host/plugins/counts.json", manifest.to_json())
        };
        let host = with(format!("x{}", steering()));
        for arguments in [&["plugin", "explain", "p"][..], &["tool", "list", "--plugin", "p"], &["plugin", "pack", "p"]]
        {
            let ended = host.run_of(arguments);
            let says = format!("invalid `{place}`: it ");
            assert!(ended.code == Some(42) && ended.stderr.contains(&says), "{place} {arguments:?}: {ended:?}");
            hides_nothing(place, &format!("{}{}", ended.stdout, ended.stderr));
            assert!(!ended.stderr.contains(['\u{1b}', '\r', '\u{7f}']), "{place}: {ended:?}");
        }
        let trust = host.run_of(&["trust", "status"]);
        assert!(trust.stdout.contains("a plugin with an invalid manifest"), "{place}: {trust:?}");

        // A second line is refused where a text has one, and is not a line of the host's where it may have several.
        let ended = with(forged.to_owned()).run_of(&["plugin", "explain", "p"]);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!all.lines().any(|line| line.starts_with("Signed by")), "{place}: {ended:?}");
        assert_eq!(
            ended.code,
            Some(if place.ends_with("count_lines.description") { 0 } else { 42 }),
            "{place}: {ended:?}"
        );
    }
}

// promise plugin.terminal
#[tokio::test]
async fn text_of_a_manifest_is_escaped_wherever_it_is_shown() {
    let manifest = manifest().await;
    let host = Host::new(["plugin"])
        .file("p/counts.wasm", guest("counts").component().expect("it is read"))
        .file("p/counts.json", manifest.to_json());
    let explained = host.run_of(&["plugin", "explain", "p"]);
    both("plugin explain", &explained);
    let named = ["--plugin", "p"];
    let shown = host.run_of(&[&["tool", "show", "count_lines"][..], &named].concat());
    assert_eq!(shown.code, Some(0), "{shown:?}");
    hides_nothing("tool show", &format!("{}{}", shown.stdout, shown.stderr));
    hides_nothing("tool list", &host.run_of(&[&["tool", "list"][..], &named].concat()).stdout);

    // The question before it is installed.
    let host = Host::new(["plugin"]);
    let archive = bundle(host.repository(), manifest.clone());
    let arguments = ["plugin", "install", &archive, "--allow-unsigned"];
    let mut pty = Pty::start(host.command_of(&arguments), 200, 60);
    pty.sees("Install it?");
    escaped("the question of `plugin install`", &pty.written());
    pty.types("n\r");
    pty.sees("nothing was installed");
    assert_eq!(pty.ends(), Some(130));

    // The question about a project, and the list of what it brings.
    let host = Host::new(["trust"])
        .file(".host/plugins/counts.wasm", guest("counts").component().expect("it is read"))
        .file(".host/plugins/counts.json", manifest.to_json())
        .file(&format!(".host/agents/{}.md", "a\u{200b}\u{e0041}b"), "---\n");
    both("trust status", &host.run_of(&["trust", "status"]));
    let mut pty = Pty::start(host.command_of(&["run", "--model", "offline", "Look"]), 200, 60);
    pty.sees("3 q  Quit").sees("Esc to quit");
    escaped("the question about a project", &pty.written());
    pty.types("q\r");
    assert_eq!(pty.ends(), Some(55));
}

// promise plugin.terminal
#[test]
fn text_of_a_model_is_escaped_wherever_it_is_shown() {
    let hidden = steering();
    let replies = [
        json!({"chunks": [{"thought": format!("**About {hidden}**\n")}, {"text": format!("I say {hidden}.")},
            {"call": {"name": "shell", "arguments": {"command": format!("echo {hidden}")}}}]}),
        json!({"chunks": [{"call": {"name": format!("no_{hidden}"), "arguments": {}}}]}),
        json!({"chunks": [{"text": format!("All is done {hidden}.")}]}),
    ];
    let host = Host::scripted(&replies, &["Look"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 60);
    pty.until("the question", |screen| screen.contains("› 1 y  Yes, this once"));
    escaped("the question of a call", &pty.written());
    pty.types("n");
    pty.saw("All is done");
    pty.ends();
    hides_nothing("a conversation", &pty.written());
    assert!(!pty.written().contains("\u{7f}") && !pty.written().contains("x\u{1b}x"), "{:?}", pty.written());

    // Recorded, it is shown as safely.
    for arguments in [&["session", "show"][..], &["session", "export"], &["session", "list"]] {
        let ended = host.run_of(arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(!ended.stdout.is_empty(), "{ended:?}");
        hides_nothing(&arguments.join(" "), &ended.stdout);
    }
}

// promise plugin.terminal
#[test]
fn text_in_errors_and_verdicts_is_escaped() {
    let hidden = hidden();
    let host = Host::new(["run"]);
    let ended = host.run_of(&["policy", "check", "shell", &json!({"command": format!("echo {hidden}")}).to_string()]);
    both("policy check", &ended);
    for arguments in [
        vec!["run", "--agent", &hidden],
        vec!["tool", "show", &hidden],
        vec!["run", "--grant", &hidden, "Look"],
        vec!["session", "show", &hidden],
        vec!["plugin", "explain", &hidden],
        vec!["keys", "trust", &hidden, "--for", "acme/*"],
    ] {
        let ended = host.run_of(&arguments);
        assert_ne!(ended.code, Some(0), "{ended:?}");
        both(&arguments[..2].join(" "), &ended);
    }
    let broken = Host::new(["run"]).configured(&format!("\"{hidden}\" = 1\n"));
    both("a configuration", &broken.run_of(&["run", "Look"]));
}

// promise plugin.terminal
#[tokio::test]
async fn text_in_json_and_in_a_schema_is_escaped_and_means_the_same() {
    let mut manifest = manifest().await;
    let hidden = steering();
    let (spec, words) = (&mut manifest.tools[0].spec, json!(format!("The file {hidden}")));
    Arc::make_mut(&mut spec.input_schema)["properties"]["path"]["description"] = words.clone();
    let host = Host::new(["tool"])
        .file("p/counts.wasm", guest("counts").component().expect("it is read"))
        .file("p/counts.json", manifest.to_json());
    let shown = host.run_of(&["tool", "show", "count_lines", "--plugin", "p"]);
    assert!(shown.code == Some(0) && shown.stdout.contains("\\u200b"), "{shown:?}");
    hides_nothing("tool show", &shown.stdout);
    let printed = host.run_of(&["tool", "show", "count_lines", "--plugin", "p", "--json"]);
    hides_nothing("tool show --json", &printed.stdout);
    assert!(!printed.stdout.contains(['\u{1b}', '\u{7f}']), "{printed:?}");
    assert_eq!(printed.json()["tool"]["input_schema"]["properties"]["path"]["description"], words);
}

// promise plugin.terminal
#[test]
fn text_in_the_rows_of_a_conversations_tools_is_escaped_and_bounded() {
    // A manifest has no such title: it would be rejected.
    let (mut odd, mut long) = (tool("look", "Looks."), tool("read", "Reads."));
    odd["title"] = json!(format!("Look {}\nall_of_it  It is granted", steering()));
    long["title"] = json!("t".repeat(2_000));
    let host = Server::new(&json!([odd, long]), &json!({}))
        .of(Host::scripted(&[json!({"chunks": [{"text": "One."}]})], &[]), "");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 40);
    // The servers have answered before a model is asked.
    pty.sees("› ").types("first\r").sees("One.").types("/tools\r").saw("files__read").saw("web_fetch").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    escaped("the tools of a conversation", &pty.written());
    assert!(!pty.written().contains("x\u{1b}x") && !pty.written().contains('\u{7f}'), "{:?}", pty.written());
    let shown = pty.everything();
    assert!(shown.contains("\\nall_of_it") && !shown.lines().any(|line| line.starts_with("all_of_it")), "{shown}");
    let rows = shown.lines().filter(|line| line.contains("tttttttttt")).count();
    assert!((1..=4).contains(&rows), "a title has {rows} rows: {shown}");
    assert!(shown.contains("t… (cut)"), "{shown}");
}

// promise plugin.terminal
#[test]
fn text_in_the_preview_of_an_edit_is_escaped() {
    let forged = "\u{1b}]0;PWN\u{7}";
    let host = Host::new(["tool"]).file("a.txt", format!("{forged}old\n"));
    for (tool, arguments) in [
        ("edit", json!({"path": "a.txt", "old_string": "old", "new_string": format!("new{}", steering())})),
        ("write_file", json!({"path": "b.txt", "content": format!("{forged}{}\n", steering())})),
    ] {
        let ended = host.run_of(&["tool", "call", "--preview", tool, &arguments.to_string()]);
        assert!(ended.code == Some(0) && ended.stdout.contains("\\u{1b}]0;PWN\\u{7}"), "{tool}: {ended:?}");
        escaped(tool, &ended.stdout);
        assert!(!ended.stdout.contains(['\u{1b}', '\u{7}', '\r', '\u{7f}']), "{tool}: {ended:?}");
    }
}
