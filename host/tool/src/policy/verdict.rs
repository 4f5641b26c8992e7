//! What is to become of a call, and why.

use std::fmt::Write as _;

use host_text::excerpt;

use super::{Decision, RuleSource};

/// How much of a command is shown, in characters.
const SHOWN: usize = 200;

/// What is to become of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest of all that was decided.
    pub decision: Decision,
    /// What the model is told when it is refused, if the rule says something.
    pub message: Option<String>,
    /// What was decided, in the order of the parts; never empty.
    pub reasons: Vec<Reason>,
}

/// What was decided of one part of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The command as it was written; none for the whole call.
    pub part: Option<String>,
    /// What became of it.
    pub decision: Decision,
    /// Why.
    pub because: Because,
}

/// Why something was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A rule says so.
    Rule {
        /// Where it stands.
        source: RuleSource,
        /// Its priority.
        priority: u16,
        /// What it says.
        text: String,
    },
    /// A rule would say so if the command turned out to be what it may be.
    PerhapsRule {
        /// Where it stands.
        source: RuleSource,
        /// What it says.
        text: String,
    },
    /// It is granted.
    Granted,
    /// It is a command of the shell that does nothing.
    Harmless,
    /// The rule for the command around it names it.
    Outer,
    /// No rule speaks of it, and it is not granted.
    Nothing,
    /// What it does cannot be told.
    Obscure(String),
    /// It writes this file by a redirection.
    Writes(String),
    /// It would destroy what git keeps.
    Destructive(&'static str),
    /// It would change this, which nothing may.
    Protected(String),
}

impl Verdict {
    /// All of it as lines for a user, the decision first.
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
    /// Why, without what was decided, on one line that is safe for a terminal: `` `rm x`: by the rule at … ``.
    pub fn why(&self) -> String {
        match &self.part {
            Some(part) => format!("`{}`: {}", excerpt(part, SHOWN), self.because),
            None => self.because.to_string(),
        }
    }
}

/// One line, safe for a terminal: `` `rm x`: deny, by the rule at … ``.
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
            Self::Outer => f.write_str("the rule for the enclosing command names it"),
            Self::Nothing => f.write_str("not allowed by any rule or grant yet"),
            Self::Obscure(why) => f.write_str(&excerpt(why, SHOWN)),
            Self::Writes(file) => write!(f, "it writes `{}`", excerpt(file, SHOWN)),
            Self::Destructive(why) => f.write_str(why),
            Self::Protected(what) => write!(f, "nothing may change `{}`", excerpt(what, SHOWN)),
        }
    }
}
