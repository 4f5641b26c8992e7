//! Files outside of the workspace: asked about, added with `--add-dir`, attached with `@`, and how none of it reaches
//! further.

use std::os::unix::fs::symlink;

use host_tests::host::guest_file;

use super::*;

/// Beside the workspace: `dir/a.txt` with `TOLD`, `dir2/a.txt` with `UNTOLD`, a link `dir/out` that leads out of `dir`.
struct Beside {
    _folder: tempfile::TempDir,
    root: String,
}

impl Beside {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("there");
        for (name, text) in [("dir/a.txt", "TOLD"), ("dir/b.txt", "TOLD TOO"), ("dir2/a.txt", "UNTOLD")] {
            std::fs::create_dir_all(root.join(name).parent().expect("it is in a folder")).expect("made");
            std::fs::write(root.join(name), text).expect("written");
        }
        symlink(root.join("dir2/a.txt"), root.join("dir/out")).expect("linked");
        Self { root: root.display().to_string(), _folder: folder }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }
}

fn read(path: &str) -> Value {
    call("read_file", json!({ "path": path }))
}

// promise reading.asked
#[test]
fn approvals_reading_outside_is_asked_about_by_every_tool_that_reads() {
    let beside = Beside::new();
    let (file, folder) = (beside.path("dir/a.txt"), beside.path("dir"));
    for (call, path) in [
        (read(&file), &file),
        (call("ls", json!({"path": folder})), &folder),
        (call("grep", json!({"pattern": "TOLD", "path": folder})), &folder),
        (call("glob", json!({"pattern": "*.txt", "path": folder})), &folder),
    ] {
        for (key, told) in [("y", "a.txt"), ("n", DECLINED)] {
            let told = if key == "y" && path == &file { "TOLD" } else { told };
            let host = calling(std::slice::from_ref(&call), &[told], &[]);
            let mut pty = begin(&host, Way::Task, 120, 30);
            pty.sees("wants to read outside of the workspace:").sees(&format!("│ {path}"));
            pty.sees(&format!("2 s  Yes, for this session: reading anything in `{folder}`"));
            answers(&mut pty, "wants to read", key);
            done(&mut pty, Way::Task);
        }
    }
}

// promise reading.folder
#[test]
fn approvals_answer_for_a_folder_covers_it_and_neither_its_sibling_nor_what_its_links_lead_to() {
    let beside = Beside::new();
    for way in WAYS {
        let paths = ["dir/a.txt", "dir/b.txt", "dir/out", "dir2/a.txt", "DIR/a.txt"].map(|name| beside.path(name));
        let calls: Vec<Value> = paths.iter().map(|path| read(path)).collect();
        let told = ["TOLD TOO", "symbolic link", DECLINED, "may not read"];
        // Calls of one turn ask in any order.
        let replies = [
            json!({"chunks": [calls[0]]}),
            json!({"expect": {"responses": ["TOLD"]}, "chunks": calls[1..]}),
            json!({"expect": {"responses": told}, "chunks": [{"text": "All is done."}]}),
        ];
        let host = Host::scripted(&replies, &[]);
        let mut pty = begin(&host, way, 120, 40);
        answers(&mut pty, "dir/a.txt", "s");
        answers(&mut pty, &format!("│ {}", paths[3]), "n");
        done(&mut pty, way);
        assert_eq!(pty.everything().matches("wants to read").count(), 2, "{}", pty.everything());
        assert_eq!(rules(&host), None);
    }
}

// promise reading.secrets
#[test]
fn approvals_secrets_are_refused_without_a_question() {
    let secrets = ["{HOME}/.ssh/id", "{HOME}/.config/gh/hosts.yml", "/etc/shadow", "/proc/self/environ"];
    let host = Host::scripted(&[], &[]).home_file(".ssh/id", "SECRET").home_file(".config/gh/hosts.yml", "SECRET");
    let home = std::fs::canonicalize(host.home()).expect("there").display().to_string();
    let calls: Vec<Value> = secrets.iter().map(|path| read(&path.replace("{HOME}", &home))).collect();
    let told = ["may not read"; 4];
    let replies =
        [json!({"chunks": calls}), json!({"expect": {"responses": told}, "chunks": [{"text": "All is done."}]})];
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(host.home().join("script.jsonl"), lines).expect("written");
    // Not even where the folder around them was added.
    let host = host.args(&["--add-dir", &home]);
    let mut pty = begin(&host, Way::Task, 120, 40);
    done(&mut pty, Way::Task);
    assert!(!pty.everything().contains("wants to") && !pty.everything().contains("SECRET"), "{}", pty.everything());
}

