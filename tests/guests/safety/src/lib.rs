//! A safety checker: a hook that sees each call, denies what destroys, asks about secrets, and lets the rest pass.
//!
//! It also misbehaves where a test asks for it by a word in the arguments.

use host_hook_sdk::{Answer, Event, Moment, ToolCall, export_hook};

/// What no command is to contain.
const DESTROYS: &[&str] = &["rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd"];

/// What a user is to be asked about.
const SECRETS: &[&str] = &[".env", "id_rsa", "credentials"];

fn handle(event: &Event) -> Result<Answer, String> {
    match (&event.moment, &event.call) {
        (Moment::PreToolUse, Some(call)) => checked(call),
        _ => Ok(Answer::nothing()),
    }
}

fn checked(call: &ToolCall) -> Result<Answer, String> {
    let found = |words: &[&'static str]| words.iter().copied().find(|word| call.arguments.contains(word));
    if call.arguments.contains("misbehave: trap") {
        std::process::abort();
    }
    if call.arguments.contains("misbehave: spin") {
        loop {
            std::hint::spin_loop();
        }
    }
    if call.arguments.contains("misbehave: eat") {
        let mut eaten = vec![0_u8; 1 << 20];
        loop {
            eaten.extend_from_within(..);
        }
    }
    if call.arguments.contains("misbehave: fail") {
        return Err("it says that it failed".to_owned());
    }
    if call.arguments.contains("misbehave: change") {
        return Ok(Answer { arguments: Some("no JSON".to_owned()), ..Answer::nothing() });
    }
    Ok(match (found(DESTROYS), found(SECRETS)) {
        (Some(word), _) => Answer::deny(format!("`{word}` destroys what cannot be restored")),
        (None, Some(word)) => Answer::ask(format!("`{word}` may hold secrets")),
        (None, None) => Answer::nothing(),
    })
}

export_hook!(handle);
