//! `activate_skill`: the tool with which a model loads the instructions of a skill. It runs in the host itself, like
//! the rest of the agent.
//!
//! Its response is a text that the conversation keeps word for word. It grants nothing that the user did not put there:
//! the skill's owner decides what activating it allows.
//!
//! Deliberately not here: which skills there are, and where they lie.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, Display, FunctionCall, Output, ToolName, ToolSpec};
use host_text::excerpt;
use host_tool::{CallContext, CallFailure, FailureKind, Outcome, Tool};
use serde_json::{Value, json};

use crate::kept::KeptText;

/// The name of the tool, as other agents call it.
pub const ACTIVATE_SKILL: &str = "activate_skill";

/// The argument with the skill's name.
const NAME: &str = "name";

/// How much of an unknown name is repeated, in characters: a model may write anything.
const SHOWN_NAME: usize = 64;

/// The skills that a model can activate.
///
/// For the implementer: [`activate`](SkillSource::activate) reads the skill again and must be quick; the error is for
/// the model, and says what to do instead. It may be called from several threads at once.
pub trait SkillSource: Send + Sync {
    /// Returns the names of all skills, in order.
    fn names(&self) -> Vec<String>;

    /// Activates a skill, and returns its instructions.
    ///
    /// # Errors
    ///
    /// If there is no such skill, or it cannot be used any more.
    fn activate(&self, name: &str) -> Result<KeptText, String>;
}

/// The tool.
pub struct ActivateSkill {
    spec: ToolSpec,
    skills: Arc<dyn SkillSource>,
}

impl ActivateSkill {
    /// Creates the tool for these skills.
    pub fn new(skills: Arc<dyn SkillSource>) -> Self {
        let spec = ToolSpec {
            name: ToolName::new(ACTIVATE_SKILL),
            title: Some("Activate a skill".to_owned()),
            description: "Loads the instructions of a skill. Call it before you begin with a task that fits the \
                          description of a skill, and follow what it returns. A skill whose instructions are in the \
                          conversation needs no second call."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    NAME: {
                        "type": "string",
                        // An enum and not a text, so that a misspelled name is an error of the schema and costs no
                        // activation.
                        "enum": skills.names(),
                        "description": "The name of the skill.",
                    },
                },
                "required": [NAME],
                "additionalProperties": false,
            })
            .into(),
            output_schema: None,
            // It narrows what later calls may do, so that it runs alone and in its place.
            annotations: Annotations { read_only: false, destructive: false, idempotent: true, open_world: false },
        };
        Self { spec, skills }
    }

    fn run(&self, call: &FunctionCall) -> Outcome {
        let name = call.arguments.get(NAME).and_then(Value::as_str).unwrap_or_default();
        match self.skills.activate(name) {
            Ok(text) => {
                let display = Some(Display::Summary(excerpt(&text.heading, SHOWN_NAME * 2)));
                Outcome::Success(Output { display, ..Output::text(text.whole()) })
            }
            Err(why) => {
                let name = excerpt(name, SHOWN_NAME);
                CallFailure::new(FailureKind::Unavailable, format!("the skill `{name}` was not activated: {why}"))
                    .into()
            }
        }
    }
}

impl Tool for ActivateSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, _context: CallContext) -> BoxFuture<'a, Outcome> {
        async move { self.run(call) }.boxed()
    }
}
