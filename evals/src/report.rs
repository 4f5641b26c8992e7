//! The table of a run, and how it compares with an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// How all cases ended.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Report {
    /// What answered: a model's id, or `recordings`.
    pub model: String,
    /// The cases, by their names.
    pub rows: BTreeMap<String, Row>,
}

/// How one case ended.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Row {
    /// The kinds of work that it stands for.
    pub tags: Vec<String>,
    /// What does not hold; empty if it is passed.
    pub wrong: Vec<String>,
    /// The turns.
    pub turns: u64,
    /// The calls.
    pub calls: usize,
    /// The calls that failed.
    pub failed: usize,
    /// The tokens, sent and received.
    pub tokens: u64,
    /// The cost, if the model has a price.
    pub cost: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

impl Row {
    /// Returns whether everything holds.
    pub fn is_passed(&self) -> bool {
        self.wrong.is_empty()
    }
}

impl Report {
    /// Returns the table, with what does not hold below each case that failed, sums, and a line for each kind of work.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let width = self.rows.keys().map(|name| name.len()).max().unwrap_or(4).max(4);
        // A string takes everything.
        let _ = writeln!(
            text,
            "{:width$}  {:6}  {:>5}  {:>5}  {:>6}  {:>8}  {:>8}  {:>7}",
            "case", "result", "turns", "calls", "failed", "tokens", "cost", "seconds"
        );
        for (name, row) in &self.rows {
            let result = if row.is_passed() { "passed" } else { "FAILED" };
            let cost = row.cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}"));
            let Row { turns, calls, failed, tokens, seconds, .. } = row;
            let _ = writeln!(
                text,
                "{name:width$}  {result}  {turns:>5}  {calls:>5}  {failed:>6}  {tokens:>8}  {cost:>8}  {seconds:>7.1}"
            );
            for wrong in &row.wrong {
                let _ = writeln!(text, "  {}", wrong.replace('\n', "\n  "));
            }
        }
        let passed = self.rows.values().filter(|row| row.is_passed()).count();
        let sum = |of: fn(&Row) -> u64| self.rows.values().map(of).sum::<u64>();
        let cost: f64 = self.rows.values().filter_map(|row| row.cost).sum();
        let _ = writeln!(
            text,
            "\n{passed} of {} passed with {}: {} turns, {} calls, {} tokens, cost {cost:.4}",
            self.rows.len(),
            self.model,
            sum(|row| row.turns),
            sum(|row| row.calls as u64),
            sum(|row| row.tokens),
        );
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for row in self.rows.values() {
            for tag in &row.tags {
                let (passed, all) = kinds.entry(tag).or_default();
                *passed += usize::from(row.is_passed());
                *all += 1;
            }
        }
        let kinds: Vec<String> = kinds.iter().map(|(tag, (passed, all))| format!("{tag} {passed}/{all}")).collect();
        let _ = writeln!(text, "{}", kinds.join(" · "));
        text
    }

    /// Returns what differs from an earlier report, for the cases that both have.
    pub fn compared_with(&self, earlier: &Self) -> String {
        let mut text = format!("Compared with {}:\n", earlier.model);
        let both = self.rows.iter().filter_map(|(name, row)| Some((name, row, earlier.rows.get(name)?)));
        let (mut tokens, mut turns) = ((0, 0), (0, 0));
        for (name, now, before) in both {
            (tokens.0, tokens.1) = (tokens.0 + before.tokens, tokens.1 + now.tokens);
            (turns.0, turns.1) = (turns.0 + before.turns, turns.1 + now.turns);
            match (before.is_passed(), now.is_passed()) {
                (true, false) => {
                    let _ = writeln!(text, "  {name}: passed before, fails now");
                }
                (false, true) => {
                    let _ = writeln!(text, "  {name}: failed before, passes now");
                }
                (true, true) | (false, false) => {}
            }
        }
        let _ = writeln!(text, "  turns {} → {}, tokens {} → {}", turns.0, turns.1, tokens.0, tokens.1);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(wrong: &[&str], tokens: u64) -> Row {
        let wrong = wrong.iter().map(|text| (*text).to_owned()).collect();
        Row { tags: vec!["edit".to_owned()], wrong, turns: 2, calls: 3, tokens, cost: Some(0.5), ..Row::default() }
    }

    #[test]
    fn report_names_what_failed_and_counts_by_kind() {
        let rows = BTreeMap::from([("a".to_owned(), row(&[], 10)), ("b".to_owned(), row(&["no file"], 20))]);
        let report = Report { model: "m".to_owned(), rows };
        let text = report.text();
        assert!(text.contains("1 of 2 passed with m: 4 turns, 6 calls, 30 tokens, cost 1.0000"), "{text}");
        assert!(text.contains("b     FAILED") && text.contains("\n  no file\n"), "{text}");
        assert!(text.contains("edit 1/2"), "{text}");
    }

    #[test]
    fn report_says_what_changed_since_an_earlier_one() {
        let report = |wrong_a: &[&str], wrong_b: &[&str]| Report {
            model: "m".to_owned(),
            rows: BTreeMap::from([("a".to_owned(), row(wrong_a, 10)), ("b".to_owned(), row(wrong_b, 10))]),
        };
        let text = report(&["x"], &[]).compared_with(&report(&[], &["x"]));
        assert!(
            text.contains("a: passed before, fails now") && text.contains("b: failed before, passes now"),
            "{text}"
        );
        assert!(text.contains("turns 4 → 4, tokens 20 → 20"), "{text}");
    }
}
