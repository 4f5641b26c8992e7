//! Files: errors and their places, examples, and written rules.

use super::*;

/// Checks the place and the message of the error in a text.
fn check(text: &str, line: usize, words: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.line, line, "{text}: {error}");
    assert_eq!(error.file.as_deref(), Some(Path::new("policy.toml")));
    assert!(error.to_string().contains(words), "{text}: {error}");
    assert!(error.to_string().starts_with(&format!("policy.toml:{line}:{}: ", error.column)), "{error}");
}

#[test]
fn policy_file_unknown_word_is_an_error_with_its_place_and_the_nearest() {
    check("[[rule]]\ndecision = \"allow\"\ntol = \"shell\"\n", 3, "did you mean `tool`?");
    check("[[rules]]\ndecision = \"allow\"\n", 1, "did you mean `rule`?");
    check("[[rule]]\ndecision = \"alow\"\n", 2, "did you mean `allow`?");
    check("[[rule]]\ndecision = \"allow\"\nmode = \"defualt\"\n", 3, "did you mean `default`?");
    check("[[rule]]\ndecision = \"allow\"\ncapability = [\"procces\"]\n", 3, "did you mean `process`?");
    check("[[rule]]\ntool = \"a\"\n", 1, "missing field `decision`");
    check("[[rule]]\ndecision = \"allow\"\ntool = []\n", 3, "at least one");
    check("[[rule]]\ndecision = \"allow\"\ntool = 3\n", 3, "expected a value or a list");
    check("[[rule]\n", 1, "");
    check("\n[[rule]]\ndecision = \"allow\"\nmatch = { tol = \"x\" }\n", 4, "did you mean `tool`?");
}

#[test]
fn policy_file_invalid_value_is_an_error_of_its_rule() {
    let check = |key: &str, words: &str| {
        check(&format!("[[rule]]\ndecision = \"allow\"\n\n[[rule]]\ndecision = \"ask\"\n{key}\n"), 4, words);
    };
    check("priority = 1000", "invalid `priority`: 1000 is out of range: it must be from 0 to 999");
    check("priority = -1", "`priority`");
    check("tool = \"a*b\"", "`tool`");
    check("tool = \"\"", "`tool`");
    check("workspace = \"w\"", "`workspace`");
    check("arguments = \"(\"", "`arguments`");
    check("arguments = \"(a{1000}){1000}\"", "`arguments`");
    check("message = \"x\"", "`message`");
    for command in ["", "git *.x", "*", "git * x", "a; b", "a > b", "$x", "a $(b)", "A=b c", "'a", "ls {a,b}", "''"] {
        check(&format!("command = {command:?}"), "`command`");
    }
    check("match = \"ls\"", "invalid `match`: the examples of a rule without `command`");
}

#[test]
fn an_example_that_the_rule_does_not_keep_is_an_error() {
    let text = |more: &str| format!("\n[[rule]]\ndecision = \"deny\"\ncommand = \"git push\"\n{more}\n");
    check(&text("match = \"git pull\""), 2, "the rule does not match its example `git pull`");
    check(&text("match = [\"git push\", \"git\"]"), 2, "`git`");
    check(&text("no-match = \"ls; git -C x push\""), 2, "the rule matches its example `ls; git -C x push`");
    parse(&text("match = \"git push -f\"\nno-match = [\"git pull\", \"git pushy\"]")).expect("it keeps them");
    let text = |more: &str| format!("[[rule]]\ndecision = \"deny\"\ntool = \"a*\"\narguments = '\"n\":1'\n{more}\n");
    check(&text("match = { tool = \"b\", arguments = { n = 1 } }"), 1, "`b {\"n\":1}`");
    check(&text("no-match = { tool = \"ab\", arguments = { n = 1 } }"), 1, "matches its example");
    parse(&text("match = [{ tool = \"ab\", arguments = { n = 1 } }]\nno-match = { arguments = { n = 2 } }"))
        .expect("ok");
}

