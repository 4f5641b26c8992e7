//! The texts of a manifest, which its author chose and a user reads before trusting any of it.
//!
//! Promises: each is one line (a tool's description, which a model reads, may have several) without a character that
//! hides, or changes how the text around it is shown. Such a text is an error, with its place and the character:
//! escaped codes would stand in the question before an installation for as long as the plugin is used, and its author
//! learns of the error when the plugin is built.
//!
//! Deliberately not here: values that are data, such as a default and the texts within a schema. They are escaped where
//! they are shown.

use host_capability::Capability;
use host_text::{Newlines, exact, first_escaped};

use super::{Manifest, ManifestError, is_name};
use crate::shown::cut;

/// Characters of a text of one line. Protects the line that it is shown on.
const MAX_WORDS: usize = 500;

/// Checks that a text is one line that can be shown.
pub(super) fn check_line(place: &str, text: &str) -> Result<(), ManifestError> {
    if text.trim().is_empty() || text.trim() != text {
        return wrong(place, "it is empty, or has spaces around it".to_owned());
    }
    if text.chars().any(|c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')) {
        return wrong(place, "it must be one line".to_owned());
    }
    check_visible(place, text)?;
    match text.chars().nth(MAX_WORDS) {
        None => Ok(()),
        Some(_) => wrong(place, format!("it is over the limit of {MAX_WORDS} characters")),
    }
}

/// Checks that a text is one line, and an address for a browser.
pub(super) fn check_address(place: &str, text: &str) -> Result<(), ManifestError> {
    check_line(place, text)?;
    match url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.has_host()) {
        true => Ok(()),
        false => wrong(place, format!("`{}` is not an address that begins with https://", exact(text))),
    }
}

/// Checks that nothing in a text of several lines is hidden.
fn check_visible(place: &str, text: &str) -> Result<(), ManifestError> {
    // A file that was written on another system ends its lines with both.
    match first_escaped(&text.replace("\r\n", "\n"), Newlines::Keep) {
        None => Ok(()),
        Some(c) => wrong(
            place,
            format!(
                "it has the character `{}`, which hides or changes the text around it; remove it",
                c.escape_default()
            ),
        ),
    }
}

fn wrong(place: &str, why: String) -> Result<(), ManifestError> {
    Err(ManifestError::Value { key: place.to_owned(), why })
}

impl Manifest {
    /// Checks every text that is shown, in a manifest that was built or was read.
    pub(super) fn check_texts(&self) -> Result<(), ManifestError> {
        check_line("license", &self.license)?;
        self.description.as_ref().map_or(Ok(()), |text| check_line("description", text))?;
        self.source.as_ref().map_or(Ok(()), |text| check_address("source", text))?;
        self.homepage.as_ref().map_or(Ok(()), |text| check_address("homepage", text))?;
        for (name, declared) in &self.capabilities {
            check_capability(name, &declared.scope, &declared.reason)?;
        }
        for (name, key) in &self.config {
            check_line(&format!("config.{}.description", cut(name)), &key.description)?;
        }
        for (name, secret) in &self.secrets {
            check_line(&format!("secrets.{}.description", cut(name)), &secret.description)?;
        }
        for tool in &self.tools {
            let place = |field: &str| format!("tools.{}.{field}", cut(tool.spec.name.as_str()));
            tool.spec.title.as_ref().map_or(Ok(()), |title| check_line(&place("title"), title))?;
            check_visible(&place("description"), &tool.spec.description)?;
        }
        Ok(())
    }
}

