//! The note to a model that a limit of its run is near, while there is still time to come to an end.
//!
//! Deliberately not here: what happens at the limit (`warning`).

use std::time::Duration;

use host_text::counted;

use crate::{RunConfig, Spending, TreeLimits};

/// The beginning of the note.
const NOTE: &str = "A limit is near:";

/// Returns whether a text is such a note, and not a message from the user.
pub(crate) fn is_near_note(text: &str) -> bool {
    text.starts_with(NOTE)
}

/// What a run has used of its limits.
pub(crate) struct Used {
    /// Its turns.
    pub(crate) turns: u32,
    /// Its time, without that of the user.
    pub(crate) time: Duration,
    /// What all agents of the tree have used.
    pub(crate) tree: Spending,
}

/// Returns the note if four fifths of a limit are used; `None` if there is no such limit.
pub(crate) fn note(used: &Used, run: &RunConfig, tree: TreeLimits) -> Option<String> {
    let Used { turns, time, tree: spent } = used;
    let of_turns = |turns: u32, limit: u32| {
        is_near(turns.into(), limit.into()).then(|| format!("{turns} of {} are taken", counted(limit, "turn")))
    };
    let turns = run.max_turns.and_then(|limit| of_turns(*turns, limit));
    let all_turns = || tree.turns.and_then(|limit| of_turns(spent.turns, limit));
    let tokens = || {
        let (tokens, limit) = (spent.tokens(), tree.tokens?);
        is_near(tokens, limit).then(|| format!("{tokens} of {} are used", counted(limit, "token")))
    };
    let cost = || {
        let (cost, limit) = (spent.whole_cost(), tree.cost?);
        is_near(cost.billionths(), limit.billionths()).then(|| format!("{cost} of {limit} are spent"))
    };
    let seconds = || {
        let (time, limit) = (time.as_secs(), run.max_time?.as_secs());
        is_near(time, limit).then(|| format!("{time} of {limit} s have passed"))
    };
    let what = turns.or_else(all_turns).or_else(tokens).or_else(cost).or_else(seconds)?;
    Some(format!(
        "{NOTE} {what}. Begin nothing new: leave the files in a working state, and give your answer with what is left to do."
    ))
}

/// Whether four fifths of a limit are used. Of less than five there is no fifth left to use.
fn is_near(used: u64, limit: u64) -> bool {
    limit >= 5 && used < limit && used >= limit - limit / 5
}

#[cfg(test)]
mod tests {
    use host_message::Usage;

    use super::*;
    use crate::Cost;

    #[test]
    fn limit_is_near_from_four_fifths_on() {
        let run = RunConfig { max_turns: Some(10), max_time: Some(Duration::from_secs(100)), ..RunConfig::default() };
        let tree = TreeLimits {
            tokens: Some(1_000),
            cost: Some(Cost::from_amount(2.0)),
            turns: Some(20),
            ..TreeLimits::default()
        };
        let check = |turns: u32, time: u64, spent: Spending, expected: Option<&str>| {
            let used = Used { turns, time: Duration::from_secs(time), tree: spent };
            let note = note(&used, &run, tree);
            let what = note.as_deref().map(|note| {
                assert!(is_near_note(note));
                note.split_once(". Begin").expect("it says what to do").0
            });
            assert_eq!(what, expected.map(|what| format!("A limit is near: {what}")).as_deref());
        };
        let spent = Spending::default();
        let tokens = |input| Spending { usage: Usage { input, ..Usage::default() }, ..spent };
        check(7, 79, tokens(799), None);
        check(8, 0, spent, Some("8 of 10 turns are taken"));
        check(0, 0, Spending { turns: 16, ..spent }, Some("16 of 20 turns are taken"));
        check(0, 0, tokens(800), Some("800 of 1000 tokens are used"));
        check(0, 0, Spending { cost: Cost::from_amount(1.6), ..spent }, Some("1.60 of 2.00 are spent"));
        check(0, 80, spent, Some("80 of 100 s have passed"));
        // At the limit there is another note.
        check(10, 100, tokens(1_000), None);
        assert!(!is_near(3, 4) && !is_near(0, 0));
    }
}
