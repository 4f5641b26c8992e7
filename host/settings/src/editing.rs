//! The tools with which a model changes files.

use host_agent::prompts::PromptFamily;
use host_message::ToolName;
use host_model::{CustomTool, Grammar};
use host_tool::file_tools::{APPLY_PATCH, IN_PLACE_OF_PATCHES};
use schemars::JsonSchema;
use serde::Deserialize;

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

    /// Whether a model that changes files in this way is not offered the built-in tool with this name.
    pub fn leaves_out(self, tool: &str) -> bool {
        match self {
            Self::Edit => tool == APPLY_PATCH,
            Self::Patch => IN_PLACE_OF_PATCHES.contains(&tool),
        }
    }
}
