//! Tests of where conversations are cut, and of what no cut may do.

use host_journal::is_whole;
use host_message::{CallId, FunctionCall, ToolName};
use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::{ACTIVATE_SKILL, KeptText};

fn call(id: &str) -> Content {
    let call = FunctionCall::new(CallId::new(id), ToolName::new("ls"), Map::new());
    Content { role: Role::Model, parts: vec![PartData::FunctionCall(call).into()] }
}

fn response(id: &str, text: impl Into<String>) -> Content {
    let body = ResponseBody::Output(text.into());
    let response = FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body);
    Content { role: Role::User, parts: vec![PartData::FunctionResponse(response).into()] }
}

/// A conversation from a word for each message: `u` the user, `m` the model, `c` a call and its outcome (two
/// messages), each with this many characters.
fn conversation(messages: &[(char, usize)]) -> Vec<Content> {
    let mut contents = Vec::new();
    for (at, (kind, length)) in messages.iter().enumerate() {
        let text = format!("{at}:").chars().chain("x".repeat(*length).chars()).collect::<String>();
        match kind {
            'u' => contents.push(Content::user(text)),
            'm' => contents.push(Content::model(text)),
            _ => contents.extend([call(&format!("c{at}")), response(&format!("c{at}"), text)]),
        }
    }
    contents
}

#[test]
fn the_cut_is_before_the_first_message_of_the_users_behind_the_share() {
    let check = |messages: &[(char, usize)], expected: Option<usize>| {
        assert_eq!(split(&conversation(messages), 0.7), expected, "{messages:?}");
    };
    check(&[], None);
    check(&[('u', 100)], None);
    check(&[('u', 100), ('m', 100)], None);
    check(&[('u', 400), ('m', 400), ('u', 100), ('m', 100)], Some(2));
    // Not the first message, but the first one after the share.
    check(&[('u', 100), ('m', 100), ('u', 300), ('m', 300), ('u', 50), ('m', 50)], Some(4));
    // None is behind it: the last before it.
    check(&[('u', 100), ('m', 100), ('u', 100), ('m', 700)], Some(2));
    // An outcome of a call is not a message from the user.
    check(&[('u', 100), ('c', 500), ('c', 500), ('m', 10), ('u', 10), ('m', 300)], Some(6));
}

#[test]
fn a_run_that_has_long_been_at_work_on_one_message_is_cut_between_two_rounds() {
    let check = |messages: &[(char, usize)], expected: Option<usize>| {
        assert_eq!(split(&conversation(messages), 0.7), expected, "{messages:?}");
    };
    check(&[('u', 100), ('c', 400), ('c', 400), ('c', 100), ('c', 100)], Some(5));
    check(&[('u', 100), ('c', 900)], None);
    check(&[('u', 100), ('c', 100), ('c', 900)], Some(3));
}

#[test]
fn a_summary_alone_is_not_summarised_again() {
    let long = conversation(&[('u', 400), ('m', 400), ('u', 100), ('m', 100)]);
    let at = split(&long, 0.7).expect("it can be cut");
    let short = summarised(&long, at, "the summary").expect("it says something");
    assert_eq!(short.len(), 4);
    assert_eq!(split(&short[..2], 0.7), None);
    assert_eq!(split(&short, 0.7), None, "behind the summary there is nothing to cut but the last message");
}

#[test]
fn the_users_last_words_are_kept() {
    let long = conversation(&[('u', 10), ('c', 900), ('c', 900), ('c', 10)]);
    let at = split(&long, 0.7).expect("it can be cut");
    let short = summarised(&long, at, "first summary").expect("it says something");
    let texts = |contents: &[Content]| -> Vec<String> {
        contents[0].parts.iter().filter_map(Part::as_text).map(str::to_owned).collect()
    };
    let words = long[0].visible_text();
    assert_eq!(texts(&short)[1..], [LAST_WORDS.to_owned(), words.clone()]);
    assert_eq!(short[1].role, Role::Model, "the next round follows the summary");
    // And again, however often: one summary, and the same last words.
    let mut longer = short.clone();
    longer.extend(conversation(&[('c', 2_000), ('c', 2_000), ('c', 10)]));
    let at = split(&longer, 0.7).expect("it can be cut");
    let short = summarised(&longer, at, "second summary").expect("it says something");
    let said = texts(&short);
    assert!(said[0].ends_with("second summary"), "{said:?}");
    assert_eq!(said[1..], [LAST_WORDS.to_owned(), words]);
}

