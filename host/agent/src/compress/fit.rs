//! Makes a conversation fit a model's window, whatever its size: outputs of tools are cut, then the oldest messages are
//! left out.
//!
//! Promises: a call and its response stay together, the user's last message stays word for word, and the result fits
//! unless that message alone is too large. Texts that are kept word for word stay, and an earlier summary does, if
//! there is room for them. No model is asked here.

use host_message::{Content, Part, PartData, Role};
use host_model::estimate_contents;

use super::{
    ACKNOWLEDGED, HEADING, LAST_WORDS, is_heading, is_said_by_user, kept_before, last_words, shorten, shortened,
};
use crate::CompressionStatus;

/// The longest outputs that are tried, one after the other, in characters.
const LENGTHS: &[usize] = &[16_000, 8_000, 4_000, 2_000, 1_000];

/// The longest outputs where even the last exchange is too large with those.
const SHORTEST: &[usize] = &[500, 200];

/// One part in this many of the room stays free when a conversation is cut, if possible. If it just fitted, the next
/// turn would cut it again; each time the session log stores it whole once more, and the service's cache of it is lost.
const FREED: u64 = 4;

/// Note to the model in place of messages that were left out.
const LEFT_OUT: &str = "Messages after that were left out: the conversation did not fit the model's window.";

/// Note to the model in place of data that was left out.
const NO_DATA: &str = "(the data was left out: the conversation did not fit the model's window)";

/// The kind of the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The conversation as it is: its last message is the user's or answers calls.
    Conversation,
    /// A new message of the user's, which is not part of the conversation yet.
    Message,
}

/// What becomes of the texts that are kept word for word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texts {
    Kept,
    /// There is no room for them.
    LeftOut,
}

impl Texts {
    /// Returns those before this message.
    fn before(self, contents: &[Content], at: usize) -> Vec<Part> {
        match self {
            Self::Kept => kept_before(contents, at),
            Self::LeftOut => Vec::new(),
        }
    }
}

/// Returns the conversation cut to at most `tokens`, and how it was cut; `None` if it fits as it is. If the user's last
/// message alone is larger than that, everything else is left out.
pub(crate) fn fitted(contents: &[Content], tokens: u64, next: Next) -> Option<(Vec<Content>, CompressionStatus)> {
    if estimate_contents(contents) <= tokens {
        return None;
    }
    // Some room beyond, or the next output would lead here again.
    let with_space = tokens - tokens / FREED;
    let cut = with_outputs_cut(contents, with_space);
    if estimate_contents(&cut) <= tokens {
        return Some((cut, CompressionStatus::Shortened));
    }
    // From what hurts least: with room to spare, then without, then without the kept texts.
    for (room, texts) in [(with_space, Texts::Kept), (tokens, Texts::Kept), (tokens, Texts::LeftOut)] {
        let at = oldest_kept(&cut, room, next, texts);
        if at < cut.len() {
            return Some((without_oldest(&cut, at, tokens, next, texts), CompressionStatus::LeftOut));
        }
    }
    // The last exchange does not fit by itself: it is worth more than the rest of its outputs.
    let cut = with_little_output(cut, tokens);
    if estimate_contents(&cut) <= tokens {
        return Some((cut, CompressionStatus::Shortened));
    }
    let left = |texts| without_oldest(&cut, oldest_kept(&cut, tokens, next, texts), tokens, next, texts);
    let with_texts = left(Texts::Kept);
    let fitted = if estimate_contents(&with_texts) <= tokens { with_texts } else { left(Texts::LeftOut) };
    // Only if it helped: otherwise the same would be tried before each turn.
    let is_smaller = estimate_contents(&fitted) < estimate_contents(contents);
    is_smaller.then_some((fitted, CompressionStatus::LeftOut))
}

/// The conversation with its outputs of tools cut until it has at most `tokens`, the older ones first. It has more if
/// that is not enough.
pub(crate) fn with_outputs_cut(contents: &[Content], tokens: u64) -> Vec<Content> {
    let mut cut = shortened(contents, tokens).unwrap_or_else(|| contents.to_vec());
    cut_to(&mut cut, tokens, LENGTHS);
    cut
}

