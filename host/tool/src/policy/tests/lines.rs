//! Shell lines, each with its decision under one policy; the table is `lines.txt`.

use super::*;

/// Returns the policy of the table.
pub(super) fn example() -> Policy {
    policy(include_str!("policy.toml"))
}

/// Reads the decisions and lines of the table.
fn table() -> Vec<(Decision, String)> {
    let rows = include_str!("lines.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    let row = |row: &str| {
        let (word, line) = row.split_at(7.min(row.len()));
        let decision = match word.trim() {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            other => panic!("`{other}` is no decision"),
        };
        (decision, unescaped(line))
    };
    rows.map(row).collect()
}

/// Replaces `\n`, `\t`, `\r`, `\\` and `\u{…}` in the text.
fn unescaped(text: &str) -> String {
    let (mut line, mut rest) = (String::new(), text.chars());
    while let Some(c) = rest.next() {
        match (c, c == '\\') {
            (_, true) => match rest.next() {
                Some('n') => line.push('\n'),
                Some('t') => line.push('\t'),
                Some('r') => line.push('\r'),
                Some('\\') => line.push('\\'),
                Some('u') => {
                    let code: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&code, 16).expect("a number");
                    line.push(char::from_u32(code).expect("a character"));
                }
                other => panic!("no escape in `{text}`: {other:?}"),
            },
            (c, false) => line.push(c),
        }
    }
    line
}

// promise policy.understood: A rule that allows a program covers the words of it that are understood, and no others.
#[test]
fn policy_allows_no_line_that_does_more_than_its_rules_mean() {
    let policy = policy(include_str!("hostile.toml"));
    let lines: Vec<String> = include_str!("hostile.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(unescaped)
        .collect();
    assert!(lines.len() >= 400, "{}", lines.len());
    let allowed: Vec<&String> =
        lines.iter().filter(|line| Case::line(&policy, line).verdict().decision == Decision::Allow).collect();
    assert!(allowed.is_empty(), "{} are allowed: {allowed:#?}", allowed.len());
}

// promise policy.hidden: A command that a rule denies is not allowed wherever it hides in a shell line, as far as the
//   line shows it.
#[test]
fn policy_decides_every_line_of_the_table_as_expected() {
    let policy = example();
    let table = table();
    assert!(table.len() >= 400, "{}", table.len());
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(wanted, line)| {
            let verdict = Case::line(&policy, line).verdict();
            (verdict.decision != *wanted).then(|| format!("{line:?} should be {wanted}\n{}", verdict.explain()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
