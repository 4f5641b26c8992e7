//! Shortens a long conversation: where to cut it, what replaces its beginning, and which result to accept.
//!
//! Promises, whatever the model answers: a call and its response are never separated; the user's last message is kept
//! word for word, and so are texts that are [kept](crate::KeptText); the result is smaller than what it replaces, or
//! nothing changes; roles still alternate. Everything here only decides about messages and sends no request: the
//! executor asks for the summary.

mod fit;

use host_message::{Content, FunctionResponse, Part, PartData, ResponseBody, Role};
use host_model::estimate_contents;

pub(crate) use self::fit::{Next, fitted, with_outputs_cut};
use crate::kept::{is_kept, kept_in};
use crate::loops::is_note;
use crate::near::is_near_note;
use crate::steering::is_steering;
use crate::warning::is_warning;

/// The end of the request for a summary.
const ASK_FOR_SUMMARY: &str = "\
Stop here and write a summary of everything above, for yourself: it will be all that you remember of it. Think first \
about what the user wants, what was done and found, and what is still to do. If there is an earlier summary above, \
merge it in; lose nothing of it that still matters. Then answer with this and nothing else, densely, without \
pleasantries, and call no tool:

<state_snapshot>
  <overall_goal>What the user wants, in one sentence.</overall_goal>
  <key_knowledge>Facts, decisions, constraints and conventions that must not be forgotten.</key_knowledge>
  <file_system_state>Files that were read, made, changed or removed, and what was learned of them.</file_system_state>
  <recent_actions>The last steps and what came of them.</recent_actions>
  <current_plan>The steps, each marked as done, under way or to do.</current_plan>
</state_snapshot>";

/// What introduces the user's words on what a summary should keep.
const KEEP: &str = "The user says what the summary has to keep in detail:";

/// Returns the end of the request for a summary, with what the user wants it to keep.
pub(crate) fn ask_for_summary(keep: Option<&str>) -> String {
    match keep {
        Some(words) => format!("{ASK_FOR_SUMMARY}\n\n{KEEP}\n{words}"),
        None => ASK_FOR_SUMMARY.to_owned(),
    }
}

/// Text that introduces the summary to the model.
const HEADING: &str = "This is a summary of the conversation until here, in place of its messages:";

/// Text after the summary that introduces the user's last message, if that is not among the messages that were kept.
const LAST_WORDS: &str = "The last message of the user's before this, word for word:";

const ACKNOWLEDGED: &str = "Understood. I will continue from there.";

/// The most characters of an old tool's output that stay when outputs are shortened, half of them from either end.
const KEPT_OF_OUTPUT: usize = 1_000;

/// Start of the note that replaces the part cut out of an output.
const NOTE_START: &str = "… (";
/// See [`NOTE_START`].
const NOTE_END: &str = " characters of this output were left out) …";

/// Number of latest messages that keep their outputs when outputs are shortened: the model is working with those.
const RECENT: usize = 4;

/// Returns where to cut a conversation: the part before is summarised, the rest stays. `None` if there is nothing to
/// cut.
///
/// The cut is before the first message from the user (not an answer to calls) after this share of the characters, or
/// else before the last such message ahead of it. A run that has worked on one message for a long time has no such
/// message: there the cut is before the first reply after that share that begins a new round of calls.
pub(crate) fn split(contents: &[Content], share: f64) -> Option<usize> {
    // An earlier summary alone would only be summarised again.
    let summary = match contents {
        [first, second, ..] if first.parts.first().is_some_and(is_heading) => {
            1 + usize::from(second.parts.first().and_then(Part::as_text) == Some(ACKNOWLEDGED))
        }
        _ => 0,
    };
    // By characters and not by tokens: only where the middle lies is asked here.
    let sizes: Vec<usize> = contents.iter().map(size).collect();
    let total: usize = sizes.iter().sum();
    let wanted = (total as f64 * share) as usize;
    let mut before = 0;
    let (mut user_before, mut round_after, mut round_before) = (None, None, None);
    for (at, (content, size)) in contents.iter().zip(&sizes).enumerate() {
        let enough = before >= wanted;
        if at > summary && is_said_by_user(content) {
            if enough {
                return Some(at);
            }
            user_before = Some(at);
        }
        // Messages after a settled round of calls are valid without it.
        if at > summary.max(1) && content.role == Role::Model && answers_calls(contents.get(at - 1)) {
            if enough {
                round_after.get_or_insert(at);
            } else {
                round_before = Some(at);
            }
        }
        before += size;
    }
    // An old message of the user's would leave nearly everything as it is when one long round follows it.
    round_after.or(user_before.max(round_before))
}

/// Returns the conversation with this summary in place of everything before `at`; `None` if the summary is empty.
pub(crate) fn summarised(contents: &[Content], at: usize, summary: &str) -> Option<Vec<Content>> {
    let summary = summary.trim();
    let rest = contents.get(at..)?;
    if summary.is_empty() {
        return None;
    }
    let mut parts = vec![Part::text(format!("{HEADING}\n\n{summary}"))];
    parts.extend(kept_before(contents, at));
    let words = if rest.iter().any(is_said_by_user) { Vec::new() } else { last_words(contents, at) };
    if !words.is_empty() {
        parts.push(Part::text(LAST_WORDS));
        parts.extend(words);
    }
    let mut shorter = vec![Content { role: Role::User, parts }];
    if rest.first().is_none_or(|content| content.role == Role::User) {
        shorter.push(Content::model(ACKNOWLEDGED));
    }
    shorter.extend_from_slice(rest);
    Some(shorter)
}