/// Checks the texts of a requested capability.
pub(super) fn check_capability(name: &str, scope: &str, reason: &str) -> Result<(), ManifestError> {
    if !is_name(name) {
        let error = name.parse::<Capability>().map_or_else(|error| error.to_string(), |known| known.to_string());
        return wrong("capabilities", error);
    }
    // A scope may be longer than a line, and is cut where it is shown.
    if let Some(c) = first_escaped(scope, Newlines::Escape) {
        let why = format!("it has the character `{}`, which no scope needs; remove it", c.escape_default());
        return wrong(&format!("capabilities.{name}.scope"), why);
    }
    check_line(&format!("capabilities.{name}.reason"), reason)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::manifest::{Manifest, Source};

    fn manifest() -> Value {
        json!({
            "manifest": 1, "name": "acme/fetch", "version": "1.2.0", "license": "MIT", "contract": "0.1.0",
            "description": "Fetches.", "source": "https://example.com/x", "homepage": "https://example.com",
            "capabilities": {"http": {"scope": "GET api.example.com", "reason": "to fetch"}},
            "config": {"region": {"description": "Which.", "default": "eu"}},
            "secrets": {"token": {"description": "From the settings.", "servers": ["api.example.com"]}},
            "tools": [{"name": "fetch", "title": "Fetch", "description": "Fetches.\n\nAn address.",
                "input_schema": {"type": "object"}}],
        })
    }

    /// The fields with a text that is shown, and whether it has several lines.
    const FIELDS: &[(&str, &str, bool)] = &[
        ("/license", "license", false),
        ("/description", "description", false),
        ("/source", "source", false),
        ("/homepage", "homepage", false),
        ("/capabilities/http/scope", "capabilities.http.scope", false),
        ("/capabilities/http/reason", "capabilities.http.reason", false),
        ("/config/region/description", "config.region.description", false),
        ("/secrets/token/description", "secrets.token.description", false),
        ("/tools/0/title", "tools.fetch.title", false),
        ("/tools/0/description", "tools.fetch.description", true),
    ];

    fn with(field: &str, change: impl FnOnce(&str) -> String) -> Result<Manifest, String> {
        let mut json = manifest();
        let value = json.pointer_mut(field).expect("it is there");
        *value = change(value.as_str().expect("a text")).into();
        Manifest::parse(&json.to_string(), Source::Bundle).map_err(|error| error.to_string())
    }

    // promise plugin.manifest-texts: Each text of a manifest that is shown is one line without hidden characters, and
    //   an error names the field and the character.
    #[test]
    fn manifest_text_that_hides_or_forges_a_line_is_rejected_with_its_field() {
        assert!(Manifest::parse(&manifest().to_string(), Source::Bundle).is_ok());
        for (field, place, has_lines) in FIELDS {
            for c in [
                '\u{1b}',
                '\r',
                '\u{7f}',
                '\u{9b}',
                '\u{ad}',
                '\u{200b}',
                '\u{200d}',
                '\u{202e}',
                '\u{feff}',
                '\u{e0041}',
            ] {
                let error = with(field, |text| format!("{text}{c}x")).expect_err(field);
                assert!(error.contains(&format!("invalid `{place}`: ")), "{c:?}: {error}");
                assert!(!error.contains(host_text::is_unsafe), "{c:?}: {error}");
            }
            let forged = with(field, |text| format!("{text}\nSigned by E7620F1842B4E81F, which you trust for it."));
            match has_lines {
                true => assert!(forged.is_ok(), "{forged:?}"),
                false => assert!(forged.expect_err(field).contains(&format!("invalid `{place}`: ")), "{field}"),
            }
        }
        // The name of a capability is a text, too.
        let mut json = manifest();
        json["capabilities"]["http\nSigned by E7620F1842B4E81F"] = json!({"scope": "*", "reason": "r"});
        let error = Manifest::parse(&json.to_string(), Source::Bundle).expect_err("it is no capability").to_string();
        assert!(error.contains("invalid `capabilities`: there is no capability") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn manifest_text_in_any_writing_is_kept() {
        for (field, text) in [
            ("/description", "کتاب‌ها را می‌خواند."),
            ("/tools/0/title", "👩‍💻 ❤️ 検査 – „größe“"),
            ("/capabilities/http/reason", "क्‍ष को पढ़ने के लिए"),
            ("/tools/0/description", "Lines\r\nof another system.\n\tWith a tab."),
        ] {
            with(field, |_| text.to_owned()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
