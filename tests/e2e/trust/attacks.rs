//! What a project may try to get by: each door by itself.

use std::os::unix::fs::symlink;

use host_tests::host::{Host, guest_file};
use serde_json::json;

use super::{AGENT, answer, noted, refused, run, trust, write};

// promise project.links: In `.host/` no link is followed, no pipe or device is opened, and reads are limited.
#[test]
fn a_link_in_a_project_is_refused_wherever_it_leads() {
    let check = |link: &str, target: &str| {
        let host = run(&["Look"]).file("elsewhere/config.toml", "model = \"nonsense\"\n").file(".host/.keep", "");
        let at = host.repository().join(".host").join(link);
        if link.is_empty() {
            std::fs::remove_dir_all(host.repository().join(".host")).expect("it was there");
        }
        std::fs::create_dir_all(at.parent().expect("a folder")).expect("made");
        symlink(target, at.components().as_path()).expect("linked");
        noted(&host.run(), &["cannot be trusted", "is a symbolic link"]);
        refused(&host.run_of(&["trust", "add"]), 42, &["cannot be trusted", "is a symbolic link"]);
        assert!(!host.home().join(".local/state/host/trust.json").exists());
        refused(&host.run_of(&["run", "--require-trust", "--model", "offline", "Look"]), 55, &["is a symbolic link"]);
    };
    check("", "../elsewhere");
    check("", "elsewhere");
    check("config.toml", "/etc/passwd");
    check("config.toml", "../elsewhere/config.toml");
    check("config.toml", "other.toml");
    check("agents", "/etc");
    check("agents/a.md", "/etc/passwd");
    check("plugins", "../elsewhere");
    check("policies/r.toml", "/dev/zero");
}

// promise project.links
#[test]
fn a_link_that_takes_the_place_of_a_trusted_file_is_a_change_and_not_followed() {
    let text = "model = \"offline\"\n";
    let host = run(&["Look"]).file(".host/config.toml", text).file("same.toml", text);
    trust(&host);
    let path = host.repository().join(".host/config.toml");
    std::fs::remove_file(&path).expect("it was there");
    symlink("../same.toml", &path).expect("linked");
    noted(&host.run(), &["cannot be trusted", "is a symbolic link"]);
}

// promise project.links
#[test]
fn trust_path_that_is_not_a_file_is_neither_opened_nor_waited_for() {
    let host = run(&["Look"]).file(".host/.keep", "");
    let pipe = host.repository().join(".host/config.toml");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("made");
    noted(&host.run(), &["is not a regular file"]);
    let host = run(&["Look"]).file(".host/config.toml", vec![b'#'; (1 << 20) + 1]);
    noted(&host.run(), &["is not trusted"]);
    refused(&host.run_of(&["trust", "add"]), 42, &["over the limit"]);
    let host = run(&["Look"]);
    (0..300).for_each(|number| write(&host, &format!(".host/agents/{number}.md"), AGENT));
    noted(&host.run(), &["over 256 files"]);
}

// promise project.settings: A trusted project cannot choose where keys go or who pays, cannot reduce questions and
//   cannot raise a limit.
#[test]
fn trust_project_cannot_set_where_keys_go_or_who_pays() {
    for (configuration, line, key) in [
        ("[providers.openai]\nbase_url = \"http://127.0.0.1:9\"\n", 1, "`providers`"),
        ("providers.gemini.headers = {x = \"y\"}\n", 1, "`providers`"),
        ("\nproviders.anthropic.proxy = \"http://127.0.0.1:9\"\n", 2, "`providers`"),
        ("providers.vertex.project = \"theirs\"\n", 1, "`providers`"),
        ("[retry]\nattempts = 99\n", 1, "`retry`"),
        ("model = \"offline\"\napproval_mode = \"yolo\"\n", 2, "`approval_mode`"),
        ("approval_mode = \"auto-edit\"\n", 1, "`approval_mode`"),
        ("run.loop_detection = false\n", 1, "`run.loop_detection`"),
        ("models.x.safety.A = \"BLOCK_NONE\"\n", 1, "`models.x.safety`"),
    ] {
        let host = run(&["Look"]).file(".host/config.toml", configuration);
        trust(&host);
        let line = format!("line {line}: {key}");
        refused(&host.run(), 52, &["/.host/config.toml", &line, "help: "]);
    }
}

