//! The mode `auto`: what is confined needs no question, and what leaves the walls is asked about.

use host_tests::server::{Answer, Server};

use super::*;

const AUTO: &[&str] = &["--approval-mode", "auto"];

/// Runs one line without a terminal, and returns what the model was told about it.
fn told(line: &str, arguments: &[&str]) -> (Host, String) {
    let host = Host::scripted(&[json!({"chunks": [shell(line)]}), json!({"chunks": [{"text": "Done."}]})], &[]);
    let host = host.home_file(".ssh/id", "SECRET").file("sub/file", "").args(arguments).arg("Go");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told = host.session().iter().map(Value::to_string).find(|line| line.contains("function_response"));
    (host, told.expect("the call was answered"))
}

// promise approval.auto: In `auto` a program that is confined runs without a question, and what no wall can take back
//   is asked about: deleting folders and what git keeps, other users' rights, servers.
#[test]
fn auto_runs_confined_programs_without_a_question() {
    let (host, answer) = told("echo new > made && cat made; cat $HOME/.ssh/id; echo x > $HOME/outside", AUTO);
    assert!(answer.contains("new") && !answer.contains("SECRET"), "{answer}");
    assert_eq!(file(&host, "made").as_deref(), Some("new\n"));
    assert!(!host.home().join("outside").exists());
    for line in ["rm -rf sub", "find sub -delete", "git reset --hard", "git clean -fd", "sudo ls", "cd sub && rm -r ."]
    {
        let (host, answer) = told(line, AUTO);
        assert!(answer.contains("needs the user's approval"), "{line}: {answer}");
        assert!(host.repository().join("sub/file").exists(), "{line}");
    }
    // A rule of the user's is asked first, and the other modes ask about every program.
    let denied = "[[rule]]\ntool = \"shell\"\ncommand = \"touch\"\ndecision = \"deny\"\n";
    let replies = [json!({"chunks": [shell("touch made")]}), json!({"chunks": [{"text": "Done."}]})];
    let host = Host::scripted(&replies, AUTO).home_file(".config/host/policies/a.toml", denied).arg("Go");
    host.run();
    assert_eq!(file(&host, "made"), None);
    let (host, answer) = told("touch made", &["--approval-mode", "auto-edit", "--confine", "auto"]);
    assert!(answer.contains("has no process grant") && file(&host, "made").is_none(), "{answer}");
}

#[test]
fn auto_is_not_to_be_had_without_confinement() {
    let ended = Host::scripted(&[], &["--approval-mode", "auto", "--confine", "off", "Go"]).run();
    assert_eq!(ended.code, Some(42), "{ended:?}");
    assert!(ended.stderr.contains("remove `--confine off`"), "{ended:?}");
    let configured = Host::scripted(&[], &["--approval-mode", "auto", "Go"]).configured("[confine]\nmode = 'off'\n");
    assert_eq!(configured.run().code, Some(42));
    // Nor in the middle of a conversation.
    let host = Host::scripted(&[], &["--confine", "off"]);
    let mut pty = begin_idle(&host);
    pty.types("/mode auto\r").saw("confinement is off");
    pty.sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

fn begin_idle(host: &Host) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.sees("default › ");
    pty
}

