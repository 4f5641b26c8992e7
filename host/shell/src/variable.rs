//! Environment variables: which only change how something is shown, and which may change what runs.

use crate::Word;

/// Variables that choose how something is shown, and nothing else.
const DISPLAY: [&str; 14] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TZ",
];

/// Returns why setting the variable may change what runs, or `None` if it only changes what is shown.
pub(crate) fn risk(assignment: &Word) -> Option<String> {
    let name = assignment.text.split(['=', '+']).next().unwrap_or_default();
    let harmless = DISPLAY.contains(&name) || name.starts_with("LC_");
    (!harmless).then(|| format!("the variable `{}` may change what runs", name.replace('\0', "…")))
}

/// Whether the name looks like a script's own variable, such as `line`. Names that control the behaviour of programs
/// have capital letters or underscores, as in `npm_config_script_shell` and `http_proxy`.
pub(crate) fn is_own_name(name: &str) -> bool {
    let own = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(own)
}
