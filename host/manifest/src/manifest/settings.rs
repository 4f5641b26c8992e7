//! The settings of a plugin: the keys of its configuration, and secrets that it sends without reading them.
//!
//! Promises: the declared settings are consistent, so that an inconsistency is an error here, not at a call.
//!
//! Deliberately not here: the values, and where they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host_capability::{Capability, Grants, Scope};
use host_plugin::{Placement, SecretError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::texts::check_line;
use super::{ManifestError, is_name};
use crate::shown::cut;

/// The most keys of a configuration, and the most secrets. Protects the user who looks through them.
const MAX_KEYS: usize = 64;
/// The most servers of a secret.
const MAX_SERVERS: usize = 16;
/// The most bytes of a default.
const MAX_DEFAULT: usize = 4096;

/// One key of a plugin's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigKey {
    /// Its purpose, in one line for the user who sets it.
    pub description: String,
    /// The type of its values.
    #[serde(rename = "type", default)]
    pub kind: ConfigType,
    /// The value if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether the plugin is of no use without it.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub required: bool,
}

/// The type of a key's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConfigType {
    /// Text.
    #[default]
    #[serde(rename = "string")]
    String,
    /// A whole number.
    #[serde(rename = "integer")]
    Integer,
    /// A number.
    #[serde(rename = "number")]
    Number,
    /// `true` or `false`.
    #[serde(rename = "boolean")]
    Boolean,
    /// A list of texts.
    #[serde(rename = "string[]")]
    Strings,
}

impl ConfigType {
    /// Whether a value has this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Strings => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        }
    }

    /// Returns its name in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Strings => "string[]",
        }
    }
}

/// A secret that a plugin sends without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSecret {
    /// Its purpose and where a user gets it, in one line.
    pub description: String,
    /// The servers that it is sent to, each `HOST` or `HOST:PORT`, and to no other.
    pub servers: Vec<String>,
    /// The header field that it goes into; `authorization` if omitted.
    #[serde(default = "authorization", skip_serializing_if = "is_authorization")]
    pub header: String,
    /// The content of that field, with `{}` for the value; by default `Bearer {}` in `authorization`, and in
    /// other fields the value alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether the plugin works without it.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub optional: bool,
}

fn authorization() -> String {
    "authorization".to_owned()
}

fn is_authorization(header: &str) -> bool {
    header == "authorization"
}

impl DeclaredSecret {
    /// Returns the content of its header field, with `{}` for the value.
    pub fn format(&self) -> &str {
        match &self.format {
            Some(format) => format,
            None if self.header.eq_ignore_ascii_case("authorization") => "Bearer {}",
            None => "{}",
        }
    }

    /// Returns where in a request it goes.
    ///
    /// # Errors
    ///
    /// If its header field or its format is invalid.
    pub fn placement(&self) -> Result<Placement, SecretError> {
        Placement::new(&self.header, self.format())
    }

    /// Returns the servers that it goes to, as grants for `http`. An invalid server is left out.
    pub fn reach(&self) -> Grants {
        self.servers.iter().filter_map(|server| scope(server)).collect()
    }

    /// Whether each of its servers is one of the other's.
    pub fn reaches_no_more_than(&self, other: &Self) -> bool {
        self.reach().le(&other.reach())
    }
}

/// Returns a server as a scope of `http` for every method; `None` if it is a pattern or names methods.
fn scope(server: &str) -> Option<Scope> {
    let plain = server.bytes().all(|byte| byte.is_ascii_graphic() && !b"*,+!".contains(&byte));
    Scope::parse_absolute(Capability::Http, &format!("* {server}")).ok().filter(|_| plain)
}

