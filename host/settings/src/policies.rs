//! The files with rules: the administrator's, the user's with what they answered for good, and a trusted project's.
//!
//! Every file is read before the first call, and an invalid one is an error: a rule that is not read would be a hole.
//! Rules from earlier answers that an answer can no longer create (private addresses, every server) are left out, each
//! with a note that names its file and line. Deliberately not here: what a rule means (`host_tool::Policy`), and
//! whether a project is trusted.

pub mod listed;

use std::io;
use std::path::{Path, PathBuf};

use host_files::FileError;
use host_text::{Advice, Notice};
use host_tool::{Policy, PolicyError, PolicyFile, Rule, RuleSource, Tier};

use crate::environment::Folders;
use crate::error::{ErrorKind, Failure, Fault};
use crate::project::ProjectFile;

/// The folder of the administrator's files; only the administrator can write there.
const OF_ADMINISTRATOR: &str = "/etc/host/policies";

/// The folder in the user's configuration, and the file in it that takes what they answer for good.
const FOLDER: &str = "policies";
/// See [`FOLDER`].
const ANSWERS: &str = "answers.toml";

/// The largest file, in bytes; this also bounds what is parsed.
const MAX_FILE: u64 = 256 << 10;

/// The most files of a folder. Protects the start from a folder that is not what it should be.
const MAX_FILES: usize = 100;

/// Returns the file for the rules that come from a user's answers.
pub fn answers(folders: &Folders) -> PathBuf {
    folders.configuration.join(FOLDER).join(ANSWERS)
}

/// Why the rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PoliciesError {
    /// A file or folder cannot be read.
    #[error("cannot read the rules in `{}`: {cause}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Other users could have written the file.
    #[error("cannot read the rules in `{}`: {cause}", .path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The folder is not what it should be.
    #[error("the folder `{}` has over {MAX_FILES} files with rules", .0.display())]
    TooMany(PathBuf),
    /// A rule is invalid.
    #[error("invalid rules")]
    Invalid(PolicyError),
}

impl Fault for PoliciesError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unreadable { .. } | Self::Exposed { .. } | Self::TooMany(_) => Vec::new(),
            Self::Invalid(cause) => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } => {
                Some("host does not run with only some of the rules: make it readable, or remove it".into())
            }
            Self::Exposed { .. } => Some("check what they say, then run `chmod go-w` on the file".into()),
            Self::TooMany(_) => Some("put the rules into fewer files".into()),
            Self::Invalid(_) => Some(
                Advice::from("fix the line; `docs/policy.md` describes rules, and ")
                    .command("policy check")
                    .text(" tries one"),
            ),
        }
    }
}

/// The rules that hold, and what the user should know of those that do not.
#[derive(Debug)]
pub struct Policies {
    /// All rules, the built-in ones among them.
    pub policy: Policy,
    /// A line for each answer that is left out.
    pub notes: Vec<String>,
}

/// Reads all rules.
pub fn read(folders: &Folders, of_project: &[ProjectFile]) -> Result<Policies, Failure> {
    let (mut rules, mut notes) = (Vec::new(), Vec::new());
    let answers = answers(folders);
    for (tier, folder) in
        [(Tier::Administrator, PathBuf::from(OF_ADMINISTRATOR)), (Tier::User, folders.configuration.join(FOLDER))]
    {
        for path in files(&folder)? {
            let read = parse(&text(&path)?, tier, &path)?;
            let (hold, too_wide): (Vec<Rule>, Vec<Rule>) =
                read.into_iter().partition(|rule| path != answers || rule.is_lasting());
            rules.extend(hold);
            notes.extend(too_wide.iter().map(left_out));
        }
    }
    for file in of_project {
        rules.extend(parse(file.text()?, Tier::Project, &file.path)?);
    }
    let policy = Policy::new(rules).protecting(folders.unchangeable(), folders.home.clone());
    Ok(Policies { policy, notes })
}

/// Returns a line for each rule about a tool that is not among these: a misspelled rule denies nothing, and the user
/// has to know. A rule for one folder or one plugin, as answers make them, and a pattern can be about other tools, and
/// so can one for which `comes_later` is true: the tool of an MCP server that is not connected yet.
pub fn about_no_tool(policy: &Policy, tools: &[&str], comes_later: impl Fn(&str) -> bool) -> Vec<String> {
    let general = policy.rules().iter().filter(|rule| rule.plugin.is_none() && rule.workspace.is_none());
    let names = general.flat_map(|rule| rule.tool.iter().map(move |name| (rule, name.as_str())));
    let missing = names.filter(|(_, name)| !name.ends_with('*') && !tools.contains(name) && !comes_later(name));
    let words = |(rule, name): (&Rule, &str)| {
        let nearest = host_text::suggestion(name, tools.iter().copied());
        let help = nearest.unwrap_or_else(|| format!("if other projects have it, write `{name}*`"));
        format!("the rule at {} names the tool `{name}`, which does not exist here; {help}", rule.source)
    };
    missing.map(words).collect()
}

/// Why an answer is left out, and what to do about it.
fn left_out(rule: &Rule) -> String {
    let RuleSource { file, line, .. } = &rule.source;
    let file = file.as_deref().unwrap_or(Path::new(ANSWERS)).display();
    format!(
        "ignoring the answer at `{file}:{line}`: it allows requests to private addresses or to servers that it does not \
         name, which an answer no longer does. Remove that `[[rule]]`; to keep it as a rule of your own, move it to \
         another file of the same folder"
    )
}

/// Returns the files of a folder, by name. A missing folder has no files.
fn files(folder: &Path) -> Result<Vec<PathBuf>, PoliciesError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(folder, error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(PoliciesError::TooMany(folder.to_owned()));
        }
    }
    files.sort();
    Ok(files)
}

fn text(path: &Path) -> Result<String, PoliciesError> {
    host_files::read_own(path, MAX_FILE).map_err(|error| match error {
        FileError::Exposed(_) => PoliciesError::Exposed { path: path.to_owned(), cause: error.into() },
        other => unreadable(path, other.into()),
    })
}

fn parse(text: &str, tier: Tier, path: &Path) -> Result<Vec<Rule>, PoliciesError> {
    let file = PolicyFile { tier, path: Some(path.to_owned()) };
    Policy::parse(text, file).map_err(PoliciesError::Invalid)
}

fn unreadable(path: &Path, cause: io::Error) -> PoliciesError {
    PoliciesError::Unreadable { path: path.to_owned(), cause }
}
