//! Compares what was found with what is there, and writes what is new.
//!
//! Promises: a file that is there is never replaced, except `config.toml`, which keeps what it has (`own_file`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host_settings::configuration::{Configuration, ForeignAgent};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure};
use host_settings::own_file::{NewFile, OwnFile, Server, own_text, write_files};
use host_text::visible_line;
use host_tool::{Policy, PolicyFile, Rule, RulesFile, Tier};
use toml::{Table, Value};

use super::copies::{self, Copy};
use super::{Found, ImportError, ImportItem, ImportPlan, ItemKind, ItemState, LeftOut, Source, Write};

/// Makes the plan of what was found.
pub(super) fn compare(
    agent: ForeignAgent,
    found: Found,
    home: &Path,
    environment: &Environment,
    folders: &Folders,
) -> Result<ImportPlan, Failure> {
    let Found { approval_mode, servers, rules, hooks, commands, skills, left_out } = found;
    let mut plan = ImportPlan { agent, items: Vec::new(), left_out };
    let (config, _) = Configuration::path(environment, folders);
    let own = own_table(&config)?;
    if let Some(mode) = approval_mode {
        let state = match own.get("approval_mode").and_then(Value::as_str) {
            None => ItemState::New,
            Some(own) if own == mode => ItemState::Present,
            Some(own) => ItemState::Conflict { why: format!("you chose `{}`", visible_line(own)) },
        };
        let write = Write::Setting { key: "approval_mode", value: mode.to_owned() };
        plan.add(ItemKind::Setting, &format!("approval_mode = \"{mode}\""), &config, state, write);
    }
    for server in servers {
        let state = state_of_server(&server, &own);
        plan.add(ItemKind::Server, &server.name.to_string(), &config, state, Write::Server(server));
    }
    let path = rules_path(agent, folders);
    let there = own_rules(&path)?;
    for rule in rules {
        let is_there = there.iter().any(|other| other.to_toml() == rule.to_toml());
        let state = if is_there { ItemState::Present } else { ItemState::New };
        plan.add(ItemKind::Rule, &words(&rule), &path, state, Write::Rule(Box::new(rule)));
    }
    if !hooks.is_empty() {
        let read = own.get("hooks").and_then(|hooks| hooks.get("read")).and_then(Value::as_array);
        let is_read = read.into_iter().flatten().any(|word| word.as_str() == Some(agent.word()));
        let state = if is_read { ItemState::Present } else { ItemState::New };
        plan.add(ItemKind::Hooks, &format!("hooks for {}", hooks.join(", ")), &config, state, Write::Hooks);
    }
    for source in commands {
        plan.add_source(ItemKind::Command, &source, || {
            copies::commands(&source.folder, &folders.configuration.join("commands"))
        });
    }
    for source in skills {
        plan.add_source(ItemKind::Skill, &source, || copies::skills(&source.folder, &home.join(".agents/skills")));
    }
    Ok(plan)
}

impl ImportPlan {
    fn add(&mut self, kind: ItemKind, name: &str, to: &Path, state: ItemState, write: Write) {
        let name = visible_line(name).into_owned();
        let to = visible_line(&to.to_string_lossy()).into_owned();
        self.items.push(ImportItem { kind, name, to, state, write });
    }

    fn add_source(&mut self, kind: ItemKind, source: &Source, copies: impl FnOnce() -> Vec<Copy>) {
        if !source.is_read {
            for copy in copies() {
                self.add_copy(kind, copy);
            }
        } else if fs::read_dir(&source.folder).is_ok_and(|mut entries| entries.next().is_some()) {
            self.add(kind, "all", &source.folder, ItemState::InPlace, Write::Nothing);
        }
    }

    fn add_copy(&mut self, kind: ItemKind, Copy { name, to, files }: Copy) {
        match files {
            Ok(files) => {
                let state = state_of_files(&files);
                self.add(kind, &name, &to, state, Write::Files(files));
            }
            Err(fault) => {
                let (name, why) = (visible_line(&name).into_owned(), visible_line(&fault.to_string()).into_owned());
                self.left_out.push(LeftOut { name, why });
            }
        }
    }
}

