//! What a user is shown, what a lasting answer covers, and that both end for any text.

use std::time::{Duration, Instant};

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn an_answer_for_good_covers_a_program_and_its_command() {
    let check = |command: &str, wanted: Option<&str>| {
        let prefix = suggested_prefix(&words(command));
        assert_eq!(prefix.map(|words| words.join(" ")).as_deref(), wanted, "{command}");
    };
    check("cargo test --all", Some("cargo test"));
    check("git status -s", Some("git status"));
    check("npm run build", Some("npm run build"));
    check("ls -l", Some("ls"));
    check("mytool x", Some("mytool"));
    check("./build x", Some("./build"));
    check("make all", Some("make all"));
    check("find . -exec ls {} ;", Some("find"));
    check("docker compose up -d", Some("docker compose up"));
    for none in [
        "cargo",
        "cargo --version",
        "cargo +nightly test",
        "npm run",
        "git -C x status",
        "git push",
        "git reset",
        "git branch",
        "git lol",
        "rm x",
        "/bin/rm x",
        "curl x",
        "sudo ls",
        "env ls",
        "sh -c ls",
        "bash x",
        "python3 x.py",
        "node x",
        "xargs ls",
        "find . -delete",
        "sed -i x y",
        "echo x",
        "cd x",
        "eval x",
        "ssh host ls",
        "timeout 5 ls",
        "",
    ] {
        check(none, None);
    }
    assert_eq!(suggested_prefix(&[]), None);
    assert_eq!(suggested_prefix(&["my\u{a0}tool".to_owned()]), None);
}

#[test]
fn policy_suggested_rule_allows_what_it_was_suggested_for() {
    for command in ["cargo test --all", "git status -s", "npm run build", "ls -l", "./build x"] {
        let prefix = suggested_prefix(&words(command)).expect("a prefix");
        let rule = Rule { command: vec![prefix], ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User)) };
        let policy = Policy::new([rule]);
        assert_eq!(Case::line(&policy, command).verdict().decision, Decision::Allow, "{command}");
        assert_ne!(Case::line(&policy, &format!("{command}; make")).verdict().decision, Decision::Allow);
    }
}

#[test]
fn policy_commands_are_shown_to_the_user_as_they_were_read() {
    let argv = ["sh", "-c", "cd a && timeout 5 r''m \"$x\" | cat; f() { :; }"].map(str::to_owned);
    let shown = simple_commands(&argv);
    let texts: Vec<&str> = shown.iter().map(|command| command.text.as_str()).collect();
    assert_eq!(texts, ["cd a", "rm …", "cat", "f", ":"]);
    assert_eq!(shown[1].words, [Some("rm".to_owned()), None]);
    assert!(!shown[1].doubts.is_empty() && shown[2].doubts.is_empty());
}

#[test]
fn commands_in_commands_end_soon() {
    let policy = Policy::new([]);
    let nested =
        |wrapper: &str| (0..14).fold("ls".to_owned(), |line, _| format!("{wrapper} {}", host_shell::quote(&line)));
    let mut lines: Vec<String> =
        ["sh -c", "eval", "ssh a", "sh -z -c", "bash -o a -c", "env -S", "watch", "trap", "parallel a"]
            .iter()
            .map(|wrapper| nested(wrapper))
            .collect();
    for wrapper in ["env ", "xargs ", "find -exec ", "nice ", "ssh ", "sudo ", "git -C ", "env -Z ", "time ", "eval "] {
        lines.push(wrapper.repeat(3000));
    }
    lines.push(format!("ssh {}", "'a b' ".repeat(5000)));
    lines.push(format!("ssh {}", "'ssh \"a b\" c' ".repeat(3000)));
    for line in lines {
        let began = Instant::now();
        let verdict = Case::line(&policy, &line).verdict();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?} for {}", began.elapsed(), &line[..20]);
        assert_eq!(verdict.decision, Decision::Ask);
    }
}
