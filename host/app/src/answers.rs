//! The answers to a question about a call, each with its label: for frontends that show a list to choose from.
//!
//! Promises: what is not offered by the question is not in the list, and the last one is a no. Deliberately not here: what
//! an answer means (`host_tool::Gate`), and changing what is proposed, which a list cannot do.

use host_text::visible_line;
use host_tool::{About, Answer, ApprovalMode, Question, Until};

/// An answer that the user can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedAnswer {
    /// The answer.
    pub answer: Answer,
    /// Its label, safe to show.
    pub label: String,
}

/// Returns the answers to a question, the narrowest yes first.
pub fn offered(question: &Question) -> Vec<OfferedAnswer> {
    let offer = |answer: Answer, label: &str| OfferedAnswer { answer, label: label.to_owned() };
    let no = || Answer::Cancel { reason: None };
    if let About::Plan { modes, .. } = &question.about {
        let yes = modes.iter().map(|mode| offer(Answer::Switch { mode: *mode }, of_mode(*mode)));
        return yes.chain([offer(no(), "No, keep planning")]).collect();
    }
    let lasting = question.always.iter().map(|always| {
        let how_long = match always.until {
            Until::SessionEnds => "Yes, for this session",
            Until::TakenBack => "Always in this folder",
        };
        let answer = Answer::Proceed { lasting: always.answer, until: always.until };
        OfferedAnswer { answer, label: format!("{how_long}: {}", visible_line(&always.words)) }
    });
    [offer(Answer::ProceedOnce, "Yes, this once")].into_iter().chain(lasting).chain([offer(no(), "No")]).collect()
}

/// The label that approves a plan in a mode.
fn of_mode(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Plan => "Yes, but change nothing",
        ApprovalMode::Default => "Yes, and ask before each change",
        ApprovalMode::AutoEdit => "Yes, and edit files without asking",
        ApprovalMode::Auto => "Yes, and run confined programs without asking, too",
        ApprovalMode::Yolo => "Yes, and ask about nothing",
    }
}

/// Describes what a run may do in a mode without asking.
pub fn about_mode(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Plan => "Reads only, whatever else was granted; denies the rest",
        ApprovalMode::Default => "Reads, and does what else was granted; asks before the rest",
        ApprovalMode::AutoEdit => "Also changes files of the workspace without asking",
        ApprovalMode::Auto => "Also runs confined programs, which reach no server; asks before the rest",
        ApprovalMode::Yolo => "Also runs programs and fetches without asking",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host_capability::Grants;
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use host_plugin::Confirmation;
    use host_tool::{Always, Lasting};
    use serde_json::Map;

    use super::*;

    fn question(about: About, always: Vec<Always>) -> Question {
        let call = FunctionCall { id: CallId::new("1"), name: ToolName::new("t"), arguments: Map::new() };
        Question {
            agent: "main".to_owned(),
            agent_id: AgentId::new("main"),
            call: Arc::new(call),
            origin: None,
            confirmation: Confirmation::Call,
            about,
            commands: Vec::new(),
            touches: Grants::none(),
            reasons: Vec::new(),
            mode: ApprovalMode::Default,
            always,
            objection: None,
        }
    }

    #[test]
    fn answers_are_those_that_the_question_offers() {
        let always = |until| Always { answer: Lasting::AlwaysTool, until, words: "all\nedits".to_owned() };
        let offers = offered(&question(About::Call, vec![always(Until::SessionEnds), always(Until::TakenBack)]));
        let labels: Vec<_> = offers.iter().map(|offer| offer.label.as_str()).collect();
        let expected =
            ["Yes, this once", "Yes, for this session: all\\nedits", "Always in this folder: all\\nedits", "No"];
        assert_eq!(labels, expected);
        let until = |until| Answer::Proceed { lasting: Lasting::AlwaysTool, until };
        assert_eq!(offers[1].answer, until(Until::SessionEnds));
        assert_eq!(offers[2].answer, until(Until::TakenBack));
        assert_eq!(offers[3].answer, Answer::Cancel { reason: None });
    }

    #[test]
    fn answers_to_a_plan_are_the_modes_to_carry_it_out_in() {
        let plan = About::Plan { text: "do it".to_owned(), modes: vec![ApprovalMode::Default, ApprovalMode::AutoEdit] };
        let answers: Vec<_> = offered(&question(plan, Vec::new())).into_iter().map(|offer| offer.answer).collect();
        let mode = |mode| Answer::Switch { mode };
        let expected = [mode(ApprovalMode::Default), mode(ApprovalMode::AutoEdit), Answer::Cancel { reason: None }];
        assert_eq!(answers, expected);
    }
}
