//! Failures as errors of the protocol: what failed, its causes and what to do, in one message that every client shows.
//!
//! Promise: the help has no option of the command line. It names the setting, the mode or the command that does the
//! same.

use agent_client_protocol::Error;
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, Flag, Help, HelpCommand, HelpFlag, visible};
use serde_json::json;

/// The code of invalid parameters.
const INVALID_PARAMS: i32 = -32602;
/// The code of a request that the state of the connection or the session does not allow.
const INVALID_REQUEST: i32 = -32600;
/// The code of a failure of the agent.
const INTERNAL: i32 = -32603;
/// The code of something that does not exist, such as a session that is not open.
const NOT_FOUND: i32 = -32002;
/// The code of a missing or rejected key.
const AUTH_REQUIRED: i32 = -32000;

/// Returns the error of a failed request.
pub(crate) fn error(failure: &Failure) -> Error {
    let code = match failure.kind {
        ErrorKind::Authentication => AUTH_REQUIRED,
        ErrorKind::Input | ErrorKind::Untrusted => INVALID_PARAMS,
        ErrorKind::Configuration
        | ErrorKind::TurnLimit
        | ErrorKind::Tool
        | ErrorKind::Check
        | ErrorKind::Loop
        | ErrorKind::TimeLimit
        | ErrorKind::NoCompleteTask
        | ErrorKind::Service
        | ErrorKind::Altered
        | ErrorKind::Write
        | ErrorKind::Cancelled => INTERNAL,
    };
    let data = json!({
        "kind": kind(failure.kind),
        "causes": failure.causes.iter().map(in_an_editor).collect::<Vec<_>>(),
        "help": failure.help.as_ref().map(in_an_editor),
    });
    Error::new(code, words(failure)).data(data)
}

/// Returns the error of a run that failed: whatever the reason, the request itself was valid.
pub(crate) fn run_error(failure: &Failure) -> Error {
    let mut error = error(failure);
    if failure.kind != ErrorKind::Authentication {
        error.code = INTERNAL.into();
    }
    error
}

/// Returns a failure as text of one or more lines.
pub(crate) fn words(failure: &Failure) -> String {
    let mut text = visible(&failure.message).into_owned();
    for cause in &failure.causes {
        text.push_str(": ");
        text.push_str(&in_an_editor(cause));
    }
    if let Some(help) = &failure.help {
        text.push_str("\nhelp: ");
        text.push_str(&in_an_editor(help));
    }
    text
}

/// Returns the name of a kind for clients that tell failures apart.
fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Authentication => "authentication",
        ErrorKind::Input => "input",
        ErrorKind::Configuration => "configuration",
        ErrorKind::TurnLimit => "turn_limit",
        ErrorKind::Tool => "tool",
        ErrorKind::Untrusted => "untrusted",
        ErrorKind::Check => "check",
        ErrorKind::Loop => "loop",
        ErrorKind::TimeLimit => "time_limit",
        ErrorKind::NoCompleteTask => "no_complete_task",
        ErrorKind::Service => "service",
        ErrorKind::Altered => "altered",
        ErrorKind::Write => "write",
        ErrorKind::Cancelled => "cancelled",
    }
}

/// Returns a help or a notice in words of an editor, whose user has no command line of the agent in front of them.
pub(crate) fn in_an_editor(help: &Advice) -> String {
    let words = |part: &Help| match part {
        Help::Flag(HelpFlag { flag, value, is_code: _ }) => option(*flag, value.as_deref()),
        Help::Command(HelpCommand { meaning: Some(meaning), .. }) => (*meaning).to_owned(),
        Help::Command(command @ HelpCommand { meaning: None, .. }) => format!("`{}`", command.words()),
        Help::Setting(_) | Help::Text(_) => part.to_string(),
    };
    visible(&help.parts().iter().map(words).collect::<String>()).into_owned()
}

