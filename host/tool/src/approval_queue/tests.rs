use futures::FutureExt as _;
use host_message::{CallId, ToolName};
use serde_json::{Map, json};
use tokio::task::JoinHandle;

use super::*;
use crate::ModelQuestion;

fn question() -> Question {
    let call = FunctionCall::new(CallId::new("1"), ToolName::new("t"), Map::new());
    Question {
        agent: "main".to_owned(),
        agent_id: AgentId::new("main"),
        call: Arc::new(call),
        origin: None,
        confirmation: Confirmation::Call,
        about: About::Call,
        commands: Vec::new(),
        effects: Vec::new(),
        touches: Grants::none(),
        reasons: Vec::new(),
        not_undone: Vec::new(),
        can_leave_walls: false,
        mode: ApprovalMode::Default,
        switches: Vec::new(),
        always: Vec::new(),
        objection: None,
    }
}

/// Asks in a task of its own.
fn ask(queue: &ApprovalQueue) -> JoinHandle<Result<Answer, NobodyListens>> {
    let queue = queue.clone();
    tokio::spawn(async move { queue.ask(question()).await })
}

async fn asked(listener: &mut Listener) -> QuestionId {
    match listener.next().await {
        Some(Notice::Asked { id, .. }) => id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn approval_queue_first_answer_counts_and_all_listeners_are_notified() {
    let queue = ApprovalQueue::new();
    let (mut one, mut other) = (queue.listen(), queue.listen());
    let asking = ask(&queue);
    let (id, same) = (asked(&mut one).await, asked(&mut other).await);
    assert_eq!(id, same);
    assert_eq!(other.answer(id, Answer::ProceedOnce), Ok(()));
    assert_eq!(one.answer(id, Answer::Cancel { reason: None }), Err(TooLate));
    assert_eq!(asking.await.expect("it ends"), Ok(Answer::ProceedOnce));
    for listener in [&mut one, &mut other] {
        assert!(matches!(listener.next().await, Some(Notice::Answered { id: told }) if told == id));
    }
}

#[tokio::test]
async fn answers_find_their_questions_in_any_order() {
    let queue = ApprovalQueue::new();
    let mut listener = queue.listen();
    let first = ask(&queue);
    let first_id = asked(&mut listener).await;
    let second = ask(&queue);
    let second_id = asked(&mut listener).await;
    assert_ne!(first_id, second_id);
    listener.answer(second_id, Answer::Cancel { reason: None }).expect("it is open");
    listener.answer(first_id, Answer::ProceedOnce).expect("it is open");
    assert_eq!(first.await.expect("it ends"), Ok(Answer::ProceedOnce));
    assert_eq!(second.await.expect("it ends"), Ok(Answer::Cancel { reason: None }));
}

#[tokio::test]
async fn approval_queue_listener_waits_until_its_question_is_settled_elsewhere() {
    let queue = ApprovalQueue::new();
    let (mut one, mut other) = (queue.listen(), queue.listen());
    let asking = ask(&queue);
    let id = asked(&mut one).await;
    assert_eq!(asked(&mut other).await, id);
    assert!(one.settled(id).now_or_never().is_none(), "it is open");
    other.answer(id, Answer::ProceedOnce).expect("it is open");
    one.settled(id).await;
    assert_eq!(asking.await.expect("it ends"), Ok(Answer::ProceedOnce));

    let asking = ask(&queue);
    let id = asked(&mut one).await;
    asking.abort();
    one.settled(id).await;
}

#[tokio::test]
async fn approval_queue_question_that_a_listener_gives_up_is_as_if_nobody_listened() {
    let queue = ApprovalQueue::new();
    let mut listener = queue.listen();
    let asking = ask(&queue);
    let id = asked(&mut listener).await;
    listener.give_up(id);
    assert_eq!(asking.await.expect("it ends"), Err(NobodyListens));
    assert_eq!(listener.answer(id, Answer::ProceedOnce), Err(TooLate));
    assert!(queue.is_heard(), "the next question can be asked");
}

// promise approval.nobody
#[tokio::test]
async fn approval_queue_question_without_a_listener_does_not_wait() {
    let queue = ApprovalQueue::new();
    assert!(!queue.is_heard());
    assert_eq!(queue.ask(question()).await, Err(NobodyListens));

    let mut listener = queue.listen();
    let asking = ask(&queue);
    asked(&mut listener).await;
    drop(listener);
    assert_eq!(asking.await.expect("it ends"), Err(NobodyListens));
}

#[tokio::test]
async fn approval_queue_question_is_withdrawn_when_its_asker_goes_away() {
    let queue = ApprovalQueue::new();
    let mut listener = queue.listen();
    let asking = ask(&queue);
    let id = asked(&mut listener).await;
    asking.abort();
    assert!(matches!(listener.next().await, Some(Notice::Withdrawn { id: told }) if told == id));
    assert_eq!(listener.answer(id, Answer::ProceedOnce), Err(TooLate));
}

#[tokio::test]
async fn approval_queue_later_listener_receives_what_is_open() {
    let queue = ApprovalQueue::new();
    let mut first = queue.listen();
    let asking = ask(&queue);
    let id = asked(&mut first).await;
    let mut later = queue.listen();
    drop(first);
    assert_eq!(asked(&mut later).await, id);
    later.answer(id, Answer::ProceedOnce).expect("it is open");
    assert_eq!(asking.await.expect("it ends"), Ok(Answer::ProceedOnce));
}

#[tokio::test]
async fn approval_queue_stalled_listener_delays_no_other() {
    let queue = ApprovalQueue::new();
    let deaf = queue.listen();
    for _ in 0..2 * WAITING {
        let withdrawn = tokio::time::timeout(std::time::Duration::ZERO, queue.ask(question())).await;
        assert!(matches!(withdrawn, Err(_) | Ok(Err(NobodyListens))), "{withdrawn:?}");
    }
    assert!(!queue.is_heard(), "it was given up");
    drop(deaf);
}

#[test]
fn approval_queue_answer_has_a_stable_json_form() {
    let check = |answer: Answer, value: serde_json::Value| {
        assert_eq!(serde_json::to_value(&answer).expect("it is JSON"), value);
        assert_eq!(serde_json::from_value::<Answer>(value).expect("it is an answer"), answer);
    };
    check(Answer::ProceedOnce, json!({"outcome": "proceed_once"}));
    let proceed = |lasting, until| Answer::Proceed { lasting, until };
    check(proceed(Lasting::AlwaysTool, Until::TakenBack), json!({"outcome": "proceed", "lasting": "always_tool"}));
    check(
        proceed(Lasting::Always, Until::SessionEnds),
        json!({"outcome": "proceed", "lasting": "always", "until": "session_ends"}),
    );
    check(Answer::Switch { mode: ApprovalMode::AutoEdit }, json!({"outcome": "switch", "mode": "auto-edit"}));
    let of_plugin = json!({"outcome": "proceed", "lasting": "always_plugin"});
    check(proceed(Lasting::AlwaysPlugin, Until::TakenBack), of_plugin);
    check(Answer::Modify { text: "x".to_owned() }, json!({"outcome": "modify", "text": "x"}));
    check(Answer::Cancel { reason: None }, json!({"outcome": "cancel"}));
}

// promise ask.allows-nothing: No answer to a model's question allows a call, and no approval answers a model's
//   question.
#[tokio::test]
async fn approval_queue_answer_to_a_model_allows_no_call() {
    let queue = ApprovalQueue::new();
    let mut listener = queue.listen();
    let (call, model) = (queue.clone(), queue.clone());
    let call = tokio::spawn(async move { call.ask(question()).await });
    let call_id = asked(&mut listener).await;
    let may_i = ModelQuestion { text: "May I?".to_owned(), choices: vec!["Yes".into()], multiple: false };
    let of_model = ModelQuestions { author: crate::QuestionAuthor::Model, questions: vec![may_i] };
    let model = tokio::spawn(async move { model.ask_for_model(of_model).await });
    let Some(Notice::ModelAsked { id: model_id, .. }) = listener.next().await else { panic!("it is asked") };
    assert_eq!(listener.reply(call_id, vec![ModelAnswer::Choice { index: 0 }]), Err(TooLate));
    assert_eq!(listener.answer(model_id, Answer::ProceedOnce), Err(TooLate));
    // Both are still open, and a later listener gets both.
    let mut later = queue.listen();
    assert_eq!(asked(&mut later).await, call_id);
    assert!(matches!(later.next().await, Some(Notice::ModelAsked { id, .. }) if id == model_id));
    assert_eq!(later.reply(model_id, vec![ModelAnswer::Dismissed]), Ok(()));
    assert_eq!(listener.reply(model_id, vec![ModelAnswer::Dismissed]), Err(TooLate));
    assert_eq!(listener.answer(call_id, Answer::Cancel { reason: None }), Ok(()));
    assert_eq!(model.await.expect("it ends"), Ok(vec![ModelAnswer::Dismissed]));
    assert_eq!(call.await.expect("it ends"), Ok(Answer::Cancel { reason: None }));
}

#[test]
fn approval_queue_reply_has_a_stable_json_form() {
    for (answer, value) in [
        (ModelAnswer::Choice { index: 1 }, json!({"outcome": "choice", "index": 1})),
        (ModelAnswer::Choices { indexes: vec![0, 2], text: None }, json!({"outcome": "choices", "indexes": [0, 2]})),
        (
            ModelAnswer::Choices { indexes: vec![], text: Some("x".to_owned()) },
            json!({"outcome": "choices", "indexes": [], "text": "x"}),
        ),
        (ModelAnswer::Text { text: "x".to_owned() }, json!({"outcome": "text", "text": "x"})),
        (ModelAnswer::Dismissed, json!({"outcome": "dismissed"})),
    ] {
        assert_eq!(serde_json::to_value(&answer).expect("it is JSON"), value);
        assert_eq!(serde_json::from_value::<ModelAnswer>(value).expect("it is an answer"), answer);
    }
}
