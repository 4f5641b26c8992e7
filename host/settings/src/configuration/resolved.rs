//! The settings as they hold, with their defaults: what the sections of the files say, resolved in one place.
//!
//! Frontends and layers above see these values and not the sections, in which most keys may be missing. Deliberately
//! not here: the defaults of limits, which are beside what they guard.

use std::time::Duration;

use host_agent::{Cost, RunConfig, TreeLimits};
use host_process::ConfineMode;
use host_tool::ApprovalMode;

use super::{Alert, AtLeastOne, CONTEXT_FALLBACK, CONTEXT_FILES, Configuration, Conversation, Keys};
use crate::models::Model;

/// A value that the user chose, or the usual one where nobody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference<T> {
    /// The user, or a project that they trust, chose it.
    Chosen(T),
    /// Nobody chose.
    Usual(T),
}

impl<T: Copy> Preference<T> {
    /// Returns the value that holds.
    pub fn value(self) -> T {
        match self {
            Self::Chosen(value) | Self::Usual(value) => value,
        }
    }

    /// Returns whether somebody chose it.
    pub fn is_chosen(self) -> bool {
        matches!(self, Self::Chosen(_))
    }

    /// Returns the value of a flag if there is one, and else this.
    #[must_use]
    pub fn under(self, flag: Option<T>) -> Self {
        flag.map_or(self, Self::Chosen)
    }
}

/// How a conversation in a terminal behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationSettings {
    /// When the bell rings after a prompt, wherever the user looks.
    pub bell: Bell,
    /// What the terminal is sent if the user looks elsewhere.
    pub notify: Alert,
    /// A program with its arguments that is run then, too; empty if there is none.
    pub notify_command: Vec<String>,
    /// Whether the title of the terminal's window says what is going on.
    pub has_title: bool,
    /// How answers are shown.
    pub answers: ShownAnswers,
    /// Whose keys the input line has.
    pub keys: Keys,
    /// Whether there is a status row.
    pub has_status: bool,
}

/// When the bell rings after a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bell {
    /// Never.
    Never,
    /// If the prompt took this long.
    After(Duration),
}

/// How answers are shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAnswers {
    /// As the Markdown says.
    Rendered,
    /// As the Markdown that the model wrote.
    Source,
}

/// The names of context files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextNames {
    /// The usual ones, of which some give way to others.
    Usual,
    /// Those that were named; none if that is empty.
    Named(Vec<String>),
}

impl ContextNames {
    fn new(named: Option<&Vec<String>>) -> Self {
        named.map_or(Self::Usual, |names| Self::Named(names.clone()))
    }

    /// Returns the names, the preferred ones first.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Usual => CONTEXT_FILES.iter().map(|name| (*name).to_owned()).collect(),
            Self::Named(names) => names.clone(),
        }
    }

    /// Returns the file that a file gives way to in a folder that has both.
    pub fn preferred_to(&self, name: &str) -> Option<&'static str> {
        match self {
            Self::Usual if name == CONTEXT_FALLBACK => CONTEXT_FILES.first().copied(),
            Self::Usual | Self::Named(_) => None,
        }
    }
}

impl Configuration {
    /// Returns what is allowed without asking.
    pub fn approval_mode(&self) -> Preference<ApprovalMode> {
        self.approval_mode.map_or(Preference::Usual(ApprovalMode::default()), Preference::Chosen)
    }

    /// Uses the mode that the user just chose.
    pub fn choose_mode(&mut self, mode: ApprovalMode) {
        self.approval_mode = Some(mode);
    }

    /// Returns whether programs are confined.
    pub fn confine_mode(&self) -> Preference<ConfineMode> {
        self.confine.mode.map_or(Preference::Usual(ConfineMode::Auto), Preference::Chosen)
    }

    /// Returns whether to work in folders that are not in a repository without asking.
    pub fn any_folder(&self) -> bool {
        self.any_folder.unwrap_or(false)
    }

    /// Returns how a conversation in a terminal behaves.
    pub fn conversation(&self) -> ConversationSettings {
        let Conversation { bell_seconds, notify, notify_command, title, raw, keys, status } = &self.conversation;
        ConversationSettings {
            bell: bell_seconds.map_or(Bell::Never, |seconds| Bell::After(Duration::from_secs(seconds))),
            notify: notify.unwrap_or_default(),
            notify_command: notify_command.clone(),
            has_title: title.unwrap_or(true),
            answers: if raw.unwrap_or(false) { ShownAnswers::Source } else { ShownAnswers::Rendered },
            keys: keys.unwrap_or_default(),
            has_status: status.unwrap_or(true),
        }
    }

