//! Texts that join a conversation between two turns.

use super::TerminateReason::*;
use super::*;
use crate::{ContextSource, KeptText};

/// Has these texts at its first turns.
struct Joins(Mutex<VecDeque<Vec<KeptText>>>);

impl ContextSource for Joins {
    fn take(&self, _: &[KeptText]) -> Vec<KeptText> {
        self.0.lock().expect("no test panics with it").pop_front().unwrap_or_default()
    }
}

fn kept(heading: &str) -> KeptText {
    KeptText { heading: heading.to_owned(), text: "Use tabs.".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn context_joins_the_next_turn_and_goes_with_its_prompt() {
    let replies = [calls([("read", json!({}))]), text("done"), text("again")];
    let mut bench = bench_with(definition(Completion::Text), replies, None);
    let turns = [vec![kept("first")], vec![kept("`a/AGENTS.md`"), kept("`a/b/AGENTS.md`")]];
    bench.executor.joined_by(Arc::new(Joins(Mutex::new(turns.into()))));
    let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
    let result = bench.executor.run(&inputs, &bench.cancel).await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 2));
    let contents = bench.executor.history().contents();
    let [prompt, _, outcomes, joined, _] = contents else { panic!("{contents:?}") };
    assert_eq!(prompt.parts.first(), Some(&kept("first").part()));
    assert!(outcomes.function_responses().next().is_some());
    assert_eq!(joined.parts, [kept("`a/AGENTS.md`").part(), kept("`a/b/AGENTS.md`").part()]);
    // It is not a prompt of its own: the prompt that it belongs to is the last one.
    assert_eq!(bench.executor.last_exchange().len(), contents.len());
    assert!(bench.executor.undo_last_prompt().expect("nothing is recorded").is_some());
    assert!(bench.executor.history().contents().is_empty());
}
