//! Plugins that change while a conversation goes on.

use std::path::{Path, PathBuf};

use host_tests::host::guest_file;

use super::*;

/// The guest `counts` in a folder of its own, as `host plugin build` would leave it.
async fn counts() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let component = guest_file("counts", folder.path()).await;
    (folder, component)
}

/// A component with another section that says nothing: the same tools, another digest.
fn change(component: &Path) {
    let mut bytes = std::fs::read(component).expect("it was built");
    bytes.extend([0, 2, 1, b'x']);
    std::fs::write(component, bytes).expect("written");
}

/// Another manifest, with this in the place of that.
fn manifest(component: &Path, from: &str, to: &str) {
    let path = component.with_extension("json");
    let text = std::fs::read_to_string(&path).expect("it was built");
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).expect("written");
}

fn counting(expected: &str) -> [Value; 2] {
    let calls = json!({"chunks": [call("count_lines", json!({"path": "a.txt"}))]});
    [calls, json!({"expect": {"responses": [expected]}, "chunks": [{"text": format!("It has {expected}.")}]})]
}

/// Waits until so many prompts were answered.
#[track_caller]
fn counted(pty: &mut Pty, times: usize) {
    pty.until("the answer", |screen| screen.matches("It has 2 lines.").count() == times);
    pty.sees("default › ");
}

fn with_plugin(replies: &[Value], plugin: &Path) -> (Host, Pty) {
    let host = Host::scripted(replies, &["--plugin", plugin.to_str().expect("a plain path")]).file("a.txt", "1\n2\n");
    let pty = open(&host, 100, 30);
    (host, pty)
}

