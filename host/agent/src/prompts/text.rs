//! A text with variants: paragraphs and list items, each of which may have a condition.
//!
//! A line that begins with `{{git, edit | write_file, !attended}} ` is part of the text if all conditions hold that the
//! commas separate, and of each at least one of the words that `|` separates; `!` negates a word. The condition also
//! holds for the indented lines behind it. A condition before the heading holds for the whole text. A text of which
//! only the heading is left is left out.

/// The text as it was parsed.
pub(super) struct PromptText<'a> {
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    /// Its conditions: of each inner list one word must hold. Empty if it has none.
    when: Vec<Vec<&'a str>>,
    text: &'a str,
}

impl<'a> PromptText<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut lines: Vec<Line<'a>> = Vec::new();
        for line in text.lines() {
            let (when, text) = match line.strip_prefix("{{").and_then(|rest| rest.split_once("}}")) {
                Some((when, text)) => (conditions(when), text.strip_prefix(' ').unwrap_or(text)),
                // It continues the line before.
                None if line.starts_with("  ") => {
                    (lines.last().map(|last| last.when.clone()).unwrap_or_default(), line)
                }
                None => (Vec::new(), line),
            };
            lines.push(Line { when, text });
        }
        Self { lines }
    }

    /// Returns the lines whose conditions hold; `None` if there are none besides the heading.
    pub(super) fn choose(&self, holds: impl Fn(&str) -> bool) -> Option<String> {
        let is = |line: &Line<'_>| line.when.iter().all(|words| words.iter().any(|word| negated(word, &holds)));
        let is_heading = |line: &Line<'_>| line.text.starts_with("# ");
        if self.lines.first().is_some_and(|first| is_heading(first) && !is(first)) {
            return None;
        }
        let chosen: Vec<&str> = self.lines.iter().filter(|line| is(line)).map(|line| line.text).collect();
        let has_more = chosen.iter().any(|line| !line.is_empty() && !line.starts_with("# "));
        has_more.then(|| chosen.join("\n").trim().to_owned())
    }

    /// Returns the words of all conditions, without their negation.
    #[cfg(test)]
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flat_map(|line| line.when.iter().flatten()).map(|word| word.trim_start_matches('!'))
    }
}

fn conditions(text: &str) -> Vec<Vec<&str>> {
    text.split(',').map(|words| words.split('|').map(str::trim).collect()).collect()
}

fn negated(word: &str, holds: impl Fn(&str) -> bool) -> bool {
    match word.strip_prefix('!') {
        Some(word) => !holds(word),
        None => holds(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, facts: &[&str], chosen: Option<&str>) {
        let got = PromptText::parse(text).choose(|word| facts.contains(&word));
        assert_eq!(got.as_deref(), chosen, "{text:?} with {facts:?}");
    }

    #[test]
    fn prompt_lines_are_chosen_by_their_conditions() {
        let text = "# A\n\n- always\n{{a}} - one\n  more of it\n{{!a}} - other\n{{a | b, c}} - both\n";
        check(text, &[], Some("# A\n\n- always\n- other"));
        check(text, &["a"], Some("# A\n\n- always\n- one\n  more of it"));
        check(text, &["b", "c"], Some("# A\n\n- always\n- other\n- both"));
        check(text, &["c"], Some("# A\n\n- always\n- other"));
    }

    #[test]
    fn prompt_text_without_more_than_a_heading_is_left_out() {
        check("# A\n\n{{a}} - one\n", &[], None);
        check("{{a}} # A\n\n- always\n", &[], None);
        check("{{a}} # A\n\n- always\n", &["a"], Some("# A\n\n- always"));
    }

    #[test]
    fn prompt_text_keeps_what_only_looks_like_a_condition() {
        check("- use `{{a}}`\n{{a\n", &[], Some("- use `{{a}}`\n{{a"));
    }
}