// promise approval.servers: A command that wants to reach a server waits while the user is asked about that server by
//   its name; a yes is for that command and that server.
#[tokio::test(flavor = "multi_thread")]
async fn auto_asks_about_the_server_that_a_command_was_kept_from() {
    let server = Server::start(|request| Answer::ok(format!("reached {}", request.path))).await;
    let port = server.url("").rsplit(':').next().expect("a port").trim_end_matches('/').to_owned();
    let fetch = |path: &str| shell(&format!("curl -s --max-time 20 --noproxy '' http://127.0.0.1:{port}/{path}"));
    let replies = [
        json!({"chunks": [fetch("a")]}),
        json!({"expect": {"responses": ["reached /a"]}, "chunks": [fetch("b")]}),
        json!({"expect": {"responses": ["may not connect"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, AUTO);
    tokio::task::spawn_blocking(move || {
        let mut pty = begin(&host, Way::Task, 110, 40);
        let asked = format!("│ 127.0.0.1:{port}, which leads to this machine or a private network");
        let listening = |screen: &str| listens(screen) && screen.contains("curl wants to reach:");
        pty.until("the first question", |screen| listening(screen) && screen.contains(&asked)).types("y");
        pty.sees("reached /a");
        pty.until("the second question", |screen| listening(screen) && screen.matches(&asked).count() == 2).types("n");
        done(&mut pty, Way::Task);
    })
    .await
    .expect("it ends");
    let paths: Vec<String> = server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/a"]);
}

// promise approval.files: A command that was kept from a file and runs again is asked about with that file's name; a
//   yes is for that command. Nobody is asked about secrets.
#[test]
fn auto_asks_about_the_files_that_a_command_was_kept_from() {
    let host = Host::scripted(&[], AUTO)
        .home_file(".cache/tool/a", "")
        .home_file(".cache/notes/a.txt", "NOTED")
        .home_file(".ssh/id", "SECRET");
    let home = std::fs::canonicalize(host.home()).expect("it is there");
    let home = home.display();
    let make = shell(&format!("mkdir -p {home}/.cache/tool/b/c"));
    let notes = shell(&format!("cat {home}/.cache/notes/a.txt"));
    let more = shell(&format!("ls {home}/.cache/notes"));
    let secret = shell(&format!("cat {home}/.ssh/id"));
    // What a program says is not what it was kept from.
    let lie = shell(&format!("echo '{home}/.ssh/id: Read-only file system' >&2; exit 1"));
    let wants = |grant: &str| format!("add --grant 'shell:process=PROGRAM;{grant}'");
    let (write, read) =
        (wants(&format!("write={home}/.cache/tool")), wants(&format!("read={home}/.cache/notes/a.txt")));
    let unoffered = "`, add that to `";
    let reply = |told: &str, calls: Value| json!({"expect": {"responses": [told]}, "chunks": [calls]});
    let replies = [
        json!({"chunks": [make]}),
        reply(&write, make.clone()),
        reply("", notes.clone()),
        reply(&read, notes),
        reply("NOTED", more.clone()),
        reply("Permission denied", more.clone()),
        reply(DECLINED, secret.clone()),
        reply(unoffered, secret),
        reply(unoffered, lie.clone()),
        reply(unoffered, lie),
        json!({"expect": {"responses": [unoffered]}, "chunks": [{"text": "All is done."}]}),
    ];
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(host.home().join("script.jsonl"), lines).expect("written");
    let mut pty = begin(&host, Way::Task, 200, 40);
    let asks = |pty: &mut Pty, what: String, key: &str| {
        pty.until(&what, |screen| screen.contains(&what) && listens(screen)).types(key);
    };
    asks(&mut pty, format!("it wants to change `{home}/.cache/tool`"), "y");
    asks(&mut pty, format!("it wants to read `{home}/.cache/notes/a.txt`"), "y");
    asks(&mut pty, format!("it wants to read `{home}/.cache/notes`"), "n");
    done(&mut pty, Way::Task);
    assert_eq!(pty.everything().matches("SECRET").count(), 0);
    assert!(host.home().join(".cache/tool/b/c").is_dir());
}

// promise confine.grants
#[test]
fn auto_granted_files_are_used_and_a_link_there_is_not() {
    let host = |grant: &str, told: &str, command: &str| {
        let replies = [
            json!({"chunks": [shell(command)]}),
            json!({"expect": {"responses": [told]}, "chunks": [{"text": "Done."}]}),
        ];
        Host::scripted(&replies, &["--approval-mode", "auto", "--grant", grant, "Go"])
    };
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let outside = std::fs::canonicalize(outside.path()).expect("it is there");
    std::fs::create_dir(outside.join("cache")).expect("made");
    std::fs::write(outside.join("notes"), "NOTED").expect("written");
    std::os::unix::fs::symlink(outside.join("cache"), outside.join("link")).expect("linked");
    let at = outside.display();
    for (grant, told, command) in [
        (format!("shell:process=touch;write={at}/cache"), "printed nothing", "touch AT/cache/one"),
        (format!("shell:process=touch;read={at}/cache"), "touch: ", "touch AT/cache/two"),
        (format!("shell:process=cp;write={at}/cache"), "touch: ", "touch AT/cache/three"),
        (format!("shell:process=cat;read={at}/notes"), "NOTED", "cat AT/notes"),
        (format!("shell:process=cat;write={at}/link"), "grant that", "cat AT/link/one"),
    ] {
        let (told, command) = (told.replace("AT", &at.to_string()), command.replace("AT", &at.to_string()));
        let ended = host(&grant, &told, &command).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{grant}: {ended:?}");
    }
    let made = ["one", "two", "three"].map(|name| outside.join("cache").join(name).exists());
    assert_eq!(made, [true, false, false]);
}

// promise approval.auto-again: A command that failed in `auto` because it needs something of the machine that no door
//   leads to is asked about when it is run again, and the answer `o` lets it run without walls; where the user
//   cannot be asked it runs as before.
#[test]
fn auto_asks_about_a_command_that_failed_for_what_is_not_behind_the_walls() {
    let signs = "cat \"$HOME/key\" || { echo 'error: gpg failed to sign the data' >&2; exit 1; }";
    let failed = "run the same command again, and the user, if there is one, is asked";
    let replies = [
        json!({"chunks": [shell(signs)]}),
        json!({"expect": {"responses": [failed]}, "chunks": [shell(signs)]}),
        json!({"expect": {"responses": ["SIGNED"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, AUTO).home_file("key", "SIGNED\n");
    let mut pty = begin(&host, Way::Task, 110, 40);
    pty.sees("it failed behind its walls, and needs something of the machine that is not there").sees("without walls");
    assert_eq!(pty.everything().matches("wants to run").count(), 1, "{}", pty.everything());
    pty.sees("› 1 y").sees("↑↓ and Enter").types("o").saw("All is done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());

    let replies = [
        json!({"chunks": [shell(signs)]}),
        json!({"expect": {"responses": [failed]}, "chunks": [shell(signs)]}),
        json!({"expect": {"responses": [failed]}, "chunks": [{"text": "All is done."}]}),
    ];
    let ended = Host::scripted(&replies, AUTO).home_file("key", "SIGNED\n").arg("Go").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