#[test]
fn compression_does_not_take_host_messages_for_the_users_words() {
    let warning = "The limit of this run, 3 turns, is reached. You have one last reply and 60 s for it. Say in it what \
                   is missing. Call no other tool: it would not run.";
    for told in ["You are going round in circles: `ls {}` came 5 times in a row. It was stopped", warning] {
        let mut long = conversation(&[('u', 10), ('c', 900)]);
        long.push(Content::user(told));
        long.extend(conversation(&[('c', 900), ('c', 10)]));
        let words = long[0].visible_text();
        let short = summarised(&long, split(&long, 0.2).expect("it can be cut"), "sum").expect("it says something");
        assert!(short[0].visible_text().ends_with(&words), "{short:?}");
        assert!(is_whole(&short));
    }
}

#[test]
fn compression_does_not_use_an_empty_summary() {
    let long = conversation(&[('u', 400), ('m', 400), ('u', 100), ('m', 100)]);
    assert_eq!(summarised(&long, 2, " \n"), None);
    assert_eq!(summarised(&long, 99, "x"), None);
}

#[test]
fn old_outputs_are_cut_until_it_is_enough_and_late_ones_stay() {
    let long = conversation(&[('u', 10), ('c', 8_000), ('c', 8_000), ('c', 8_000), ('c', 8_000), ('c', 8_000)]);
    let tokens = estimate_contents(&long);
    let cut = |contents: &[Content]| -> Vec<usize> {
        let long = |content: &Content| content.function_responses().any(|one| one.body.text().len() < 8_000);
        contents.iter().enumerate().filter(|(_, content)| long(content)).map(|(at, _)| at).collect()
    };
    assert_eq!(cut(&shortened(&long, tokens - 1_000).expect("it can")), [2]);
    assert_eq!(cut(&shortened(&long, tokens - 3_000).expect("it can")), [2, 4]);
    let most = shortened(&long, 0).expect("it can");
    assert_eq!(cut(&most), [2, 4, 6], "the last messages stay as they are");
    let output = most[2].function_responses().next().expect("there is one").body.text();
    assert!(output.contains("(7002 characters of this output were left out)"), "{output}");
    assert_eq!(shortened(&most, 0), None, "what was cut is not cut again");
    assert_eq!(shortened(&conversation(&[('u', 10), ('m', 90_000), ('u', 1), ('m', 1), ('u', 1)]), 0), None);
}

#[test]
fn a_call_without_its_response_makes_it_less_than_whole() {
    for (contents, whole) in [
        (vec![], true),
        (vec![call("a"), response("a", "")], true),
        (vec![call("a")], false),
        (vec![response("a", "")], false),
        (vec![call("a"), response("b", "")], false),
        (vec![call("a"), Content::user("?"), response("a", "")], false),
    ] {
        assert_eq!(is_whole(&contents), whole, "{contents:?}");
    }
}

