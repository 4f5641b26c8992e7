//! What hooks say about a call that has run: for the model, besides its output or in place of it.
//!
//! Deliberately not here: the calls that never ran, which hooks have heard of before (`gate`).

use host_message::{FunctionCall, OutputPart};

use crate::hooks::{HookAnswer, HookEvent, HookInput, HookText};
use crate::{Cancel, Gate, LiveOutput, Outcome};

/// The hooks of a call that runs.
pub(super) struct After {
    pub(super) gate: Option<Gate>,
    /// What hooks said before it ran.
    pub(super) context: Vec<HookText>,
    /// What it showed while it ran.
    pub(super) live: LiveOutput,
}

impl After {
    /// Returns the outcome of a call, with what hooks say about it.
    pub(super) async fn heard(self, call: &FunctionCall, outcome: Outcome, cancel: &Cancel) -> Outcome {
        let Self { gate, mut context, live } = self;
        let asked = gate.as_ref().and_then(|gate| Some((gate, gate.hooks(HookEvent::PostToolUse)?)));
        let mut output = None;
        if let Some((gate, hooks)) = asked
            && !cancel.is_cancelled()
        {
            let mcp_meta = live.mcp_meta();
            let input = HookInput::PostToolUse { call, outcome: &outcome, mcp_meta: mcp_meta.as_deref() };
            let answer = tokio::select! {
                biased;
                () = cancel.cancelled() => HookAnswer::default(),
                answer = hooks.ask(gate.asker(), input) => answer,
            };
            if let Some(stop) = &answer.stop {
                cancel.cancel(stop.said("ended the run"));
            }
            // The call has run: what denies it now is a word for the model.
            context.extend(answer.denied().cloned());
            context.extend(answer.context);
            output = answer.output;
        }
        with_texts(outcome, output.as_ref(), &context)
    }
}

/// Returns the outcome with texts of hooks: one in place of its output, others behind it.
fn with_texts(mut outcome: Outcome, instead: Option<&HookText>, behind: &[HookText]) -> Outcome {
    match &mut outcome {
        Outcome::Success(output) => {
            if let Some(text) = instead {
                output.content = vec![OutputPart::Text(text.for_model())];
                output.structured = None;
            }
            // A model reads the value where there is no other content.
            if let (false, [], Some(value)) = (behind.is_empty(), output.content.as_slice(), &output.structured) {
                output.content = vec![OutputPart::Text(value.to_string())];
            }
            output.content.extend(behind.iter().map(|text| OutputPart::Text(format!("\n{}", text.for_model()))));
        }
        Outcome::Error(failure) => {
            if let Some(text) = instead {
                failure.message = text.for_model();
            }
            behind.iter().for_each(|text| failure.message.push_str(&format!("\n{}", text.for_model())));
        }
        Outcome::Cancelled { .. } => {}
    }
    outcome
}

#[cfg(test)]
mod tests {
    use host_message::Output;

    use super::*;
    use crate::{CallFailure, FailureKind};

    #[test]
    fn texts_of_hooks_follow_an_output_or_replace_it() {
        let (secret, note) = (HookText::new("redact", "[removed]"), HookText::new("lint", "unused import"));
        let success = || Outcome::Success(Output { structured: Some(1.into()), ..Output::text("TOKEN") });
        let Outcome::Success(output) = with_texts(success(), Some(&secret), std::slice::from_ref(&note)) else {
            panic!("it is one")
        };
        let text = format!("{:?}", output.content);
        assert!(!text.contains("TOKEN") && text.contains("[removed]") && text.contains("unused import"), "{text}");
        assert_eq!(output.structured, None, "a model reads that in place of the text");
        let Outcome::Success(output) = with_texts(success(), None, std::slice::from_ref(&note)) else {
            panic!("it is one")
        };
        assert_eq!((output.content.len(), output.structured.is_some()), (2, true));
        let failure = Outcome::from(CallFailure::new(FailureKind::Failed, "no such file"));
        let Outcome::Error(failure) = with_texts(failure, None, &[note]) else { panic!("it is one") };
        assert!(failure.message.starts_with("no such file\n") && failure.message.contains("the user's hook `lint`"));
        assert_eq!(with_texts(success(), None, &[]), success());
    }
}
