//! The servers that the settings of a plugin name: it reaches those and no others, whatever its manifest requests and a
//! user or a mode grants.
//!
//! Only the built-in `web_search` has such settings. Deliberately not here: what it sends there, which its preview
//! names.

use std::collections::BTreeMap;

use host_capability::Grants;
use host_plugin::{Confirmation, TouchError, Workspace};
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, exact};

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

    fn causes(&self) -> Vec<String> {
        match self {
            Self::NoService(_) | Self::NoAddress => Vec::new(),
            Self::Address { cause, .. } => vec![cause.to_string()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoService(_) => {
                let names: Vec<&str> = SERVICES.iter().map(|(known, ..)| *known).collect();
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
    let value = |key: &str| serde_json::from_str::<String>(config.get(key)?).ok();
    let name = value("provider").unwrap_or_default();
    let Some((_, method, own)) = SERVICES.iter().find(|(known, ..)| *known == name) else {
        return Err(ReachError::NoService(exact(&name).into_owned()));
    };
    let address = value("address").or_else(|| own.map(str::to_owned)).ok_or(ReachError::NoAddress)?;
    let request = ((*method).to_owned(), address.clone());
    let request = Confirmation::Info { text: String::new(), requests: vec![request], writes: Vec::new() };
    let touches = request.touches(plugin.plugin.declared(), &Workspace::nowhere());
    let touches = touches.map_err(|cause| ReachError::Address { address: exact(&address).into_owned(), cause })?;
    Ok(Some(touches))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plugins::built_in_plugins;

    fn reach(settings: &[(&str, &str)]) -> Result<String, ReachError> {
        let plugins = built_in_plugins(Path::new("/")).expect("they are valid");
        let plugin = plugins.iter().find(|plugin| plugin.manifest.name == WEB_SEARCH).expect("it is built in");
        let json = |value: &str| serde_json::Value::from(value).to_string();
        let config = settings.iter().map(|(key, value)| ((*key).to_owned(), json(value))).collect();
        of(plugin, &config).map(|reach| reach.expect("it has settings").to_string())
    }

    // promise search.server: `web_search` reaches the server that the user configured, and no other.
    #[test]
    fn reach_of_a_search_service_is_exactly_its_server() {
        for (settings, expected) in [
            (&[("provider", "brave")][..], "http=GET api.search.brave.com:443 -private"),
            (&[("provider", "tavily")], "http=POST api.tavily.com:443 -private"),
            (&[("provider", "searxng"), ("address", "https://s.example/x/")], "http=GET s.example:443 -private"),
            (&[("provider", "searxng"), ("address", "http://127.0.0.1:8888")], "http=GET 127.0.0.1:8888"),
        ] {
            assert_eq!(reach(settings).expect("it is valid"), expected, "{settings:?}");
        }
    }

    #[test]
    fn reach_of_settings_that_name_no_server_is_an_error_with_help() {
        for (settings, message) in [
            (&[("provider", "google\u{1b}")][..], "`google\\u{1b}`, which is not a search service"),
            (&[("provider", "searxng")], "needs the address"),
            (&[("provider", "searxng"), ("address", "file:///etc")], "config.address"),
            (&[("provider", "searxng"), ("address", "localhost:8888")], "config.address"),
            (&[("provider", "searxng"), ("address", "*")], "config.address"),
        ] {
            let failure = reach(settings).expect_err("it is invalid");
            assert!(failure.to_string().contains(message) && failure.help().is_some(), "{failure:?}");
        }
    }
}
