//! What a user says while the model works.

use host_journal::{Clock, Left, MemoryJournal};
use host_message::SessionId;

use super::TerminateReason::*;
use super::*;

/// Says each of these once it is asked, and counts how often that was.
struct Says {
    words: Mutex<VecDeque<Option<&'static str>>>,
}

impl Says {
    /// `None` is a turn at which nothing was said.
    fn new(words: impl IntoIterator<Item = Option<&'static str>>) -> Self {
        Self { words: Mutex::new(words.into_iter().collect()) }
    }
}

impl Steering for Says {
    fn take(&self) -> BoxFuture<'_, Option<Vec<Part>>> {
        let word = self.words.lock().expect("no test panics with it").pop_front().flatten();
        async move { word.map(|word| vec![Part::text(word)]) }.boxed()
    }
}

impl Bench {
    async fn run_with(&mut self, says: &Says) -> RunResult {
        let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
        self.executor.run_steered(&inputs, PromptParts::default(), Some(says), &self.cancel).await
    }
}

fn said(contents: &[Content]) -> Vec<String> {
    let text = |content: &Content| {
        content
            .parts
            .iter()
            .filter_map(Part::as_text)
            .filter(|text| !text.starts_with('['))
            .collect::<Vec<_>>()
            .join("+")
    };
    contents.iter().map(text).collect()
}

// promise conversation.steer: What a user says while the model works reaches the model at its next turn, and is
//   recorded as said then.
#[tokio::test(start_paused = true)]
async fn steering_reaches_the_next_turn_and_a_later_process_reads_the_same() {
    let journal = Arc::new(MemoryJournal::new(SessionId::new("s1").expect("an id"), Clock::system()));
    let replies = [calls([("read", json!({}))]), calls([("look", json!({}))]), text("done")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(Arc::clone(&journal) as _));
    let says = Says::new([Some("use tabs"), Some("and no spaces"), None, None]);
    let result = bench.run_with(&says).await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 3));
    let sent = bench.model.sent();
    assert_eq!(sent[0], "Do: tests");
    assert!(sent[1].contains("use tabs") && sent[1].contains("and no spaces"), "{sent:?}");
    assert_eq!(sent[2], "look did it", "nothing was said before the third");
    let held = bench.executor.history().contents().to_vec();
    assert_eq!(said(&held), ["Do: tests", "", "", "use tabs+and no spaces", "", "", "done"]);
    let recorded = journal.recorded().expect("it is whole");
    let past = recorded.past(&AgentId::new("main")).expect("it is there");
    assert_eq!((past.history().contents(), past.left()), (held.as_slice(), Left::Nothing));
    assert_eq!(bench.watcher.types().iter().filter(|kind| *kind == "asked").count(), 3);
}

#[tokio::test(start_paused = true)]
async fn steering_goes_with_the_prompt_that_it_belongs_to() {
    let replies = [text("one"), calls([("read", json!({}))]), text("done")];
    let mut bench = bench(definition(Completion::Text), replies);
    bench.run_with(&Says::new([])).await;
    bench.run_with(&Says::new([Some("use tabs")])).await;
    assert_eq!(bench.executor.undo_last_prompt().expect("nothing is written").as_deref(), Some("Do: tests"));
    assert_eq!(said(bench.executor.history().contents()), ["Do: tests", "one"]);
    // A run that fails keeps both.
    let mut bench = super::bench(definition(Completion::Text), [calls([("read", json!({}))]), breaks("half")]);
    let result = bench.run_with(&Says::new([Some("use tabs")])).await;
    assert_eq!(result.terminate_reason, Error);
    let said = said(bench.executor.history().contents());
    assert!(said.iter().any(|text| text.contains("use tabs")), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("half"));
}

#[tokio::test(start_paused = true)]
async fn steering_of_a_run_that_is_cancelled_is_not_asked_for() {
    /// Never answers, and cancels the run when it is asked.
    struct Cancels(CancellationToken);
    impl Steering for Cancels {
        fn take(&self) -> BoxFuture<'_, Option<Vec<Part>>> {
            self.0.cancel();
            futures::future::pending().boxed()
        }
    }
    let mut bench = bench(definition(Completion::Text), [calls([("read", json!({}))])]);
    let cancels = Cancels(bench.cancel.clone());
    let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
    let result = bench.executor.run_steered(&inputs, PromptParts::default(), Some(&cancels), &bench.cancel).await;
    assert_eq!(result.terminate_reason, Aborted);
}
