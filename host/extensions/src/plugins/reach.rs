//! The servers that the settings of a plugin name: it reaches those and no others, whatever its manifest requests and a
//! user or a mode grants.
//!
//! Only the built-in `web_search` has such settings; where it searches through the model's own service, which one that
//! is is known with the model. Deliberately not here: what it sends there, which its preview names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use host_capability::Grants;
use host_plugin::{Confirmation, TouchError, Workspace};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Notice, exact};

use super::{LoadedPlugin, PluginOrigin};

/// The plugin.
const WEB_SEARCH: &str = "web_search";

/// Each search service: its name, the method of its requests, and its address if it has one of its own. The plugin has
/// the same; a test compares them.
const SERVICES: &[(&str, &str, Option<&str>)] = &[
    ("brave", "GET", Some("https://api.search.brave.com")),
    ("tavily", "POST", Some("https://api.tavily.com")),
    ("searxng", "GET", None),
];

/// The value of the setting with which the model's own service searches.
const MODEL: &str = "model";

/// The setting with the service to ask where the model's has no search.
const INSTEAD: &str = "instead";

/// Why the settings of `web_search` cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReachError {
    /// There is no such service.
    #[error("`plugins.\"{WEB_SEARCH}\".config.provider` is `{0}`, which is not a search service that host knows")]
    NoService(String),
    /// The service has no address of its own.
    #[error("`{WEB_SEARCH}` needs the address of a SearXNG instance")]
    NoAddress,
    /// The address is none of the web.
    #[error("`plugins.\"{WEB_SEARCH}\".config.address` is `{address}`")]
    Address {
        /// The address, safe to show.
        address: String,
        /// Why.
        cause: TouchError,
    },
}

impl Fault for ReachError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoService(_) | Self::NoAddress => Vec::new(),
            Self::Address { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoService(_) => {
                let names: Vec<&str> = SERVICES.iter().map(|(known, ..)| *known).chain([MODEL]).collect();
                Some(format!("set it to one of: {}", names.join(", ")).into())
            }
            Self::NoAddress => Some(
                Advice::from("set ")
                    .setting(format!("plugins.\"{WEB_SEARCH}\".config.address"))
                    .text(" to one such as https://search.example.org"),
            ),
            Self::Address { .. } => Some("set it to an address of the web, such as https://search.example.org".into()),
        }
    }
}

/// Returns the most that these settings, each value as JSON text, let a plugin touch; `None` if they say nothing about
/// that.
///
/// # Errors
///
/// If they name an unknown service, or no valid server.
pub(super) fn of(plugin: &LoadedPlugin, config: &BTreeMap<String, String>) -> Result<Option<Grants>, ReachError> {
    if plugin.origin != PluginOrigin::BuiltIn(WEB_SEARCH) {
        return Ok(None);
    }
    let name = value(config, "provider").unwrap_or_default();
    match (name.as_str(), value(config, INSTEAD)) {
        // Nothing, until the model is known: no grant reaches further.
        (MODEL, None) => Ok(Some(Grants::none())),
        (MODEL, Some(instead)) => of_service(plugin, &instead, config).map(|_| Some(Grants::none())),
        (name, _) => of_service(plugin, name, config).map(Some),
    }
}

impl LoadedPlugin {
    /// Whether the user wants it to search through the model's own service.
    pub fn searches_by_model(&self) -> bool {
        self.origin == PluginOrigin::BuiltIn(WEB_SEARCH) && value(&self.config, "provider").as_deref() == Some(MODEL)
    }

    /// Returns the plugin for a model whose service searches at this address, and whether that service is asked:
    /// without an address the one that the user wants instead is. `None` if there is neither. Any other plugin stays as
    /// it is.
    ///
    /// # Errors
    ///
    /// If the address is none that a grant can name.
    pub fn searching(&self, address: Option<&str>) -> Result<Option<(Cow<'_, Self>, bool)>, Failure> {
        if !self.searches_by_model() {
            return Ok(Some((Cow::Borrowed(self), false)));
        }
        let mut config = (*self.config).clone();
        let mut set = |key: &str, text: &str| config.insert(key.to_owned(), serde_json::Value::from(text).to_string());
        let reach = match (address, value(&self.config, INSTEAD)) {
            (Some(address), _) => {
                set("address", address);
                of_request(self, "POST", address)?
            }
            (None, Some(instead)) => {
                set("provider", &instead);
                of_service(self, &instead, &self.config)?
            }
            (None, None) => return Ok(None),
        };
        let resolved = Self { config: Arc::new(config), reach: Some(reach), ..self.clone() };
        Ok(Some((Cow::Owned(resolved), address.is_some())))
    }
}

fn value(config: &BTreeMap<String, String>, key: &str) -> Option<String> {
    serde_json::from_str(config.get(key)?).ok()
}