// promise policy.project: Rules of a project or a bundle allow nothing.
#[test]
fn a_project_and_a_bundle_allow_nothing() {
    for (tier, allows) in
        [(Tier::Bundle, false), (Tier::Project, false), (Tier::User, true), (Tier::Administrator, true)]
    {
        let parse = |decision: &str| {
            let text = format!("[[rule]]\ncommand = \"make\"\ndecision = \"{decision}\"\n");
            Policy::parse(&text, PolicyFile { tier, path: None }).map(drop)
        };
        assert_eq!(parse("allow").is_ok(), allows, "{tier}");
        assert_eq!((parse("ask"), parse("deny")), (Ok(()), Ok(())), "{tier}");
    }
}

#[test]
fn a_file_is_bounded() {
    check(&"#".repeat(300 << 10), 1, "over the limit");
    check(&"[[rule]]\ndecision = \"ask\"\n".repeat(1001), 1, "1001 rules");
}

#[test]
fn policy_built_in_rules_ask_about_dangerous_programs() {
    let check = |line: &str, asks: bool| {
        let policy = Policy::new([]);
        for (mode, asks) in [(ApprovalMode::AutoEdit, asks), (ApprovalMode::Yolo, false)] {
            let call = Case { granted: grants("process=*"), mode, ..Case::line(&policy, line) };
            let wanted = if asks { Decision::Ask } else { Decision::Allow };
            assert_eq!(call.decision(), wanted, "{line}\n{}", call.verdict().explain());
        }
    };
    for line in ["sudo apt install x", "/usr/bin/sudo -u root ls", "env A=b sudo ls", "doas ls", "su", "pkexec x"] {
        check(line, true);
    }
    for line in ["shutdown -h now", "systemctl --force reboot", "poweroff", "mkfs.ext4 /dev/sda1", "shred x"] {
        check(line, true);
    }
    for line in ["sudoku", "echo sudo", "systemctl status x", "ls mkfs"] {
        check(line, false);
    }
    assert!(Policy::built_in().iter().all(|rule| rule.source.tier == Tier::BuiltIn && !rule.command.is_empty()));
}

#[test]
fn policy_file_rule_knows_its_line() {
    let rules = parse("# Mine.\n\n[[rule]]\ndecision = \"ask\"\n\n[[rule]]\ndecision = \"deny\"\n").expect("rules");
    let lines: Vec<usize> = rules.iter().map(|rule| rule.source.line).collect();
    assert_eq!(lines, [3, 6]);
    assert_eq!(rules[0].source.to_string(), "policy.toml:3 (user)");
}

#[test]
fn policy_file_rule_that_is_written_is_read_back() {
    let check = |rule: Rule| {
        let text = format!("# Before.{}", rule.to_toml().repeat(2));
        let read = parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let source = read[0].source.clone();
        assert_eq!(read[0], Rule { source, ..rule }, "{text}");
        assert_eq!(read.len(), 2);
    };
    let blank = || Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    check(blank());
    check(Rule { tool: words(&["shell"]), command: vec![words(&["cargo", "test"]).into()], ..blank() });
    check(Rule {
        tool: words(&["a", "mcp_*"]),
        plugin: Some("p \"q\"".to_owned()),
        digest: vec!["blake3:00".to_owned(), "blake3:01".to_owned()],
        scope: Some(grants("fs-write=src,!.env;http=example.com")),
        workspace: Some("/w/a b".into()),
        arguments: Some(ArgumentsPattern::new("^\\{\"a\":'\n").expect("a pattern")),
        command: vec![
            words(&["it's", "a b", "*", "$x", "~", "{a,b}", "#", "é", "a\nb"]).into(),
            words(&["*"]).into(),
            CommandPrefix { words: words(&["a", "b"]), then_any: true },
            words(&["if", "A=b", "[a]", "--x=y"]).into(),
        ],
        capability: vec![Capability::Http, Capability::Process],
        agent: words(&["main", "other"]),
        mode: vec![ApprovalMode::AutoEdit],
        decision: Decision::Deny,
        priority: 0,
        message: Some("no\n'''\\ \"\"\"".to_owned()),
        ..blank()
    });
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = include_str!("../../../../../docs/policy.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    // The others are of the configuration.
    let examples = examples.iter().filter(|example| example.contains("[[rule]]"));
    let rules = examples.map(|example| parse(example).unwrap_or_else(|error| panic!("{error}")).len());
    assert_eq!(rules.collect::<Vec<_>>(), [3, 3]);
}
