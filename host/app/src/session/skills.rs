//! The skills of a conversation: activating one, by the model or by the user, and what that changes.
//!
//! Promises: activating a skill lets tools read its own folder until the session ends, without secrets and what the
//! user denied, and nothing else; its `allowed-tools` limit the run that it is part of; the instructions are those of
//! its file now, and for a skill of a project those that the user trusted.
//!
//! Deliberately not here: which skills there are (`host_settings::skills`), and how a conversation keeps a text
//! (`host-agent`).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use host_agent::{KeptText, SkillSource};
use host_message::Content;
use host_plugin::AllowedFiles;
use host_settings::allowed_tools::AllowedTools;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::skills::{Skill, SkillFault, SkillFile, SkillOrigin, Skills, sources};
use host_text::{Advice, exact};
use host_tool::Gate;
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::attach::{Attached, Author, attach};

/// The most files of a skill that its activation lists. Protects the model's window.
const MAX_LISTED: usize = 50;

/// How deep the folders of a skill are listed. The specification recommends one level.
const MAX_DEPTH: usize = 3;

/// The skills of one conversation.
pub(crate) struct SessionSkills {
    skills: Arc<Skills>,
    /// The names of the tools that plugins have.
    tools: BTreeSet<String>,
    reads: AllowedFiles,
    gate: Gate,
    /// Where tools read anyway.
    workspace: std::path::PathBuf,
}

/// An activated skill.
struct Activated {
    text: KeptText,
    /// What the user should know about it, a line each.
    notes: Vec<String>,
}

impl SessionSkills {
    /// Creates those of a conversation. `gate` and `reads` are its own.
    pub(super) fn new(
        skills: &Arc<Skills>,
        tools: BTreeSet<String>,
        reads: &AllowedFiles,
        gate: &Gate,
        workspace: &Path,
    ) -> Self {
        let (skills, reads, gate) = (Arc::clone(skills), reads.clone(), gate.clone());
        Self { skills, tools, reads, gate, workspace: workspace.to_owned() }
    }

    /// Returns whether the model can activate one.
    pub(super) fn has_any(&self) -> bool {
        self.skills.of_model().next().is_some()
    }

    /// Reads the skill as it is now, lets tools read its folder, and limits the run.
    fn activate_skill(&self, skill: &Skill) -> Result<Activated, ActivationFault> {
        let (file, mut notes) = now(skill)?;
        let mut text = format!(
            "These are the instructions of the skill `{}`. Paths in them are relative to its folder `{}`.",
            file.name,
            exact(&skill.folder.display().to_string())
        );
        if self.let_read(&skill.folder) {
            let files = files(&skill.folder);
            if !files.is_empty() {
                text.push_str(&format!(
                    " Its files, which you read when the instructions name them: {}.",
                    files.join(", ")
                ));
            }
        } else {
            text.push_str(" Its other files cannot be read here.");
        }
        if let Some(words) = self.limit(&file) {
            text.push_str(&format!(" Note: {words}."));
            notes.push(words);
        }
        text.push_str("\n\n");
        text.push_str(&file.body);
        Ok(Activated { text: KeptText { heading: heading(&file.name), text }, notes })
    }

    /// Limits the run to the tools of a skill's list, if it has one; returns what that means.
    fn limit(&self, file: &SkillFile) -> Option<String> {
        let allowed = AllowedTools::parse(file.allowed_tools.as_ref()?, &|name| self.tools.contains(name));
        let by = format!("the skill `{}`", file.name);
        let words = format!("{by}: {}", allowed.words());
        self.gate.narrow(allowed.narrowing(by));
        Some(words)
    }

    /// Limits the rest of a run that another process began: by the skills that its prompt activated, or, if the prompt
    /// is only in a summary, by all.
    pub(super) fn limit_again(&self, since_prompt: &[Content], all: &[Content]) {
        for kept in KeptText::all_in(if since_prompt.is_empty() { all } else { since_prompt }) {
            if let Some(skill) = name_of(&kept.heading).and_then(|name| self.skills.find(name)) {
                self.limit(&skill.file);
            }
        }
    }

    /// Lets tools read a folder; returns whether they can.
    fn let_read(&self, folder: &Path) -> bool {
        folder.starts_with(&self.workspace)
            || self.reads.folder_of(folder).is_some_and(|whole| whole == folder) && self.reads.allow(folder)
    }

