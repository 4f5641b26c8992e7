//! `host plugin search`: plugins in the indexes that the user configured.

use host_capability::Capability;
use host_extensions::indexes::{self, Match, OlderIndex};
use host_extensions::plugins::store;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{Notice, exact, excerpt, visible_line};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::transfer::{login, unless};
use crate::arguments::indexes::Search;
use crate::command::tool;
use crate::exit::Code;
use crate::printer::{self, Out, Style};

/// Plugins that are shown. Protects the terminal; `--json` has all.
const MAX_SHOWN: usize = 50;

/// The longest scope, in characters; `--json` has all of it. Protects the requests behind it.
const MAX_SCOPE: usize = 60;

pub(super) async fn run(search: &Search, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let indexes = unless(stop, indexes::load(environment, login, older(search.allow_older_index))).await?;
    let notes: Vec<Notice> = indexes.failed.iter().map(Failure::notice).collect();
    printer::notes(&notes, environment);
    let trust = store::trusted_keys(&environment.folders()?)?;
    let matches = indexes::search(&indexes, &search.words, &trust, Timestamp::now());
    let out = Out::new(CancellationToken::new());
    if search.json {
        return tool::print_json(&json!(matches), &out);
    }
    let style = printer::stdout_style(environment);
    let mut text: String = matches.iter().take(MAX_SHOWN).map(|found| shown(found, style)).collect();
    if matches.len() > MAX_SHOWN {
        text.push_str(&format!("{} more; add words, or use --json.\n", matches.len() - MAX_SHOWN));
    }
    if matches.is_empty() {
        text.push_str(&format!("No plugin matches `{}`.\n", exact(&search.words.join(" "))));
    }
    out.write_entries(&text);
    Ok(Code::Done)
}

/// What `--allow-older-index` says.
pub(super) fn older(allow: bool) -> OlderIndex {
    if allow { OlderIndex::Accept } else { OlderIndex::Report }
}

/// Shows a plugin. All of it is the words of an index, and may be anything.
fn shown(found: &Match, style: Style) -> String {
    let Match { index, entry, trusted } = found;
    let keys: Vec<String> = entry.key_ids().iter().map(ToString::to_string).collect();
    let trust = match trusted {
        true => "which you trust for it",
        false => "not trusted for it; once its publisher has given you the key, run `host keys trust`",
    };
    let asks: Vec<String> = Capability::strongest_first(&entry.capabilities)
        .map(|(name, scope)| format!("{}={}", exact(name), excerpt(scope, MAX_SCOPE)))
        .collect();
    let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
    let tools: Vec<String> = entry.tools.iter().map(|tool| exact(&tool.name).into_owned()).collect();
    let mut text =
        format!("{} {}  {}\n", style.bold(&exact(&entry.name)), entry.version, visible_line(&entry.description));
    text.push_str(&format!("  by {}, key {}, {trust}\n", exact(&entry.publisher), keys.join(", ")));
    text.push_str(&format!("  asks for {asks}\n"));
    if !tools.is_empty() {
        text.push_str(&format!("  tools {}\n", tools.join(", ")));
    }
    text.push_str(&format!("  {}\n", entry.digest));
    text.push_str(&format!("  host plugin install {}  (index `{}`)\n", exact(&entry.name), exact(index)));
    text
}
