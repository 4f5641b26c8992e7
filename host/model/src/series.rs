//! A series of models, and its newest one in a list.
//!
//! Promises: a list never picks an older model than the one that comes with the program, nor a dated snapshot of one.

/// The largest number that is part of a version. A larger one is a date: such a name is a snapshot of another model.
const MAX_VERSION: u32 = 99;

/// The models of a service that are alike but for their version, such as `claude-sonnet-` and nothing behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSeries {
    /// The text before the version.
    pub before: &'static str,
    /// The text after it.
    pub after: &'static str,
}

impl ModelSeries {
    /// Returns the newest of these models in the series, if it is newer than `known`.
    pub fn newer_than<'a>(self, known: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        let known = self.version(known)?;
        let versions = names.into_iter().filter_map(|name| Some((self.version(name)?, name)));
        versions.max().filter(|(version, _)| *version > known).map(|(_, name)| name)
    }

    /// The version of a model; `None` if it is not of the series.
    fn version(self, name: &str) -> Option<Vec<u32>> {
        let version = name.strip_prefix(self.before)?.strip_suffix(self.after)?;
        let number = |part: &str| part.parse::<u32>().ok().filter(|number| *number <= MAX_VERSION);
        version.split(['.', '-']).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_series_has_a_newest_model_that_is_not_a_snapshot() {
        let check = |before, after, known: &str, names: &[&str], newest: Option<&str>| {
            let series = ModelSeries { before, after };
            assert_eq!(series.newer_than(known, names.iter().copied()), newest, "{names:?}");
        };
        let sonnets = ["claude-sonnet-5", "claude-sonnet-5-5", "claude-sonnet-4-5-20250929", "claude-opus-9", "x"];
        check("claude-sonnet-", "", "claude-sonnet-5", &sonnets, Some("claude-sonnet-5-5"));
        check("claude-sonnet-", "", "claude-sonnet-5-5", &sonnets, None);
        check("claude-sonnet-", "", "claude-sonnet-5-5", &["claude-sonnet-10"], Some("claude-sonnet-10"));
        let flashes = ["gemini-3.10-flash", "gemini-3.9-flash", "gemini-4-flash-preview", "gemini-4-flash-lite"];
        check("gemini-", "-flash", "gemini-3.6-flash", &flashes, Some("gemini-3.10-flash"));
        check("gpt-", "-terra", "gpt-5.6-terra", &["gpt-6.1-terra", "gpt-7", "gpt--terra"], Some("gpt-6.1-terra"));
        check("gpt-", "-terra", "gpt-5.6-terra", &["gpt-\u{1b}[2J-terra", "gpt-99999999999-terra", "gpt-terra"], None);
    }
}