/// Returns the same with almost nothing left of the outputs, and without their data.
fn with_little_output(mut contents: Vec<Content>, tokens: u64) -> Vec<Content> {
    cut_to(&mut contents, tokens, SHORTEST);
    let mut size = estimate_contents(&contents);
    for content in contents.iter_mut().filter(|content| content.function_responses().next().is_some()) {
        if size <= tokens {
            break;
        }
        size = change(content, size, |part| {
            if matches!(part.data, PartData::InlineData(_) | PartData::FileReference(_)) {
                *part = Part::text(NO_DATA);
            }
        });
    }
    contents
}

fn cut_to(contents: &mut [Content], tokens: u64, lengths: &[usize]) {
    let mut size = estimate_contents(contents);
    for kept in lengths {
        for content in contents.iter_mut() {
            if size <= tokens {
                return;
            }
            size = change(content, size, |part| {
                shorten(part, *kept);
            });
        }
    }
}

/// Changes the parts of a message, and returns the size of the conversation after that.
fn change(content: &mut Content, size: u64, change: impl FnMut(&mut Part)) -> u64 {
    let before = estimate_contents(std::slice::from_ref(content));
    content.parts.iter_mut().for_each(change);
    size.saturating_sub(before).saturating_add(estimate_contents(std::slice::from_ref(content)))
}

/// The first message that can stay if all before it are left out; the number of messages if none can.
fn oldest_kept(contents: &[Content], tokens: u64, next: Next, texts: Texts) -> usize {
    let sizes = contents.iter().map(|content| estimate_contents(std::slice::from_ref(content)));
    let mut rest: u64 = sizes.clone().sum();
    let last_said = contents.iter().rposition(is_said_by_user);
    for (at, size) in sizes.enumerate() {
        // A cut before the response to a call would part the two.
        if at > 0 && contents.get(at).is_some_and(|content| content.function_responses().next().is_none()) {
            let keeps_words = next == Next::Conversation && last_said.is_some_and(|said| said < at);
            let words = if keeps_words { last_words(contents, at) } else { Vec::new() };
            let kept = texts.before(contents, at);
            let head = head(None, &kept, &words, contents.get(at), next);
            if estimate_contents(&head).saturating_add(rest) <= tokens {
                return at;
            }
        }
        rest = rest.saturating_sub(size);
    }
    contents.len()
}

/// The conversation without the messages before `at`. An earlier summary is kept if it fits.
fn without_oldest(contents: &[Content], at: usize, tokens: u64, next: Next, texts: Texts) -> Vec<Content> {
    let rest = contents.get(at..).unwrap_or_default();
    let words = match next {
        Next::Conversation if !rest.iter().any(is_said_by_user) => last_words(contents, at),
        Next::Conversation | Next::Message => Vec::new(),
    };
    let summary = contents.first().and_then(|first| first.parts.first()).filter(|part| is_heading(part));
    let kept = texts.before(contents, at);
    let with = |summary: Option<&str>| [head(summary, &kept, &words, rest.first(), next), rest.to_vec()].concat();
    match summary.and_then(Part::as_text).map(|text| with(Some(text))) {
        Some(whole) if estimate_contents(&whole) <= tokens => whole,
        Some(_) | None => with(None),
    }
}

/// Returns the messages that replace those that were left out.
fn head(summary: Option<&str>, kept: &[Part], words: &[Part], rest: Option<&Content>, next: Next) -> Vec<Content> {
    let summary = summary.unwrap_or(HEADING).trim_end();
    let told = if summary.ends_with(LEFT_OUT) { summary.to_owned() } else { format!("{summary}\n\n{LEFT_OUT}") };
    let mut parts = vec![Part::text(told)];
    parts.extend_from_slice(kept);
    if !words.is_empty() {
        parts.push(Part::text(LAST_WORDS));
        parts.extend_from_slice(words);
    }
    let mut head = vec![Content { role: Role::User, parts }];
    let is_followed_by_user = rest.map_or(next == Next::Message, |rest| rest.role == Role::User);
    if is_followed_by_user {
        head.push(Content::model(ACKNOWLEDGED));
    }
    head
}

#[cfg(test)]
mod tests;