#[tokio::test]
async fn reload_of_a_changed_plugin_happens_at_the_next_prompt_and_reports_what_changed() {
    let (folder, component) = counts().await;
    let replies = [counting("2 lines"), counting("2 lines"), counting("2 lines")].concat();
    let (_host, mut pty) = with_plugin(&replies, folder.path());
    pty.types("first\r").saw("It has 2 lines.").sees("default › ");
    assert!(!pty.everything().contains("reloaded"));

    change(&component);
    manifest(&component, "Counts the lines of a file.", "Counts the lines of one file.");
    manifest(&component, "\"version\": \"0.1.0\"", "\"version\": \"0.2.0\"");
    pty.types("second\r").saw("`counts` 0.2.0 was reloaded: `count_lines` is described in other words");
    counted(&mut pty, 2);

    // Broken, it stays as it was, and that is said once.
    let good = std::fs::read(&component).expect("it is there");
    std::fs::write(&component, "no component").expect("written");
    pty.types("third\r").saw("`counts` stays as it was: ");
    counted(&mut pty, 3);
    let all = pty.everything();
    assert_eq!(all.matches("stays as it was").count(), 1, "{all}");
    std::fs::write(&component, good).expect("written");
    // What is as it was when it was good last is no news.
    pty.types("/reload\r").sees("no plugin changed").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[tokio::test]
async fn reload_adds_what_is_new_and_reports_what_is_gone() {
    let (folder, component) = counts().await;
    let gone = json!({"expect": {"responses": ["count_lines"]}, "chunks": [{"text": "There is no such tool."}]});
    let calls = json!({"chunks": [call("count_lines", json!({"path": "a.txt"}))]});
    let declared = json!({"expect": {"tools": ["web_search"]}, "chunks": [{"text": "I see it."}]});
    let (_host, mut pty) = with_plugin(&[declared, calls, gone], folder.path());
    pty.types("/reload\r").sees("no plugin changed");
    // What cannot be used beside the others leaves all of them as they were.
    let usurper = guest_file("usurper", folder.path()).await;
    pty.types("/reload\r")
        .sees("the plugins stay as they were: the plugins `read_file` and `usurper` both have a tool `read_file`");
    std::fs::remove_file(&usurper).expect("removed");
    guest_file("impostor", folder.path()).await;
    pty.types("/reload\r").sees("`impostor` 0.1.0 is new, with `web_search`");
    pty.types("look\r").saw("I see it.").sees("default › ");
    std::fs::remove_file(&component).expect("removed");
    pty.types("count\r").saw("`counts` is gone, and its tools with it").saw("There is no such tool.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

// promise approval.lasting: A lasting answer covers what was shown, in this folder, for this component, and never a
//   private address or a server that it does not name; an answer that
//   was not offered allows nothing.
#[tokio::test]
async fn reload_ends_the_lasting_answers_given_to_a_component_that_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let impostor = guest_file("impostor", folder.path()).await;
    let search = |path: &str| json!({"chunks": [call("web_search", json!({"path": path}))]});
    let told = |words: &str| json!({"expect": {"responses": [words]}, "chunks": [{"text": "Done."}]});
    let replies = [
        search("a.txt"),
        told("written"),
        search("b.txt"),
        told("written"),
        search("c.txt"),
        told("rejected this call"),
    ];
    let host = Host::scripted(&replies, &["--plugin", impostor.to_str().expect("a plain path")]);
    // High enough for both questions: they list folders, and how many rows those take depends on where the tests run.
    let mut pty = open(&host, 100, 100);
    let listens = |screen: &str| screen.contains("› 1 y  Yes, this once") && screen.contains("↑↓ and Enter");
    pty.types("first\r").until("the question", listens).types("t").saw("Done.").sees("default › ");
    pty.types("second\r");
    pty.until("the second end", |screen| screen.matches("Done.").count() == 2).sees("default › ");
    assert_eq!(pty.everything().matches("wants to").count(), 1, "{}", pty.everything());

    change(&impostor);
    pty.types("third\r").saw("was reloaded").until("the question", listens);
    assert!(pty.screen().contains("has changed since you allowed this"), "{}", pty.screen());
    pty.types("n").until("the third end", |screen| screen.matches("Done.").count() == 3).types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(host.repository().join("b.txt").exists() && !host.repository().join("c.txt").exists());
}

// promise project.conversation: A running conversation reloads nothing from a project that changed since it was
//   trusted or is no longer trusted.
#[tokio::test]
async fn a_project_that_is_not_as_it_was_trusted_is_not_read_again_without_trust() {
    let replies = [counting("2 lines"), counting("2 lines"), counting("2 lines")].concat();
    let host = Host::scripted(&replies, &[]).file("a.txt", "1\n2\n").file(".host/config.toml", "");
    let plugins = host.repository().join(".host/plugins");
    std::fs::create_dir_all(&plugins).expect("made");
    let component = guest_file("counts", &plugins).await;
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let mut pty = open(&host, 100, 40);
    pty.types("first\r").saw("It has 2 lines.").sees("default › ");

    change(&component);
    manifest(&component, "\"version\": \"0.1.0\"", "\"version\": \"0.2.0\"");
    pty.types("second\r")
        .saw("has changed since you trusted it")
        .saw("what it brought when it was trusted stays in use");
    counted(&mut pty, 2);
    assert!(!pty.everything().contains("was reloaded"), "{}", pty.everything());

    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    pty.types("third\r").saw("`counts` 0.2.0 was reloaded");
    counted(&mut pty, 3);

    // Who takes the trust back wants nothing of it used.
    assert_eq!(host.run_of(&["trust", "remove"]).code, Some(0));
    pty.types("/reload\r").saw("`counts` is gone").types("/tools\r").sees("write_file ");
    let screen = pty.screen();
    assert!(screen.rsplit("/tools").next().is_some_and(|listed| !listed.contains("count_lines")), "{screen}");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn reload_lists_discovered_tools_again_when_their_command_changed_or_when_asked() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().expect("a folder");
    let program = home.path().join("tools");
    let tells = |name: &str| {
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = list ]; then cat \"$(dirname \"$0\")/{name}\"; else echo called $2; fi\n"
        );
        let other = program.with_extension("new");
        std::fs::write(&other, script).expect("written");
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).expect("set");
        std::fs::rename(&other, &program).expect("moved");
    };
    std::fs::write(home.path().join("one"), r#"[{"name": "one"}]"#).expect("written");
    std::fs::write(home.path().join("two"), r#"[{"name": "one"}, {"name": "two"}]"#).expect("written");
    tells("one");
    let path = program.display();
    let commands =
        format!("[tools]\ndiscovery_command = [\"{path}\", \"list\"]\ncall_command = [\"{path}\", \"call\"]\n");
    let calls = json!({"chunks": [call("two", json!({}))]});
    let replies = [
        json!({"chunks": [{"text": "Nothing yet."}]}),
        calls,
        json!({"expect": {"responses": ["called two"]}, "chunks": [{"text": "It was called."}]}),
    ];
    let host = Host::scripted(&replies, &["--grant", "discovered:process=*"]).configured(&commands);
    let mut pty = open(&host, 100, 30);
    pty.types("first\r").sees("Nothing yet.").sees("default › ");
    tells("two");
    pty.types("second\r").saw("the tool `two` is new").sees("It was called.").sees("default › ");
    // What the program reads is not looked at: it is asked when somebody says so.
    std::fs::write(home.path().join("two"), r#"[{"name": "two"}]"#).expect("written");
    pty.types("/reload\r").saw("the tool `one` is gone").sees("default › ");
    // A list that cannot be used leaves the tools as they were.
    std::fs::write(home.path().join("two"), "no list").expect("written");
    pty.types("/reload\r").saw("`discovered` stays as it was: ").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}