/// Returns the user's last words before this message, unchanged; empty if that was only a summary.
fn last_words(contents: &[Content], before: usize) -> Vec<Part> {
    let Some(last) = contents.iter().take(before).rfind(|content| is_said_by_user(content)) else { return Vec::new() };
    // An earlier summary was not said by the user; the words that were kept behind it were.
    let words = match last.parts.iter().position(is_last_words) {
        Some(at) => &last.parts[at + 1..],
        None if last.parts.first().is_some_and(is_heading) => &[],
        None => &last.parts[..],
    };
    words.iter().filter(|part| !part.thought && !is_kept(part)).cloned().collect()
}

/// Returns the texts before this message that are kept word for word, without those that come again behind it.
fn kept_before(contents: &[Content], at: usize) -> Vec<Part> {
    let (before, after) = contents.split_at(at.min(contents.len()));
    let again = kept_in(after);
    kept_in(contents).into_iter().filter(|part| !again.contains(part) && kept_in(before).contains(part)).collect()
}

/// Returns the conversation with old tool outputs shortened, oldest first, until it has at most `tokens`; `None` if
/// nothing could be shortened.
pub(crate) fn shortened(contents: &[Content], tokens: u64) -> Option<Vec<Content>> {
    let old = contents.len().saturating_sub(RECENT);
    let mut shorter = contents.to_vec();
    let mut left = estimate_contents(contents);
    let mut changed = false;
    for content in shorter.iter_mut().take(old) {
        if left <= tokens {
            break;
        }
        let before = estimate_contents(std::slice::from_ref(content));
        for part in &mut content.parts {
            changed |= shorten(part, KEPT_OF_OUTPUT);
        }
        left = left.saturating_sub(before.saturating_sub(estimate_contents(std::slice::from_ref(content))));
    }
    changed.then_some(shorter)
}

/// Cuts the middle out of a long output, so that about this many characters stay; true when it did.
fn shorten(part: &mut Part, kept: usize) -> bool {
    if is_kept(part) {
        return false;
    }
    let PartData::FunctionResponse(FunctionResponse { body, .. }) = &mut part.data else { return false };
    let (ResponseBody::Output(text) | ResponseBody::Error(text)) = body;
    let characters = text.chars().count();
    // Its own note is longer than what a cut of less would save.
    if characters <= kept * 2 {
        return false;
    }
    let head: String = text.chars().take(kept / 2).collect();
    let tail: String = text.chars().skip(characters - kept / 2).collect();
    let left_out = characters - kept + left_out_before(text).unwrap_or_default();
    *text = format!("{head}\n{NOTE_START}{left_out}{NOTE_END}\n{tail}");
    true
}

/// Returns the number of characters that an earlier cut removed from an output, minus the length of its note.
fn left_out_before(text: &str) -> Option<usize> {
    let (before, _) = text.split_once(NOTE_END)?;
    let number = before.rsplit_once(NOTE_START)?.1;
    let note = format!("\n{NOTE_START}{number}{NOTE_END}\n").chars().count();
    number.parse::<usize>().ok().map(|left_out| left_out.saturating_sub(note))
}

/// Returns the index of the user's last prompt; `None` if there is no such message or only a summary of it.
pub(crate) fn last_prompt(contents: &[Content]) -> Option<usize> {
    contents.iter().rposition(is_prompt)
}

/// Returns whether a message is a prompt of the user. What the user said while the model worked on a prompt belongs to
/// that prompt.
pub(crate) fn is_prompt(content: &Content) -> bool {
    is_said_by_user(content) && !is_steering(content) && !content.parts.first().is_some_and(is_heading)
}

fn is_heading(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.starts_with(HEADING))
}

fn is_last_words(part: &Part) -> bool {
    part.as_text() == Some(LAST_WORDS)
}

/// Returns whether the user wrote the message: it is neither an outcome of calls nor a note from the host to the model.
fn is_said_by_user(content: &Content) -> bool {
    let is_hosts = |part: &Part| {
        is_kept(part) || part.as_text().is_some_and(|text| is_note(text) || is_warning(text) || is_near_note(text))
    };
    content.role == Role::User && content.function_responses().next().is_none() && !content.parts.iter().all(is_hosts)
}

fn answers_calls(content: Option<&Content>) -> bool {
    content.is_some_and(|content| content.function_responses().next().is_some())
}

/// Estimates the size of a message, in characters of its JSON, without texts that are kept.
fn size(content: &Content) -> usize {
    content
        .parts
        .iter()
        // What stays word for word is not shortened by a cut behind it.
        .filter(|part| !part.thought && !is_kept(part))
        .map(|part| match &part.data {
            PartData::Text(text) => text.len(),
            PartData::InlineData(data) => data.base64.len(),
            PartData::FileReference(file) => file.uri.len(),
            PartData::FunctionCall(call) => {
                call.arguments.iter().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>()
            }
            PartData::FunctionResponse(response) => response.body.text().len(),
        })
        .sum()
}

#[cfg(test)]
mod tests;