/// Returns what does in an editor what an option does on the command line.
fn option(flag: Flag, value: Option<&str>) -> String {
    let of = |what: &str| value.map_or_else(|| what.to_owned(), |value| format!("{what} `{value}`"));
    let setting = |key: &str| format!("`{key}` in your configuration");
    match flag {
        Flag::AddDir => of("the folder"),
        Flag::AnyFolder => setting("any_folder = true"),
        Flag::ApprovalMode => of("the mode"),
        Flag::Confine => setting("confine.mode"),
        Flag::Directory => "a different folder in the editor".to_owned(),
        Flag::Grant => of("the grant"),
        Flag::Deny => of("the deny"),
        Flag::MaxCost => setting("run.max_cost"),
        Flag::MaxTokens => setting("run.max_tokens"),
        Flag::MaxTurns => setting("run.max_turns"),
        Flag::Model if value.is_none() => "the model in the editor".to_owned(),
        Flag::Model => of("the model"),
        Flag::Timeout => setting("run.timeout_seconds"),
        // Options of commands that an editor does not run.
        Flag::AllowDowngrade
        | Flag::AllowOlderIndex
        | Flag::AllowOtherSigners
        | Flag::AllowUnsigned
        | Flag::Digest
        | Flag::Env
        | Flag::Expires
        | Flag::FailOnRefused
        | Flag::For
        | Flag::Header
        | Flag::Input
        | Flag::Name
        | Flag::Out
        | Flag::Plugin
        | Flag::Scope
        | Flag::Serial
        | Flag::PublicKey
        | Flag::Yes => of(&format!("the option `{}`", flag.typed().trim_start_matches('-'))),
    }
}

/// Returns the error of invalid parameters.
pub(crate) fn invalid(message: impl Into<String>, help: impl Into<Advice>) -> Error {
    error(&Failure::input(message).help(help))
}

/// Returns the error of something that does not exist.
pub(crate) fn not_found(message: impl Into<String>, help: impl Into<Advice>) -> Error {
    let mut error = invalid(message, help);
    error.code = NOT_FOUND.into();
    error
}

/// Returns the error of a request that is valid, but not now.
pub(crate) fn not_now(message: &str) -> Error {
    Error::new(INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use host_text::Notice;

    use super::*;

    #[test]
    fn acp_help_has_no_option_of_the_command_line() {
        for flag in Flag::ALL {
            let help = Advice::from("use ")
                .flag(flag)
                .text(" or ")
                .flag_with(flag, "x")
                .text(", or ")
                .code_flag(flag, Some("x"))
                .text(" with ")
                .command("plugin build a --out b -v");
            let failure = Failure::input("it failed").cause("of this").help(help);
            let error = error(&failure);
            let help = error.data.as_ref().and_then(|data| data["help"].as_str()).expect("a help").to_owned();
            assert!(error.message.ends_with(&format!("\nhelp: {help}")), "{error:?}");
            assert!(!help.contains("--") && !help.contains(" -"), "{help}");
            assert!(help.ends_with("`host plugin build a`"), "{help}");
        }
    }

    #[test]
    fn acp_help_says_what_an_editor_can_do() {
        let check = |help: Advice, expected: &str| assert_eq!(in_an_editor(&help), expected);
        let go_on = Advice::from("continue with ").command_for("run --resume \"…\"", "a new prompt");
        check(
            go_on.text(", or raise ").flag(Flag::MaxTurns),
            "continue with a new prompt, or raise `run.max_turns` in your configuration",
        );
        check(
            Advice::from("to allow it, add ").flag_with(Flag::Grant, "fetch:http=a.b:443"),
            "to allow it, add the grant `fetch:http=a.b:443`",
        );
        check(Advice::from("set ").setting("a\u{202e}b"), "set `a\\u{202e}b`");
        check(
            Notice::from("`A` and `B` are set; using `A`. To choose: ")
                .flag(Flag::Model)
                .text(", or `model` in the configuration"),
            "`A` and `B` are set; using `A`. To choose: the model in the editor, or `model` in the configuration",
        );
        check(
            Notice::from("new conversation; to resume the last one: ")
                .plain_command("run --resume 1", "open it from the list of sessions"),
            "new conversation; to resume the last one: open it from the list of sessions",
        );
    }
}
