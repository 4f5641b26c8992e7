//! Random conversations and windows: what is sent fits, and nothing is lost that must stay.

use host_message::{CallId, FunctionCall, FunctionResponse, InlineData, ResponseBody, ToolName};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use host_journal::is_whole;

use crate::compress::{last_prompt, summarised};

/// One message, or round of calls, of a random conversation.
#[derive(Clone, Debug)]
enum Said {
    User(String),
    Model(String),
    /// Calls with the length of their arguments and their outputs, and data after the last output.
    Calls(Vec<(usize, String)>, Option<usize>),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0_usize..6_000).prop_map(|length| "word ".repeat(length / 5)),
        1 => (0_usize..2_000).prop_map(|length| "語".repeat(length)),
        1 => (0_usize..30_000).prop_map(|length| "x".repeat(length)),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let calls = prop::collection::vec((0_usize..4_000, text()), 1..4);
    let data = prop::option::weighted(0.2, 0_usize..400_000);
    prop_oneof![
        2 => text().prop_map(Said::User),
        2 => text().prop_map(Said::Model),
        4 => (calls, data).prop_map(|(calls, data)| Said::Calls(calls, data)),
    ]
}

fn conversation(messages: &[Said]) -> Vec<Content> {
    let mut contents = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Said::User(text) => contents.push(Content::user(format!("{at}: {text}"))),
            Said::Model(text) => contents.push(Content::model(text.clone())),
            Said::Calls(calls, data) => {
                let id = |index: usize| (CallId::new(format!("c{at}-{index}")), ToolName::new("tool"));
                let call = |(index, (length, _)): (usize, &(usize, String))| {
                    let (id, name) = id(index);
                    let arguments = Map::from_iter([("text".to_owned(), Value::from("a".repeat(*length)))]);
                    Part::from(PartData::FunctionCall(FunctionCall::new(id, name, arguments)))
                };
                let response = |(index, (_, output)): (usize, &(usize, String))| {
                    let (id, name) = id(index);
                    let body = ResponseBody::Output(output.clone());
                    Part::from(PartData::FunctionResponse(FunctionResponse::new(id, name, body)))
                };
                contents.push(Content { role: Role::Model, parts: calls.iter().enumerate().map(call).collect() });
                let mut parts: Vec<Part> = calls.iter().enumerate().map(response).collect();
                parts.extend(data.map(|length| {
                    let data = InlineData { mime_type: "application/pdf".to_owned(), base64: "A".repeat(length) };
                    Part::from(PartData::InlineData(data))
                }));
                contents.push(Content { role: Role::User, parts });
            }
        }
    }
    contents
}

/// Tokens taken by the notes that replace messages.
const NOTES: u64 = 100;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn fit_keeps_every_call_with_its_response_and_the_last_words_of_the_user(
        messages in prop::collection::vec(said(), 1..25),
        summary in prop::option::of("[a-z ]{1,2000}"),
        share in 0.0_f64..1.2,
        is_message in any::<bool>(),
    ) {
        let mut contents = conversation(&messages);
        // Some have been shortened before, so that the user's last words are behind a summary.
        if let Some(summary) = &summary
            && contents.len() > 4
            && let at = contents.len() / 2
            && contents[at].function_responses().next().is_none()
        {
            contents = summarised(&contents, at, summary).unwrap_or(contents);
        }
        let next = if is_message { Next::Message } else { Next::Conversation };
        let words = match next {
            Next::Conversation => last_words(&contents, contents.len()),
            Next::Message => Vec::new(),
        };
        let least = estimate_contents(&[Content { role: Role::User, parts: words.clone() }]) + NOTES;
        let tokens = least.max((estimate_contents(&contents) as f64 * share) as u64);
        let Some((fitted, status)) = fitted(&contents, tokens, next) else {
            prop_assert!(estimate_contents(&contents) <= tokens);
            return Ok(());
        };
        prop_assert!(estimate_contents(&fitted) <= tokens, "{} of {tokens}", estimate_contents(&fitted));
        prop_assert!(estimate_contents(&fitted) < estimate_contents(&contents));
        prop_assert!(is_whole(&fitted));
        let all: Vec<&Part> = fitted.iter().flat_map(|content| &content.parts).collect();
        for part in &words {
            prop_assert!(all.contains(&part), "{part:?}");
        }
        match status {
            CompressionStatus::Shortened => prop_assert_eq!(fitted.len(), contents.len()),
            CompressionStatus::LeftOut => {
                prop_assert!(is_heading(&fitted[0].parts[0]));
                prop_assert!(fitted.len() < 2 || fitted[0].role != fitted[1].role);
            }
            other => prop_assert!(false, "{other:?}"),
        }
        if next == Next::Conversation && contents.last().is_some_and(|last| last.role == Role::User) {
            prop_assert_eq!(fitted.last().map(|last| last.role), Some(Role::User));
        }
        // A conversation that fits is left alone.
        prop_assert_eq!(super::fitted(&fitted, tokens, next), None);
    }
}

