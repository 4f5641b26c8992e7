//! What a user is shown, what a lasting answer covers, and that both end for any text.

use std::time::{Duration, Instant};

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn an_answer_for_good_covers_a_program_and_its_command_or_exactly_one_line() {
    let check = |command: &str, wanted: Option<&str>| {
        let shown = suggestion(&words(command)).map(|suggestion| match suggestion {
            Suggestion::Prefix(words) => words.join(" "),
            Suggestion::Exactly(words) => format!("= {}", words.join(" ")),
        });
        assert_eq!(shown.as_deref(), wanted, "{command}");
    };
    check("cargo test --all", Some("cargo test"));
    check("git status -s", Some("git status"));
    check("npm run build", Some("npm run build"));
    check("ls -l", Some("ls"));
    check("make all", Some("make all"));
    check("make -j4 test", Some("make -j4 test"));
    check("find . -exec ls {} ;", Some("find"));
    check("sed -n 5p x", Some("sed"));
    check("mytool x", Some("= mytool x"));
    check("mytool", Some("= mytool"));
    check("./build x", Some("= ./build x"));
    check("./git status", Some("= ./git status"));
    check("tsc --noEmit", Some("= tsc --noEmit"));
    for none in [
        "cargo",
        "cargo publish",
        "cargo +nightly test",
        "cargo run -- x",
        "cargo test --target-dir=/tmp",
        "npm",
        "npm publish",
        "npm run build -C dir",
        "make",
        "make -j4",
        "npm run",
        "make SHELL=./x",
        "git -C x status",
        "git push",
        "git reset",
        "git branch",
        "git lol",
        "git clone https://x",
        "rm x",
        "/bin/rm x",
        "curl x",
        "sudo ls",
        "env ls",
        "sh -c ls",
        "bash x",
        "python3 x.py",
        "node x",
        "sqlite3 db",
        "xargs ls",
        "find . -delete",
        "sed -i x y",
        "echo x",
        "cd x",
        "eval x",
        "ssh host ls",
        "timeout 5 ls",
        "docker compose up -d",
        "kubectl get pods",
        "terraform plan",
        "gh pr list",
        "aws s3 ls",
        "npx x",
        "vim x",
        "less x",
        "",
    ] {
        check(none, None);
    }
    assert_eq!(suggestion(&[]), None);
    assert_eq!(suggestion(&["my\u{a0}tool".to_owned()]), None);
    assert_eq!(suggestion(&["mytool".to_owned(), "a\u{200b}b".to_owned()]), None);
}

#[test]
fn policy_suggested_rule_allows_what_it_was_suggested_for() {
    for (command, more) in [
        ("cargo test --all", Some("cargo test -p x")),
        ("git status -s", Some("git status")),
        ("npm run build", None),
        ("ls -l", Some("ls -a")),
        ("./build x", None),
        ("mytool x", None),
    ] {
        let covered = suggestion(&words(command)).expect("a suggestion").words().to_vec();
        let rule =
            Rule { command: vec![covered.into()], ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User)) };
        let policy = Policy::new([rule]);
        let decision = |line: &str| Case::line(&policy, line).verdict().decision;
        assert_eq!(decision(command), Decision::Allow, "{command}");
        assert_ne!(decision(&format!("{command}; make")), Decision::Allow, "{command}");
        assert_eq!(decision(&format!("{command} --zzz")) == Decision::Allow, command.starts_with("ls"), "{command}");
        if let Some(more) = more {
            assert_eq!(decision(more), Decision::Allow, "{more}");
        }
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
