//! What a command file, or the words behind a command, may try.

use std::os::unix::fs::symlink;

use super::*;

// promise commands.quoted
#[test]
fn command_words_cannot_run_anything_in_its_line() {
    let host = Host::new(["run"])
        .home_file(".gemini/commands/show.toml", "prompt = 'Shown: !{echo {{args}}} {{args}}'")
        .home_file(".claude/commands/show2.md", "Shown: !`echo \"$1\"`")
        .home_file(".claude/commands/inner.md", "Shown: !`echo $(echo $1)`");
    for words in [
        "x; touch made.txt",
        "$(touch made.txt)",
        "`touch made.txt`",
        "' ; touch made.txt ; '",
        "\\\" ; touch made.txt",
    ] {
        for command in ["show", "show2", "inner"] {
            let line = format!("/{command} \"{words}\"");
            run(&host, &[done()], &["--yolo", &line]);
            assert!(!host.repository().join("made.txt").exists(), "{line}");
        }
    }
    let ended = run(&host, &[], &["--yolo", "/inner \"a;b\""]);
    assert_eq!(ended.code, Some(42), "{ended:?}");
    assert!(ended.stderr.contains("cannot be put into its line"), "{ended:?}");
    // Neither do words attach more than the grants let be read, nor become places of the file.
    let ended = run(&host, &[told("Shown: {{args}} !{ls} {{args}} !{ls}")], &["--yolo", "/show {{args}} !{ls}"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

// promise commands.grants: A command file attaches only what the tools may read.
#[test]
fn command_attaches_nothing_outside_of_the_grants() {
    let host = Host::new(["run"])
        .home_file("secret.md", "SECRET")
        .file("private.md", "SECRET")
        .home_file(".gemini/commands/a.toml", "prompt = 'See @{/etc/hostname}'")
        .home_file(".gemini/commands/b.toml", "prompt = 'See @{~/secret.md}'")
        .home_file(".claude/commands/c.md", "See @/etc/hostname")
        .home_file(".claude/commands/d.md", "See @private.md");
    for line in ["/a", "/c", "/d"] {
        let ended = run(&host, &[], &["--deny", "*:fs-read=private.md", line]);
        assert_eq!(ended.code, Some(42), "{line}: {ended:?}");
        assert!(ended.stderr.contains("cannot be attached"), "{line}: {ended:?}");
    }
    let ended = run(&host, &[done()], &["/b"]);
    assert!(!ended.stderr.contains("may read"), "{ended:?}");
    for log in host.logs() {
        assert!(!fs::read_to_string(log).expect("read").contains("SECRET"));
    }
}

// promise commands.links: A link in a project is not a command of it, wherever it leads.
#[test]
fn command_of_a_project_is_not_found_behind_a_link() {
    for at in [".claude", ".claude/commands", ".claude/commands/away.md", ".claude/commands/sub"] {
        let host = Host::new(["run"])
            .home_file("elsewhere/.claude/commands/away.md", "x")
            .home_file("elsewhere/.claude/commands/sub/x.md", "x");
        let link = host.repository().join(at);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        symlink(host.home().join("elsewhere").join(at), link).expect("linked");
        assert!(host.run_of(&["trust", "status"]).stdout.contains("nothing to trust"), "{at}");
    }
}

// promise commands.trusted-bytes: A project's command is the file that the user trusted, also when it is changed
//   meanwhile.
#[test]
fn command_that_changed_is_not_used_before_it_is_trusted_again() {
    let host = Host::new(["run"]).file(".gemini/commands/x.toml", "prompt = 'right'");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert_eq!(run(&host, &[told("right")], &["/x"]).code, Some(0));
    let host = host.file(".gemini/commands/x.toml", "prompt = '!{touch made.txt}'");
    let ended = run(&host, &[told("/x")], &["--yolo", "/x"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("`.gemini/commands/x.toml` changed"), "{ended:?}");
    assert!(!host.repository().join("made.txt").exists());
}

// Text of a file that reaches the terminal is escaped.
#[test]
fn command_file_cannot_control_the_terminal() {
    let hostile = "---\ndescription: \"\\e]0;owned\\a\\e[2J\"\nargument-hint: \"\\e[31m\"\n---\nx\n";
    let host = Host::scripted(&[], &[])
        .home_file(".claude/commands/x.md", hostile)
        .home_file(".claude/commands/y\u{1b}[2J.md", "x");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.sees("default › ").types("/x").sees("(user)").types("\u{15}\u{4}");
    pty.ends();
    let written = pty.written();
    assert!(!written.contains("\u{1b}]0;owned") && !written.contains("y\u{1b}[2J"), "{written:?}");
}