    /// Returns the names of the context files in the user's own folder.
    pub fn own_context_files(&self) -> ContextNames {
        ContextNames::new(self.context.files.as_ref())
    }

    /// Returns the names of the context files of the project: it names its own files and not the user's, whose folder
    /// contains more than a model may see.
    pub fn context_files(&self) -> ContextNames {
        ContextNames::new(self.project.context_files.as_ref().or(self.context.files.as_ref()))
    }

    /// Returns the limits of a run of the main agent, which asks this model.
    pub fn main_run(&self, model: &Model) -> RunConfig {
        let seconds = |seconds: AtLeastOne<u64>| Duration::from_secs(seconds.get());
        RunConfig {
            max_turns: self.run.max_turns.map(AtLeastOne::get),
            max_time: self.run.timeout_seconds.map(seconds),
            ..self.with_run_defaults(RunConfig::unlimited(), model)
        }
    }

    /// Returns the limits of a run and its subagents together.
    pub fn tree_limits(&self) -> TreeLimits {
        let usual = TreeLimits::default();
        TreeLimits {
            tokens: self.run.max_tokens.map(AtLeastOne::get),
            cost: self.run.max_cost.map(|amount| Cost::from_amount(amount.0)),
            subagents: self.run.max_subagents.unwrap_or(usual.subagents),
            turns: self.run.max_total_turns.map(AtLeastOne::get),
            ..usual
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parsed(text: &str) -> Configuration {
        Configuration::parse(text, Path::new("config.toml")).expect("it is right")
    }

    #[test]
    fn settings_that_nobody_set_have_their_defaults() {
        let usual = parsed("");
        assert_eq!(usual.approval_mode(), Preference::Usual(ApprovalMode::Default));
        assert_eq!(usual.confine_mode(), Preference::Usual(ConfineMode::Auto));
        assert_eq!((usual.any_folder(), usual.context_files()), (false, ContextNames::Usual));
        let ConversationSettings { bell, notify, has_title, answers, keys, has_status, .. } = usual.conversation();
        assert_eq!((bell, notify, answers, keys), (Bell::Never, Alert::Bell, ShownAnswers::Rendered, Keys::Emacs));
        assert!(has_title && has_status);
        assert_eq!(usual.tree_limits(), TreeLimits::default());
    }

    #[test]
    fn settings_that_are_set_hold_and_a_flag_wins() {
        let set = parsed(
            "approval_mode = \"plan\"\nany_folder = true\nconfine.mode = \"off\"\ncontext.files = []\n\
             [conversation]\nbell_seconds = 9\nnotify = \"off\"\ntitle = false\nraw = true\nkeys = \"vim\"\n\
             status = false\n[run]\nmax_subagents = 0\nmax_tokens = 7\n",
        );
        assert_eq!(set.approval_mode(), Preference::Chosen(ApprovalMode::Plan));
        let flag = set.approval_mode().under(Some(ApprovalMode::Yolo));
        assert_eq!((flag.value(), set.approval_mode().under(None).value()), (ApprovalMode::Yolo, ApprovalMode::Plan));
        assert_eq!(set.confine_mode(), Preference::Chosen(ConfineMode::Off));
        assert_eq!((set.any_folder(), set.own_context_files()), (true, ContextNames::Named(Vec::new())));
        let expected = ConversationSettings {
            bell: Bell::After(Duration::from_secs(9)),
            notify: Alert::Off,
            notify_command: Vec::new(),
            has_title: false,
            answers: ShownAnswers::Source,
            keys: Keys::Vim,
            has_status: false,
        };
        assert_eq!(set.conversation(), expected);
        assert_eq!((set.tree_limits().subagents, set.tree_limits().tokens), (0, Some(7)));
    }

    #[test]
    fn context_files_of_the_usual_names_give_way_and_named_ones_do_not() {
        assert_eq!(ContextNames::Usual.preferred_to(CONTEXT_FALLBACK), Some("AGENTS.md"));
        assert_eq!(ContextNames::Usual.preferred_to("GEMINI.md"), None);
        let named = ContextNames::Named(vec![CONTEXT_FALLBACK.to_owned()]);
        assert_eq!((named.preferred_to(CONTEXT_FALLBACK), named.names()), (None, vec![CONTEXT_FALLBACK.to_owned()]));
    }
}
