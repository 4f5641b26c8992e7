//! Prompts that are cut short, what stays of them, prompts that are taken back, and another model between two runs.

use std::io::BufReader;

use host_journal::{Clock, Left, MemoryJournal, Past, Recorded, Records};
use host_message::SessionId;

use super::TerminateReason::*;
use super::compression::{round, small};
use super::*;

fn session() -> Arc<MemoryJournal> {
    Arc::new(MemoryJournal::new(SessionId::new("s1").expect("an id"), Clock::system()))
}

/// The same session as another process finds it, of the main agent.
fn past_of(journal: &MemoryJournal) -> Past {
    journal.recorded().expect("it is whole").into_past(&AgentId::new("main"))
}

fn said(contents: &[Content]) -> Vec<String> {
    contents.iter().map(Content::visible_text).collect()
}

impl Bench {
    async fn say(&mut self, what: &str) -> RunResult {
        let inputs = Map::from_iter([("task".to_owned(), Value::from(what))]);
        self.executor.run(&inputs, &self.cancel).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_taken_back_was_never_said_and_a_later_process_agrees() {
    let journal = session();
    let replies = [text("one"), calls([("read", json!({}))]), text("two"), text("three")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(Arc::clone(&journal) as _));
    bench.say("first").await;
    bench.say("second").await;
    assert_eq!(bench.executor.history().contents().len(), 6);
    let text = bench.executor.undo_last_prompt().expect("it is written down");
    assert_eq!(text.as_deref(), Some("Do: second"));
    bench.say("third").await;
    assert_eq!(said(&bench.model.last()), ["Do: first", "one", "Do: third"]);
    let held = bench.executor.history().contents().to_vec();
    drop(bench);
    let past = past_of(&journal);
    assert_eq!((past.history().contents(), past.left()), (held.as_slice(), Left::Nothing));
}

#[tokio::test(start_paused = true)]
async fn undo_takes_back_every_prompt_until_none_is_left() {
    let mut bench = bench(definition(Completion::Text), [text("one"), text("two"), text("again")]);
    bench.say("first").await;
    bench.say("second").await;
    for expected in [Some("Do: second"), Some("Do: first"), None] {
        assert_eq!(bench.executor.undo_last_prompt().expect("nothing is written").as_deref(), expected);
    }
    bench.say("anew").await;
    assert_eq!(said(&bench.model.last()), ["Do: anew"]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_failed_is_not_the_one_that_the_user_takes_back() {
    let journal = session();
    let mut bench =
        bench_with(definition(Completion::Text), [text("one"), breaks("")], Some(Arc::clone(&journal) as _));
    bench.say("first").await;
    bench.say("lost").await;
    assert_eq!(bench.executor.undo_last_prompt().expect("written").as_deref(), Some("Do: first"));
    drop(bench);
    let past = past_of(&journal);
    assert_eq!((past.history().contents().len(), past.left()), (0, Left::Nothing));
}

/// A conversation whose second prompt was cut short.
struct CutShort {
    reason: TerminateReason,
    is_taken_back: bool,
    /// The texts of the history right after it.
    after: Vec<String>,
    /// What the next request had.
    sent: Vec<Content>,
}

/// Holds a conversation whose second prompt is cut short as the replies say, and whose third is answered. Another
/// process must agree at each point.
async fn cut_short(definition: AgentDefinition, replies: impl IntoIterator<Item = Scripted>) -> CutShort {
    let journal = session();
    let mut bench = bench_with(definition, [text("one")], Some(Arc::clone(&journal) as _));
    bench.say("first").await;
    bench.model.replies.lock().expect("no test panics with it").extend(replies);
    let cancel = bench.cancel.child_token();
    let going_on = std::mem::replace(&mut bench.cancel, cancel.clone());
    let stop = tokio::spawn(async move {
        sleep(Duration::from_secs(50)).await;
        cancel.cancel();
    });
    let RunResult { terminate_reason: reason, is_taken_back, .. } = bench.say("second").await;
    stop.abort();
    bench.cancel = going_on;
    let after = bench.executor.history().contents().to_vec();
    agrees(&journal, &bench);
    bench.model.replies.lock().expect("no test panics with it").push_back(text("three"));
    assert_eq!(bench.say("third").await.terminate_reason, Goal);
    agrees(&journal, &bench);
    CutShort { reason, is_taken_back, after: said(&after), sent: bench.model.last() }
}

/// What a process that reads the log now would continue with is what this one has.
fn agrees(journal: &MemoryJournal, bench: &Bench) {
    let past = past_of(journal).into_parts();
    let here = &bench.executor;
    assert_eq!(past.history.contents(), here.history().contents());
    assert_eq!((past.question, past.cut_short), (here.state.question.clone(), here.state.cut_short));
}

#[tokio::test(start_paused = true)]
async fn prompt_that_is_cut_short_keeps_what_has_a_reply_and_the_model_is_told_who_stopped_it() {
    let look = || calls([("read", json!({}))]);
    let begun = ["Do: first", "one", "Do: second"];
    for (what, replies, reason, kept) in [
        ("nothing came", vec![hangs("")], Aborted, None),
        ("the first reply hangs", vec![hangs("half")], Aborted, Some(vec!["half"])),
        ("the third reply hangs", vec![look(), look(), hangs("half")], Aborted, Some(vec!["", "", "", "", "half"])),
        ("nothing of the second reply came", vec![look(), hangs("")], Aborted, Some(vec!["", ""])),
        ("a call hangs", vec![look(), calls([("wait", json!({}))])], Aborted, Some(vec!["", "", "", ""])),
        ("the first request fails", vec![breaks("")], Error, None),
        ("the first reply breaks", vec![breaks("half")], Error, Some(vec!["half"])),
        ("the third reply breaks", vec![look(), look(), breaks("half")], Error, Some(vec!["", "", "", "", "half"])),
    ] {
        let cut = cut_short(definition(Completion::Text), replies).await;
        assert_eq!((cut.reason, cut.is_taken_back), (reason, kept.is_none()), "{what}");
        let after = match &kept {
            Some(kept) => begun.iter().chain(kept).copied().collect(),
            None => begun[..2].to_vec(),
        };
        assert_eq!(cut.after, after, "{what}");
        let (third, before) = cut.sent.split_last().expect("a request has messages");
        assert_eq!(said(before), after, "{what}");
        let note = match (reason, kept.is_some()) {
            (_, false) => "",
            (Aborted, true) => "The user stopped your work on the prompt before this one.",
            (_, true) => "Your work on the prompt before this one broke off because of an error.",
        };
        let texts: Vec<&str> = third.parts.iter().filter_map(Part::as_text).collect();
        match note {
            "" => assert_eq!(texts, ["Do: third"], "{what}"),
            note => {
                assert!(texts[0] == "Do: third" && texts.len() == 2 && texts[1].contains(note), "{what}: {texts:?}")
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn call_that_the_user_stops_is_answered_with_its_partial_output() {
    let cut = cut_short(definition(Completion::Text), [calls([("wait", json!({}))])]).await;
    let outcomes: Vec<_> = cut.sent.iter().flat_map(Content::function_responses).collect();
    let [outcome] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert!(outcome.body.text().starts_with("[Operation Cancelled] Reason: "), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn prompt_that_loops_keeps_what_it_did() {
    let look = || calls([("read", json!({}))]);
    let mut definition = definition(Completion::Text);
    definition.run.max_turns = None;
    let cut = cut_short(definition, std::iter::repeat_with(look).take(6)).await;
    assert_eq!((cut.reason, cut.is_taken_back), (Error, false));
    assert_eq!(cut.after.iter().filter(|text| text.is_empty()).count(), 12, "{:?}", cut.after);
}

#[tokio::test(start_paused = true)]
async fn prompt_that_fails_after_a_summary_keeps_the_summary() {
    let journal = session();
    let replies = [text("one"), round(100), round(7_000), text("sum"), round(100), breaks("half")];
    let mut bench = bench_with(small(10_000), replies, Some(Arc::clone(&journal) as _));
    bench.say("first").await;
    let result = bench.say("second").await;
    assert_eq!((result.terminate_reason, result.is_taken_back), (Error, false));
    let said = said(bench.executor.history().contents());
    assert!(said.iter().any(|text| text.contains("sum")), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("half"));
    agrees(&journal, &bench);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_a_limit_cut_is_asked_again_with_the_next_prompt_here_and_by_a_later_process() {
    let journal = session();
    let replies = [hangs("half"), hangs("more")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(Arc::clone(&journal) as _));
    assert_eq!(bench.say("first").await.terminate_reason, Timeout);
    let here = bench.executor.state.question.clone();
    assert_eq!(here, [Part::text("Do: first")]);
    drop(bench);
    let recorded = journal.resume(&ModelId::new("m")).expect("it is whole");
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!(past.left(), Left::Question);
    assert_eq!(past.into_parts().question, here);
}

#[test]
fn undo_of_messages_that_do_not_exist_marks_a_log_as_damaged() {
    let lines = [
        json!({"time": "2026-03-01T12:00:00Z", "type": "session", "version": 1, "id": "s1"}),
        json!({"time": "2026-03-01T12:00:00Z", "type": "taken_back", "agent_id": "main", "messages": 3}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let error = Recorded::read(&mut Records::new(BufReader::new(text.as_bytes()))).expect_err("damaged");
    assert!(error.to_string().starts_with("line 2 is damaged"), "{error}");
}

#[test]
fn session_log_of_an_older_host_whose_service_repeated_an_id_after_a_prompt_was_taken_back_is_read() {
    let prompt = |turn: u32| json!({"agent": "main", "turn": turn});
    let call = json!({"function_call": {"id": "call_0", "name": "ls", "arguments": {}}});
    let outcome = json!({"function_response": {"id": "call_0", "name": "ls", "body": {"output": ""}}});
    let began = |turn: u32| {
        let content = |role: &str, part: Value| json!({"type": "content", "prompt": prompt(turn), "content": {"role": role, "parts": [part]}});
        [
            json!({"type": "run_started", "agent": "main", "agent_id": "main", "model": "m"}),
            content("user", json!({"text": "do it"})),
            content("model", call.clone()),
            json!({"type": "call_started", "prompt": prompt(turn), "call_id": "call_0", "name": "ls"}),
            json!({"type": "call_settled", "prompt": prompt(turn), "call_id": "call_0", "status": "success", "duration_ms": 1, "parts": [outcome]}),
        ]
    };
    let lines = [json!({"type": "session", "version": 1, "id": "s1"})]
        .into_iter()
        .chain(began(0))
        .chain([json!({"type": "taken_back", "agent_id": "main", "messages": 0})])
        .chain(began(1));
    let text: String = lines
        .map(|mut line| {
            line["time"] = json!("2026-03-01T12:00:00Z");
            format!("{line}\n")
        })
        .collect();
    let recorded = Recorded::read(&mut Records::new(BufReader::new(text.as_bytes()))).expect("it is read");
    let past = recorded.past(&AgentId::new("main")).expect("it is there");
    assert_eq!((past.history().contents().len(), past.left()), (3, Left::Outcomes));
}

#[tokio::test(start_paused = true)]
async fn another_model_is_asked_from_the_next_run_on_and_a_later_process_knows() {
    let journal = session();
    let mut bench = bench_with(definition(Completion::Text), [text("one")], Some(Arc::clone(&journal) as _));
    bench.say("first").await;
    let other = Model::new([text("two")]);
    let mut tools = Registry::new();
    tools.register(Named::tool("other")).expect("it is the only one");
    let chosen = ChosenModel {
        provider: Arc::clone(&other) as Arc<dyn Provider>,
        window: 1_000,
        comfortable: None,
        tools,
        system: Some("Be brief.".to_owned()),
    };
    let config = ModelConfig { model: "n".to_owned(), ..ModelConfig::default() };
    bench.executor.choose_model(&ModelId::new("other/n"), config, chosen).expect("written");
    assert_eq!(bench.say("second").await.result.as_deref(), Some("two"));
    assert_eq!(said(&other.last()), ["Do: first", "one", "Do: second"]);
    assert_eq!(other.tools(), "other");
    assert_eq!(journal.recorded().expect("it is whole").model, Some(ModelId::new("other/n")));
}