/// Returns the user's `config.toml` as a table; it was valid before.
fn own_table(path: &Path) -> Result<Table, Failure> {
    let text = own_text(path)?;
    Configuration::check_text(&text, path)?;
    Ok(text.parse().map_err(|_| ImportError::Configuration(path.to_owned()))?)
}

fn state_of_server(server: &Server, own: &Table) -> ItemState {
    let there = own.get("mcp").and_then(|mcp| mcp.get(server.name.as_str())).and_then(Value::as_table);
    match there {
        None if server.values.iter().any(|file| matches!(state_of_file(file), ItemState::Conflict { .. })) => {
            ItemState::Conflict { why: "another value is in the file of one of its variables".to_owned() }
        }
        None => ItemState::New,
        Some(there) if *there == server.table => match state_of_files(&server.values) {
            ItemState::New => ItemState::Conflict { why: "the file of one of its variables is missing".to_owned() },
            other => other,
        },
        Some(_) => ItemState::Conflict { why: "you have another server of this name".to_owned() },
    }
}

fn state_of_files(files: &[NewFile]) -> ItemState {
    let states: Vec<ItemState> = files.iter().map(state_of_file).collect();
    let conflict = states.iter().find(|state| matches!(state, ItemState::Conflict { .. }));
    match conflict {
        Some(conflict) => conflict.clone(),
        None if states.iter().all(|state| *state == ItemState::Present) => ItemState::Present,
        None => ItemState::New,
    }
}

fn state_of_file(file: &NewFile) -> ItemState {
    match fs::symlink_metadata(&file.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => ItemState::New,
        Ok(about) if about.len() == file.bytes.len() as u64 || about.is_symlink() => {
            match host_files::read_file(&file.path, file.bytes.len() as u64) {
                Ok(bytes) if bytes == file.bytes => ItemState::Present,
                Ok(_) | Err(_) => other_content(&file.path),
            }
        }
        Ok(_) | Err(_) => other_content(&file.path),
    }
}

fn other_content(path: &Path) -> ItemState {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ItemState::Conflict { why: format!("`{}` is there with another content", visible_line(&name)) }
}

/// The file for the rules of an agent.
fn rules_path(agent: ForeignAgent, folders: &Folders) -> PathBuf {
    folders.configuration.join("policies").join(format!("imported-{}.toml", agent.word()))
}

fn own_rules(path: &Path) -> Result<Vec<Rule>, Failure> {
    let text = own_text(path)?;
    let file = PolicyFile { tier: Tier::User, path: Some(path.to_owned()) };
    Ok(Policy::parse(&text, file).map_err(ImportError::Rules)?)
}

/// A rule on one line.
fn words(rule: &Rule) -> String {
    let commands: Vec<String> = rule.command.iter().map(|command| format!("`{command}`")).collect();
    let of = match (commands.as_slice(), &rule.scope) {
        ([], None) => String::new(),
        ([], Some(scope)) => {
            let scopes: Vec<String> = scope.iter().map(ToString::to_string).collect();
            format!(" {}", scopes.join(", "))
        }
        (commands, _) => format!(" {}", commands.join(", ")),
    };
    let place = rule.workspace.as_ref().map(|path| format!(" in `{}`", path.display())).unwrap_or_default();
    format!("{} {}{of}{place}", rule.decision.name(), rule.tool.join(", "))
}

/// Writes what is new.
pub(super) fn apply(plan: &ImportPlan, environment: &Environment, folders: &Folders) -> Result<usize, Failure> {
    let (config, _) = Configuration::path(environment, folders);
    let rules = RulesFile::new(rules_path(plan.agent, folders));
    let new = || plan.items.iter().filter(|item| item.state == ItemState::New);
    let mut own = OwnFile::read(&config)?;
    let mut written = 0;
    for item in new() {
        match &item.write {
            Write::Nothing => continue,
            Write::Setting { key, value } => own.set(key, value),
            Write::Hooks => own.read_hooks(plan.agent)?,
            Write::Server(server) => {
                write_files(&server.values)?;
                own.add_server(server)?;
            }
            Write::Rule(rule) => {
                rules.add(rule).map_err(|error| Failure::from_error(ErrorKind::Write, &error))?;
            }
            Write::Files(files) => write_files(files)?,
        }
        written += 1;
    }
    own.write()?;
    Ok(written)
}
