//! Reads `plugin.toml`. An error names its line and column.

use std::collections::BTreeMap;
use std::path::Path;

use host_text::TitleTemplate;
use semver::Version;
use serde::Deserialize;
use toml::Spanned;

use super::settings::{check_count, check_key, check_secret};
use super::texts::{check_address, check_capability, check_line};
use super::{Build, ConfigKey, Declared, DeclaredSecret, ManifestError, Source, SourceManifest, check_name, grants};
use crate::shown::cut;

/// The file, each value with its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Spanned<String>,
    version: Version,
    license: Spanned<String>,
    description: Option<Spanned<String>>,
    source: Option<Spanned<String>>,
    homepage: Option<Spanned<String>>,
    #[serde(default)]
    capabilities: BTreeMap<Spanned<String>, Declared>,
    #[serde(default)]
    config: BTreeMap<Spanned<String>, ConfigKey>,
    #[serde(default)]
    secrets: BTreeMap<Spanned<String>, DeclaredSecret>,
    #[serde(default)]
    titles: BTreeMap<Spanned<String>, Spanned<String>>,
    build: Option<Build>,
}

/// Reads the text of a `plugin.toml`.
pub(super) fn parse(text: &str, source_: &Source) -> Result<SourceManifest, ManifestError> {
    let at = |place: usize, error: ManifestError| {
        let before = text.get(..place).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        ManifestError::At { source_: source_.clone(), line, column, error: Box::new(error) }
    };
    let written: Written = toml::from_str(text).map_err(|broken| {
        let message = broken.message().trim_end().to_owned();
        let nearest = host_text::expected_instead(&message).map(str::to_owned);
        at(broken.span().map_or(0, |span| span.start), ManifestError::Form { message, nearest })
    })?;
    check_name(written.name.get_ref()).map_err(|error| at(written.name.span().start, error))?;
    check_words(&written).map_err(|(place, error)| at(place, error))?;
    let name = written.name.into_inner();
    let mut capabilities = BTreeMap::new();
    for (capability, declared) in written.capabilities {
        let place = capability.span().start;
        let one = BTreeMap::from([(capability.into_inner(), declared)]);
        grants(&name, &one, Path::new("/")).map_err(|error| at(place, error))?;
        for (name, declared) in &one {
            check_capability(name, &declared.scope, &declared.reason).map_err(|error| at(place, error))?;
        }
        capabilities.extend(one);
    }
    check_count("config", written.config.len())?;
    check_count("secrets", written.secrets.len())?;
    let mut config = BTreeMap::new();
    for (name, key) in written.config {
        check_key(name.get_ref(), &key).map_err(|error| at(name.span().start, error))?;
        config.insert(name.into_inner(), key);
    }
    let mut secrets = BTreeMap::new();
    for (name, secret) in written.secrets {
        check_secret(name.get_ref(), &secret, &capabilities).map_err(|error| at(name.span().start, error))?;
        secrets.insert(name.into_inner(), secret);
    }
    let mut titles = BTreeMap::new();
    for (tool, title) in written.titles {
        let wrong = |why: String| ManifestError::Title { tool: cut(tool.get_ref()), why };
        super::titles::check_programs(tool.get_ref(), &capabilities).map_err(|error| at(tool.span().start, error))?;
        let template = TitleTemplate::parse(title.get_ref());
        let template = template.map_err(|error| at(title.span().start, wrong(error.to_string())))?;
        titles.insert(tool.into_inner(), template);
    }
    Ok(SourceManifest {
        name,
        version: written.version,
        license: written.license.into_inner(),
        description: written.description.map(Spanned::into_inner),
        source: written.source.map(Spanned::into_inner),
        homepage: written.homepage.map(Spanned::into_inner),
        capabilities,
        config,
        secrets,
        titles,
        build: written.build,
    })
}

/// Checks what is only shown; an error comes with its place.
fn check_words(written: &Written) -> Result<(), (usize, ManifestError)> {
    type Check = fn(&str, &str) -> Result<(), ManifestError>;
    for (key, words, check) in [
        ("license", Some(&written.license), check_line as Check),
        ("description", written.description.as_ref(), check_line),
        ("source", written.source.as_ref(), check_address),
        ("homepage", written.homepage.as_ref(), check_address),
    ] {
        let Some(words) = words else { continue };
        check(key, words.get_ref()).map_err(|error| (words.span().start, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n";

    #[test]
    fn manifest_mistake_is_reported_with_its_line_and_column() {
        for (text, says) in [
            ("nam = \"x\"\n".to_owned(), "plugin.toml:1:1: unknown field `nam`"),
            (format!("{GOOD}descripton = \"x\"\n"), "plugin.toml:4:1: unknown field `descripton`"),
            (format!("{GOOD}descripton = \"x\"\n"), "did you mean `description`?"),
            (GOOD.replace("acme/fetch", "Acme/fetch"), "plugin.toml:1:8: invalid plugin name `Acme/fetch`"),
            (
                format!("{GOOD}description = \"a\\nb\"\n"),
                "plugin.toml:4:15: invalid `description`: it must be one line",
            ),
            (format!("{GOOD}source = \"file:///x\"\n"), "plugin.toml:4:10: invalid `source`"),
            (format!("{GOOD}[capabilities.fs-reed]\nscope = \".\"\nreason = \"r\"\n"), "plugin.toml:4:15: "),
            (format!("{GOOD}[build]\nlanguag = \"c\"\n"), "did you mean `language`?"),
            (
                format!("{GOOD}[capabilities.http]\nscope = \"*\"\nreason = \"r\"\noptonal = true\n"),
                "did you mean `optional`?",
            ),
        ] {
            let error = parse(&text, &Source::File("plugin.toml".into())).expect_err("each is wrong").to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn manifest_keys_that_can_be_written_are_read() {
        let text = format!(
            "{GOOD}description = \"Fetches.\"\nsource = \"https://example.com/x\"\nhomepage = \"https://example.com\"\n\
             [capabilities.http]\nscope = \"*\"\nreason = \"to fetch\"\noptional = true\n[build]\nlanguage = \"rust\"\n"
        );
        let manifest = parse(&text, &Source::Bundle).expect("it is good");
        assert!(manifest.capabilities["http"].optional);
        assert_eq!(manifest.description.as_deref(), Some("Fetches."));
        assert_eq!(manifest.build.map(|build| build.language), Some(crate::manifest::Language::Rust));
    }
}
