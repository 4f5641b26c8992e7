//! Asks on the terminal whether a plugin is installed.
//!
//! Promises: without a terminal nothing is agreed to beyond the command line.

use host_extensions::install::{InstallAnswer, InstallQuestion};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{exact, excerpt};
use tokio_util::sync::CancellationToken;

use crate::printer::{entries_to_stderr, to_stderr};
use crate::trust_question;

/// Maximum number of questions if answers are invalid.
const TRIES: usize = 3;

/// The longest scope in the list of new requests, in characters. Protects the lines below it.
const MAX_SCOPE: usize = 120;

/// Asks the user about what is new.
pub(super) async fn answer(
    question: &InstallQuestion,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<InstallAnswer, Failure> {
    if !environment.stdin_is_terminal || !environment.stderr_is_terminal {
        return Err(nobody(question));
    }
    // In the order of their strength; each on one line, since the whole scope was shown above.
    let requests = question.manifest.requests().filter_map(|(name, _)| question.capabilities.get_key_value(name));
    let scopes = requests.map(|(name, scope)| format!("  {} = {}\n", exact(name), excerpt(scope, MAX_SCOPE)));
    let servers = question
        .secrets
        .iter()
        .map(|(name, servers)| format!("  your secret `{}`, sent to {}\n", exact(name), exact(&servers.join(", "))));
    let listed: String = scopes.chain(servers).collect();
    if !listed.is_empty() {
        entries_to_stderr(&format!("\nNew requests:\n{listed}"));
    }
    if !question.brings.is_empty() {
        entries_to_stderr(&format!("\nNew files: {}\n", question.brings.join(", ")));
    }
    let choices = match question.capabilities.is_empty() {
        true => "\nInstall it? [y]es, [n]o:",
        false => "\nInstall it? [y]es and ask at each call, yes and [g]rant this, [n]o:",
    };
    trust_question::discard_what_was_typed();
    for _ in 0..TRIES {
        to_stderr(choices);
        // A line that is wrapped ends without a blank.
        to_stderr(" ");
        match trust_question::line(stop).await?.as_deref().map(|line| line.trim().to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => return Ok(InstallAnswer::Install),
            Some("g" | "grant") if !question.capabilities.is_empty() => return Ok(InstallAnswer::InstallAndGrant),
            Some("n" | "no") | None => return Ok(InstallAnswer::Decline),
            Some(_) => {}
        }
    }
    Ok(InstallAnswer::Decline)
}

fn nobody(question: &InstallQuestion) -> Failure {
    let capabilities = question.capabilities.keys().map(|name| format!("`{name}`"));
    let mut wants: Vec<String> = Vec::new();
    let names: Vec<String> =
        capabilities.chain(question.secrets.keys().map(|name| format!("the secret `{name}`"))).collect();
    if !names.is_empty() {
        wants.push(format!("asks for {}", names.join(", ")));
    }
    if !question.brings.is_empty() {
        wants.push(format!("brings {}", question.brings.join(", ")));
    }
    if !question.lookalikes.is_empty() {
        wants.push(format!("has names that are easily confused ({})", question.lookalikes.join(", ")));
    }
    let (plugin, wants) = (&question.manifest.name, wants.join(" and "));
    Failure::input(format!("`{plugin}` {wants}, and there is no terminal to ask on")).help(
        match (question.secrets.is_empty(), question.brings.is_empty()) {
            (true, true) if !question.lookalikes.is_empty() => "add --yes, if it is the plugin that you mean",
            (true, true) => {
                "add --yes to install it and be asked at each call, or --grant CAPABILITY to allow that \
                             without asking"
            }
            (false, _) => {
                "add --yes, once you have seen where it sends what you give it: `host plugin verify` shows a bundle"
            }
            (true, false) => "add --yes, once you have read it: `host plugin verify FILE --files` prints it",
        },
    )
}
