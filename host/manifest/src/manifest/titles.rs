//! The titles of a tool's calls: `[titles]` of `plugin.toml`, and `call_title` of a shipped manifest.
//!
//! Promises: a title names arguments that the tool has; a plugin that runs programs has none, so that its calls are
//! named by the command that runs.
//!
//! Deliberately not here: the template language (`host-text`), and the title of a call (`host-tool`).

use std::collections::BTreeMap;

use host_capability::Capability;
use host_text::{TitleTemplate, did_you_mean, nearest};
use serde::{Deserialize, Deserializer, Serializer, de};

use super::{Declared, ManifestError, ToolEntry};
use crate::shown::cut;

/// Checks the title of a tool against its schema.
pub(super) fn check(tool: &ToolEntry, capabilities: &BTreeMap<String, Declared>) -> Result<(), ManifestError> {
    let Some(template) = &tool.call_title else { return Ok(()) };
    let name = tool.spec.name.as_str();
    check_programs(name, capabilities)?;
    let properties = tool.spec.input_schema.get("properties").and_then(|properties| properties.as_object());
    let known = || properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
    match template.fields().find(|field| !known().any(|name| name == *field)) {
        None => Ok(()),
        Some(field) => {
            let help = did_you_mean(nearest(field, known())).map(|help| format!("; {help}"));
            let why = format!("the tool has no argument `{field}`{}", help.unwrap_or_default());
            Err(ManifestError::Title { tool: cut(name), why })
        }
    }
}

/// Checks that a plugin with a title runs no programs.
pub(super) fn check_programs(tool: &str, capabilities: &BTreeMap<String, Declared>) -> Result<(), ManifestError> {
    match capabilities.contains_key(Capability::Process.name()) {
        false => Ok(()),
        true => {
            let why =
                "a plugin that runs programs has no titles: its calls are shown by the command that runs; remove it";
            Err(ManifestError::Title { tool: cut(tool), why: why.to_owned() })
        }
    }
}

/// Writes a template as text.
#[expect(clippy::ref_option, reason = "serde passes the field as it is")]
pub(super) fn serialize<S: Serializer>(template: &Option<TitleTemplate>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(template.as_ref().map(TitleTemplate::as_str).unwrap_or_default())
}

/// Reads a template from text.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TitleTemplate>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |error| de::Error::custom(format!("invalid title of calls `{}`: {error}", cut(&text)));
    TitleTemplate::parse(&text).map(Some).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use host_message::{Annotations, ToolName, ToolSpec};
    use host_plugin::ToolDef;
    use semver::Version;
    use serde_json::json;

    use crate::manifest::{Manifest, Source, SourceManifest};

    const GOOD: &str = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n";
    const RUNS: &str = "[capabilities.process]\nscope = \"*\"\nreason = \"r\"\n";

    /// The manifest of a plugin with a tool `fetch` and what its author wrote besides the first lines.
    fn built(text: &str) -> Result<Manifest, String> {
        let file = Source::File("plugin.toml".into());
        let source = SourceManifest::parse(&format!("{GOOD}{text}"), &file).map_err(|error| error.to_string())?;
        let spec = ToolSpec {
            name: ToolName::new("fetch"),
            title: None,
            description: "Fetches.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"url": {}, "method": {}}}).into(),
            output_schema: None,
            annotations: Annotations::default(),
        };
        let tool = ToolDef { spec, needs: Vec::new() };
        Manifest::new(source, Version::new(0, 1, 0), vec![tool]).map_err(|error| error.to_string())
    }

    #[test]
    fn manifest_title_is_shipped_with_its_tool() {
        let manifest = built("[titles]\nfetch = \"{url}[ ({method})]\"\n").expect("it is right");
        let json = manifest.to_json();
        assert!(json.contains(r#""call_title": "{url}[ ({method})]""#), "{json}");
        assert_eq!(Manifest::parse(&json, Source::Bundle).expect("it is right"), manifest);
        let without = built("").expect("it is right").to_json();
        assert!(!without.contains("call_title"), "{without}");
    }

    #[test]
    fn manifest_title_that_is_wrong_names_its_tool_and_argument() {
        let titled = |template: &str| format!("[titles]\nfetch = \"{template}\"\n");
        let programs = format!("{RUNS}{}", titled("{url}"));
        for (text, says) in [
            (
                titled("{ulr}"),
                "invalid title of `fetch` in `[titles]`: the tool has no argument `ulr`; did you mean `url`?",
            ),
            (titled("{url}[ {body}]"), "the tool has no argument `body`"),
            (titled("{url"), "plugin.toml:5:9: invalid title of `fetch` in `[titles]`: a `{` has no `}` after it"),
            (titled("Fetching"), "it names no argument"),
            (
                "[titles]\nfecht = \"{url}\"\n".to_owned(),
                "`fecht` in `[titles]`: the plugin has no such tool; did you mean `fetch`?",
            ),
            (programs, "a plugin that runs programs has no titles"),
        ] {
            let error = built(&text).expect_err(&text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn manifest_that_is_shipped_with_a_wrong_title_is_rejected() {
        let json = built("[titles]\nfetch = \"{url}\"\n").expect("it is right").to_json();
        let programs = json.replace(
            "\"capabilities\": {},",
            "\"capabilities\": {\"process\": {\"scope\": \"*\", \"reason\": \"r\"}},",
        );
        for (json, says) in [
            (json.replace("{url}", "{ulr}"), "the tool has no argument `ulr`"),
            (json.replace("{url}", "{url"), "invalid title of calls `{url`"),
            (json.replace("{url}", "ls\\u001b[2J {url}"), "printable characters"),
            (json.replace("\"{url}\"", "7"), "expected a string"),
            (programs, "a plugin that runs programs has no titles"),
        ] {
            let error = Manifest::parse(&json, Source::Bundle).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
