//! The settings that hold in a session: those of the files, overridden by the environment, the flags and the session
//! itself, and the files that they come from.
//!
//! Deliberately not here: the rules between the files (`configuration`), and changing a setting.

use std::path::PathBuf;

use host_model::{PROVIDERS, Vertex};
use host_settings::configuration::{Configuration, NOT_SHOWN, Origin, Preference, Setting, shown_address};
use host_settings::models::saved::{self, SavedModel};

use super::Session;

/// The settings of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsReport {
    /// The files of the host, whether they exist or not.
    pub files: Vec<SettingsFile>,
    /// The settings that hold, by their keys.
    pub settings: Vec<Setting>,
}

/// A file or folder of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// What it is, for a user.
    pub about: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// Its state, for a user: empty if it is used.
    pub state: &'static str,
}

impl Session {
    /// Returns the settings that hold, with where each comes from. Keys and other secrets are not part of it.
    pub fn settings(&self) -> SettingsReport {
        let mut settings = self.app.configuration.settings();
        self.environment(&mut settings);
        self.flags(&mut settings);
        settings.sort_by(|one, other| one.key.cmp(&other.key));
        SettingsReport { files: self.files(), settings }
    }

    fn files(&self) -> Vec<SettingsFile> {
        let app = &self.app;
        let state = |path: &PathBuf| if path.is_file() { "" } else { "does not exist" };
        let (own, _) = Configuration::path(&app.environment, &app.folders);
        let project = app.project.root.join(host_settings::project::FOLDER).join("config.toml");
        let of_project = match (app.project.files().configuration.is_some(), project.is_file()) {
            (true, _) => "",
            (false, true) => "not used: the project is not trusted",
            (false, false) => "does not exist",
        };
        let saved = saved::path(&app.folders);
        let file = |about, path: PathBuf, state| SettingsFile { about, path, state };
        let (own_state, saved_state) = (state(&own), state(&saved));
        vec![
            file("your file", own, own_state),
            file("project", project, of_project),
            file("saved model", saved, saved_state),
            file("use of the day", app.folders.spending.clone(), state(&app.folders.spending)),
            file("sessions", app.folders.sessions.clone(), ""),
        ]
    }

    /// Overrides settings by the environment.
    fn environment(&self, settings: &mut Vec<Setting>) {
        let environment = &self.app.environment;
        let mut from_variable = |key: String, value: String, variable: &str| {
            set(settings, &key, value, Origin::Environment(variable.to_owned()));
        };
        for provider in PROVIDERS {
            if let Some(variable) = provider.address.map(|address| address.variable)
                && let Some(address) = environment.text(variable)
            {
                from_variable(format!("providers.{provider}.base_url"), quoted(&shown_address(&address)), variable);
            }
            if let Some(variable) = provider.key_variable
                && environment.variable(variable).is_some()
            {
                from_variable(format!("key of {provider}"), NOT_SHOWN.to_owned(), variable);
            }
        }
        for (key, variable) in [("project", "GOOGLE_CLOUD_PROJECT"), ("location", "GOOGLE_CLOUD_LOCATION")] {
            if let Some(value) = environment.text(variable) {
                from_variable(format!("providers.{}.{key}", Vertex::PROVIDER), quoted(&value), variable);
            }
        }
        let saved = self.app.configuration.saved.as_ref();
        for provider in PROVIDERS {
            let key = format!("key of {provider}");
            let is_set = settings.iter().any(|setting| setting.key == key);
            if !is_set && saved.is_some_and(|saved| saved.key_of(*provider).is_some()) {
                set(settings, &key, NOT_SHOWN.to_owned(), Origin::Saved);
            }
        }
    }

    /// Overrides settings by the flags and by what the session changed.
    fn flags(&self, settings: &mut Vec<Setting>) {
        let (app, request) = (&self.app, &self.request);
        let configuration = &app.configuration;
        let model = self.model.id.as_str();
        let saved = configuration.saved.as_ref().and_then(SavedModel::id);
        let named = [request.model.as_deref(), configuration.model.as_deref(), saved];
        let origin = match named.iter().position(|named| *named == Some(model)) {
            Some(0) => Some(Origin::Flag("--model")),
            // The file has it.
            Some(1) => None,
            Some(_) => Some(Origin::Saved),
            None if named.iter().all(Option::is_none) => Some(Origin::Default),
            None => Some(Origin::Session),
        };
        if let Some(origin) = origin {
            set(settings, "model", quoted(model), origin);
        }
        let mode = self.mode();
        let origin = match (app.access.approval_mode, configuration.approval_mode()) {
            (Some(flag), _) if flag == mode => Some(Origin::Flag("--approval-mode")),
            (None, Preference::Chosen(configured)) if configured == mode => None,
            // A user's session begins in this one where it can.
            (None, Preference::Usual(_)) if mode == self.began_in => Some(Origin::Default),
            _ => Some(Origin::Session),
        };
        if let Some(origin) = origin {
            set(settings, "approval_mode", quoted(mode.name()), origin);
        }
        let flags = [
            ("confine.mode", "--confine", app.access.confine.map(|mode| quoted(mode.name()))),
            ("any_folder", "--any-folder", app.place.any_folder.then(|| "true".to_owned())),
            ("run.max_turns", "--max-turns", request.max_turns.map(|turns| turns.to_string())),
            ("run.timeout_seconds", "--timeout", request.timeout.map(|time| time.as_secs().to_string())),
            ("run.max_tokens", "--max-tokens", request.max_tokens.map(|tokens| tokens.to_string())),
            ("run.max_cost", "--max-cost", request.max_cost.map(|cost| cost.to_string())),
        ];
        for (key, flag, value) in flags {
            if let Some(value) = value {
                set(settings, key, value, Origin::Flag(flag));
            }
        }
    }
}

/// Puts a value in the place of what the files have for a key.
fn set(settings: &mut Vec<Setting>, key: &str, value: String, origin: Origin) {
    settings.retain(|setting| setting.key != key);
    settings.push(Setting { key: key.to_owned(), value, origin });
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
