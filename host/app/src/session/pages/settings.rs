//! The settings that hold, where each comes from, and the files.
//!
//! Deliberately not here: which setting wins, and what of it may be shown (`session::settings`).

use host_settings::configuration::{Origin, Setting};
use host_text::exact;

use crate::page::{Line, Page};
use crate::session::settings::SettingsReport;

/// Width of the labels of files.
const LABELS: usize = 16;

/// The indent of further rows of a setting.
const INDENT: usize = 4;

/// The page.
pub fn page(report: &SettingsReport) -> Page {
    let mut page = Page::default();
    page.push(Line::strong("Files"));
    for file in &report.files {
        let state = if file.state.is_empty() { String::new() } else { format!(" ({})", file.state) };
        let line = format!("  {:LABELS$}{}{state}", file.about, exact(&file.path.display().to_string()));
        page.push(Line::new(line).indented(LABELS + 2));
    }
    let (defaults, set): (Vec<&Setting>, Vec<&Setting>) =
        report.settings.iter().partition(|setting| setting.origin == Origin::Default);
    for (title, settings) in [("Set", set), ("Defaults", defaults)] {
        if settings.is_empty() {
            continue;
        }
        page.push(Line::default());
        page.push(Line::strong(title));
        for Setting { key, value, origin } in settings {
            let words = words(origin);
            let words = if words.is_empty() { String::new() } else { format!("  ({words})") };
            page.push(Line::new(format!("  {} = {}{}", exact(key), exact(value), exact(&words))).indented(INDENT));
        }
    }
    page.push(Line::default());
    page.push(Line::new("docs/reference/settings.md has every key."));
    page
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
