//! Files outside of the workspace: asked about, added with `--add-dir`, attached with `@`, and how none of it reaches
//! further.

use std::os::unix::fs::symlink;

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
