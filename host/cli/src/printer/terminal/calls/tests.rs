use host_journal::CallReport;
use host_message::ToolName;
use host_tool::{FailureKind, Printed, ProgramEnd};
use serde_json::Map;

use super::*;

const PLAIN: Style = Style { colour: false };

fn layout(columns: usize) -> Layout {
    Layout { style: PLAIN, columns, expand: "Ctrl-O" }
}

/// The lines that stay of a call of this tool.
fn lines(name: &str, status: CallStatus, report: &CallReport, milliseconds: u64, columns: usize) -> String {
    let (agent, id) = (AgentId::new("main"), CallId::new("c"));
    let end = CallEnd {
        status,
        decided: None,
        duration_ms: milliseconds,
        parts: Vec::new(),
        display: None,
        report: Some(report.clone()),
        mcp_meta: None,
    };
    Calls::default().ended(&Ended { agent: &agent, id: &id, name, end: &end }, layout(columns))
}

fn report(title: &str, summary: &str, failed: bool) -> CallReport {
    CallReport { title: title.to_owned(), summary: summary.to_owned(), failed, ..CallReport::default() }
}

#[test]
fn call_line_has_title_result_and_time() {
    let check = |report: &CallReport, milliseconds, line: &str| {
        assert_eq!(lines("shell", CallStatus::Success, report, milliseconds, 80), format!("{line}\n"));
    };
    check(&report("cargo test", "", false), 999, "✓ shell cargo test");
    check(&report("cargo test", "", false), 3_249, "✓ shell cargo test (3.2 s)");
    check(&report("cargo test", "exit 101", true), 3_200, "✗ shell cargo test · exit 101 (3.2 s)");
    check(&report("", "no output", false), 61_000, "✓ shell · no output (1 min 1 s)");
    check(&report("", "", false), 0, "✓ shell");
}

#[test]
fn call_line_of_a_change_counts_its_lines() {
    let (agent, id) = (AgentId::new("main"), CallId::new("c"));
    let display = Display::Difference { path: "a".to_owned(), unified: "@@ -1 +1 @@\n-a\n+b\n".to_owned() };
    let report = report("src/fuel.rs", "+1 −1", false);
    let end = |decided| CallEnd {
        status: CallStatus::Success,
        decided,
        duration_ms: 3,
        parts: Vec::new(),
        display: Some(display.clone()),
        report: Some(report.clone()),
        mcp_meta: None,
    };
    let shown = |decided| {
        let ended = Ended { agent: &agent, id: &id, name: "edit", end: &end(decided) };
        Calls::default().ended(&ended, layout(80))
    };
    assert_eq!(shown(Some(Decided::Allowed)), "✓ edit src/fuel.rs (+1 −1)\n    1 - a\n    1 + b\n");
    // The question has just shown it.
    assert_eq!(shown(Some(Decided::Approved)), "✓ edit src/fuel.rs (+1 −1)\n");
    assert!(shown(Some(Decided::Changed)).ends_with("+ b\n"), "the user saw another one");
}

#[test]
fn call_line_is_one_row_at_any_width_and_keeps_its_result() {
    let long = report(&"cargo test --workspace ".repeat(9), "exit 101", true);
    for columns in [30, 40, 80, 120] {
        let shown = lines("shell", CallStatus::Success, &long, 3_200, columns);
        assert_eq!(shown.lines().count(), 1, "{shown}");
        assert!(terminal::width(shown.trim_end()) <= columns, "{columns}: {shown}");
        assert!(shown.ends_with("· exit 101 (3.2 s)\n"), "{shown}");
    }
    let wide = report("x.rs", &"word ".repeat(60), false);
    for columns in [20, 40, 80, 120] {
        let shown = lines("grep", CallStatus::Success, &wide, 0, columns);
        assert!(
            terminal::width(shown.trim_end()) <= columns && shown.starts_with("✓ grep") && shown.contains("· word"),
            "{shown}"
        );
    }
}