#[test]
fn fit_cuts_outputs_before_it_leaves_anything_out() {
    let calls = |output: usize| Said::Calls(vec![(0, "x".repeat(output))], None);
    let contents = conversation(&[Said::User("look".to_owned()), calls(8_000), calls(8_000), calls(8_000)]);
    let (cut, status) = fitted(&contents, 4_000, Next::Conversation).expect("it does not fit");
    assert_eq!((status, cut.len()), (CompressionStatus::Shortened, 7));
    let lengths = |contents: &[Content]| -> Vec<usize> {
        contents.iter().flat_map(Content::function_responses).map(|one| one.body.text().len()).collect()
    };
    let after = lengths(&cut);
    assert!(after[0] < 1_100 && after[2] == 8_000, "the oldest first: {after:?}");
    let (cut, status) = fitted(&contents, 400, Next::Conversation).expect("it does not fit");
    assert_eq!(status, CompressionStatus::LeftOut);
    let texts: Vec<&str> = cut[0].parts.iter().filter_map(Part::as_text).collect();
    assert!(texts[0].ends_with(LEFT_OUT) && texts[1..] == [LAST_WORDS, "0: look"], "{texts:?}");
    assert_eq!(lengths(&cut).len(), 1, "the last exchange stays");
}

#[test]
fn fit_leaves_space_for_the_turns_that_follow() {
    let room = 4_000;
    for output in [None, Some(400)] {
        let mut contents = conversation(&[Said::User("begin".to_owned())]);
        let mut cuts = 0;
        for turn in 0..400 {
            contents.extend(match output {
                None => conversation(&[Said::User(format!("{turn}")), Said::Model("word ".repeat(80))]),
                Some(length) => conversation(&[Said::Calls(vec![(0, "x".repeat(length))], None)]),
            });
            if let Some((fitted, _)) = fitted(&contents, room, Next::Message) {
                (contents, cuts) = (fitted, cuts + 1);
            }
            assert!(estimate_contents(&contents) <= room);
        }
        // A turn adds about a fortieth of the room.
        assert!((10..60).contains(&cuts), "{cuts} of 400 turns");
        assert!(estimate_contents(&contents) > room / 2, "no more was left out than is needed for that");
    }
}

#[test]
fn fit_keeps_an_earlier_summary_if_there_is_room() {
    let long = |at: usize| Said::User(format!("{at} ").repeat(2_000));
    let said = [long(1), Said::Model("so".to_owned()), long(2), Said::Model("so".to_owned()), long(3), long(4)];
    let before = summarised(&conversation(&said), 2, "what came before").expect("it says something");
    let (left, _) = fitted(&before, 3_000, Next::Conversation).expect("it does not fit");
    let told = left[0].parts[0].as_text().expect("a text").to_owned();
    assert!(told.contains("what came before") && told.ends_with(LEFT_OUT), "{told}");
    let again = [left, conversation(&said)].concat();
    let (left, _) = fitted(&again, 3_000, Next::Conversation).expect("it does not fit");
    assert_eq!(left[0].parts[0].as_text(), Some(told.as_str()), "and is not told twice what was left out");
}

#[test]
fn fit_changes_nothing_if_the_last_message_alone_is_too_large() {
    let contents = conversation(&[Said::User("word ".repeat(1_000))]);
    assert_eq!(fitted(&contents, 100, Next::Conversation), None);
    assert!(last_prompt(&contents).is_some());
}
