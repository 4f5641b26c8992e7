//! What a plugin that is installed may do without a question.
//!
//! Promises: nobody is asked about what was agreed to before and is asked for still; where nobody can be asked, nothing is
//! agreed to that was not said on the command line.

use host_app::environment::Environment;
use host_app::error::{ErrorKind, Failure};
use host_app::plugins::store::Agreed;
use host_bundle::Bundle;
use host_manifest::Manifest;
use tokio_util::sync::CancellationToken;

use crate::arguments::shelf::Install;
use crate::printer::visible;
use crate::trust_question;

/// How often something that is no answer is asked about again.
const TRIES: usize = 3;

/// What the person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Install it, and ask before each call.
    Yes,
    /// Install it, and let it do what it asks for.
    Grant,
    No,
}

/// What is agreed to: what was before, as far as it is asked for still; what the command line says; and what the person
/// says of what is new.
pub(super) async fn agreed(
    bundle: &Bundle,
    before: Option<&Bundle>,
    kept: Agreed,
    install: &Install,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Agreed, Failure> {
    let manifest = bundle.manifest();
    let mut agreed: Agreed = kept.into_iter().filter(|(name, scope)| manifest.asks_for(name, scope)).collect();
    for text in &install.grant {
        let (name, scope) = granted(manifest, text)?;
        agreed.insert(name, scope);
    }
    let new: Vec<&String> = manifest
        .capabilities
        .iter()
        .filter(|(name, declared)| before.is_none_or(|before| !before.manifest().asks_for(name, &declared.scope)))
        .map(|(name, _)| name)
        .collect();
    let sent: Vec<&String> = manifest
        .secrets
        .iter()
        .filter(|(name, secret)| {
            let before = before.and_then(|before| before.manifest().secrets.get(*name));
            before.is_none_or(|before| !secret.reaches_no_more_than(before))
        })
        .map(|(name, _)| name)
        .collect();
    // A flag that grants says nothing of secrets, and no call asks about one.
    let is_said = install.yes || (sent.is_empty() && !install.grant.is_empty());
    if (new.is_empty() && sent.is_empty()) || is_said {
        return Ok(agreed);
    }
    if !environment.stdin_is_terminal || !environment.stderr_is_terminal {
        let names = new.iter().map(|name| format!("`{name}`"));
        let names: Vec<String> = names.chain(sent.iter().map(|name| format!("the secret `{name}`"))).collect();
        return Err(Failure::input(format!(
            "`{}` asks for {}, and nobody can be asked",
            manifest.name,
            names.join(", ")
        ))
        .help(match sent.is_empty() {
            true => "add --yes to be asked at each call, or --grant CAPABILITY to let it without a question",
            false => {
                "add --yes, once you have seen where it sends what you give it: `host plugin verify` shows a bundle"
            }
        }));
    }
    match answer(manifest, &new, &sent, stop).await? {
        Answer::Yes => Ok(agreed),
        Answer::Grant => {
            for name in new {
                if let Some(declared) = manifest.capabilities.get(name) {
                    agreed.insert(name.clone(), declared.scope.clone());
                }
            }
            Ok(agreed)
        }
        Answer::No => Err(Failure::new(ErrorKind::Cancelled, "nothing was installed")),
    }
}

/// What `--grant` says, which can be no more than what the plugin asks for.
fn granted(manifest: &Manifest, text: &str) -> Result<(String, String), Failure> {
    let (name, scope) = text.split_once('=').map_or((text, None), |(name, scope)| (name, Some(scope)));
    let Some(declared) = manifest.capabilities.get(name) else {
        let asked: Vec<String> = manifest.capabilities.keys().map(|name| format!("`{name}`")).collect();
        return Err(Failure::input(format!("`{}` does not ask for `{name}`", manifest.name))
            .help(format!("it asks for {}", asked.join(", "))));
    };
    let scope = scope.unwrap_or(&declared.scope);
    if !manifest.asks_for(name, scope) {
        return Err(Failure::input(format!("`{}` does not ask for `{name}={scope}`", manifest.name))
            .help(format!("it asks for `{name}={}`", declared.scope)));
    }
    Ok((name.to_owned(), scope.to_owned()))
}

async fn answer(
    manifest: &Manifest,
    new: &[&String],
    sent: &[&String],
    stop: &CancellationToken,
) -> Result<Answer, Failure> {
    let scopes = new
        .iter()
        .filter_map(|name| Some(format!("  {name} = {}\n", visible(&manifest.capabilities.get(*name)?.scope))));
    let servers = sent.iter().filter_map(|name| {
        let servers = manifest.secrets.get(*name)?.servers.join(", ");
        Some(format!("  your secret `{name}`, sent to {}\n", visible(&servers)))
    });
    let listed: Vec<String> = scopes.chain(servers).collect();
    crate::printer::to_stderr(&format!("\nNew to you, of what it asks for:\n{}\n", listed.concat()));
    trust_question::discard_what_was_typed();
    for _ in 0..TRIES {
        crate::printer::to_stderr("Install it? [y]es and ask at each call, yes and [g]rant this, [n]o: ");
        match trust_question::line(stop).await?.as_deref().map(|line| line.trim().to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => return Ok(Answer::Yes),
            Some("g" | "grant") => return Ok(Answer::Grant),
            Some("n" | "no") | None => return Ok(Answer::No),
            Some(_) => {}
        }
    }
    Ok(Answer::No)
}
