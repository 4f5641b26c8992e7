//! Which file each setting comes from, for a report to the user.
//!
//! Promises: a value that may be a secret (headers, secrets and settings of plugins, the user and the query of an
//! address) is replaced before it is kept, so that no report, no `Debug` and no message can show it.
//!
//! Deliberately not here: flags, the environment, and what a session changed (`session::settings`).

use std::collections::{BTreeMap, BTreeSet};

use host_text::one_line;
use serde_json::Value;

use super::schema::schema;

/// The most characters of a value that are shown.
const MAX_SHOWN: usize = 120;

/// Shown in place of a value that may be a secret.
pub const NOT_SHOWN: &str = "(set, not shown)";

/// Shown for a limit that nobody set.
const NO_LIMIT: &str = "no limit";

/// Keys whose values may be secrets; `*` is any name.
const HIDDEN: &[&[&str]] = &[
    &["providers", "*", "headers"],
    &["plugins", "*", "secrets"],
    &["plugins", "*", "config"],
    &["mcp", "*", "env"],
    &["mcp", "*", "headers"],
    &["mcp", "*", "client_secret"],
];

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The user's configuration file.
    User,
    /// The configuration file of the project.
    Project,
    /// The choice that the user saved at the first start.
    Saved,
    /// This variable of the environment.
    Environment(String),
    /// This flag.
    Flag(&'static str),
    /// A command of this session.
    Session,
}

/// A setting that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key, as the configuration file has it. Not escaped.
    pub key: String,
    /// Its value, without secrets. Not escaped.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// What the files of a configuration set.
#[derive(Clone, Debug, Default)]
pub struct Written {
    own: BTreeMap<String, Shown>,
    project: BTreeMap<String, Shown>,
}

/// A value as it may be shown.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    text: String,
    number: Option<f64>,
}

impl Written {
    /// Reads what a file sets. The text was parsed before, so that it is valid.
    pub(super) fn read(text: &str) -> Self {
        let mut own = BTreeMap::new();
        // Only keys that the configuration has get here, and none of them is a date, which JSON does not have.
        if let Ok(value) = toml::from_str::<Value>(text) {
            flatten(&value, &mut Vec::new(), &mut own);
        }
        Self { own, project: BTreeMap::new() }
    }

    /// Adds what the file of a trusted project sets.
    pub(super) fn overlaid_by(self, project: Self) -> Self {
        Self { own: self.own, project: project.own }
    }

    /// Returns the settings that hold, by the rules of the files alone, those with a default among them. `modes` are
    /// the approval mode and the confinement that hold.
    pub(super) fn settings(&self, modes: &[(&str, Option<&str>)]) -> Vec<Setting> {
        let defaults = defaults();
        let keys: BTreeSet<&String> = defaults.keys().chain(self.own.keys()).chain(self.project.keys()).collect();
        let mut settings = Vec::new();
        for key in keys {
            let (own, project, default) = (self.own.get(key), self.project.get(key), defaults.get(key));
            let mut add = |shown: Option<&Shown>, origin| {
                let value = shown.map_or_else(|| NO_LIMIT.to_owned(), |shown| shown.text.clone());
                settings.push(Setting { key: key.clone(), value, origin });
            };
            let mode = modes.iter().find(|(name, _)| name == key).and_then(|(_, mode)| *mode);
            match (own, project) {
                (None, None) => add(default.and_then(Option::as_ref), Origin::Default),
                (Some(own), None) => add(Some(own), Origin::User),
                // They are for different places: the user's own folder, and the project.
                (Some(own), Some(project)) if key == "context.files" => {
                    add(Some(own), Origin::User);
                    add(Some(project), Origin::Project);
                }
                (own, Some(project)) => {
                    let before = own.or(default.and_then(Option::as_ref));
                    match wins(key, before, project, mode) && !self.has_own_price(key) {
                        true => add(Some(project), Origin::Project),
                        false if own.is_some() => add(own, Origin::User),
                        false if self.has_own_price(key) => {}
                        false => add(before, Origin::Default),
                    }
                }
            }
        }
        settings
    }

    /// Returns whether a key is the price of a model for which the user has one: a price holds as a whole.
    fn has_own_price(&self, key: &str) -> bool {
        let Some((model, _)) = key.rsplit_once(".price.").filter(|_| key.starts_with("models.")) else { return false };
        let own = format!("{model}.price.");
        self.own.keys().any(|key| key.starts_with(&own))
    }
}

/// Returns whether the project's value of a key holds over the user's, or the default.
fn wins(key: &str, before: Option<&Shown>, project: &Shown, mode: Option<&str>) -> bool {
    if let Some(mode) = mode {
        return project.text == format!("\"{mode}\"") && before != Some(project);
    }
    let narrows = ["run.", "limits.", "budget."].iter().any(|table| key.starts_with(table))
        || key.starts_with("agents.") && (key.ends_with(".max_turns") || key.ends_with(".timeout_minutes"));
    match (narrows, before.and_then(|before| before.number), project.number) {
        (true, Some(before), Some(project)) => project < before,
        _ if key.starts_with("agents.") && key.ends_with(".enabled") => {
            before.is_none_or(|before| before.text != "false")
        }
        _ => true,
    }
}