/// Checks that the key's name is valid and its default has the key's type.
pub(super) fn check_key(name: &str, key: &ConfigKey) -> Result<(), ManifestError> {
    let wrong = |why: String| Err(ManifestError::Setting { section: "config", name: cut(name), why });
    if !is_name(name) {
        return wrong("a key has 1 to 64 of a-z, 0-9, `_` and `-`, the first a letter".to_owned());
    }
    check_line(&format!("config.{name}.description"), &key.description)?;
    match &key.default {
        Some(_) if key.required => wrong("a key with a default is never missing: leave `required` out".to_owned()),
        Some(default) if !key.kind.fits(default) => {
            wrong(format!("its default `{}` is not a `{}`", cut(&default.to_string()), key.kind.name()))
        }
        Some(default) if default.to_string().len() > MAX_DEFAULT => {
            wrong(format!("its default is over the limit of {MAX_DEFAULT} bytes"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that the secret can be sent with these capabilities.
pub(super) fn check_secret(
    name: &str,
    secret: &DeclaredSecret,
    capabilities: &BTreeMap<String, super::Declared>,
) -> Result<(), ManifestError> {
    let wrong = |why: String| Err(ManifestError::Setting { section: "secrets", name: cut(name), why });
    if !is_name(name) {
        return wrong("a name has 1 to 64 of a-z, 0-9, `_` and `-`, the first a letter".to_owned());
    }
    check_line(&format!("secrets.{name}.description"), &secret.description)?;
    if let Err(error) = secret.placement() {
        return wrong(error.to_string());
    }
    if !(1..=MAX_SERVERS).contains(&secret.servers.len()) {
        return wrong(format!("it needs 1 to {MAX_SERVERS} `servers` that it is sent to"));
    }
    let Some(http) = capabilities.get(Capability::Http.name()) else {
        return wrong("it can be sent only by a plugin with `[capabilities.http]`".to_owned());
    };
    // An invalid scope is reported as an error of the capability.
    let asked = Scope::parse(Capability::Http, &http.scope, Path::new("/")).ok();
    for server in &secret.servers {
        let shown = cut(server);
        let Some(scope) = scope(server) else {
            return wrong(format!("`{shown}` is not a server: use HOST or HOST:PORT without a pattern"));
        };
        if asked.as_ref().is_some_and(|asked| asked.meet(&scope).is_none()) {
            return wrong(format!("it is sent to `{shown}`, for which `[capabilities.http]` does not ask"));
        }
    }
    let mut seen = BTreeSet::new();
    match secret.servers.iter().find(|server| !seen.insert(server.to_ascii_lowercase())) {
        Some(twice) => wrong(format!("it names `{}` twice", cut(twice))),
        None => Ok(()),
    }
}

/// Checks that there are no more than a user can look through.
pub(super) fn check_count(section: &'static str, count: usize) -> Result<(), ManifestError> {
    match count > MAX_KEYS {
        true => {
            let why = format!("{count} are over the limit of {MAX_KEYS}");
            Err(ManifestError::Setting { section, name: "*".to_owned(), why })
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Source, SourceManifest};
    use super::*;

    const GOOD: &str = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n\
                        [capabilities.http]\nscope = \"GET api.example.com, b.example:8443\"\nreason = \"to ask\"\n";

    fn parse(text: &str) -> Result<SourceManifest, ManifestError> {
        SourceManifest::parse(&format!("{GOOD}{text}"), &Source::File("plugin.toml".into()))
    }

    #[test]
    fn manifest_settings_are_read() {
        let manifest = parse(
            "[config.region]\ndescription = \"Which.\"\ndefault = \"eu\"\n\
             [config.most]\ndescription = \"How many.\"\ntype = \"integer\"\nrequired = true\n\
             [secrets.token]\ndescription = \"From the settings.\"\nservers = [\"api.example.com\"]\n\
             [secrets.key]\ndescription = \"Another.\"\nservers = [\"b.example:8443\"]\nheader = \"X-Api-Key\"\noptional = true\n",
        )
        .expect("it is good");
        assert_eq!(manifest.config["region"].kind, ConfigType::String);
        assert!(manifest.config["most"].required);
        assert_eq!(manifest.secrets["token"].format(), "Bearer {}");
        assert_eq!(manifest.secrets["key"].format(), "{}");
        let fewer = DeclaredSecret { servers: Vec::new(), ..manifest.secrets["key"].clone() };
        // The capability decides which methods it goes with.
        let server = host_capability::Authority::new("api.example.com", 443).expect("a server");
        let plugin = host_capability::PluginName::new("acme/fetch");
        assert!(manifest.secrets["token"].reach().permit_http(&plugin, "POST", &server).is_ok());
        assert!(fewer.reaches_no_more_than(&manifest.secrets["key"]));
        assert!(!manifest.secrets["key"].reaches_no_more_than(&manifest.secrets["token"]));
    }

    #[test]
    fn manifest_settings_that_are_inconsistent_are_reported_with_their_line() {
        let secret = "[secrets.token]\ndescription = \"d\"\n";
        for (text, says) in [
            ("[config.Region]\ndescription = \"d\"\n".to_owned(), "plugin.toml:7:9: `[config.Region]`: a key has"),
            ("[config.a]\ndescription = \"\"\n".to_owned(), "plugin.toml:7:9: invalid `config.a.description`"),
            ("[config.a]\ndescription = \"d\"\ntype = \"text\"\n".to_owned(), "unknown variant `text`"),
            ("[config.a]\ndescription = \"d\"\ndefault = 3\n".to_owned(), "its default `3` is not a `string`"),
            ("[config.a]\ndescription = \"d\"\ndefault = \"x\"\nrequired = true\n".to_owned(), "leave `required` out"),
            ("[config.a]\ndescription = \"d\"\nrequird = true\n".to_owned(), "did you mean `required`?"),
            (secret.to_owned(), "missing field `servers`"),
            (format!("{secret}servers = []\n"), "it needs 1 to 16 `servers`"),
            (format!("{secret}servers = [\"*\"]\n"), "`*` is not a server"),
            (format!("{secret}servers = [\"*.example.com\"]\n"), "`*.example.com` is not a server"),
            (format!("{secret}servers = [\"api.example.com +private\"]\n"), "is not a server"),
            (format!("{secret}servers = [\"api.example.com,evil.example\"]\n"), "is not a server"),
            (format!("{secret}servers = [\"evil.example\"]\n"), "for which `[capabilities.http]` does not ask"),
            (format!("{secret}servers = [\"api.example.com:8443\"]\n"), "does not ask"),
            (format!("{secret}servers = [\"api.example.com\", \"API.example.com\"]\n"), "twice"),
            (
                format!("{secret}servers = [\"api.example.com\"]\nheader = \"host\"\n"),
                "not a header field for a secret",
            ),
            (format!("{secret}servers = [\"api.example.com\"]\nformat = \"Bearer\"\n"), "invalid format"),
        ] {
            let error = parse(&text).expect_err(&text).to_string();
            assert!(error.contains(says), "{error}");
        }
        let without = GOOD.split("[capabilities").next().expect("it begins so");
        let text = format!("{without}{secret}servers = [\"a.example\"]\n");
        let error = SourceManifest::parse(&text, &Source::Bundle).expect_err("there is no http").to_string();
        assert!(error.contains("[capabilities.http]"), "{error}");
        let many: String = (0..65).map(|i| format!("[config.k{i}]\ndescription = \"d\"\n")).collect();
        assert!(parse(&many).expect_err("too many").to_string().contains("over the limit of 64"));
    }
}
