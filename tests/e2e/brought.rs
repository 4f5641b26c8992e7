//! Bundles that bring skills, commands and agents: packed from a folder, signed, agreed to once, updated with a
//! difference.

use std::fs;
use std::path::Path;

use host_bundle::Bundle;
use host_tests::guest;
use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

use crate::publisher::{Publisher, file, trust};

const SKILL: &str =
    "---\nname: greeting\ndescription: Greets people. Use it when someone is to be greeted.\n---\nSay hello.\n";

const AGENT: &str = "---\nname: poet\ndescription: Writes a poem.\ntools: [ls]\n---\nYou write poems.\n";

/// Writes the folder of a plugin without code.
fn write(host: &Host, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = host.repository().join("kit").join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn manifest(version: &str) -> String {
    format!("name = \"acme/kit\"\nversion = \"{version}\"\nlicense = \"MIT\"\ndescription = \"Greets.\"\n")
}

/// Packs the folder, and signs the bundle.
fn signed(host: &Host, acme: &Publisher, name: &str) -> String {
    let ended = host.run_of(&["plugin", "pack", "kit", "--out", name, "--force"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut bundle = Bundle::read(&host.repository().join(name)).expect("a bundle");
    acme.sign(&mut bundle);
    file(host, name, &bundle)
}

fn install(host: &Host, arguments: &[&str]) -> Ended {
    host.run_of(&[&["plugin", "install"], arguments].concat())
}

fn agents(host: &Host) -> Vec<(String, String)> {
    let listed: Value = host.run_of(&["agent", "list", "--json"]).json();
    let text = |agent: &Value, key: &str| agent[key].as_str().expect("a text").to_owned();
    listed.as_array().expect("a list").iter().map(|agent| (text(agent, "name"), text(agent, "source"))).collect()
}

fn has_poet(host: &Host) -> bool {
    agents(host).contains(&("poet".to_owned(), "plugin acme/kit".to_owned()))
}

// promise bundle.brings: What a bundle brings for a model to follow is agreed to at its installation, and again when it
//   changes.
#[test]
fn bundle_of_files_is_agreed_to_and_an_update_says_what_changed() {
    let (host, acme) = (Host::new(["plugin"]), Publisher::new("acme"));
    let first = [
        ("plugin.toml", manifest("1.0.0")),
        ("skills/greeting/SKILL.md", SKILL.to_owned()),
        ("skills/greeting/run.sh", "#!/bin/sh\necho hello\u{1b}[2J\n".to_owned()),
        ("commands/greet.md", "Greet $ARGUMENTS\n".to_owned()),
        ("agents/poet.md", AGENT.to_owned()),
    ];
    write(&host, &first.each_ref().map(|(path, text)| (*path, text.as_str())));
    let bundle = signed(&host, &acme, "kit-1.tar");

    let ended = host.run_of(&["plugin", "verify", &bundle, "--files", "--key", &acme.public().display().to_string()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for says in ["brings the skill greeting", "brings the command greet", "brings the agent poet", "│ Say hello."] {
        assert!(ended.stdout.contains(says), "{says}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains('\u{1b}'), "{ended:?}");

    trust(&host, &acme);
    let ended = install(&host, &[&bundle, "--user"]);
    let says = "brings the skill `greeting`, the command `greet`, the agent `poet`, and there is no terminal to ask on";
    assert!(ended.code == Some(42) && ended.stderr.contains(says), "{ended:?}");
    assert!(!has_poet(&host));
    let ended = install(&host, &[&bundle, "--user", "--yes"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("the skill greeting (2 files, "), "{}", ended.stdout);
    assert!(ended.stdout.contains("it has no tools of its own"), "{}", ended.stdout);
    assert!(has_poet(&host));

    // The same files again are not a question, other ones are.
    write(&host, &[("plugin.toml", &manifest("1.0.1"))]);
    let same = signed(&host, &acme, "kit-1.0.1.tar");
    assert_eq!(install(&host, &[&same, "--user"]).code, Some(0));
    write(
        &host,
        &[("plugin.toml", &manifest("1.1.0")), ("skills/greeting/SKILL.md", &SKILL.replace("Say hello", "Say moin"))],
    );
    let other = signed(&host, &acme, "kit-1.1.tar");
    let ended = install(&host, &[&other, "--user"]);
    assert!(
        ended.code == Some(42) && ended.stderr.contains("brings the skill `greeting`, and there is no terminal"),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains("the skill `greeting` has changed: `skills/greeting/SKILL.md` (+1 −1 lines)"),
        "{}",
        ended.stdout
    );

    assert_eq!(host.run_of(&["plugin", "remove", "acme/kit", "--user"]).code, Some(0));
    assert!(!has_poet(&host), "what it brought is gone with it");
}

// promise bundle.agents: An agent that a plugin brings takes no other agent's place.
#[test]
fn brought_agent_takes_no_other_ones_place() {
    let (host, acme) = (Host::new(["plugin"]), Publisher::new("acme"));
    let imposter = AGENT.replace("name: poet", "name: codebase_investigator");
    write(&host, &[("plugin.toml", &manifest("1.0.0")), ("agents/codebase_investigator.md", &imposter)]);
    trust(&host, &acme);
    let bundle = signed(&host, &acme, "kit.tar");
    assert_eq!(install(&host, &[&bundle, "--user", "--yes"]).code, Some(0));
    assert_eq!(agents(&host), [("codebase_investigator".to_owned(), "built-in".to_owned())]);
    let ended = host.run_of(&["agent", "list"]);
    assert!(ended.stderr.contains("of the plugin `acme/kit` is not used: there is one built in"), "{ended:?}");

    write(&host, &[("plugin.toml", &manifest("1.1.0")), ("agents/codebase_investigator.md", "no front matter")]);
    let bundle = signed(&host, &acme, "kit-1.1.tar");
    let ended = install(&host, &[&bundle, "--user", "--yes"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("codebase_investigator.md` is invalid"), "{ended:?}");
}

// promise bundle.files-attack: A bundle whose manifest names files elsewhere is rejected as a whole, and nothing is
//   written.
#[test]
fn bundle_with_files_elsewhere_is_rejected() {
    let (host, acme) = (Host::new(["plugin"]), Publisher::new("acme"));
    write(&host, &[("plugin.toml", &manifest("1.0.0")), ("commands/greet.md", "Greet\n")]);
    let bundle = signed(&host, &acme, "kit.tar");
    let built = host.run_of(&["plugin", "build", "kit", "--out", "dist"]);
    assert_eq!(built.code, Some(0), "{built:?}");
    let json = host.repository().join("dist/acme+kit.json");
    let text = fs::read_to_string(&json).expect("the manifest");
    for path in ["commands/../../../evil.md", "/tmp/evil.md", "skills/x", "hooks/evil.md"] {
        let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
        manifest["files"] = json!({ path: "evil" });
        fs::write(&json, manifest.to_string()).expect("written");
        let ended = host.run_of(&["plugin", "pack", "dist", "--out", "evil.tar", "--force"]);
        assert!(ended.code == Some(42) && ended.stderr.contains("invalid manifest"), "{path}: {ended:?}");
    }
    assert!(!host.repository().join("evil.tar").exists() && Path::new(&bundle).exists());
}

// promise bundle.skill: A skill of an installed bundle is offered and activated, with the files that were signed.
#[test]
fn skill_of_a_bundle_is_activated_with_the_files_that_were_signed() {
    let (host, acme) = (Host::new(["run"]), Publisher::new("acme"));
    write(
        &host,
        &[
            ("plugin.toml", &manifest("1.0.0")),
            ("skills/greeting/SKILL.md", SKILL),
            ("skills/greeting/words.txt", "moin\n"),
            ("commands/greet.md", "Greet $ARGUMENTS"),
        ],
    );
    trust(&host, &acme);
    let bundle = signed(&host, &acme, "kit.tar");
    assert_eq!(install(&host, &[&bundle, "--user", "--yes"]).code, Some(0));
    let listed: Value = host.run_of(&["skill", "list", "--json"]).json();
    assert_eq!(listed[0]["source"], "plugin `acme/kit`", "{listed}");
    let skill = Path::new(listed[0]["path"].as_str().expect("a path")).to_owned();
    let words = skill.with_file_name("words.txt");
    // What changed it since is gone with the next start.
    fs::write(&words, "evil\n").expect("written");
    fs::write(&skill, SKILL.replace("Say hello", "Say evil")).expect("written");
    fs::write(skill.with_file_name("more.txt"), "evil\n").expect("written");

    let call = |name: &str, arguments: Value| json!({"call": {"name": name, "arguments": arguments}});
    let replies = [
        json!({"chunks": [call("activate_skill", json!({"name": "greeting"}))]}),
        json!({"expect": {"responses": ["Say hello."]}, "chunks": [call("read_file", json!({"path": words}))]}),
        json!({"expect": {"responses": ["moin"]}, "chunks": [{"text": "Done."}]}),
    ];
    let script = host.home().join("next.jsonl");
    fs::write(&script, replies.map(|reply| format!("{reply}\n")).concat()).expect("written");
    let run = |prompt: &str| {
        let model = format!("scripted:{}", script.display());
        host.end(host.command_of(&["run", "--yolo", "--model", &model, prompt]))
    };
    let ended = run("Greet");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert!(!skill.with_file_name("more.txt").exists());

    // Its commands, too.
    fs::write(&script, json!({"expect": {"last_text": "Greet you"}, "chunks": [{"text": "Hello."}]}).to_string())
        .expect("written");
    let ended = run("/greet you");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
}

// promise bundle.hook: A hook of an installed bundle is agreed to with the rest, and sees each call.
#[test]
fn hook_of_a_bundle_guards_calls() {
    let (host, acme) = (Host::new(["run"]), Publisher::new("acme"));
    write(&host, &[("plugin.toml", &manifest("1.0.0")), ("hooks/safety.toml", "events = [\"PreToolUse\"]\n")]);
    fs::write(host.repository().join("kit/hooks/safety.wasm"), guest("safety").component().expect("it is read"))
        .expect("written");
    trust(&host, &acme);
    let bundle = signed(&host, &acme, "kit.tar");
    let ended = install(&host, &[&bundle, "--user"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("brings the hook `safety`"), "{ended:?}");
    assert_eq!(install(&host, &[&bundle, "--user", "--yes"]).code, Some(0));
    let listed: Value = host.run_of(&["hooks", "list", "--json"]).json();
    assert_eq!((&listed[0]["plugin"], &listed[0]["event"]), (&json!(true), &json!("PreToolUse")), "{listed}");

    let script = host.home().join("next.jsonl");
    let model = format!("scripted:{}", script.display());
    let run = |command: &str, expected: &str| {
        let call = json!({"call": {"name": "shell", "arguments": {"command": command}}});
        let replies =
            [json!({"chunks": [call]}), json!({"expect": {"responses": [expected]}, "chunks": [{"text": "Done."}]})];
        fs::write(&script, replies.map(|reply| format!("{reply}\n")).concat()).expect("written");
        let ended = host.end(host.command_of(&["run", "--yolo", "--model", &model, "Go"]));
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
    };
    run("rm -rf build", "the hook `safety of acme/kit` denied it");
    run("echo fine", "fine");

    // One that is not a hook is found when it is installed.
    write(&host, &[("plugin.toml", &manifest("1.1.0")), ("hooks/safety.toml", "events = [\"Never\"]\n")]);
    let bundle = signed(&host, &acme, "kit-1.1.tar");
    let ended = install(&host, &[&bundle, "--user", "--yes"]);
    assert!(ended.code == Some(52) && ended.stderr.contains("the hook `safety` of the plugin"), "{ended:?}");
}
