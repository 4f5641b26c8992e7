//! `/config`: the settings that hold, where each comes from, and the files.
//!
//! Deliberately not here: which setting wins, and what of it may be shown (`host_app::session::settings`).

use host_app::session::settings::SettingsReport;
use host_settings::configuration::{Origin, Setting};
use host_terminal::{Style, wrapped};
use host_text::exact;

/// Width of the labels of files.
const LABELS: usize = 16;

/// The indent of further rows of a setting.
const INDENT: usize = 4;

/// The text, in so many columns.
pub(super) fn text(report: &SettingsReport, columns: usize, style: Style) -> String {
    let mut text = style.bold("Files") + "\n";
    for file in &report.files {
        let state = if file.state.is_empty() { String::new() } else { format!(" ({})", file.state) };
        let line = format!("  {:LABELS$}{}{state}", file.about, exact(&file.path.display().to_string()));
        let indent = if columns < LABELS * 3 { INDENT } else { LABELS + 2 };
        text.push_str(&(wrapped(&line, columns, indent) + "\n"));
    }
    let (defaults, set): (Vec<&Setting>, Vec<&Setting>) =
        report.settings.iter().partition(|setting| setting.origin == Origin::Default);
    for (title, settings) in [("Set", set), ("Defaults", defaults)] {
        if settings.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}\n", style.bold(title)));
        for Setting { key, value, origin } in settings {
            let words = words(origin);
            let words = if words.is_empty() { String::new() } else { format!("  ({words})") };
            let line = format!("  {} = {}{}", exact(key), exact(value), exact(&words));
            text.push_str(&(wrapped(&line, columns, INDENT) + "\n"));
        }
    }
    text.push('\n');
    text.push_str(&wrapped("docs/reference/settings.md has every key.", columns, 0));
    text
}

/// Returns where a setting comes from.
fn words(origin: &Origin) -> String {
    match origin {
        Origin::Default => String::new(),
        Origin::User => "your file".to_owned(),
        Origin::Project => "project".to_owned(),
        Origin::Saved => "saved model".to_owned(),
        Origin::Environment(variable) => format!("environment: {variable}"),
        Origin::Flag(flag) => format!("flag: {flag}"),
        Origin::Session => "this session".to_owned(),
    }
}