proptest! {
    #[test]
    fn however_often_it_is_shortened_calls_keep_their_responses_and_the_user_their_last_words(
        messages in prop::collection::vec((prop_oneof!["u", "m", "c"], 0_usize..3_000), 1..40),
        more in prop::collection::vec((prop_oneof!["u", "m", "c"], 0_usize..3_000), 0..40),
        share in 0.1_f64..0.9,
    ) {
        let kinds = |messages: &[(String, usize)]| -> Vec<(char, usize)> {
            messages.iter().map(|(kind, length)| (kind.chars().next().unwrap(), *length)).collect()
        };
        let mut contents = conversation(&kinds(&messages));
        for more in [&[][..], &more[..]] {
            let mut ids = 0;
            for content in conversation(&kinds(more)) {
                // Ids stay unique.
                ids += 1;
                let mut content = content;
                for part in &mut content.parts {
                    match &mut part.data {
                        PartData::FunctionCall(call) => call.id = CallId::new(format!("m{ids}")),
                        PartData::FunctionResponse(response) => response.id = CallId::new(format!("m{}", ids - 1)),
                        _ => {}
                    }
                }
                contents.push(content);
            }
            prop_assert!(is_whole(&contents));
            let last = contents.iter().rfind(|content| is_said_by_user(content)).cloned();
            let Some(at) = split(&contents, share) else { continue };
            prop_assert!(at > 0 && at < contents.len());
            let shorter = summarised(&contents, at, "summary").unwrap();
            prop_assert!(is_whole(&shorter));
            prop_assert!(shorter.windows(2).next().is_none_or(|pair| pair[0].role != pair[1].role));
            if let Some(last) = last {
                let words = last.parts.iter().rfind(|part| !part.thought).cloned().unwrap();
                let kept = shorter.iter().flat_map(|content| &content.parts).any(|part| *part == words);
                prop_assert!(kept, "{words:?}");
            }
            let cut = shortened(&contents, 0).unwrap_or_else(|| contents.clone());
            prop_assert!(is_whole(&cut) && estimate_contents(&cut) <= estimate_contents(&contents));
            contents = shorter;
        }
    }
}

// promise skills.compressed: What a skill says stays word for word in the conversation, however often it is compressed.
// promise memory.compressed: Instructions of a folder that the model entered stay word for word, however often the
//   conversation is compressed.
#[test]
fn compress_keeps_texts_word_for_word_wherever_they_came_from() {
    let kept = |heading: &str, text: &str| KeptText { heading: heading.to_owned(), text: text.to_owned() };
    let (skill, memory, named) = (kept("skill `a`", "Do\n  A."), kept("`x/AGENTS.md`", "B."), kept("skill `c`", "C."));
    let activation =
        FunctionResponse::new(CallId::new("s"), ToolName::new(ACTIVATE_SKILL), ResponseBody::Output(skill.whole()));
    let mut contents = conversation(&[('u', 100), ('c', 5_000)]);
    contents.extend([
        Content {
            role: Role::Model,
            parts: vec![
                PartData::FunctionCall(FunctionCall::new(CallId::new("s"), ToolName::new(ACTIVATE_SKILL), Map::new()))
                    .into(),
            ],
        },
        Content { role: Role::User, parts: vec![PartData::FunctionResponse(activation).into()] },
        Content { role: Role::User, parts: vec![memory.part()] },
        Content::model("working"),
        Content { role: Role::User, parts: vec![Part::text("/c now"), named.part()] },
    ]);
    contents.extend(conversation(&[('m', 3_000), ('c', 3_000)]));
    let all = vec![skill, memory, named];
    assert_eq!(KeptText::all_in(&contents), all);
    assert_eq!(shortened(&contents, 0).map(|shorter| KeptText::all_in(&shorter)), Some(all.clone()));
    let at = contents.len() - 2;
    let once = summarised(&contents, at, "a summary").expect("it is one");
    assert_eq!(KeptText::all_in(&once), all);
    let texts: Vec<&str> = once[0].parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(texts[texts.len() - 2..], [LAST_WORDS, "/c now"], "the words are kept without what was loaded by them");
    let later = [once, conversation(&[('u', 10)])].concat();
    let twice = summarised(&later, later.len(), "another").expect("it is one");
    assert_eq!(KeptText::all_in(&twice), all);
    let tokens = estimate_contents(&twice) + 50;
    let crowded = [twice, conversation(&[('m', 40_000), ('u', 10)])].concat();
    let (fitting, _) = fitted(&crowded, tokens, Next::Conversation).expect("it is too long");
    assert_eq!(KeptText::all_in(&fitting), all);
    assert!(estimate_contents(&fitting) <= tokens && is_whole(&fitting));
    let (tiny, _) = fitted(&crowded, 90, Next::Conversation).expect("it is too long");
    assert!(estimate_contents(&tiny) <= 90, "a window without room for them is not overfilled");
}
