use host_message::{FunctionResponse, ToolName};
use proptest::prelude::*;
use serde_json::Map;

use super::*;

fn call(id: &str) -> Part {
    let call = FunctionCall::new(CallId::new(id), ToolName::new("ls"), Map::new());
    PartData::FunctionCall(call).into()
}

fn response(id: &str) -> Part {
    let body = ResponseBody::Output("done".to_owned());
    PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body)).into()
}

/// A history in short: `u` and `m` for messages, with calls as `(id)` and responses as `[id]` or, interrupted, `<id>`.
fn short(history: &History) -> String {
    let part = |part: &Part| match &part.data {
        PartData::FunctionCall(call) => format!("({})", call.id),
        PartData::FunctionResponse(response) if response.body.text() == INTERRUPTED => format!("<{}>", response.id),
        PartData::FunctionResponse(response) => format!("[{}]", response.id),
        _ => String::new(),
    };
    let content = |content: &Content| {
        let who = if content.role == Role::User { "u" } else { "m" };
        who.to_owned() + &content.parts.iter().map(part).collect::<String>()
    };
    history.contents().iter().map(content).collect::<Vec<_>>().join(" ")
}

fn is_final(replied: Result<Replied<'_>, HistoryError>) -> bool {
    matches!(replied, Ok(Replied::Final))
}

fn unsettled(history: &mut History, ids: &[&str]) -> Result<(), HistoryError> {
    let exchange = history.ask(vec![Part::text("go")]).expect("a text");
    match exchange.reply(ids.iter().map(|id| call(id)).collect())? {
        Replied::Calls(unsettled) => drop(unsettled),
        Replied::Final => panic!("it has calls"),
    }
    Ok(())
}

#[test]
fn a_request_that_came_to_nothing_was_never_asked() {
    let mut history = History::beginning_with([(Role::User, "hello".to_owned())]);
    drop(history.ask(vec![Part::text("a")]).expect("a text"));
    assert_eq!(short(&history), "u");
    let message = vec![Part::text("b")];
    assert_eq!(history.ask(message.clone()).expect("a text").withdraw(), Some(message));
    assert_eq!(history.go_on().withdraw(), None);
    assert_eq!(short(&history), "u");
}

#[test]
fn a_final_reply_stays_with_its_question() {
    let mut history = History::new();
    assert!(is_final(history.ask(vec![Part::text("a")]).expect("a text").reply(vec![Part::text("b")])));
    assert_eq!(short(&history), "u m");
}

#[test]
fn a_reply_of_thoughts_alone_leaves_no_message() {
    for parts in [vec![], vec![Part::thought("hm")]] {
        let mut history = History::new();
        assert!(is_final(history.ask(vec![Part::text("a")]).expect("a text").reply(parts)));
        assert_eq!(short(&history), "u");
    }
}