/// Returns the reach of a search service with this name.
fn of_service(plugin: &LoadedPlugin, name: &str, config: &BTreeMap<String, String>) -> Result<Grants, ReachError> {
    let Some((_, method, own)) = SERVICES.iter().find(|(known, ..)| *known == name) else {
        return Err(ReachError::NoService(exact(name).into_owned()));
    };
    let address = value(config, "address").or_else(|| own.map(str::to_owned)).ok_or(ReachError::NoAddress)?;
    of_request(plugin, method, &address)
}

/// Returns the reach of a request to an address.
fn of_request(plugin: &LoadedPlugin, method: &str, address: &str) -> Result<Grants, ReachError> {
    let request = (method.to_owned(), address.to_owned());
    let request = Confirmation::Info { text: String::new(), requests: vec![request], writes: Vec::new() };
    let touches = request.touches(plugin.plugin.declared(), &Workspace::nowhere());
    touches.map_err(|cause| ReachError::Address { address: exact(address).into_owned(), cause })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plugins::built_in_plugins;

    fn plugin() -> LoadedPlugin {
        let plugins = built_in_plugins(Path::new("/")).expect("they are valid");
        plugins.into_iter().find(|plugin| plugin.manifest.name == WEB_SEARCH).expect("it is built in")
    }

    fn config(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        let json = |value: &str| serde_json::Value::from(value).to_string();
        settings.iter().map(|(key, value)| ((*key).to_owned(), json(value))).collect()
    }

    fn reach(settings: &[(&str, &str)]) -> Result<String, ReachError> {
        of(&plugin(), &config(settings)).map(|reach| reach.expect("it has settings").to_string())
    }

    // promise search.server: `web_search` reaches the server that the user configured, and no other.
    #[test]
    fn reach_of_a_search_service_is_exactly_its_server() {
        for (settings, expected) in [
            (&[("provider", "brave")][..], "http=GET api.search.brave.com:443 -private"),
            (&[("provider", "tavily")], "http=POST api.tavily.com:443 -private"),
            (&[("provider", "searxng"), ("address", "https://s.example/x/")], "http=GET s.example:443 -private"),
            (&[("provider", "searxng"), ("address", "http://127.0.0.1:8888")], "http=GET 127.0.0.1:8888"),
            (&[("provider", "model")], "nothing"),
            (&[("provider", "model"), ("instead", "tavily")], "nothing"),
        ] {
            assert_eq!(reach(settings).expect("it is valid"), expected, "{settings:?}");
        }
    }

    // promise search.model: A search by the model's own service reaches that service alone, by one request that is
    //   asked about, and counts for the budget.
    #[test]
    fn reach_of_a_search_by_the_model_is_its_service_or_the_one_instead() {
        let check = |settings: &[(&str, &str)], address: Option<&str>, expected: Option<(&str, &str, bool)>| {
            let plugin = LoadedPlugin { config: Arc::new(config(settings)), ..plugin() };
            let resolved = plugin.searching(address).expect("it is valid").map(|(plugin, is_model)| {
                let reach = plugin.reach.as_ref().map(ToString::to_string).unwrap_or_default();
                (reach, value(&plugin.config, "provider").unwrap_or_default(), is_model)
            });
            let resolved = resolved.as_ref().map(|(reach, name, is_model)| (reach.as_str(), name.as_str(), *is_model));
            assert_eq!(resolved, expected, "{settings:?} {address:?}");
        };
        let service = Some("https://api.openai.com/v1/responses");
        let model = &[("provider", "model")][..];
        let instead = &[("provider", "model"), ("instead", "tavily")][..];
        let reach = "http=POST api.openai.com:443 -private";
        check(model, service, Some((reach, "model", true)));
        check(instead, service, Some((reach, "model", true)));
        check(model, None, None);
        check(instead, None, Some(("http=POST api.tavily.com:443 -private", "tavily", false)));
        // What the user configured is asked, whatever the model's service could do.
        check(&[("provider", "brave")], service, Some(("", "brave", false)));
    }

    #[test]
    fn reach_of_settings_that_name_no_server_is_an_error_with_help() {
        for (settings, message) in [
            (&[("provider", "google\u{1b}")][..], "`google\\u{1b}`, which is not a search service"),
            (&[("provider", "searxng")], "needs the address"),
            (&[("provider", "model"), ("instead", "google")], "`google`, which is not a search service"),
            (&[("provider", "model"), ("instead", "model")], "`model`, which is not a search service"),
            (&[("provider", "searxng"), ("address", "file:///etc")], "config.address"),
            (&[("provider", "searxng"), ("address", "localhost:8888")], "config.address"),
            (&[("provider", "searxng"), ("address", "*")], "config.address"),
        ] {
            let failure = reach(settings).expect_err("it is invalid");
            assert!(failure.to_string().contains(message) && failure.help().is_some(), "{failure:?}");
        }
    }
}