// promise reading.asked
#[test]
fn approvals_reading_outside_is_refused_headless_with_the_flag_that_allows_it() {
    let beside = Beside::new();
    let (file, folder) = (beside.path("dir/a.txt"), beside.path("dir"));
    let script = |told: &str| {
        [
            json!({"chunks": [read(&file)]}),
            json!({"expect": {"responses": [told]}, "chunks": [{"text": "All is done."}]}),
        ]
    };
    for mode in ["plan", "default", "yolo"] {
        let ended = Host::scripted(&script(&format!("--add-dir {folder}")), &["--approval-mode", mode, "Do it"]).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains("refused: `read_file` may not read"), "{ended:?}");
        assert!(ended.stderr.contains(&format!("or --add-dir {folder}")), "{ended:?}");
        // The flag does what it says.
        let allowed = Host::scripted(&script("TOLD"), &["--approval-mode", mode, "--add-dir", &folder, "Do it"]).run();
        assert_eq!((allowed.code, allowed.stderr.as_str()), (Some(0), ""), "{allowed:?}");
    }
}

// promise folders.added: A folder that is added is read and changed like the workspace, and no other.
#[test]
fn approvals_added_folder_is_like_the_workspace_and_its_protected_names_hold() {
    let beside = Beside::new();
    let calls = [
        write(&beside.path("dir/new.txt"), "NEW"),
        write(&beside.path("dir2/new.txt"), "NEW"),
        write(&beside.path("dir/.git/config"), "NEW"),
        write(&beside.path("dir/.bashrc"), "NEW"),
        write(&beside.path("dir/out"), "NEW"),
        read(&beside.path("dir/.env")),
        read(&beside.path("dir2/a.txt")),
    ];
    std::fs::write(beside.path("dir/.env"), "UNTOLD").expect("written");
    let told = ["new.txt", "", "protected", "protected", "", "may not read", "may not read"];
    let arguments =
        ["--approval-mode", "auto-edit", "--add-dir", &beside.path("dir"), "--deny", "*:fs-read=.env", "Do it"];
    let ended = calling(&calls, &told, &arguments).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let there = |name: &str| std::path::Path::new(&beside.path(name)).exists();
    assert!(there("dir/new.txt") && !there("dir2/new.txt") && !there("dir/.git") && !there("dir/.bashrc"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(beside.path("dir2/a.txt")).expect("there"), "UNTOLD");
    for (folder, why) in [("/", "the root of the system"), ("/etc/ssh", "cannot add"), ("none", "cannot add")] {
        let ended = calling(&[], &[], &["--add-dir", folder, "Do it"]).run();
        assert!(ended.code == Some(42) && ended.stderr.contains(why), "{folder}: {ended:?}");
    }
}

// promise folders.added
#[test]
fn approvals_folder_is_added_listed_and_taken_back_in_a_conversation() {
    let beside = Beside::new();
    let (file, folder) = (beside.path("dir/a.txt"), beside.path("dir"));
    let again = |told: &str| {
        [
            json!({"chunks": [read(&file)]}),
            json!({"expect": {"responses": [told]}, "chunks": [{"text": "All is done."}]}),
        ]
    };
    let replies = [again("TOLD"), again(DECLINED)].concat();
    let host = Host::scripted(&replies, &[]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 40);
    pty.sees("default › ").types("/add-dir\r").sees("`/add-dir` needs a folder");
    pty.types("/add-dir /etc/ssh\r").sees("cannot add the folder `/etc/ssh`");
    pty.types(&format!("/add-dir {folder}\r")).sees("like the workspace, for this session");
    pty.types("Go\r").saw("All is done.").sees("default › ").types("/permissions\r");
    pty.sees(&format!("  1  this session  reading and changing `{folder}` like the workspace"));
    pty.types("/permissions forget 1\r").sees("no longer allowed: reading and changing").types("Go\r");
    answers(&mut pty, "wants to read outside of the workspace", "n");
    leaves(&mut pty, Way::Talk);
}

// promise reading.typed: A path that the user types after an `@` may be read; one that a model, a file or a pipe writes
//   may not.
#[test]
fn approvals_path_that_the_user_types_counts_as_asked_about_and_no_other_does() {
    let beside = Beside::new();
    let (file, sibling) = (beside.path("dir/a.txt"), beside.path("dir/b.txt"));
    let replies = [
        json!({"expect": {"last_text": "TOLD"}, "chunks": [read(&file), read(&sibling), read("@/etc/hostname")]}),
        json!({
            "expect": {"responses": ["TOLD", DECLINED, ""]},
            "chunks": [{"text": format!("All is done. @{sibling} @/etc/hostname")}],
        }),
        json!({"chunks": [{"text": "Again done."}]}),
    ];
    let host = Host::scripted(&replies, &[]).file("AGENTS.md", format!("See @{sibling}\n"));
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 40);
    pty.sees("default › ").types(&format!("See @{file}\r"));
    pty.saw(&format!("tools may read `{file}`, outside of the workspace, for this session"));
    answers(&mut pty, &format!("│ {sibling}"), "n");
    pty.saw("All is done.").sees("default › ").types("Go on\r").saw("Again done.").sees("default › ");
    pty.types("/permissions\r").sees(&format!("  1  this session  reading `{file}`"));
    assert!(!pty.everything().contains("TOLD TOO"), "{}", pty.everything());
    leaves(&mut pty, Way::Talk);
    // In a script nobody typed it.
    let ended = Host::scripted(&[], &[&format!("See @{file}")]).run();
    assert!(ended.code == Some(42) && ended.stderr.contains("cannot be attached"), "{ended:?}");
}