#[test]
fn settled_calls_are_in_the_history_with_their_data() {
    let mut history = History::new();
    let exchange = history.ask(vec![Part::text("go")]).expect("a text");
    let Ok(Replied::Calls(unsettled)) = exchange.reply(vec![call("1"), call("2")]) else { panic!("it has calls") };
    assert_eq!(unsettled.calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    unsettled.settle(vec![vec![response("1"), Part::text("data")], vec![response("2")]]).expect("they match");
    assert_eq!(short(&history), "u m(1)(2) u[1][2]");
    assert!(history.is_taken(&CallId::new("2")));
}

// promise session.settled
#[test]
fn history_unsettled_calls_are_interrupted() {
    let mut history = History::new();
    unsettled(&mut history, &["1", "2"]).expect("fresh ids");
    assert_eq!(short(&history), "u m(1)(2) u<1><2>");
}

#[test]
fn an_id_is_taken_once() {
    let taken = |id: &str| Err(HistoryError::DuplicateCall { id: CallId::new(id) });
    let mut history = History::new();
    assert_eq!(unsettled(&mut history, &["1", "1"]), taken("1"));
    assert_eq!(short(&history), "");
    unsettled(&mut history, &["1"]).expect("fresh ids");
    assert_eq!(unsettled(&mut history, &["2", "1"]), taken("1"));
    assert_eq!(short(&history), "u m(1) u<1>");
}

#[test]
fn outcomes_that_do_not_match_are_refused_and_the_calls_still_settle() {
    let unmatched = |id: &str| HistoryError::Unmatched { id: CallId::new(id) };
    let cases = [
        (vec![], unmatched("1")),
        (vec![vec![response("1")]], unmatched("2")),
        (vec![vec![response("2")], vec![response("1")]], unmatched("1")),
        (vec![vec![response("1"), response("2")]], unmatched("1")),
        (vec![vec![response("1")], vec![Part::text("x"), response("2")]], unmatched("2")),
        (vec![vec![response("1")], vec![response("2")], vec![response("3")]], HistoryError::TooMany),
    ];
    for (outcomes, error) in cases {
        let mut history = History::new();
        let exchange = history.ask(vec![Part::text("go")]).expect("a text");
        let Ok(Replied::Calls(unsettled)) = exchange.reply(vec![call("1"), call("2")]) else { panic!("it has calls") };
        assert_eq!(unsettled.settle(outcomes), Err(error));
        assert_eq!(short(&history), "u m(1)(2) u<1><2>");
    }
}

#[test]
fn calls_and_responses_come_from_nowhere_else() {
    let mut history = History::new();
    for part in [call("1"), response("1")] {
        assert_eq!(history.ask(vec![part]).map(|_| ()), Err(HistoryError::CallFromUser));
    }
    let replied = history.ask(vec![Part::text("a")]).expect("a text").reply(vec![response("1")]);
    assert_eq!(replied.map(|_| ()), Err(HistoryError::ResponseFromModel));
    assert_eq!(short(&history), "");
}

/// A random step of a conversation.
#[derive(Clone, Debug)]
enum Act {
    /// A message, or going on without one; and a reply with these calls, or none.
    Exchange { message: bool, reply: Option<Vec<u8>>, settle: Settle },
}

#[derive(Clone, Debug)]
enum Settle {
    Right,
    Wrong,
    Dropped,
}

fn act() -> impl Strategy<Value = Act> {
    let settle = prop_oneof![Just(Settle::Right), Just(Settle::Wrong), Just(Settle::Dropped)];
    let reply = prop::option::of(prop::collection::vec(0..40_u8, 0..4));
    (any::<bool>(), reply, settle).prop_map(|(message, reply, settle)| Act::Exchange { message, reply, settle })
}

fn apply(history: &mut History, act: Act) {
    let Act::Exchange { message, reply, settle } = act;
    let exchange = if message { history.ask(vec![Part::text("u")]).expect("a text") } else { history.go_on() };
    let Some(ids) = reply else { return };
    let mut parts = vec![Part::text("m")];
    parts.extend(ids.iter().map(|id| call(&id.to_string())));
    if let Ok(Replied::Calls(unsettled)) = exchange.reply(parts) {
        let mut outcomes: Vec<_> = ids.iter().map(|id| vec![response(&id.to_string())]).collect();
        match settle {
            Settle::Right => unsettled.settle(outcomes).expect("they match"),
            Settle::Wrong => {
                outcomes.rotate_left(1);
                outcomes.pop();
                unsettled.settle(outcomes).expect_err("they do not match");
            }
            Settle::Dropped => {}
        }
    }
}

/// Panics unless each message with calls is followed by one with an outcome for each, in order, and no outcome is
/// anywhere else.
fn assert_whole(contents: &[Content]) {
    let mut due: Vec<&CallId> = Vec::new();
    for content in contents {
        let told: Vec<_> = content.function_responses().map(|response| &response.id).collect();
        assert_eq!(told, due);
        assert!(due.is_empty() || content.role == Role::User);
        due = content.function_calls().map(|call| &call.id).collect();
    }
    assert!(due.is_empty(), "{due:?} are left without an outcome");
}

proptest! {
    #[test]
    fn no_sequence_leaves_a_call_without_its_outcome(acts in prop::collection::vec(act(), 0..30)) {
        let mut history = History::new();
        for act in acts {
            apply(&mut history, act);
            assert_whole(history.contents());
        }
    }
}
