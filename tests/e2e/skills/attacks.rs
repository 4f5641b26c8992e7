//! What a project or a model may try with skills.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

// promise skills.trusted-bytes: A project's skill is activated with the instructions that the user trusted, or not at
//   all.
#[test]
fn skill_that_the_model_rewrites_is_not_activated() {
    let host = Host::new(["run"]).file(".agents/skills/notes/SKILL.md", skill("notes", "Writes notes.", "", "right"));
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let wrong = skill("notes", "Writes notes.", "", "wrong");
    let made = skill("made", "Made by the model.", "", "wrong");
    let write = |path: &str, content: &str| call("write_file", json!({"path": path, "content": content}));
    let replies = [
        json!({"chunks": [activate("notes")]}),
        json!({"expect": {"responses": ["right"]}, "chunks": [
            write(".agents/skills/notes/SKILL.md", &wrong), write(".claude/skills/made/SKILL.md", &made)]}),
        json!({"chunks": [activate("notes"), activate("made")]}),
        json!({"expect": {"responses": ["its file has changed since the user trusted it", "made"]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["--yolo", "Go"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let log = host.session();
    let told = log.iter().filter(|entry| entry["type"] == "call_settled").map(Value::to_string).collect::<Vec<_>>();
    assert!(told[3].contains("\"error\"") && told[4].contains("\"error\""), "{told:?}");
    // In the next session nothing of the project is used.
    let ended = run(&host, &[json!({"chunks": [done()]})], &["-c", "/notes"]);
    assert!(ended.stderr.contains("has changed since you trusted it"), "{ended:?}");
    assert!(!host.told().contains("# Skills"), "{}", host.told());
}

// promise skills.links: A link in a project is no skill of it, wherever it leads.
#[test]
fn skill_of_a_project_is_not_found_behind_a_link() {
    let text = skill("away", "From elsewhere.", "", "x");
    for at in [".agents", ".agents/skills", ".agents/skills/away", ".agents/skills/away/SKILL.md"] {
        let host = Host::new(["run"]).home_file("elsewhere/.agents/skills/away/SKILL.md", &text);
        let link = host.repository().join(at);
        std::fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        symlink(host.home().join("elsewhere").join(at), link).expect("linked");
        assert!(host.run_of(&["trust", "status"]).stdout.contains("nothing to trust"), "{at}");
    }
}

#[test]
fn skill_that_any_user_could_have_written_is_not_used() {
    let host = of_user(Host::new(["run"]));
    let file = host.home().join(".agents/skills/pdf/SKILL.md");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).expect("set");
    let ended = run(&host, &[json!({"chunks": [done()]})], &["Go"]);
    assert!(ended.stderr.contains("is not safe to use: other users can write to it"), "{ended:?}");
    assert!(!host.told().contains("# Skills"));
}

// promise skills.secrets: Activating a skill opens no keys and nothing that the user denied.
#[test]
fn skill_opens_no_secret_and_nothing_that_is_denied() {
    let host = of_user(Host::new(["run"]))
        .home_file(".agents/skills/pdf/.ssh/id", "k3y of the user")
        .home_file(".agents/skills/pdf/private.md", "denied");
    let folder = real(&host.home().join(".agents/skills/pdf"));
    let read = |path: &str| call("read_file", json!({"path": folder.join(path).display().to_string()}));
    let deny = format!("*:fs-read={}", folder.join("private.md").display());
    let replies = [
        json!({"chunks": [activate("pdf")]}),
        json!({"chunks": [read(".ssh/id"), read("private.md"), read("ref.md")]}),
        json!({"expect": {"responses": ["", "", "the reference"]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["--deny", &deny, "Go"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = host.session().iter().map(Value::to_string).collect::<String>();
    assert!(!text.contains("k3y") && !text.contains("\"denied\\n"), "{text}");
}

// A skill of the user that lies in the workspace could be changed by tools, so that it needs trust like any of a
// project.
#[test]
fn skill_of_the_user_within_the_workspace_needs_trust() {
    let host = of_user(Host::new(["run"]));
    std::fs::create_dir(host.home().join(".git")).expect("made");
    let home = host.home().to_str().expect("text").to_owned();
    let ended = run(&host, &[json!({"chunks": [done()]})], &["-C", &home, "Go"]);
    assert!(ended.stderr.contains("is not trusted and is ignored"), "{ended:?}");
    assert!(!host.told().contains("# Skills"));
}

// promise skills.workspace: Instructions of the user that tools may change, since they lie in the workspace, are not
//   used.
#[test]
fn skill_and_command_of_the_user_that_tools_may_change_are_not_used() {
    let host = of_user(Host::new(["run"]))
        .home_file(".claude/commands/sub/mine.md", "Mine")
        .home_file(".agents/skills/other/SKILL.md", skill("other", "Another.", "", "x"));
    for (folder, notice) in [
        (".agents/skills/pdf", "the skill `pdf` (user) is not used: it lies in the folder to work in"),
        (".claude/commands/sub", "the command `/sub:mine` (user) is not used: it lies in the folder to work in"),
    ] {
        let folder = host.home().join(folder);
        let ended =
            run(&host, &[json!({"chunks": [done()]})], &["--any-folder", "-C", folder.to_str().expect("text"), "Go"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stderr.matches(notice).count(), 1, "{ended:?}");
    }
}
