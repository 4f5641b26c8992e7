//! Where an agent works and what it may do there, in words for its model.
//!
//! Deliberately not here: finding any of it out, and the files of the workspace.

use host_tool::ApprovalMode;

use crate::KeptText;

/// The most added folders that are named. Protects the model's window.
const MAX_FOLDERS: usize = 20;

/// The heading under which a conversation keeps it.
pub const ENVIRONMENT: &str = "environment";

/// The beginning of the line about git if there is a repository, and if there is none.
const GIT: [&str; 2] = ["Git repository: ", "No git repository."];

/// The place, the time and the limits of a session. Every text is on one line and safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The folder to work in.
    pub workspace: String,
    /// Git's repository around it; `None` if there is none.
    pub git: Option<GitState>,
    /// The system and the architecture, such as `linux x86_64`.
    pub system: String,
    /// Today, such as `2026-11-27`.
    pub date: String,
    /// The model's id, as the user names it.
    pub model: String,
    /// The approval mode.
    pub mode: ApprovalMode,
    /// Whether a user is there to be asked.
    pub is_attended: bool,
    /// The folders that the user added to the workspace.
    pub added: Vec<String>,
    /// The requests that may be made without a question, in words; `None` if there are none.
    pub servers: Option<String>,
    /// Whether the agent has tools of MCP servers.
    pub has_servers: bool,
}

/// A git repository when the environment was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitState {
    /// Its top, if that is not the workspace.
    pub top: Option<String>,
    /// The branch that is checked out, or the commit.
    pub branch: Option<String>,
    /// How many tracked files have changes that are not staged; `None` if that is not known.
    pub changed: Option<usize>,
}

impl Environment {
    /// Returns it as a text that a conversation keeps; `None` if it says no more than the one that the conversation
    /// has. The state of git is not worth another text: the model can ask for that, and changes it itself.
    pub fn news(&self, told: Option<&KeptText>) -> Option<KeptText> {
        let text = self.text();
        let is_known = told.is_some_and(|told| without_git(told.said()).eq(without_git(&text)));
        let news = KeptText { heading: ENVIRONMENT.to_owned(), text };
        if is_known { None } else { news.as_news(told) }
    }

    /// Returns it in words for the model.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("Workspace: {} (paths are relative to it)", self.workspace), self.git()];
        lines.push(format!("System: {}. The shell is `sh`. Date: {}.", self.system, self.date));
        lines.push(format!("Model: {}.", self.model));
        if !self.added.is_empty() {
            let mut named: Vec<&str> = self.added.iter().take(MAX_FOLDERS).map(String::as_str).collect();
            if self.added.len() > MAX_FOLDERS {
                named.push("…");
            }
            lines.push(format!("Folders that you may use like the workspace: {}.", named.join(", ")));
        }
        lines.push(format!("Approval mode `{}`. {}", self.mode.name(), self.may()));
        if let Some(servers) = &self.servers {
            lines.push(format!("Allowed without a question: {servers}."));
        }
        if self.has_servers {
            lines.push("Some tools are those of MCP servers; their names begin with the server's.".to_owned());
        }
        lines.push(match self.is_attended {
            true => "The user is there and can be asked.".to_owned(),
            false => "Nobody is there: what would be asked about is denied.".to_owned(),
        });
        format!("- {}", lines.join("\n- "))
    }

    fn git(&self) -> String {
        let Some(GitState { top, branch, changed }) = &self.git else { return GIT[1].to_owned() };
        let top = top.as_ref().map_or_else(|| "the workspace".to_owned(), |top| format!("`{top}`"));
        let branch = branch.as_ref().map(|branch| format!("on `{branch}`"));
        let changed = changed.map(|changed| match changed {
            0 => "without unstaged changes in tracked files".to_owned(),
            1 => "with unstaged changes in 1 tracked file".to_owned(),
            changed => format!("with unstaged changes in {changed} tracked files"),
        });
        let state: Vec<String> = branch.into_iter().chain(changed).collect();
        match state.is_empty() {
            true => format!("{}{top}.", GIT[0]),
            false => format!("{}{top}, {}. That may have changed since.", GIT[0], state.join(", ")),
        }
    }

    /// What it may do in its mode.
    fn may(&self) -> &'static str {
        match (self.mode, self.is_attended) {
            (ApprovalMode::Plan, true) => {
                "You may only read. When you have explored enough for a change, present your plan with `present_plan`: \
                 the user approves it, and you carry it out then, or says what to change. Answer questions without it."
            }
            (ApprovalMode::Plan, false) => "You may only read: explore, and answer with a plan or an explanation.",
            (ApprovalMode::Default, true) => "You may read. The user is asked before you write, run programs or fetch.",
            (ApprovalMode::Default, false) => {
                "You may read. Writing and running programs is denied unless the user granted it."
            }
            (ApprovalMode::AutoEdit, true) => {
                "You may read and change files of the workspace. The user is asked before you run programs or fetch."
            }
            (ApprovalMode::AutoEdit, false) => {
                "You may read and change files of the workspace. Running programs is denied unless the user granted it."
            }
            (ApprovalMode::Auto, true) => {
                "You may read and change files of the workspace, and run programs, which are confined: they change \
                 nothing outside the workspace and reach no server. The user is asked before anything else. If a \
                 program was kept from a server that it needs, run the same command again: the user is asked about \
                 that server."
            }
            (ApprovalMode::Auto, false) => {
                "You may read and change files of the workspace, and run programs, which are confined: they change \
                 nothing outside the workspace and reach no server unless the user granted it. Anything else is denied."
            }
            (ApprovalMode::Yolo, _) => {
                "You may read and change files of the workspace, run programs and fetch web pages."
            }
        }
    }
}

