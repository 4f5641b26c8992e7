//! `host import`: what another agent's configuration has that this host can use, and writing it.
//!
//! A plan is made first: each thing with where it goes, and what is not taken over with the reason. Promises: a plan
//! changes nothing; nothing that is there is replaced or removed, and what differs from it is a conflict that is only
//! shown; values of variables and headers go into private files; no repository's file can allow anything; a second
//! import finds nothing new.
//!
//! What the host reads where it is, such as the commands of Claude Code, is listed and not copied. Deliberately not
//! here: files that need no configuration, such as `AGENTS.md` and those of a trusted project.

mod claude;
mod codex;
mod copies;
mod gemini;
mod rules;
mod servers;
mod write;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use host_extensions::hooks;
use host_settings::configuration::ForeignAgent;
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::own_file::{LeftOut, NewFile, Server, mcp_secrets};
use host_text::{Advice, Notice, visible_line};
use host_tool::{Decision, HookEvent, PolicyError, Rule};
use serde::Serialize;

use self::rules::RuleFault;
use self::servers::ServerFault;

/// The largest file with settings that is read, in bytes. Protects memory; Claude Code keeps its history in one of
/// them.
const MAX_SETTINGS: u64 = 64 << 20;

/// What would be taken over, and what not.
#[derive(Debug, Serialize)]
pub struct ImportPlan {
    /// The agent.
    pub agent: ForeignAgent,
    /// What can be taken over, or is there already.
    pub items: Vec<ImportItem>,
    /// What is not taken over.
    pub left_out: Vec<LeftOut>,
}

/// One thing that can be taken over.
#[derive(Debug, Serialize)]
pub struct ImportItem {
    /// What it is.
    pub kind: ItemKind,
    /// What it is called, or what it says; safe to show.
    pub name: String,
    /// Where it goes: a file or folder, safe to show.
    pub to: String,
    /// Whether it would be written.
    #[serde(flatten)]
    pub state: ItemState,
    #[serde(skip)]
    write: Write,
}

/// The kinds of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A setting of `config.toml`.
    Setting,
    /// An MCP server.
    Server,
    /// A rule about calls.
    Rule,
    /// The hooks.
    Hooks,
    /// A command.
    Command,
    /// A skill.
    Skill,
}

/// Whether a thing would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ItemState {
    /// It would be written.
    New,
    /// It is there already.
    Present,
    /// They need no copy: the host uses them where they are.
    InPlace,
    /// Something else is there, which stays.
    Conflict {
        /// What: a clause, safe to show.
        why: String,
    },
}

/// What has to be written.
#[derive(Debug)]
enum Write {
    Setting {
        key: &'static str,
        value: String,
    },
    /// The agent's hooks are read: its name becomes one of `hooks.read`.
    Hooks,
    Nothing,
    Server(Server),
    Rule(Box<Rule>),
    Files(Vec<NewFile>),
}

impl ImportPlan {
    /// The plan as lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (kind, title) in [
            (ItemKind::Setting, "Settings"),
            (ItemKind::Server, "MCP servers"),
            (ItemKind::Rule, "Rules"),
            (ItemKind::Hooks, "Hooks"),
            (ItemKind::Command, "Commands"),
            (ItemKind::Skill, "Skills"),
        ] {
            let mut last = None;
            for item in self.items.iter().filter(|item| item.kind == kind) {
                // A string takes everything, here and below.
                if last.is_none() {
                    let _ = writeln!(text, "{title}");
                }
                let (sign, why) = match &item.state {
                    ItemState::New => ('+', String::new()),
                    ItemState::Present => ('=', " (there already)".to_owned()),
                    ItemState::InPlace => ('=', " (used where they are)".to_owned()),
                    ItemState::Conflict { why } => ('!', format!(" (kept as it is: {why})")),
                };
                let to = if last == Some(&item.to) { String::new() } else { format!(" → {}", item.to) };
                let _ = writeln!(text, "  {sign} {}{to}{why}", item.name);
                last = Some(&item.to);
            }
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(text, "Not taken over");
        }
        for left_out in &self.left_out {
            let _ = writeln!(text, "  - {}: {}", left_out.name, left_out.why);
        }
        if text.is_empty() {
            text = format!("There is nothing to import from {}.\n", self.agent.word());
        }
        text
    }
}

/// What the files of an agent have, before it is compared with what is there.
#[derive(Debug, Default)]
struct Found {
    approval_mode: Option<&'static str>,
    servers: Vec<Server>,
    rules: Vec<Rule>,
    /// The events that it has hooks for.
    hooks: Vec<&'static str>,
    /// The folders with commands.
    commands: Vec<Source>,
    /// The folders with skills.
    skills: Vec<Source>,
    left_out: Vec<LeftOut>,
}

/// A folder with commands or skills.
#[derive(Debug)]
struct Source {
    folder: PathBuf,
    /// Whether the host reads it, so that no copy is needed.
    is_read: bool,
}