    /// Lets tools read the folders of the skills that a resumed conversation activated. Returns what the user should
    /// know: which skills have changed since, or are gone.
    pub(super) fn resume(&self, contents: &[Content]) -> Vec<String> {
        let mut notes = Vec::new();
        for kept in KeptText::all_in(contents) {
            let Some(name) = name_of(&kept.heading) else { continue };
            let Some(skill) = self.skills.find(name) else {
                notes.push(format!("the skill `{}`, which this session uses, no longer exists", exact(name)));
                continue;
            };
            match now(skill) {
                Ok((file, _)) if kept.text.ends_with(&file.body) => {}
                Ok(_) => notes.push(format!(
                    "the skill `{name}` has changed since this session activated it; `/{name}` loads it as it is now"
                )),
                Err(why) => notes.push(format!("the skill `{name}`, which this session uses, cannot be used: {why}")),
            }
            self.let_read(&skill.folder);
        }
        notes
    }
}

impl SkillSource for SessionSkills {
    fn names(&self) -> Vec<String> {
        self.skills.of_model().map(|skill| skill.file.name.clone()).collect()
    }

    fn activate(&self, name: &str) -> Result<KeptText, String> {
        let skill = self.skills.find(name).filter(|skill| !skill.file.only_by_user);
        let skill = skill.ok_or_else(|| "there is none with that name".to_owned())?;
        self.activate_skill(skill).map(|activated| activated.text).map_err(|fault| fault.to_string())
    }
}

/// Why a skill is not activated. Its text is one line that is safe to show.
#[derive(Debug, thiserror::Error)]
pub(super) enum ActivationFault {
    /// The file of a plugin was changed.
    #[error("its file is not the one that the plugin `{0}` brought; begin again, which restores it")]
    OfPlugin(String),
    /// The file of a project is not the trusted one.
    #[error(
        "its file has changed since the user trusted it; they can look at it with `host trust`, trust it with `host trust \
         add` and begin again, and {0} is not to be followed until then"
    )]
    OfProject(String),
    /// Its file cannot be used.
    #[error(transparent)]
    File(#[from] SkillFault),
}

/// A skill that the user named cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the skill `{name}` cannot be used: {fault}")]
pub(super) struct SkillError {
    /// Its name.
    pub name: String,
    /// Why.
    pub fault: ActivationFault,
}

impl Fault for SkillError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        Some(Advice::default().command("skill check").text(" says what is wrong with a skill"))
    }
}

impl Session {
    /// Activates a skill at the user's wish, with their words as the prompt. `typed` is the whole line.
    pub(super) async fn skill_prompt(
        &self,
        skill: &Skill,
        typed: &str,
        author: Author,
        cancel: &CancellationToken,
    ) -> Result<Attached, Failure> {
        let mut attached = attach(typed, author, &self.app, self.grants(), cancel).await?;
        // The limits of the last prompt end here, those of this one begin.
        self.conversation.gate.widen();
        let activated = self.conversation.skills.activate_skill(skill);
        let Activated { text, notes } =
            activated.map_err(|fault| SkillError { name: skill.file.name.clone(), fault })?;
        attached.parts.push(text.part());
        attached.notes.extend(notes);
        attached.keeps_limits = true;
        Ok(attached)
    }
}

/// The file of a skill as it is now, and what the user should know about it.
fn now(skill: &Skill) -> Result<(SkillFile, Vec<String>), ActivationFault> {
    let text = sources::read(&skill.path())?;
    if text == skill.text {
        return Ok((skill.file.clone(), Vec::new()));
    }
    match &skill.origin {
        SkillOrigin::Plugin(name) => Err(ActivationFault::OfPlugin(name.clone())),
        SkillOrigin::Project => Err(ActivationFault::OfProject(skill.place())),
        SkillOrigin::User => {
            let file = SkillFile::parse(&text, &skill.file.name)?;
            Ok((
                file,
                vec![format!(
                    "the skill `{}` has changed since the session began, and is used as it is now",
                    skill.file.name
                )],
            ))
        }
    }
}

/// The heading of a skill's instructions in a conversation.
fn heading(name: &str) -> String {
    format!("skill `{name}`")
}

fn name_of(heading: &str) -> Option<&str> {
    heading.strip_prefix("skill `")?.strip_suffix('`')
}

/// The files of a skill but its instructions, relative to its folder, safe to show. Links are left out.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    list(folder, "", MAX_DEPTH, &mut found);
    if found.len() > MAX_LISTED {
        found.truncate(MAX_LISTED);
        found.push("and more".to_owned());
    }
    found
}

fn list(folder: &Path, above: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.take(MAX_LISTED * 2).filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let path = format!("{above}{name}");
        if found.len() > MAX_LISTED {
            return;
        } else if kind.is_file() && path != sources::SKILL_FILE {
            found.push(format!("`{}`", exact(&path)));
        } else if kind.is_dir() && depth > 1 {
            list(&entry.path(), &format!("{path}/"), depth - 1, found);
        }
    }
}
