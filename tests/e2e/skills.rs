//! Skills: which are found, what the model reads of them and when, and what activating one changes.

mod activation;
mod attacks;

use std::path::{Path, PathBuf};

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

/// A `SKILL.md`.
fn skill(name: &str, description: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}\n")
}

/// The skill of the tests, in the user's folder.
fn of_user(host: Host) -> Host {
    host.home_file(
        ".agents/skills/pdf/SKILL.md",
        skill("pdf", "Fills forms.", "", "Read ref.md first.\n\n  Then *fill*."),
    )
    .home_file(".agents/skills/pdf/ref.md", "the reference\n")
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

fn activate(name: &str) -> Value {
    call("activate_skill", json!({"name": name}))
}

fn done() -> Value {
    json!({"text": "Done."})
}

/// Runs a script on the sessions of this home.
fn run(host: &Host, replies: &[Value], arguments: &[&str]) -> Ended {
    let script = host.home().join("next.jsonl");
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(&script, lines).expect("written");
    let mut command = host.command_of(&["run", "--model", &format!("scripted:{}", script.display())]);
    command.args(arguments);
    host.end(command)
}

/// The system instructions of the last run.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).expect("it is there")
}

// promise skills.trust: The skills of a project are in the context only after it was trusted.
#[test]
fn skills_of_a_project_are_offered_after_it_was_trusted() {
    let host = Host::new(["run"])
        .file(".agents/skills/notes/SKILL.md", skill("notes", "Writes notes.", "", "body one"))
        .file(".claude/skills/other/SKILL.md", skill("other", "Does more.", "", "body two"));
    let ended = run(&host, &[json!({"chunks": [done()]})], &["Look"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("is not trusted and is ignored"), "{ended:?}");
    assert!(!host.told().contains("Writes notes.") && !host.told().contains("# Skills"), "{}", host.told());
    let unknown = json!({"expect": {"responses": ["there is no tool `activate_skill`"]}, "chunks": [done()]});
    let ended = run(&host, &[json!({"chunks": [activate("notes")]}), unknown], &["-c", "Look"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let listed = host.run_of(&["trust", "add"]);
    assert!(listed.stdout.contains("`.agents/skills/notes/SKILL.md`: a skill"), "{listed:?}");
    let told =
        json!({"expect": {"system": "- `notes`: Writes notes. (", "tools": ["activate_skill"]}, "chunks": [done()]});
    let ended = run(&host, &[told], &["-c", "Look"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let system = host.told();
    assert!(system.contains("- `other`: Does more. (") && !system.contains("body one"), "{system}");

    // A skill that was changed or added since is asked about again, with everything else of the project.
    let host = host.file(".claude/skills/new/SKILL.md", skill("new", "Is new.", "", "body"));
    let ended = run(&host, &[json!({"chunks": [done()]})], &["-c", "Look"]);
    assert!(ended.stderr.contains("`.claude/skills/new/SKILL.md` added"), "{ended:?}");
    assert!(!host.told().contains("# Skills"));
}

// promise skills.faulty: A skill that cannot be used is a notice, and the others are used.
#[test]
fn skills_that_are_faulty_are_notices_and_no_errors() {
    let host = of_user(Host::new(["run"]))
        .home_file(".agents/skills/wrong/SKILL.md", skill("Wrong_Name", "x", "", ""))
        .home_file(".claude/skills/empty/SKILL.md", "")
        .home_file(".claude/skills/large/SKILL.md", skill("large", "x", "", &"x".repeat(40_000)))
        .home_file(".claude/skills/no-file/README.md", "")
        .home_file(".claude/skills/pdf/SKILL.md", skill("pdf", "Another one.", "", ""));
    std::fs::write(host.home().join(".agents/skills/README.md"), "").expect("written");
    let told = json!({"expect": {"system": "- `pdf`: Fills forms."}, "chunks": [done()]});
    let ended = run(&host, &[told], &["Look"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for notice in [
        "the skill `wrong` (user) is not used: `Wrong_Name` is not a valid name",
        "the skill `empty` (user) is not used: line 1: the file does not begin with a line `---`",
        "the skill `large` (user) is not used: `SKILL.md` is over the limit",
        "there are two skills `pdf`",
    ] {
        assert_eq!(ended.stderr.matches(notice).count(), 1, "{notice} in {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("no-file"), "{}", ended.stderr);
    let listed = host.run_of(&["skill", "list"]);
    assert!(listed.stdout.starts_with("pdf  user, `") && listed.stderr.contains("`wrong`"), "{listed:?}");
    let json = host.run_of(&["skill", "list", "--json"]).json();
    assert_eq!((&json[0]["name"], &json[0]["source"]), (&json!("pdf"), &json!("user")));
}

#[test]
fn skill_check_says_what_is_wrong() {
    let host = of_user(Host::new(["run"])).file("wrong/SKILL.md", skill("other", "x", "", ""));
    let pdf = host.home().join(".agents/skills/pdf");
    let checked = host.run_of(&["skill", "check", pdf.to_str().expect("text")]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), "`pdf` is a valid skill.\n"), "{checked:?}");
    let checked = host.run_of(&["skill", "check", "wrong"]);
    assert_eq!(checked.code, Some(42), "{checked:?}");
    assert!(checked.stderr.contains("its name is `other` and its folder is called `wrong`"), "{checked:?}");
    assert_eq!(host.run_of(&["skill", "check", "nowhere"]).code, Some(42));
    assert_eq!(host.run_of(&["skill", "list"]).code, Some(0));
}

#[test]
fn skill_of_the_tests_is_valid_here() {
    let example = host_tests::repository().join("tests/e2e/skills/release-notes");
    let checked = Host::new(["skill", "check"]).arg(example).run();
    assert_eq!(
        (checked.code, checked.stdout.as_str()),
        (Some(0), "`release-notes` is a valid skill.\n"),
        "{checked:?}"
    );
}