impl Found {
    fn leave_out(&mut self, name: impl AsRef<str>, why: impl AsRef<str>) {
        let (name, why) = (visible_line(name.as_ref()).into_owned(), visible_line(why.as_ref()).into_owned());
        self.left_out.push(LeftOut { name, why });
    }

    fn add_rule(&mut self, name: &str, rule: Result<Rule, RuleFault>) {
        match rule {
            Ok(rule) if self.rules.iter().any(|other| other.to_toml() == rule.to_toml()) => {}
            Ok(rule) => self.rules.push(rule),
            Err(fault) => self.leave_out(format!("permission `{name}`"), fault.to_string()),
        }
    }

    /// Adds the hooks of an agent whose own folder this is.
    fn add_hooks(&mut self, agent: ForeignAgent, folder: &Path, place: &Place<'_>) {
        if !place.is_usual(agent, folder) {
            let name = if agent == ForeignAgent::Codex { "hooks.json" } else { "settings.json" };
            let why = format!("only those in `~/.{}/{name}` are read; put a link there", agent.word());
            return self.leave_out(format!("hooks in `{}`", folder.display()), why);
        }
        match hooks::of_agent(agent, place.home) {
            Ok(found) => {
                self.hooks = found.events.into_iter().map(HookEvent::name).collect();
                for event in found.unknown {
                    self.leave_out(format!("hooks for `{event}`"), "there is no such event here");
                }
                for note in found.notes {
                    self.leave_out("a hook", note);
                }
            }
            Err(fault) => self.leave_out("hooks", fault.to_string()),
        }
    }

    fn add_server(&mut self, name: &str, server: Result<Server, ServerFault>) {
        match server {
            Ok(server) => {
                self.left_out.extend(server.left_out());
                self.servers.push(server);
            }
            Err(fault) => self.leave_out(format!("MCP server `{name}`"), fault.to_string()),
        }
    }
}

/// Why nothing is taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The files of the agent are in it.
    #[error("cannot find your home folder")]
    NoHome,
    /// The user's own configuration is invalid.
    #[error("invalid configuration `{}`", .0.display())]
    Configuration(PathBuf),
    /// The rules that were taken over before are invalid.
    #[error("invalid rules")]
    Rules(PolicyError),
}

impl Fault for ImportError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoHome | Self::Configuration(_) => Vec::new(),
            Self::Rules(cause) => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoHome => Some("set HOME to your home folder".into()),
            Self::Configuration(_) => None,
            Self::Rules(_) => Some("fix the line".into()),
        }
    }
}

/// Reads an agent's configuration and compares it with what is there. `folder` is the project that is worked in.
///
/// # Errors
///
/// If the home folder is not known, or the user's own configuration is invalid.
pub fn plan(
    agent: ForeignAgent,
    folder: &Path,
    environment: &Environment,
    folders: &Folders,
) -> Result<ImportPlan, Failure> {
    let home = environment.home().ok_or(ImportError::NoHome)?;
    let place = Place { home, folder, environment, secrets: mcp_secrets(folders) };
    let found = match agent {
        ForeignAgent::Claude => claude::read(&place),
        ForeignAgent::Codex => codex::read(&place),
        ForeignAgent::Gemini => gemini::read(&place),
    };
    write::compare(agent, found, home, environment, folders)
}

/// Writes what is new in a plan. Returns the number of things that were written.
///
/// # Errors
///
/// If a file cannot be written. What was written until then stays.
pub fn apply(plan: &ImportPlan, environment: &Environment, folders: &Folders) -> Result<usize, Failure> {
    write::apply(plan, environment, folders)
}

/// Where an agent's files are looked for.
struct Place<'a> {
    home: &'a Path,
    folder: &'a Path,
    environment: &'a Environment,
    /// The folder for the values of variables and headers.
    secrets: PathBuf,
}

impl Place<'_> {
    /// Whether this is the folder of an agent in the home, where the host looks for some of its files.
    fn is_usual(&self, agent: ForeignAgent, folder: &Path) -> bool {
        folder == self.home.join(format!(".{}", agent.word()))
    }

    /// The folder of an agent: the one that its variable names, or the usual one in the home.
    fn of_agent(&self, variable: &str, usual: &str) -> PathBuf {
        self.environment.variable(variable).map_or_else(|| self.home.join(usual), PathBuf::from)
    }
}

/// Reads a file with settings as JSON; `None` if there is none, or it is not JSON, which is said.
fn json(path: &Path, found: &mut Found) -> Option<serde_json::Value> {
    let name = || format!("`{}`", path.display());
    let bytes = match host_files::read_file(path, MAX_SETTINGS) {
        Ok(bytes) => bytes,
        Err(error) if error.is_missing() => return None,
        Err(error) => {
            found.leave_out(name(), format!("it cannot be read: {error}"));
            return None;
        }
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Some(value),
        Err(error) => {
            found.leave_out(name(), format!("it is not JSON: {error}"));
            None
        }
    }
}

/// The decisions of a list of permissions.
const DECISIONS: [(&str, Decision); 3] = [("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];

#[cfg(test)]
mod tests;
