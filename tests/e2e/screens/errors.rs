//! Errors that a user can cause: what failed, with which value, and what to do next.

use super::*;

#[track_caller]
fn failed(name: &str, host: Host) {
    let host = host.without_mode();
    let ended = host.run();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    printed(&host, name, &ended);
}

#[test]
fn screens_errors_of_the_command_line() {
    failed("error_no_model", Host::new(["run", "Look"]).env("OLLAMA_HOST", "127.0.0.1:1"));
    failed("error_unknown_provider", Host::new(["run", "--model", "unheard-of", "Look"]));
    failed("error_missing_key", Host::new(["run", "--model", "anthropic/claude-sonnet-5", "Look"]));
    failed("error_nothing_to_do", Host::scripted(&[answer("x")], &[]));
    failed("error_unknown_flag", Host::new(["run", "--modle", "offline", "Look"]));
    failed("error_zero_turns", Host::scripted(&[answer("x")], &["--max-turns", "0", "Look"]));
    failed("error_unknown_tool", Host::new(["tool", "call", "grpe", "{}"]));
    failed("error_tool_arguments", Host::new(["tool", "call", "grep", "{\"patern\": \"x\"}"]));
    failed("error_not_granted", Host::new(["tool", "call", "write_file", "{\"path\": \"a\", \"content\": \"b\"}"]));
    failed("error_grant_of_an_unknown_plugin", Host::scripted(&[answer("x")], &["--grant", "grp:fs-read=.", "Look"]));
    failed("error_grant_without_scope", Host::scripted(&[answer("x")], &["--grant", "grep", "Look"]));
    failed("error_unknown_session", Host::new(["session", "show", "2026"]));
    failed("error_unknown_agent", Host::new(["run", "--agent", "investigator"]));
}

#[test]
fn screens_errors_of_the_configuration() {
    let configured = |text: &str| Host::scripted(&[answer("x")], &["Look"]).configured(text);
    failed("error_unknown_setting", configured("modle = \"offline\"\n"));
    failed("error_setting_of_another_type", configured("[run]\nmax_turns = \"many\"\n"));
    failed("error_setting_out_of_range", configured("[compression]\nsummarised = 1.5\n"));
}
