//! Tasks that a session has prompts for: writing the instructions of a repository, and reviewing a change.
//!
//! Promises: a user's words become text of the prompt only if they are a name that git could have, and never an option;
//! while a review runs, tools read and nothing that they may be allowed writes files or fetches.
//!
//! Deliberately not here: reading the repository. The model does that with its tools, so that the same grants and
//! questions hold as for any other prompt.

use host_extensions::grants::UserGrants;
use host_model::Offline;
use host_settings::configuration::ContextNames;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::repository::repository_of;
use host_text::{Advice, Flag};
use host_tool::ApprovalMode;

use super::Session;
use super::proposed_checks::proposed_checks;
use crate::attach::Attached;
use crate::context::name;

/// The longest name of a branch, a commit or a range, in characters. Git's own limit is 255 bytes for a part of a name.
const MAX_REVISION: usize = 255;

/// What an instructions file of a repository says, for a model that writes one.
const INSTRUCTIONS: &str = "\
Explore first: list the folders, read the README, the manifests, the build and CI configuration, CONTRIBUTING, rules \
written for other agents (such as .cursorrules, .github/copilot-instructions.md), and as much of the source as it takes \
to explain how the parts work together.

It contains:
- the commands to build, check, format and test, and how to run a single test, as this repository has them;
- how the code is organised: the parts that matter, and what goes where;
- conventions that a reader cannot see from one file: names, errors, tests, commits;
- what goes wrong easily here.

It is short, at most some 100 lines of Markdown. It says only what you found; no general advice, no list of every file, no \
secrets, and no paths of this machine. Change no other file. Your answer is a summary of what the file now says.";

/// How a change is reviewed.
const REVIEW: &str = "\
Change nothing: no file, no index, no branch, no commit. Use commands that only read (git status, diff, log, show), and read \
the code around the changes: callers, tests and documents that belong to them.

Look for, in this order: what is wrong or breaks something that worked, holes in security, data that is lost, errors that are \
not handled, cases without a test, and code that the next reader will not understand. Check a suspicion in the code before \
you report it.

Answer with the findings, the most serious first. Each has the path and line, what goes wrong and when, and what to do \
instead. Leave out praise and matters of taste. If you find nothing, say so, and say what you did not look at. If there is no \
change, say that.";

/// The access before a review, which its end restores.
#[must_use = "the session stays without its grants until the review ends"]
#[derive(Debug)]
pub(super) struct BeforeReview(UserGrants);

/// Why the session does not begin one of its own tasks.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The mode writes no file.
    #[error("/init writes a file, and the mode `plan` only reads")]
    PlanWrites,
    /// The mode runs no program.
    #[error("/review runs `git diff`, and the mode `plan` runs no program")]
    PlanRuns,
    /// There is no change to review.
    #[error("there is no repository here, so that there is no change to review")]
    NoRepository,
    /// There is no language model.
    #[error("{0} needs a language model, and `offline` is not one")]
    Offline(&'static str),
    /// What to review is nothing that git knows.
    #[error("`{0}` is not a branch, a commit or a range")]
    Revision(String),
}

impl Fault for TaskError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::PlanWrites => Some("change the mode first: /mode default".into()),
            Self::PlanRuns => Some("change the mode first: /mode default; a review changes no file in any mode".into()),
            Self::NoRepository => Some("begin in a repository, or ask for a review of files by their names".into()),
            Self::Offline(_) => Some(
                Advice::from("choose one with /model ID; `host` without ")
                    .flag(Flag::Model)
                    .text(" helps you to find one"),
            ),
            Self::Revision(_) => Some(
                "name one, such as `main`, `HEAD~3` or `main..feature`, or nothing for the change that is not \
                 committed"
                    .into(),
            ),
        }
    }
}

