//! Activating a skill, by the model and by the user: what is read, recorded, limited and kept.

use host_tests::pty::Pty;

use super::*;

// promise skills.activated: A skill's instructions come when it is activated, by the model or by `/NAME`; then its own
//   files can be read, and those of no other skill.
#[test]
fn skill_is_activated_by_the_model_and_its_folder_alone_can_be_read_then() {
    let host = of_user(Host::new(["run"])).home_file(".agents/skills/other/notes.md", "of another\n");
    let folder = real(&host.home().join(".agents/skills/pdf"));
    let inside = folder.join("ref.md").display().to_string();
    let sibling = folder.with_file_name("other").join("notes.md").display().to_string();
    std::os::unix::fs::symlink(&sibling, folder.join("link.md")).expect("linked");
    let read = |path: &str| call("read_file", json!({"path": path}));
    let replies = [
        json!({"chunks": [read(&inside)]}),
        json!({"expect": {"responses": ["may not read"]}, "chunks": [activate("pdf")]}),
        json!({"expect": {"responses": ["Read ref.md first.\n\n  Then *fill*.\n[End: skill `pdf`]"]},
            "chunks": [read(&inside), read(&sibling), read(&format!("{}/link.md", folder.display()))]}),
        json!({"expect": {"responses": ["the reference", "", ""]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["Fill the form"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let log = host.session();
    let mut settled: Vec<&Value> = log.iter().filter(|entry| entry["type"] == "call_settled").collect();
    settled.sort_by_key(|entry| entry["call_id"].to_string());
    let status: Vec<&str> = settled.iter().map(|entry| entry["status"].as_str().expect("a status")).collect();
    assert_eq!(status, ["error", "success", "success", "error", "error"], "{settled:?}");
    assert!(!log.iter().any(|entry| entry.to_string().contains("of another")));
    let activation = settled[1].to_string();
    assert!(activation.contains("activate_skill") && activation.contains("`ref.md`"), "{activation}");
    assert!(activation.contains(&folder.display().to_string()), "{activation}");
}

// promise skills.activated
#[test]
fn skill_is_activated_by_its_name_with_the_users_words_and_files() {
    let host = of_user(Host::new(["run"])).file("form.txt", "the form\n").home_file(
        ".claude/skills/mine/SKILL.md",
        skill("mine", "Only for me.", "disable-model-invocation: true\n", "my own way"),
    );
    let words = json!({"expect": {"last_text": "/pdf fill @form.txt\n"}, "chunks": [done()]});
    let ended = run(&host, &[words], &["/pdf", "fill @form.txt"]);
    let told = host.session();
    let prompt = told.iter().find(|entry| entry["type"] == "content").expect("it was recorded");
    let parts = Host::texts(prompt);
    assert!(parts[0] == "/pdf fill @form.txt" && parts[1].contains("the form"), "{ended:?} {parts:?}");
    assert!(parts[2].starts_with("[Kept in full: skill `pdf`]\n") && parts[2].contains("Then *fill*."), "{parts:?}");

    let by_user = json!({"expect": {"last_text": "my own way"}, "chunks": [activate("mine")]});
    let by_model = json!({"expect": {"responses": ["mine"]}, "chunks": [done()]});
    let ended = run(&host, &[by_user, by_model], &["-c", "/mine"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!host.told().contains("- `mine`:"), "the model is not offered it");
    let text = json!({"expect": {"last_text": "/nothing here"}, "chunks": [done()]});
    assert_eq!(run(&host, &[text], &["-c", "/nothing here"]).code, Some(0), "what is no command stays text");
}

// promise skills.compressed
#[test]
fn skill_stays_word_for_word_after_compression_and_resume() {
    let host = of_user(Host::new(["run"]));
    let replies = [json!({"chunks": [activate("pdf")]}), json!({"chunks": [done()]})];
    let long = format!("Remember: {}", "a long story. ".repeat(600));
    assert_eq!(run(&host, &replies, &[&long]).code, Some(0));
    assert_eq!(run(&host, &[json!({"chunks": [done()]})], &["-c", "And then?"]).code, Some(0));
    for _ in 0..2 {
        let summary = json!({"expect": {"last_text": "write a summary"}, "chunks": [{"text": "a summary"}]});
        let ended = run(&host, &[summary], &["-c", "/compress"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(run(&host, &[json!({"chunks": [done()]})], &["-c", &long]).code, Some(0));
    }
    let log = host.session();
    let replaced: Vec<&Value> = log.iter().filter(|entry| entry["type"] == "history_replaced").collect();
    assert_eq!(replaced.len(), 2);
    for replaced in replaced {
        let parts = replaced["contents"][0]["parts"].as_array().expect("parts");
        let kept: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .filter(|text| text.starts_with("[Kept in full: skill `pdf`]"))
            .collect();
        assert!(
            kept.len() == 1 && kept[0].ends_with("Read ref.md first.\n\n  Then *fill*.\n[End: skill `pdf`]"),
            "{parts:?}"
        );
    }
    // Its folder can still be read, by a process that never activated it.
    let inside = real(&host.home().join(".agents/skills/pdf/ref.md"));
    let replies = [
        json!({"chunks": [call("read_file", json!({"path": inside.display().to_string()}))]}),
        json!({"expect": {"responses": ["the reference"]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["-c", "Look again"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

// promise skills.changed: A skill that changed on disk since it was activated, or since its project was trusted, is
//   noticed.
#[test]
fn skill_that_changed_meanwhile_is_noticed() {
    let host = of_user(Host::new(["run"]));
    let replies = [json!({"chunks": [activate("pdf")]}), json!({"chunks": [done()]})];
    assert_eq!(run(&host, &replies, &["Fill"]).code, Some(0));
    let host = host.home_file(".agents/skills/pdf/SKILL.md", skill("pdf", "Fills forms.", "", "another way"));
    let ended = run(&host, &[json!({"chunks": [done()]})], &["-c", "Go on"]);
    assert!(ended.stderr.contains("the skill `pdf` has changed since this session activated it"), "{ended:?}");
    let new = json!({"expect": {"last_text": "another way"}, "chunks": [done()]});
    assert_eq!(run(&host, &[new], &["-c", "/pdf"]).code, Some(0));
    assert_eq!(run(&host, &[json!({"chunks": [done()]})], &["-c", "Go on"]).stderr, "", "it is the one that is used");
    std::fs::remove_dir_all(host.home().join(".agents")).expect("it was there");
    let ended = run(&host, &[json!({"chunks": [done()]})], &["-c", "Go on"]);
    assert!(ended.stderr.contains("the skill `pdf`, which this session uses, no longer exists"), "{ended:?}");
}

// promise skills.narrow
#[test]
fn skill_limits_its_run_and_allows_nothing() {
    let narrow = skill("narrow", "Reads.", "allowed-tools: Read Bash(make:*) Frobnicate\n", "Only read.");
    let write = || call("write_file", json!({"path": "made.txt", "content": "x"}));
    let shell = |line: &str| call("shell", json!({"command": line}));
    let denied = "the skill `narrow` limits this run to other tools";
    // In the mode that asks for nothing, the skill takes away.
    let host = Host::new(["run"]).home_file(".agents/skills/narrow/SKILL.md", &narrow);
    let replies = [
        json!({"chunks": [activate("narrow"), write(), shell("make; touch made.txt"), call("ls", json!({}))]}),
        json!({"expect": {"responses": ["Only read.", denied, denied, ""]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["--yolo", "Go"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!host.repository().join("made.txt").exists());
    // The next prompt begins without the limit.
    let replies = [json!({"chunks": [write()]}), json!({"expect": {"responses": ["made.txt"]}, "chunks": [done()]})];
    assert_eq!(run(&host, &replies, &["--yolo", "-c", "Now write"]).code, Some(0));
    assert!(host.repository().join("made.txt").exists());
    // By name it limits as well, and the user reads that.
    std::fs::remove_file(host.repository().join("made.txt")).expect("it was there");
    let replies = [json!({"chunks": [write()]}), json!({"expect": {"responses": [denied]}, "chunks": [done()]})];
    let ended = run(&host, &replies, &["--yolo", "-c", "/narrow"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = "the skill `narrow`: its `allowed-tools` limit this run to `read_file`, `read_many_files`, `shell` with commands \
                that begin with `make`, tools that only read; they allow nothing that is asked about or denied; there is no tool `Frobnicate`";
    assert!(ended.stderr.contains(said), "{ended:?}");
    // What the list names is not allowed by it.
    let replies = [
        json!({"chunks": [shell("make")]}),
        json!({"expect": {"responses": ["has no process grant"]}, "chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["-c", "/narrow"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

// promise skills.scripts: Where programs are confined, they may read and run the files of a skill, and cannot change
//   them.
#[test]
fn skill_script_runs_confined_and_its_folder_stays_as_it_is() {
    let host = Host::new(["run"])
        .home_file(".agents/skills/pdf/SKILL.md", skill("pdf", "Fills forms.", "", "Run run.sh."))
        .home_file(".agents/skills/pdf/run.sh", "echo ran > \"$1\"; echo changed > \"$(dirname \"$0\")/SKILL.md\"\n")
        .file(".agents/skills/own/SKILL.md", skill("own", "Of the project.", "", "x"));
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let script = real(&host.home().join(".agents/skills/pdf")).join("run.sh");
    let line = format!("sh {} made.txt; echo changed > .agents/skills/own/SKILL.md", script.display());
    let replies = [
        json!({"chunks": [activate("pdf")]}),
        json!({"chunks": [call("shell", json!({"command": line}))]}),
        json!({"chunks": [done()]}),
    ];
    let ended = run(&host, &replies, &["--approval-mode", "auto", "Go"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let made = std::fs::read_to_string(host.repository().join("made.txt"));
    assert_eq!(made.ok().as_deref(), Some("ran\n"), "{:?}", host.session().last());
    for path in [script.with_file_name("SKILL.md"), host.repository().join(".agents/skills/own/SKILL.md")] {
        assert!(!std::fs::read_to_string(&path).expect("it is there").contains("changed"), "{}", path.display());
    }
}

// promise skills.menu: The menu of a conversation lists skills with their source; a built-in command wins over one of
//   its name, which is said once.
#[test]
fn skill_is_in_the_menu_with_its_source_and_runs_from_there() {
    let words = json!({"expect": {"last_text": "Then *fill*."}, "chunks": [{"text": "Filled."}]});
    let host = of_user(Host::scripted(&[words], &[]))
        .home_file(".claude/skills/review/SKILL.md", skill("review", "Another review.", "", "x"));
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.saw("`/review` runs the built-in command, not `review` (user's skill)").sees("default › ");
    pty.types("/pd").sees("Fills forms. (user's skill)");
    pty.types("\t the form\r").saw("Filled.").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}