// promise project.user-files: A project cannot show a model files from the user's own configuration folder.
#[test]
fn trust_project_context_files_show_a_model_nothing_of_the_users_folder() {
    let host = run(&["Look"])
        .configured("[providers.openai]\nheaders = { x-team = \"sec-ret\" }\n")
        .home_file(".config/host/notes.md", "sec-ret too")
        .file(".host/config.toml", "context.files = [\"config.toml\", \"notes.md\"]\n")
        .file("notes.md", "of the project");
    trust(&host);
    assert_eq!(host.run().code, Some(0));
    let system = host.session().iter().find_map(|line| line["system"].as_str().map(str::to_owned)).expect("recorded");
    assert!(system.contains("of the project") && !system.contains("sec-ret"), "{system}");
}

// promise project.names
#[test]
fn a_project_takes_no_name_that_is_taken() {
    let own = AGENT.replace("surveyor", "codebase_investigator");
    for (file, text) in [("a.md", own.as_str()), ("b.md", AGENT)] {
        let host = run(&["Look"]).agent("mine.md", AGENT).file(&format!(".host/agents/{file}"), text);
        trust(&host);
        refused(&host.run(), 52, &["there are two agents", "/.host/agents/"]);
    }
}

// promise project.names
#[test]
fn trust_project_agent_does_not_run_if_the_user_disables_it_nor_for_longer() {
    let configuration = "[agents.codebase_investigator]\nenabled = true\nmax_turns = 900\ntimeout_minutes = 900\n";
    let host = run(&[])
        .file(".host/config.toml", configuration)
        .configured("[agents.codebase_investigator]\nenabled = false\n");
    trust(&host);
    let shown = host.run_of(&["agent", "show", "codebase_investigator", "--json"]).json();
    assert_eq!(shown["limits"], json!({"max_turns": 15, "timeout_seconds": 300.0}));
    assert_eq!(shown["enabled"], false);
}

// promise project.bytes
// promise project.names: A project's plugins get no extra grants, and its names replace no existing plugin, tool or
//   agent.
#[tokio::test]
async fn a_projects_plugin_gets_what_the_mode_gives_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let component = guest_file("reach", folder.path()).await;
    let read = |end: &str| std::fs::read(component.with_extension(end)).expect("it was built");
    let calls = json!({"chunks": [
        {"call": {"name": "write", "arguments": {"path": "new.txt", "text": "x"}}},
        {"call": {"name": "write", "arguments": {"path": ".host/config.toml", "text": "x"}}},
    ]});
    let host = |arguments: &[&str]| {
        let host = Host::scripted(&[calls.clone(), answer("Done.")], arguments)
            .file(".host/plugins/reach.wasm", read("wasm"))
            .file(".host/plugins/reach.json", read("json"));
        trust(&host);
        host
    };
    let asks = host(&[]).run_of(&["trust"]);
    assert!(asks.stdout.contains("the plugin `reach`, which asks for process `*`, fs-write `*`, http"), "{asks:?}");
    let default = host(&["Look"]);
    assert_eq!(default.run().code, Some(0));
    assert!(!default.repository().join("new.txt").exists());
    // It imports all that there is, so that nothing less links it.
    let edits = host(&["--approval-mode", "yolo", "Look"]);
    assert_eq!(edits.run().code, Some(0));
    assert!(edits.repository().join("new.txt").exists());
    assert!(!edits.repository().join(".host/config.toml").exists(), "no tool writes what would be trusted");
    // Another component under the manifest that was trusted is a change.
    let swapped = host(&["Look"]);
    let mut bytes = read("wasm");
    bytes.push(0);
    std::fs::write(swapped.repository().join(".host/plugins/reach.wasm"), bytes).expect("written");
    let ended = swapped.run();
    assert!(ended.stderr.contains("`plugins/reach.wasm` changed"), "{ended:?}");
    // A name that is taken is told, with both.
    let usurper = guest_file("usurper", folder.path()).await;
    let host = run(&["Look"])
        .file(".host/plugins/x.wasm", std::fs::read(&usurper).expect("built"))
        .file(".host/plugins/x.json", std::fs::read(usurper.with_extension("json")).expect("built"));
    trust(&host);
    let ended = host.run();
    assert!(ended.code == Some(42) && ended.stderr.contains("read_file"), "{ended:?}");
}
