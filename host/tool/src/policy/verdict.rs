//! The decision about a call, with the reasons.

use std::fmt::Write as _;

use host_text::excerpt;

use super::{Decision, RuleSource, Tier};

/// How much of a command is shown, in characters.
const SHOWN: usize = 200;

/// The decision about a call, with the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest of all decisions about its parts.
    pub decision: Decision,
    /// The message for the model if the call is denied and the rule has a message.
    pub message: Option<String>,
    /// Whether every part that runs is allowed by a rule of the user's that takes the walls away.
    pub leaves_walls: bool,
    /// The decisions about the parts, in their order; never empty.
    pub reasons: Vec<Reason>,
}

/// The decision about one part of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The command as it was written; `None` for the whole call.
    pub part: Option<String>,
    /// The decision.
    pub decision: Decision,
    /// The cause.
    pub because: Because,
}

/// The cause of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A rule decides.
    Rule {
        /// Where the rule comes from.
        source: RuleSource,
        /// Its priority.
        priority: u16,
        /// Its description.
        text: String,
    },
    /// A rule would decide if the command turned out to be what it may be.
    PerhapsRule {
        /// Where the rule comes from.
        source: RuleSource,
        /// Its description.
        text: String,
    },
    /// It is granted.
    Granted,
    /// It is a builtin of the shell without effect.
    Harmless,
    /// It only reads files of the workspace, and prints.
    Reads,
    /// The rule for the command around it names it.
    Outer,
    /// No rule applies, and it is not granted.
    Nothing,
    /// Its effect cannot be determined.
    Obscure(String),
    /// It writes this file by a redirection.
    Writes(String),
    /// A rule allows it, but only one that names private addresses covers these servers.
    Private(String),
    /// It wants to use this besides what every confined program may: ``reach `a.io:443` ``.
    UsesMore(String),
    /// It would destroy what nothing brings back.
    Destructive(&'static str),
    /// It would change this path, which nothing may change.
    Protected(String),
    /// A skill or a command limits the run to other calls.
    Narrowed(String),
}

impl Verdict {
    /// Formats all of it as lines for a user, the decision first.
    pub fn explain(&self) -> String {
        let mut lines = self.decision.to_string();
        if let Some(message) = &self.message {
            let _ = write!(lines, ": {}", excerpt(message, SHOWN));
        }
        lines.push('\n');
        for reason in &self.reasons {
            let _ = writeln!(lines, "  {reason}");
        }
        lines
    }
}

impl Reason {
    /// Whether a rule decided that a user wrote or made by an answer.
    pub(crate) fn is_users_rule(&self) -> bool {
        matches!(&self.because, Because::Rule { source, .. } if source.tier >= Tier::User)
    }

    /// Formats the cause without the decision, on one line that is safe for a terminal: `` `rm x`: by the rule at … ``.
    pub fn why(&self) -> String {
        match &self.part {
            Some(part) => format!("`{}`: {}", excerpt(part, SHOWN), self.because),
            None => self.because.to_string(),
        }
    }
}

/// Formats one line, safe for a terminal: `` `rm x`: deny, by the rule at … ``.
impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.part {
            Some(part) => write!(f, "`{}`", excerpt(part, SHOWN))?,
            None => f.write_str("the call")?,
        }
        write!(f, ": {}, {}", self.decision, self.because)
    }
}

impl std::fmt::Display for Because {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule { source, priority, text } => write!(f, "by the rule at {source}, priority {priority}: {text}"),
            Self::PerhapsRule { source, text } => write!(f, "it may match the rule at {source}: {text}"),
            Self::Granted => f.write_str("granted"),
            Self::Harmless => f.write_str("it cannot do any harm"),
            Self::Reads => f.write_str("it only reads the workspace"),
            Self::Outer => f.write_str("the rule for the enclosing command names it"),
            Self::Nothing => f.write_str("not allowed by any rule or grant yet"),
            Self::Obscure(why) => f.write_str(&excerpt(why, SHOWN)),
            Self::Writes(file) => write!(f, "it writes `{}`", excerpt(file, SHOWN)),
            Self::Private(servers) => write!(
                f,
                "it may reach a private address, which only a rule with a `scope` allows: `scope = {{ http = \"{}\" }}`",
                excerpt(servers, SHOWN)
            ),
            Self::UsesMore(what) => write!(f, "it wants to {}", excerpt(what, SHOWN)),
            Self::Destructive(why) => f.write_str(why),
            Self::Narrowed(by) => write!(f, "{by} limits this run to other tools, until the user's next prompt"),
            Self::Protected(what) => write!(f, "nothing may change `{}`", excerpt(what, SHOWN)),
        }
    }
}
