//! `present_plan`: the tool with which an agent that may only read shows the user its plan. It runs in the host itself.
//!
//! A yes names the approval mode in which the plan is carried out, and ends the run: the one who started it switches
//! the mode and lets the agent go on. The tool grants nothing itself.

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, FunctionCall, Output, ToolName, ToolSpec};
use host_tool::{ApprovalMode, CallContext, CallFailure, FailureKind, ModeSwitch, Outcome, PlanAnswer, Tool};
use serde_json::{Value, json};

/// The name of the tool.
pub const PRESENT_PLAN: &str = "present_plan";

/// The argument that has the plan.
const PLAN: &str = "plan";

/// The longest plan, in characters: a user has to read it.
const MAX_PLAN: usize = 20_000;

/// The tool.
pub struct PresentPlan {
    spec: ToolSpec,
    modes: Vec<ApprovalMode>,
    switch: ModeSwitch,
}

impl PresentPlan {
    /// Creates the tool; `switch` receives the one of these modes that the user chooses.
    pub fn new(switch: ModeSwitch, modes: Vec<ApprovalMode>) -> Self {
        let spec = ToolSpec {
            name: ToolName::new(PRESENT_PLAN),
            title: Some("Present the plan".to_owned()),
            description:
                "Shows the user your plan for a change and asks whether to carry it out. Call it when the plan \
                          is complete, with nothing else in the same reply. After a yes you may make the changes."
                    .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    PLAN: {
                        "type": "string",
                        "maxLength": MAX_PLAN,
                        "description": "The plan as Markdown: the steps, and the files that each changes.",
                    },
                },
                "required": [PLAN],
                "additionalProperties": false,
            })
            .into(),
            output_schema: None,
            annotations: Annotations { read_only: false, destructive: false, idempotent: false, open_world: false },
        };
        Self { spec, modes, switch }
    }

    async fn present(&self, call: &FunctionCall, context: CallContext) -> Outcome {
        let plan = call.arguments.get(PLAN).and_then(Value::as_str).unwrap_or_default();
        let failed = |kind, words: &str| Outcome::Error(CallFailure::new(kind, words));
        // The schema demands a plan and not that it says anything.
        if plan.trim().is_empty() {
            return failed(FailureKind::InvalidArguments, "the plan is empty; call it again with the plan");
        }
        let unasked = "the user cannot be asked here: write the plan as your answer";
        let Some(questions) = context.questions else { return failed(FailureKind::Unavailable, unasked) };
        let answer = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return Outcome::Cancelled { reason: "the call was asked to stop".to_owned(), partial: None };
            }
            answer = questions.present_plan(plan.to_owned(), self.modes.clone()) => answer,
        };
        let words = match answer {
            PlanAnswer::NobodyListens => return failed(FailureKind::Unavailable, unasked),
            PlanAnswer::Approved(mode) => {
                // The caller of the run switches, when it has ended.
                self.switch.choose(mode);
                format!("The user approved the plan. The approval mode is now `{mode}`: carry the plan out.")
            }
            PlanAnswer::Rejected(Some(reason)) => {
                format!("The user wants the plan changed, and says: {reason}\nChange it and present it again.")
            }
            PlanAnswer::Rejected(None) => {
                // Without a reason a model would present the same plan again.
                "The user did not approve the plan and gave no reason. Ask what to change, without \
                              presenting it again."
                    .to_owned()
            }
        };
        Outcome::Success(Output::text(words))
    }
}

impl Tool for PresentPlan {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        self.present(call, context).boxed()
    }
}