#[test]
fn call_that_failed_has_its_reason_below() {
    let status = CallStatus::Error { kind: FailureKind::Conflict };
    let short = report("a.rs", "not found", true);
    assert_eq!(lines("edit", status, &short, 0, 80), "✗ edit a.rs · not found\n");
    let long = report("a.rs", "`a.rs` was not changed: the text occurs three times, and once is expected", true);
    let shown = lines("edit", status, &long, 0, 40);
    let rows: Vec<&str> = shown.lines().collect();
    assert_eq!(rows.first(), Some(&"✗ edit a.rs"));
    assert!(rows.len() > 1 && rows.iter().skip(1).all(|row| row.starts_with(BELOW)), "{shown}");
    assert!(rows.iter().all(|row| terminal::width(row) <= 40), "{shown}");
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").ends_with("and once is expected"), "{shown}");
}

#[test]
fn call_output_stays_folded_below_its_line() {
    let printed = Printed { tail: (31..=50).map(|line| format!("line {line}")).collect(), lines: 50 };
    let code = |code| Some(ProgramEnd { code: Some(code), signal: None, timed_out: false });
    let good = CallReport { printed: printed.clone(), command: code(0), ..report("make", "", false) };
    let shown = lines("shell", CallStatus::Success, &good, 0, 80);
    assert_eq!(shown.lines().nth(1), Some("    … +45 lines (Ctrl-O)"));
    assert_eq!(shown.lines().skip(2).collect::<Vec<_>>().len(), OUTPUT_LINES);
    assert!(shown.ends_with("    line 50\n"));
    let bad = CallReport { printed, command: code(2), ..report("make", "exit 2", true) };
    let shown = lines("shell", CallStatus::Success, &bad, 0, 80);
    assert_eq!(shown.lines().nth(1), Some("    … +35 lines (Ctrl-O)"));
    assert_eq!(shown.lines().count(), 2 + FAILED_LINES);
    let one = Printed { tail: vec!["a\u{1b}[2J\tb".to_owned()], lines: 1 };
    let one = CallReport { printed: one, ..report("make", "", false) };
    assert_eq!(lines("shell", CallStatus::Success, &one, 0, 80), "✓ shell make\n    a\\u{1b}[2J    b\n");
}

#[test]
fn call_fold_names_a_key_only_where_there_is_one() {
    assert_eq!(fold(38, layout(80)), "… +38 lines (Ctrl-O)");
    assert_eq!(fold(1, Layout { expand: "", ..layout(80) }), "… +1 line");
}

#[test]
fn running_call_counts_its_time_from_its_start_and_has_the_title_that_runs() {
    let (agent, id) = (AgentId::new("main"), CallId::new("c"));
    let call = FunctionCall::new(id.clone(), ToolName::new("shell"), Map::new());
    let mut calls = Calls::default();
    calls.begin(&agent, &call, None, "rm -rf build");
    let shown = |calls: &Calls| calls.activity(PLAIN).into_iter().next().map(|it| (it.words, it.since.is_some()));
    assert_eq!(shown(&calls), Some(("shell rm -rf build".to_owned(), false)));
    calls.starts(&agent, &id, "echo build");
    assert_eq!(shown(&calls), Some(("shell echo build".to_owned(), true)));
    calls.prints(&agent, &id, &(1..=9).map(|line| format!("line {line}\n")).collect::<String>());
    let below = calls.activity(PLAIN).into_iter().next().map(|activity| activity.below);
    assert_eq!(below, Some((5..=9).map(|line| format!("line {line}")).collect::<Vec<_>>()));
}

#[test]
fn running_call_shows_what_a_terminal_would_show_of_its_output() {
    let (agent, id) = (AgentId::new("main"), CallId::new("c"));
    let call = FunctionCall::new(id.clone(), ToolName::new("shell"), Map::new());
    let mut calls = Calls::default();
    calls.begin(&agent, &call, None, "build");
    calls.prints(&agent, &id, "\rprogress 1\rprogress 2\n\u{1b}[31merror\u{1b}[0m \u{1b}[2J\n");
    let below = calls.activity(PLAIN).into_iter().next().map(|activity| activity.below);
    assert_eq!(below, Some(vec!["progress 2".to_owned(), "error \\u{1b}[2J".to_owned()]));
    let printed = Printed { tail: vec!["10 %\r90 %".to_owned(), "\u{1b}[1mbold\u{1b}[m".to_owned()], lines: 2 };
    let ended = CallReport { printed, ..report("build", "", false) };
    assert_eq!(lines("shell", CallStatus::Success, &ended, 0, 80), "✓ shell build\n    90 %\n    bold\n");
}
