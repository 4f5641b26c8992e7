//! Checks a request against a script.

use host_message::{Content, Part, Role};

use super::script::Expect;
use crate::Request;
use crate::text::clip;

/// Checks that every call has exactly one response, in the message directly after it and in the order of the calls, and
/// that there are no other responses. The error names the message that breaks this, from 0.
pub(super) fn history(contents: &[Content]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (at, content) in contents.iter().enumerate() {
        let responses: Vec<&str> = content.function_responses().map(|response| response.id.as_str()).collect();
        if responses != open {
            return Err(format!("message {at} has to answer {}, and answers {}", ids(&open), ids(&responses)));
        }
        open = content.function_calls().map(|call| call.id.as_str()).collect();
        for id in &open {
            if id.is_empty() || !seen.insert(*id) {
                return Err(format!("message {at} has a call whose id `{id}` is empty or was there before"));
            }
        }
        if !open.is_empty() && content.role == Role::User {
            return Err(format!("message {at} is the user's and has the calls {}", ids(&open)));
        }
        if !responses.is_empty() && content.role == Role::Model {
            return Err(format!("message {at} is the model's and has the responses {}", ids(&responses)));
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("the last message has to be followed by answers to {}", ids(&open)))
    }
}

/// Checks the request against what its line expects. The error contains what was expected and what was found.
pub(super) fn expectation(expect: &Expect, request: &Request<'_>) -> Result<(), (String, String)> {
    let said = request.contents.iter().rposition(|content| content.role == Role::Model).map_or(0, |at| at + 1);
    let last = request.contents.get(said..).unwrap_or_default();
    if let Some(pieces) = &expect.responses {
        let responses: Vec<&str> =
            last.iter().flat_map(Content::function_responses).map(|response| response.body.text()).collect();
        // A script that expects fewer than came would pass over a call that nobody meant.
        if responses.len() != pieces.len() {
            let found = format!("{} in the last message", responses.len());
            return Err((format!("{} function responses", pieces.len()), found));
        }
        for (at, (piece, response)) in pieces.iter().zip(responses).enumerate() {
            contains(&format!("function response {at}"), response, piece)?;
        }
    }
    if let Some(piece) = &expect.last_text {
        let texts = last.iter().flat_map(|content| &content.parts).filter(|part| !part.thought);
        let texts: String = texts.filter_map(Part::as_text).collect();
        contains("the last message", &texts, piece)?;
    }
    if let Some(piece) = &expect.system {
        let parts = request.contents.iter().flat_map(|content| &content.parts);
        let added = parts.filter(|part| part.kept_heading().is_some()).filter_map(Part::as_text);
        let told: Vec<&str> = request.system.into_iter().chain(added).collect();
        contains("what the host told the model", &told.join("\n\n"), piece)?;
    }
    for name in &expect.tools {
        let declared: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        if !declared.contains(&name.as_str()) {
            return Err((format!("the tool `{name}`"), ids(&declared)));
        }
    }
    Ok(())
}

fn contains(what: &str, text: &str, piece: &str) -> Result<(), (String, String)> {
    if text.contains(piece) {
        return Ok(());
    }
    Err((format!("`{}` in {what}", clip(piece)), format!("`{}`", clip(text))))
}

/// Formats the names, or `nothing`.
fn ids(ids: &[&str]) -> String {
    if ids.is_empty() { "nothing".to_owned() } else { format!("`{}`", clip(&ids.join("`, `"))) }
}