impl Session {
    /// Returns the prompt that has the model write the instructions of the repository, or improve the ones that exist.
    ///
    /// # Errors
    ///
    /// If the model is the offline planner, which changes nothing, or the mode only reads.
    pub(super) fn init_prompt(&self) -> Result<Attached, TaskError> {
        self.needs_a_language_model("/init")?;
        if self.mode() == ApprovalMode::Plan {
            return Err(TaskError::PlanWrites);
        }
        let names = match self.app.configuration.context_files().names() {
            none if none.is_empty() => ContextNames::Usual.names(),
            names => names,
        };
        let root = self.app.workspace.root();
        let existing: Vec<&String> = names.iter().filter(|name| root.join(name).symlink_metadata().is_ok()).collect();
        let prompt = match (existing.as_slice(), names.first()) {
            ([first, others @ ..], _) => improving(first, others),
            ([], Some(first)) => writing(first),
            ([], None) => writing("AGENTS.md"),
        };
        let checks = match self.app.configuration.check.commands.is_empty() {
            true => proposed_checks(root),
            // There are some: nobody needs a proposal.
            false => Vec::new(),
        };
        Ok(plain(prompt + &proposing(&checks)))
    }

    /// Returns the prompt that has the model review a branch, a commit or a range, or else the change that is not
    /// committed.
    ///
    /// # Errors
    ///
    /// If it is not such a name, there is no repository, the model is the offline planner, or the mode runs no program,
    /// so that the model could not see the change.
    pub(super) fn review_prompt(&self, what: Option<&str>) -> Result<Attached, TaskError> {
        let what = what.map(Revision::parse).transpose()?;
        self.needs_a_language_model("/review")?;
        if self.mode() == ApprovalMode::Plan {
            return Err(TaskError::PlanRuns);
        }
        let root = self.app.workspace.root();
        if repository_of(root).is_none() {
            return Err(TaskError::NoRepository);
        }
        let what = what.map_or_else(
            || {
                "Review the change that is not committed yet: what is staged (`git diff --cached`), what is not (`git diff`), \
                 and new files (`git status --short`), which you read whole."
                    .to_owned()
            },
            |revision| revision.task(),
        );
        Ok(plain(format!("{what}\n\n{REVIEW}")))
    }

    /// Lets the tools read only, from the next run on: the mode is `default` at most, nothing writes files or fetches,
    /// and a program that does more than read is asked about, whatever was granted.
    ///
    /// # Errors
    ///
    /// If the tools cannot be put together for it. Everything then stays as it was.
    pub(super) fn begin_review(&mut self) -> Result<BeforeReview, Failure> {
        let before = self.grants().clone();
        let narrower = before.clone().for_review(self.app.workspace.root())?;
        let equipment = self.equip(&self.app.plugins, narrower)?;
        self.take_up(equipment)?;
        Ok(BeforeReview(before))
    }

    /// Gives the tools back what they might touch before the review.
    ///
    /// # Errors
    ///
    /// If the tools cannot be put together. They then keep what the review had.
    pub(super) fn end_review(&mut self, before: BeforeReview) -> Result<(), Failure> {
        let equipment = self.equip(&self.app.plugins, before.0)?;
        self.take_up(equipment)
    }

    fn needs_a_language_model(&self, command: &'static str) -> Result<(), TaskError> {
        if self.model.answering.iter().any(|id| id != Offline::PROVIDER.name()) {
            return Ok(());
        }
        Err(TaskError::Offline(command))
    }
}

/// A prompt that attaches nothing, whatever it contains.
fn plain(prompt: String) -> Attached {
    Attached { prompt, parts: Vec::new(), ..Attached::default() }
}

fn writing(file: &str) -> String {
    format!(
        "Write the file `{}` in the root of the workspace: what an agent, or a colleague who is new, must know to work in \
         this repository.\n\n{INSTRUCTIONS}",
        name(file)
    )
}

fn improving(file: &str, others: &[&String]) -> String {
    let file = name(file);
    let others: Vec<String> = others.iter().map(|other| format!("`{}`", name(other))).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" There is also {}, which stays as it is.", others.join(" and ")),
    };
    format!(
        "Improve the file `{file}` in the root of the workspace, which says what an agent must know to work in this \
         repository. It exists: read it first, and edit it instead of replacing it. Keep what is right and its wording, \
         correct what is no longer true, and add what is missing. If nothing is to be done, say so.{others}\n\n{INSTRUCTIONS}"
    )
}