/// Collects the leaves of a table by their keys.
fn flatten(value: &Value, path: &mut Vec<String>, found: &mut BTreeMap<String, Shown>) {
    let hides = |hidden: &&[&str]| {
        path.len() > hidden.len() && hidden.iter().zip(&*path).all(|(name, key)| *name == "*" || name == key)
    };
    if HIDDEN.iter().any(hides) {
        found.insert(joined(path), Shown { text: NOT_SHOWN.to_owned(), number: None });
    } else if let Value::Object(table) = value {
        for (key, value) in table {
            path.push(key.clone());
            flatten(value, path, found);
            path.pop();
        }
    } else {
        let text = one_line(&without_credentials(value).to_string(), MAX_SHOWN);
        found.insert(joined(path), Shown { text, number: value.as_f64() });
    }
}

/// Returns a key as a file has it: names that need quotes have them.
fn joined(path: &[String]) -> String {
    let is_bare =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let quoted = |name: &String| if is_bare(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
    path.iter().map(quoted).collect::<Vec<_>>().join(".")
}

/// Returns a value in which no address has a user, a password or a query.
fn without_credentials(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(address(text)),
        Value::Array(values) => Value::Array(values.iter().map(without_credentials).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.clone(),
    }
}

/// Returns an address without what may be a secret in it; another text stays as it is.
pub fn address(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (rest, cut) = rest.find(['?', '#']).map_or((rest, ""), |at| (rest.get(..at).unwrap_or_default(), "?…"));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{path}{cut}")
}

/// Returns the defaults of keys that are not below a name; `None` is a limit that there is not.
fn defaults() -> BTreeMap<String, Option<Shown>> {
    let schema = schema().to_value();
    let mut found = BTreeMap::new();
    collect(&schema, &schema, &mut Vec::new(), &mut found);
    found
}

fn collect(root: &Value, table: &Value, path: &mut Vec<String>, found: &mut BTreeMap<String, Option<Shown>>) {
    for (key, property) in table.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(key.clone());
        let target =
            property.get("$ref").and_then(Value::as_str).and_then(|name| root.pointer(name.trim_start_matches('#')));
        match (target.unwrap_or(property), property.get("default")) {
            (target, _) if target.get("properties").is_some() => collect(root, target, path, found),
            (_, Some(default)) if !default.is_null() && !default.is_object() && !is_empty(default) => {
                found.insert(joined(path), Some(Shown { text: default.to_string(), number: default.as_f64() }));
            }
            _ if matches!(path.first().map(String::as_str), Some("run" | "budget")) => {
                found.insert(joined(path), None);
            }
            _ => {}
        }
        path.pop();
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(own: &str, project: &str) -> BTreeMap<String, (String, Origin)> {
        let modes = [("approval_mode", None), ("confine.mode", None)];
        let all = Written::read(own).overlaid_by(Written::read(project)).settings(&modes);
        all.into_iter().map(|setting| (setting.key, (setting.value, setting.origin))).collect()
    }

    #[test]
    fn configuration_report_names_the_file_of_each_setting() {
        let own = "model = \"a\"\nrun.max_turns = 50\n[models.\"g/x\"]\ntemperature = 1.0\n\
                   price = { input = 1.0, output = 2.0 }\n[models.y]\nwindow = 5\n[agents.a]\nenabled = false\n";
        let project = "model = \"b\"\nrun.max_turns = 500\nrun.max_tokens = 9\nrun.max_subagents = 99\n\
                       limits.call_seconds = 1\n[models.\"g/x\"]\ntemperature = 0.5\n\
                       price = { input = 9.0, output = 9.0, cached = 1.0 }\n[agents.a]\nenabled = true\n";
        let all = settings(own, project);
        for (key, value, origin) in [
            ("model", "\"b\"", Origin::Project),
            ("run.max_turns", "50", Origin::User),
            ("run.max_tokens", "9", Origin::Project),
            ("run.max_subagents", "16", Origin::Default),
            ("run.timeout_seconds", NO_LIMIT, Origin::Default),
            ("limits.call_seconds", "1", Origin::Project),
            ("models.\"g/x\".temperature", "0.5", Origin::Project),
            ("models.\"g/x\".price.input", "1.0", Origin::User),
            ("models.y.window", "5", Origin::User),
            ("agents.a.enabled", "false", Origin::User),
            ("compression.threshold", "0.7", Origin::Default),
        ] {
            assert_eq!(all.get(key), Some(&(value.to_owned(), origin)), "{key}");
        }
        assert!(!all.contains_key("models.\"g/x\".price.cached"), "the user's price holds as a whole");
    }

    // promise conversation.config: `/config` shows no secret: no header, no setting or secret of a plugin, and no user,
    //   password or query of an address.
    #[test]
    fn configuration_report_shows_no_secret() {
        let own = "[providers.openai]\nbase_url = \"https://me:sec-ret@example.com/v1?key=sec-ret\"\n\
                   proxy = \"http://sec-ret@proxy:1\"\nheaders = { x-team = \"sec-ret\" }\n\
                   [plugins.\"a/b\"]\nconfig = { token = \"sec-ret\" }\nsecrets.key = { value = \"sec-ret\" }\n\
                   [tools]\ndiscovery_command = [\"list\", \"https://x:sec-ret@example.com\"]\n";
        let written = Written::read(own);
        let all = settings(own, "");
        assert!(!format!("{written:?}{all:?}").contains("sec-ret"), "{all:?}");
        for (key, value) in [
            ("providers.openai.base_url", "\"https://…@example.com/v1?…\""),
            ("providers.openai.proxy", "\"http://…@proxy:1\""),
            ("providers.openai.headers.x-team", NOT_SHOWN),
            ("plugins.\"a/b\".config.token", NOT_SHOWN),
            ("plugins.\"a/b\".secrets.key", NOT_SHOWN),
        ] {
            assert_eq!(all.get(key), Some(&(value.to_owned(), Origin::User)), "{key}");
        }
    }
}