/// The lines without the one about git.
fn without_git(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !GIT.iter().any(|git| line.strip_prefix("- ").is_some_and(|line| line.starts_with(git))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(mode: ApprovalMode, is_attended: bool) -> Environment {
        Environment {
            workspace: "/work/app".to_owned(),
            git: Some(GitState { top: None, branch: Some("main".to_owned()), changed: Some(3) }),
            system: "linux x86_64".to_owned(),
            date: "2026-11-27".to_owned(),
            model: "openai/gpt-5.6-terra".to_owned(),
            mode,
            is_attended,
            added: Vec::new(),
            servers: None,
            has_servers: false,
        }
    }

    // Reviewed word for word, as the instructions are.
    #[test]
    fn environment_of_each_mode_is_as_it_was_reviewed() {
        let each = ApprovalMode::ALL.iter().flat_map(|mode| [true, false].map(|user| environment(*mode, user).text()));
        insta::assert_snapshot!("environment", each.collect::<Vec<_>>().join("\n\n"));
    }

    #[test]
    fn environment_is_said_again_when_more_than_git_changed() {
        let first = environment(ApprovalMode::Default, true);
        let told = first.news(None).expect("the conversation has none");
        assert_eq!(first.news(Some(&told)), None);
        let committed = Environment { git: None, ..first.clone() };
        assert_eq!(committed.news(Some(&told)), None);
        let midnight = Environment { date: "2026-11-28".to_owned(), ..first };
        let again = midnight.news(Some(&told)).expect("the date is another one");
        assert_eq!((again.heading.as_str(), again.said()), (ENVIRONMENT, midnight.text().as_str()));
        assert_ne!(again.text, again.said(), "it says that it replaces the one before");
        assert_eq!(midnight.news(Some(&again)), None);
    }

    #[test]
    fn environment_names_folders_servers_and_a_repository_above() {
        let whole = Environment {
            git: Some(GitState { top: Some("/work".to_owned()), branch: None, changed: None }),
            added: (0..22).map(|at| format!("/f{at}")).collect(),
            servers: Some("GET requests to `example.com:443`".to_owned()),
            has_servers: true,
            ..environment(ApprovalMode::Default, true)
        };
        insta::assert_snapshot!("environment_whole", whole.text());
        let none = Environment { git: None, ..environment(ApprovalMode::Default, true) };
        assert!(none.text().contains("\n- No git repository.\n"), "{}", none.text());
    }
}
