//! `host plugin versions`: what a repository of a registry has.

use host_extensions::install::{self, Published, PublishedVersion};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{exact, excerpt};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::transfer::{login, reference, unless};
use crate::arguments::store::Versions;
use crate::command::tool;
use crate::exit::Code;
use crate::printer::{self, Out};

/// The most tags of a bundle that are shown; `--json` has all. Protects the reader.
const MAX_TAGS: usize = 20;

/// The longest version that is shown, in characters. Protects the same.
const MAX_VERSION: usize = 100;

pub(super) async fn run(
    versions: &Versions,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Code, Failure> {
    let place = reference(&versions.reference)?;
    let downloads = environment.folders()?.downloads;
    let Published { versions: rows, has_more } = unless(stop, install::versions(&place, &downloads, login)).await?;
    if has_more {
        printer::notes(&[format!("`{place}` has more tags than are listed")], environment);
    }
    let out = Out::new(CancellationToken::new());
    if versions.json {
        return tool::print_json(&json!(rows), &out);
    }
    let style = printer::stdout_style(environment);
    let mut text = String::new();
    for PublishedVersion { plugin, version, tags, digest } in &rows {
        let what = match (plugin, version) {
            (Some(plugin), Some(version)) => {
                format!("{} {}", style.bold(&exact(plugin)), excerpt(&version.to_string(), MAX_VERSION))
            }
            (Some(_), None) | (None, _) => "not a plugin".to_owned(),
        };
        let more = match tags.len().saturating_sub(MAX_TAGS) {
            0 => String::new(),
            more => format!(", … and {more} more"),
        };
        let tags = tags[..tags.len().min(MAX_TAGS)].join(", ");
        text.push_str(&format!("{what}  {}{more}\n  {digest}\n", exact(&tags)));
    }
    if rows.is_empty() {
        text.push_str(&format!("`{place}` has no tags.\n"));
    }
    out.write_entries(&text);
    Ok(Code::Done)
}
