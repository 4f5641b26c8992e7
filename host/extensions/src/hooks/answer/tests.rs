//! Answers of hooks, as Claude Code and Gemini CLI document them.

use serde_json::json;

use super::*;

fn said(convention: Convention, event: HookEvent, code: i32, output: &str, errors: &str) -> Result<Said, HookFailure> {
    let printed = HookPrinted { output: output.into(), errors: errors.into() };
    let sent = json!({"command": "ls", "description": "list"}).as_object().cloned().expect("an object");
    of_program(convention, event, &sent, &HookEnd::Code(code), &printed)
}

fn deny(reason: &str) -> Option<(HookDecision, String)> {
    Some((HookDecision::Deny, reason.to_owned()))
}

#[test]
fn hook_answers_of_both_conventions_are_read() {
    use Convention::{Claude, Gemini};
    use HookEvent::{PermissionRequest, PostToolUse, PreToolUse, Stop, UserPromptSubmit};
    let check = |convention, event, output: Value, expected: Said| {
        assert_eq!(said(convention, event, 0, &output.to_string(), ""), Ok(expected), "{output}");
    };
    let none = Said::default;
    check(
        Claude,
        PreToolUse,
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
               "permissionDecisionReason": "no"}}),
        Said { decision: deny("no"), ..none() },
    );
    check(
        Claude,
        PreToolUse,
        json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls -l"}},
               "suppressOutput": true}),
        Said {
            decision: Some((HookDecision::Allow, String::new())),
            arguments: json!({"command": "ls -l"}).as_object().cloned(),
            ..none()
        },
    );
    check(Claude, PreToolUse, json!({"decision": "block", "reason": "old"}), Said { decision: deny("old"), ..none() });
    check(
        Claude,
        PreToolUse,
        json!({"decision": "approve"}),
        Said { decision: Some((HookDecision::Allow, String::new())), ..none() },
    );
    check(
        Claude,
        PreToolUse,
        json!({"continue": false, "stopReason": "enough", "systemMessage": "look"}),
        Said { stop: Some("enough".into()), message: Some("look".into()), ..none() },
    );
    check(
        Claude,
        PermissionRequest,
        json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no", "interrupt": true}}}),
        Said { decision: deny("no"), stop: Some("no".into()), ..none() },
    );
    check(
        Claude,
        PostToolUse,
        json!({"decision": "block", "reason": "lint", "hookSpecificOutput": {"additionalContext": "more"}}),
        Said { decision: deny("lint"), context: Some("more".into()), ..none() },
    );
    check(Claude, Stop, json!({"decision": "block", "reason": "test"}), Said { decision: deny("test"), ..none() });
    check(
        Gemini,
        PreToolUse,
        json!({"decision": "deny", "reason": "secret"}),
        Said { decision: deny("secret"), ..none() },
    );
    check(
        Gemini,
        PreToolUse,
        json!({"hookSpecificOutput": {"tool_input": {"command": "ls -l"}}}),
        Said { arguments: json!({"command": "ls -l", "description": "list"}).as_object().cloned(), ..none() },
    );
    check(
        Gemini,
        PostToolUse,
        json!({"decision": "deny", "reason": "[redacted]"}),
        Said { output: Some("[redacted]".into()), ..none() },
    );
    check(
        Gemini,
        UserPromptSubmit,
        json!({"hookSpecificOutput": {"additionalContext": "branch main"}}),
        Said { context: Some("branch main".into()), ..none() },
    );
    check(Claude, PreToolUse, json!({"something": {"new": 1}}), none());
}

#[test]
fn hook_ends_mean_what_they_mean_elsewhere() {
    use Convention::{Claude, Gemini};
    use HookEvent::{PostToolUse, PreToolUse, SessionStart, Stop, UserPromptSubmit};
    let denies = |reason: &str| Ok(Said { decision: deny(reason), ..Said::default() });
    assert_eq!(said(Claude, PreToolUse, 2, "{\"decision\": \"allow\"}", "not this\n"), denies("not this"));
    assert_eq!(said(Claude, Stop, 2, "", ""), denies(""));
    let hidden = Ok(Said { output: Some("hidden".into()), ..Said::default() });
    assert_eq!(said(Gemini, PostToolUse, 2, "", "hidden"), hidden);
    let context = Ok(Said { context: Some("on main".into()), ..Said::default() });
    assert_eq!(said(Claude, SessionStart, 0, "on main\n", ""), context);
    assert_eq!(said(Claude, UserPromptSubmit, 0, "on main\n", ""), context);
    assert_eq!(said(Claude, PreToolUse, 0, "checked\n", "log"), Ok(Said::default()));
}

// promise hooks.invalid: An answer that is cut, of another type or unknown is a failure, never an allowance.
#[test]
fn hook_answers_that_are_invalid_are_failures() {
    for output in [
        "{",
        "{\"decision\": \"allow\"} trailing",
        "{\"decision\": 1}",
        "{\"decision\": \"maybe\"}",
        "{\"decision\": \"ALLOW\"}",
        "{\"hookSpecificOutput\": []}",
        "{\"hookSpecificOutput\": {\"permissionDecision\": \"defer\"}}",
        "{\"hookSpecificOutput\": {\"permissionDecision\": true}}",
        "{\"hookSpecificOutput\": {\"updatedInput\": \"rm\"}}",
        "{\"continue\": \"false\"}",
        "{\"systemMessage\": {}}",
    ] {
        let failed = said(Convention::Claude, HookEvent::PreToolUse, 0, output, "");
        assert!(
            failed.as_ref().is_err_and(|failure| matches!(failure, HookFailure::Answer(_))),
            "{output}: {failed:?}"
        );
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(said(Convention::Claude, HookEvent::PreToolUse, 0, &deep, "").is_err());
    for code in [1, 3, 126, 127, 255] {
        let failed =
            said(Convention::Claude, HookEvent::PreToolUse, code, "{\"decision\": \"allow\"}", "\u{1b}[2Jboom");
        let why = failed.expect_err("it failed").to_string();
        assert!(why.contains(&format!("exit code {code}")) && why.contains("boom") && !why.contains('\u{1b}'), "{why}");
    }
}
