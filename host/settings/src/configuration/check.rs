//! `[check]`: commands that run before a run that changed files ends.
//!
//! Deliberately not here: running them, and what follows when one fails.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::AtLeastOne;
use super::project::narrower;

/// How often a failure goes back to the model in one run, unless `[check] attempts` says otherwise. Protects the budget
/// from a model that cannot make it pass.
pub const CHECK_ATTEMPTS: u32 = 3;

/// How long one command may take, in seconds, unless `[check] seconds` says otherwise. Protects the run from one that
/// hangs.
pub const CHECK_SECONDS: u64 = 600;

/// `[check]`: commands that run before a run that changed files ends, behind the same walls as those of calls.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Check {
    /// Lines for the shell, such as `cargo test`, which run one after the other in the workspace: yours, then those of
    /// a trusted project. What fails goes back to the model.
    pub commands: Vec<String>,
    /// How often a failure goes back to the model in one run. If a command still fails then, the run fails.
    #[schemars(extend("default" = CHECK_ATTEMPTS))]
    pub attempts: Option<u32>,
    /// How long one command may take.
    #[schemars(extend("default" = CHECK_SECONDS))]
    pub seconds: Option<AtLeastOne<u64>>,
}

/// What is checked before a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSettings {
    /// The lines; none if nothing is checked.
    pub commands: Vec<String>,
    /// How often a failure goes back to the model in one run.
    pub attempts: u32,
    /// How long one of them may take.
    pub limit: Duration,
}

impl Check {
    /// Adds the commands of a trusted project, which can only lower the limits.
    pub(super) fn with_project(self, project: Self) -> Self {
        Self {
            commands: [self.commands, project.commands].concat(),
            attempts: narrower(project.attempts, self.attempts, Some(CHECK_ATTEMPTS)),
            seconds: narrower(project.seconds, self.seconds, AtLeastOne::usual(CHECK_SECONDS)),
        }
    }

    pub(super) fn resolved(self) -> CheckSettings {
        let Self { mut commands, attempts, seconds } = self;
        commands.retain(|line| !line.trim().is_empty());
        let seconds = seconds.map_or(CHECK_SECONDS, AtLeastOne::get);
        CheckSettings { commands, attempts: attempts.unwrap_or(CHECK_ATTEMPTS), limit: Duration::from_secs(seconds) }
    }
}