/// Asks for a proposal of checks, for a repository that these commands may check; nothing if there are none.
fn proposing(checks: &[String]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let commands: Vec<String> = checks.iter().map(|command| format!("{command:?}")).collect();
    format!(
        "\n\nEnd your answer with a proposal, which the user can put into `.host/config.toml` and which you do not write \
         yourself: a block of TOML with `[check]` and `commands = [{}]`, corrected by what you found (commands that take \
         at most a few minutes, change nothing and need no network), and one sentence that says that they then run \
         before each run that changed files ends.",
        commands.join(", ")
    )
}

/// The name of a branch or a commit, or a range of them.
#[derive(Debug, PartialEq, Eq)]
struct Revision<'a>(&'a str);

impl<'a> Revision<'a> {
    /// Accepts what git accepts as a name and a shell reads as one word: no blank, no quote, no character with a
    /// meaning in a shell, and no option.
    fn parse(text: &'a str) -> Result<Self, TaskError> {
        let allowed = |c: char| c.is_alphanumeric() || "._/-~^@{}+#=%".contains(c);
        let is_name = |name: &str| !name.starts_with('-');
        let ends = text.split("..").map(|end| end.strip_prefix('.').unwrap_or(end));
        let fits = !text.is_empty()
            && text.chars().count() <= MAX_REVISION
            && text.chars().all(allowed)
            && !text.starts_with(['.', '/', '~', '#', '='])
            && text.matches("..").count() <= 1
            && ends.clone().all(is_name);
        if fits {
            return Ok(Self(text));
        }
        Err(TaskError::Revision(host_text::one_line(&name(text), 80)))
    }

    fn task(&self) -> String {
        let Self(text) = self;
        match text.contains("..") {
            true => format!(
                "Review the commits of the range `{text}`: `git log {text}` has their messages, `git diff {text}` the change \
                 as a whole."
            ),
            false => format!(
                "Review `{text}`. If it is a branch, review what it adds to the current one: `git diff HEAD...{text}`. If it \
                 is a commit, review that: `git show {text}`."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise check.proposed
    #[test]
    fn init_asks_for_a_proposal_only_where_something_checks_the_repository() {
        assert_eq!(proposing(&[]), "");
        let asked = proposing(&["cargo test".to_owned(), "echo \"a\"".to_owned()]);
        assert!(asked.contains(r#"`commands = ["cargo test", "echo \"a\""]`"#), "{asked}");
    }

    // promise conversation.review
    #[test]
    fn review_takes_names_and_never_an_option_or_a_command() {
        for name in [
            "main",
            "feature/a-b_c",
            "HEAD~3",
            "HEAD^",
            "HEAD@{1}",
            "v1.2.3",
            "a1b2c3d",
            "main..x",
            "main...x",
            "größe",
        ] {
            assert_eq!(Revision::parse(name).map(|revision| revision.0).ok(), Some(name));
        }
        let long = "x".repeat(MAX_REVISION + 1);
        for wrong in [
            "",
            "-x",
            "--output=/etc/passwd",
            "main..--ext-diff",
            "main...-x",
            "a b",
            "a;rm",
            "$(x)",
            "`x`",
            "a'b",
            "a\"b",
            "a|b",
            "a&b",
            "a>b",
            "a\nb",
            "~root",
            "#x",
            "a\\b",
            "a*",
            "a\u{202e}b",
            "a..b..c",
            "/etc",
            "../x",
            long.as_str(),
        ] {
            let failure = Revision::parse(wrong).expect_err(wrong);
            assert!(failure.to_string().ends_with("is not a branch, a commit or a range"), "{failure:?}");
            assert!(
                !failure.to_string().contains(['\n', '\u{202e}']) && failure.to_string().len() < 200,
                "{failure:?}"
            );
        }
    }

    #[test]
    fn init_improves_the_file_that_exists_and_keeps_others() {
        let other = "CLAUDE.md".to_owned();
        let text = improving("AGENTS.md", &[&other]);
        assert!(text.contains("Improve the file `AGENTS.md`") && text.contains("`CLAUDE.md`, which stays"), "{text}");
        assert!(writing("AGENTS.md").starts_with("Write the file `AGENTS.md`"));
    }
}
