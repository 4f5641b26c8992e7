//! `host session export`: a session as a document that reads well where Markdown is shown. Calls are folded away, the
//! changes that they made are not.

use std::fmt::Write as _;

use host_message::Display;

use super::list::{end_word, local};
use super::transcript::{Call, Entry, Said, Transcript, What};
use crate::printer::visible;

/// The document.
pub(super) fn text(transcript: &Transcript) -> String {
    let Transcript { id, began, workspace, model, usage, torn_bytes, entries, .. } = transcript;
    // A string takes everything, here and below.
    let mut text = format!("# Session {id}\n\n");
    for (name, value) in [("Workspace", workspace), ("Model", model)] {
        if let Some(value) = value {
            let _ = writeln!(text, "- {name}: {}", code(value));
        }
    }
    if let Some(began) = began {
        let _ = writeln!(text, "- Began: {}", local(*began));
    }
    let _ = writeln!(text, "- Tokens: {} in, {} out", usage.input, usage.output);
    for entry in entries {
        text.push('\n');
        one(&mut text, entry);
    }
    if *torn_bytes > 0 {
        let _ = writeln!(text, "\n*The last entry was half-written; its {torn_bytes} bytes are left out.*");
    }
    visible(&text).into_owned()
}

fn one(text: &mut String, Entry { time, agent, what }: &Entry) {
    let agent = agent.as_deref().unwrap_or_default();
    let _ = match what {
        What::RunStarted { name, model } => {
            writeln!(text, "---\n\n*{}: a run of {} with {}, {}*", code(agent), code(name), code(model), local(*time))
        }
        What::Resumed { model } => writeln!(text, "---\n\n*Resumed with {}, {}*", code(model), local(*time)),
        What::User(said) => {
            let _ = writeln!(text, "## User\n");
            for line in said.text.lines() {
                let _ = writeln!(text, "> {line}");
            }
            kinds(text, &said.data)
        }
        What::Model(Said { text: said, thoughts, data }) => {
            let _ = writeln!(text, "## Model");
            if !thoughts.is_empty() {
                let _ = writeln!(
                    text,
                    "\n<details>\n<summary>Thoughts</summary>\n\n{}\n\n</details>",
                    fenced("", thoughts)
                );
            }
            if !said.is_empty() {
                let _ = writeln!(text, "\n{}", said.trim_end());
            }
            kinds(text, data)
        }
        What::Call(call) => {
            written_call(text, call);
            Ok(())
        }
        What::HistoryReplaced { messages } => {
            let _ = writeln!(text, "*The conversation until here is now {} messages:*", messages.len());
            for message in messages {
                let _ = writeln!(text, "\n{}", fenced("", &message.visible_text()));
            }
            Ok(())
        }
        What::TakenBack { messages } => {
            writeln!(text, "*The last prompt was taken back, with all that came of it; {messages} messages stay.*")
        }
        What::ModelChosen { model } => writeln!(text, "*From here on {} is asked.*", code(model)),
        What::RecoveryStarted { reason } => {
            writeln!(text, "*A limit was met ({}); the model is asked for its best answer so far.*", end_word(*reason))
        }
        What::Withdrawn => writeln!(text, "*Nothing came of this request.*"),
        What::Error { message } => writeln!(text, "**Error:**\n\n{}", fenced("", message)),
        What::RunEnded { terminate_reason, turns, usage } => {
            let end = end_word(*terminate_reason);
            writeln!(text, "*{}: {end}, {turns} turns, {} tokens in, {} out*", code(agent), usage.input, usage.output)
        }
    };
}

fn written_call(text: &mut String, call: &Call) {
    let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    let name = escaped(&call.name);
    let _ = writeln!(text, "<details>\n<summary><code>{name}</code> ({})</summary>\n", call.ending());
    let _ = writeln!(text, "{}", fenced("json", &arguments));
    let Some(outcome) = &call.outcome else {
        let _ = writeln!(text, "\n</details>");
        return;
    };
    let _ = writeln!(text, "\n{}", fenced("", &outcome.response));
    let _ = kinds(text, &outcome.data);
    let _ = writeln!(text, "\n</details>");
    if let Some(Display::Difference { path, unified }) = &outcome.display {
        let _ = writeln!(text, "\n{}\n\n{}", code(path), fenced("diff", unified));
    }
}

fn kinds(text: &mut String, data: &[String]) -> std::fmt::Result {
    data.iter().try_for_each(|kind| writeln!(text, "\n*[{}]*", code(kind)))
}

/// The text between fences that nothing in it ends.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// The text as code within a line.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let marks = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_fence() {
        for (text, fence) in [("a", "```"), ("```\nx\n```", "````"), ("a ````` b", "``````")] {
            let fenced = fenced("", text);
            assert!(fenced.starts_with(&format!("{fence}\n")) && fenced.ends_with(&format!("\n{fence}")), "{fenced}");
        }
        for (text, want) in [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", "`  `")] {
            assert_eq!(code(text), want);
        }
    }
}