/// Runs the calls of one reply at a terminal, with these answers to the questions that have these words. Returns what
/// was shown.
fn answering(host: &Host, dialogue: &[(&str, &str)]) -> String {
    let mut pty = begin(host, Way::Task, 140, 40);
    for (asked, key) in dialogue {
        answers(&mut pty, asked, key);
    }
    done(&mut pty, Way::Task);
    let everything = pty.everything();
    assert_eq!(everything.matches("wants to").count(), dialogue.len(), "{everything}");
    everything
}

fn text(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// What the model was sent, and all else that the session recorded.
fn recorded(host: &Host) -> String {
    host.session().iter().map(|line| format!("{line}\n")).collect()
}

const TO_READ: &str = "wants to read outside of the workspace";
const TO_CHANGE: &str = ", outside of the workspace";

// promise writing.asked
#[test]
fn approvals_writing_outside_is_asked_about_by_every_tool_that_writes() {
    for mode in ["default", "auto-edit", "yolo"] {
        let beside = Beside::new();
        let (file, new, folder) = (beside.path("dir/a.txt"), beside.path("dir/sub/new.txt"), beside.path("dir"));
        let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-TOLD\n+PATCHED\n*** End Patch\n");
        for (call, path, content, configuration) in [
            (edit(&file, "TOLD", "EDITED"), &file, "EDITED", ""),
            (write(&file, "WRITTEN"), &file, "WRITTEN", ""),
            (call("apply_patch", json!({ "patch": patch })), &file, "PATCHED", "editing = \"patch\"\n"),
            (edit(&new, "", "MADE"), &new, "MADE", ""),
            (write(&new, "MADE"), &new, "MADE", ""),
        ] {
            let is_new = path == &new;
            let before = if is_new { None } else { Some("TOLD".to_owned()) };
            for key in ["n", "y"] {
                let told = if key == "y" { "" } else { DECLINED };
                let host = calling(std::slice::from_ref(&call), &[told], &["--approval-mode", mode]);
                let host = host.configured(configuration);
                let mut pty = begin(&host, Way::Task, 140, 40);
                if !is_new {
                    answers(&mut pty, TO_READ, "y");
                }
                pty.sees(&format!("it changes `{path}`, outside of the workspace"));
                let offered = if is_new { format!("{folder}/sub") } else { folder.clone() };
                pty.sees(&format!("2 s  Yes, for this session: reading and changing anything in `{offered}`"));
                assert!(!pty.screen().contains("Always in this folder"), "{}", pty.screen());
                answers(&mut pty, TO_CHANGE, key);
                done(&mut pty, Way::Task);
                let shown = pty.everything();
                let expected = if key == "y" { Some(content.to_owned()) } else { before.clone() };
                assert_eq!(text(path).map(|text| text.trim_end().to_owned()), expected, "{mode} {key}: {shown}");
            }
            std::fs::write(&file, "TOLD").expect("written");
            std::fs::remove_dir_all(beside.path("dir/sub")).ok();
        }
    }
}

// promise writing.folder
#[test]
fn approvals_answer_about_changing_a_folder_covers_it_and_no_other_and_is_undone() {
    let beside = Beside::new();
    let names = ["dir/a.txt", "dir/b.txt", "dir/new.txt", "dir2/new.txt", "dir/out", "dir/.git/config"];
    let calls: Vec<Value> = names.iter().map(|name| write(&beside.path(name), "NEW")).collect();
    let replies = [
        json!({"chunks": calls[..4]}),
        json!({"expect": {"responses": ["", "", "", DECLINED]}, "chunks": calls[4..]}),
        json!({"expect": {"responses": ["", "protected"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, &[]);
    // The preview of the first one reads what it replaces, which is asked about by itself.
    let dialogue = [(TO_READ, "y"), (TO_CHANGE, "s"), ("dir2/new.txt`, outside", "n")];
    answering(&host, &dialogue);
    for (name, expected) in names.iter().zip([Some("NEW"), Some("NEW"), Some("NEW"), None, Some("UNTOLD"), None]) {
        assert_eq!(text(&beside.path(name)).as_deref(), expected, "{name}");
    }
    assert_eq!(rules(&host), None, "it is stored nowhere");
    // What the session changed elsewhere is taken back like everything else.
    let undone = host.run_of(&["undo", "--to", "1"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    for (name, expected) in [("dir/a.txt", Some("TOLD")), ("dir/b.txt", Some("TOLD TOO")), ("dir/new.txt", None)] {
        assert_eq!(text(&beside.path(name)).as_deref(), expected, "{name}: {undone:?}");
    }
}

// promise writing.never: Nobody is asked about changing keys and passwords, the host's own files, what is denied, or
//   what other programs obey, nor about a name that leads elsewhere: it is refused.
#[test]
fn approvals_writing_what_no_answer_may_allow_is_refused_without_a_question() {
    let in_home = [
        (".ssh/authorized_keys", "may not"),
        (".aws/credentials", "may not"),
        (".bashrc", "protected"),
        (".config/host/notes.md", "may not"),
        (".config/autostart/x.desktop", "may not"),
        (".codex/hooks.json", "protected"),
        (".claude/settings.json", "protected"),
    ];
    let elsewhere = [("dir/.git/config", "protected"), ("dir/key.pem", "may not"), ("linked/a.txt", "symbolic link")];
    // What is there is not told apart from what is not.
    for (mode, is_there) in [("default", true), ("default", false), ("auto-edit", true), ("yolo", false)] {
        let arguments = ["--approval-mode", mode, "--deny", "*:fs-read=*.pem", "--deny", "*:fs-write=*.pem"];
        let (beside, host) = (Beside::new(), Host::scripted(&[], &arguments));
        symlink(beside.path("dir2"), beside.path("linked")).expect("linked");
        let home = std::fs::canonicalize(host.home()).expect("there").display().to_string();
        let at_home = in_home.iter().map(|(name, why)| (format!("{home}/{name}"), *why));
        let rows: Vec<_> = at_home.chain(elsewhere.iter().map(|(name, why)| (beside.path(name), *why))).collect();
        for (path, _) in rows.iter().filter(|(path, _)| is_there && !path.contains("/linked/")) {
            std::fs::create_dir_all(std::path::Path::new(path).parent().expect("a folder")).expect("made");
            std::fs::write(path, "MINE").expect("written");
        }
        let calls = rows.iter().flat_map(|(path, _)| [write(path, "EVIL"), edit(path, "MINE", "EVIL")]);
        let told: Vec<&str> = rows.iter().flat_map(|(_, why)| [*why, why]).collect();
        let (calls, told) = (json!({"chunks": calls.collect::<Vec<_>>()}), json!({"responses": told}));
        let last = json!({"expect": told, "chunks": [{"text": "All is done."}]});
        std::fs::write(host.home().join("script.jsonl"), format!("{calls}\n{last}\n")).expect("written");
        answering(&host, &[]);
        for (path, _) in &rows {
            assert!(text(path).is_none_or(|text| !text.contains("EVIL")), "{mode} {path}");
        }
        assert_eq!(text(&beside.path("dir2/a.txt")).as_deref(), Some("UNTOLD"));
    }
}

// promise writing.asked
#[test]
fn approvals_writing_outside_is_refused_headless_and_in_plan_mode_with_what_to_do() {
    let beside = Beside::new();
    let (file, new, folder) = (beside.path("dir/a.txt"), beside.path("dir/new.txt"), beside.path("dir"));
    let flag = format!("--add-dir {folder}");
    let calls = [write(&file, "NEW"), edit(&file, "TOLD", "NEW"), write(&new, "NEW"), edit(&new, "none", "NEW")];
    for (mode, why) in
        [("default", flag.as_str()), ("auto-edit", &flag), ("yolo", &flag), ("plan", "plan mode only reads")]
    {
        let ended = calling(&calls, &[why; 4], &["--approval-mode", mode, "Do it"]).run();
        assert_eq!(
            (ended.code, text(&file).as_deref(), text(&new)),
            (Some(0), Some("TOLD"), None),
            "{mode}: {ended:?}"
        );
    }
    // The flag does what it says.
    let allowed = ["--approval-mode", "auto-edit", "--add-dir", &folder, "Do it"];
    let ended = calling(&calls, &["", "", "", ""], &allowed).run();
    assert_eq!((text(&file).as_deref(), text(&new).as_deref()), (Some("NEW"), Some("NEW")), "{ended:?}");
}

// promise writing.unread: What a call would change outside of the workspace is not read before the user allows it: no
//   error of the call tells the model what is there.
#[test]
fn approvals_edit_tells_nothing_of_a_file_outside_before_it_may_be_read() {
    for (key, is_told) in [("n", false), ("y", true)] {
        let beside = Beside::new();
        let file = beside.path("dir/a.txt");
        std::fs::write(&file, "the word is 3141592653\nand more\n").expect("written");
        // Nearest lines are shown for an edit that finds nothing.
        let told = if is_told { "3141592653" } else { DECLINED };
        let host = calling(&[edit(&file, "the word is 2718281828\nand more\n", "x")], &[told], &[]);
        answering(&host, &[(TO_READ, key)]);
        assert_eq!(recorded(&host).contains("3141592653"), is_told);
    }
}

// promise writing.unread
#[tokio::test]
async fn approvals_preview_of_a_plugin_reads_nothing_outside_before_the_answer() {
    for (key, is_told) in [("n", false), ("y", true)] {
        let beside = Beside::new();
        let file = beside.path("dir/a.txt");
        std::fs::write(&file, "the word is 3141592653\n").expect("written");
        let told = if is_told { "3141592653" } else { DECLINED };
        // It reports what it read as the reason why it cannot be previewed.
        let host = calling(&[call("peek", json!({ "path": file }))], &[told], &["--plugin", "dist"]);
        let host = host.file("dist/notes.txt", "");
        guest_file("reach", &host.repository().join("dist")).await;
        answering(&host, &[(TO_READ, key)]);
        assert_eq!(recorded(&host).contains("3141592653"), is_told);
    }
}

// promise writing.asked
#[test]
fn approvals_link_that_is_swapped_in_after_the_question_gets_nothing_written() {
    for (is_new, is_swapped) in [(false, true), (true, true), (false, false), (true, false)] {
        let beside = Beside::new();
        let name = if is_new { "new.txt" } else { "a.txt" };
        let (shown, aside) = (beside.path(&format!("dir/{name}")), beside.path(&format!("dir2/{name}")));
        let host = calling(&[write(&shown, "EVIL")], &[""], &[]);
        let mut pty = begin(&host, Way::Task, 140, 40);
        if !is_new {
            answers(&mut pty, TO_READ, "y");
        }
        pty.until(TO_CHANGE, |screen| screen.contains(TO_CHANGE) && listens(screen));
        if is_swapped {
            std::fs::rename(beside.path("dir"), beside.path("old")).expect("moved");
            symlink(beside.path("dir2"), beside.path("dir")).expect("linked");
            // Whoever follows the name that was shown ends in the other folder.
            assert_eq!(
                std::fs::canonicalize(beside.path("dir")).expect("there"),
                std::path::Path::new(&beside.path("dir2"))
            );
        }
        answers(&mut pty, TO_CHANGE, "y");
        done(&mut pty, Way::Task);
        let expected = if is_new { None } else { Some("UNTOLD".to_owned()) };
        assert_eq!(text(&aside), expected, "{}", pty.everything());
        // The control: with nothing swapped in, the same call writes.
        assert_eq!(text(&shown).as_deref() == Some("EVIL"), !is_swapped, "{}", pty.everything());
    }
}

// promise writing.unread
#[test]
fn approvals_file_that_appears_after_the_question_is_neither_read_nor_replaced() {
    for appears in [true, false] {
        let beside = Beside::new();
        let new = beside.path("dir/new.txt");
        let host = calling(&[write(&new, "MADE")], &[""], &[]);
        let mut pty = begin(&host, Way::Task, 140, 40);
        pty.until(TO_CHANGE, |screen| screen.contains(TO_CHANGE) && listens(screen));
        if appears {
            std::fs::write(&new, "3141592653").expect("written");
        }
        answers(&mut pty, TO_CHANGE, "y");
        done(&mut pty, Way::Task);
        assert_eq!(text(&new).as_deref(), Some(if appears { "3141592653" } else { "MADE" }), "{}", pty.everything());
        assert!(!recorded(&host).contains("3141592653"));
    }
}
