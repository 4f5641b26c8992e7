//! The built-in tools that a model is offered or not: those with which it changes files, and the one that runs scripts.

use host_agent::prompts::PromptFamily;
use host_message::ToolName;
use host_model::{CustomTool, Grammar};
use host_tool::file_tools::{APPLY_PATCH, IN_PLACE_OF_PATCHES};
use schemars::JsonSchema;
use serde::Deserialize;

/// The built-in tool that runs a script over other tools.
const RUN_CODE: &str = "run_code";

/// Returns the tool that applies patches with the grammar of a patch: the one that the tool itself reads, without the
/// liberties that it takes.
pub fn patch_by_grammar() -> CustomTool {
    CustomTool {
        name: ToolName::new(APPLY_PATCH),
        argument: "patch".to_owned(),
        grammar: Grammar::Lark(include_str!("editing/apply_patch.lark").to_owned()),
    }
}

/// The tools with which a model changes files. A model has one way, since descriptions of both cost tokens and each
/// family was trained on one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Editing {
    /// `edit` and `write_file`.
    Edit,
    /// `apply_patch`.
    Patch,
}

impl Editing {
    /// Returns the tools that models of this family work best with.
    pub fn of_family(family: PromptFamily) -> Self {
        match family {
            PromptFamily::Gpt => Self::Patch,
            PromptFamily::Claude | PromptFamily::Gemini | PromptFamily::Other | PromptFamily::Small => Self::Edit,
        }
    }
}

/// Which of the built-in tools that only some models work well with a model is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolChoice {
    /// The tools with which it changes files.
    pub editing: Editing,
    /// Whether it can write scripts that call its tools.
    pub code_mode: bool,
}

impl ToolChoice {
    /// Returns the tools that models of this family work best with, but for what the user set.
    pub fn new(family: PromptFamily, editing: Option<Editing>, code_mode: Option<bool>) -> Self {
        // Where the models were not trained on it, the declaration costs tokens in each request for what they rarely
        // use.
        let is_trained = match family {
            PromptFamily::Gpt => true,
            PromptFamily::Claude | PromptFamily::Gemini | PromptFamily::Other | PromptFamily::Small => false,
        };
        let editing = editing.unwrap_or_else(|| Editing::of_family(family));
        Self { editing, code_mode: code_mode.unwrap_or(is_trained) }
    }

    /// Whether a model is not offered the built-in tool with this name.
    pub fn leaves_out(self, tool: &str) -> bool {
        match (tool, self.editing) {
            (RUN_CODE, _) => !self.code_mode,
            (APPLY_PATCH, editing) => editing == Editing::Edit,
            (_, editing) => editing == Editing::Patch && IN_PLACE_OF_PATCHES.contains(&tool),
        }
    }
}

/// Whether a subagent has this built-in tool never: what it does is its caller's, which has the results in sight.
pub fn is_of_main_agent(tool: &str) -> bool {
    tool == RUN_CODE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_offered_scripts_by_family_and_by_setting() {
        for family in PromptFamily::ALL {
            let offered = |set| !ToolChoice::new(family, None, set).leaves_out(RUN_CODE);
            assert_eq!(offered(None), family == PromptFamily::Gpt, "{family:?}");
            assert_eq!((offered(Some(true)), offered(Some(false))), (true, false));
            assert!(!ToolChoice::new(family, None, None).leaves_out("read_file"));
        }
    }
}
