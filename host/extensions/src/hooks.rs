//! The hooks of a session: which there are, where each comes from, and how they are asked.
//!
//! Hooks are the user's own (`[hooks]` of the configuration, `hooks.json` beside it, and files of other agents that
//! `hooks.read` names), those of a trusted project and those that plugins bring. Promises: nothing of an untrusted
//! project runs; a program of the project that a hook starts runs only as it was when the session began; without a hook
//! nothing is asked and nothing is started.
//!
//! Deliberately not here: what an answer may do to a call or a run (`host-tool`, `host-agent`), and how programs run
//! (`host-plugin`).

mod answer;
mod brought;
mod component;
mod file;
mod input;
mod matcher;
mod names;
mod run;
mod session;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host_capability::{PluginName, Resources, Scope, ScopeError};
use host_files::{FileError, check_own};
use host_plugin::{Digest, HookComponent, MAX_COMPONENT};
use host_process::ConfineMode;
use host_settings::brought::Brought;
use host_settings::configuration::{Configuration, ForeignAgent, HookConfig};
use host_settings::confinement::check_without_ssh;
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::file_sizes::MAX_PROGRAM;
use host_settings::project::{Project, ProjectFiles, hooks as of_project};
use host_text::{Advice, Notice, exact, one_line};
use host_tool::HookEvent;

pub(crate) use self::brought::hooks_of;
pub use self::file::HookFault;
use self::file::{FileHook, FileHooks};
pub use self::input::HookPlace;
use self::matcher::Matcher;
pub use self::matcher::MatcherFault;
pub use self::names::Convention;
pub use self::run::HOOK;
pub use self::session::{SessionHooks, Wiring};
use crate::plugins::brought;
use crate::plugins::settings::absolute;
use crate::plugins::sources::installed;

/// The largest file with hooks that is read.
const MAX_FILE: u64 = 1 << 20;

/// The name of the user's own file, beside the configuration.
const OWN_FILE: &str = "hooks.json";

/// The most characters of a command that is shown.
const SHOWN: usize = 200;

/// A hook.
#[derive(Debug)]
pub(crate) struct Hook {
    event: HookEvent,
    matcher: Matcher,
    /// What it is called in messages, safe to show.
    name: String,
    runs: Runs,
    limit: Duration,
    convention: Convention,
    /// The file that it comes from, or the plugin.
    source: PathBuf,
    owner: Owner,
    /// The programs of the workspace that it starts, as they were when the session began.
    programs: Vec<(PathBuf, Digest)>,
    /// What it may read besides when it is confined.
    reads: Vec<PathBuf>,
}

/// Whose a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's.
    User,
    /// A trusted project's.
    Project,
    /// A plugin's, which brings it.
    Plugin,
}

/// What a hook runs.
#[derive(Clone, Debug)]
pub(crate) enum Runs {
    /// A program with its arguments.
    Program(Vec<String>),
    /// A component, and the file that it is read from.
    Component(PathBuf, Arc<HookComponent>),
}

/// All hooks.
#[derive(Debug, Default)]
pub struct HookSet {
    hooks: Vec<Arc<Hook>>,
    /// What confined ones may use besides.
    resources: Resources,
    confine: ConfineMode,
    /// What the user should know, a line each.
    notes: Vec<Notice>,
}

/// A hook for a list. All texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedHook {
    /// The event.
    pub event: HookEvent,
    /// What it is asked about.
    pub matcher: String,
    /// What it is called.
    pub name: String,
    /// What runs, on one line.
    pub command: String,
    /// The file that it comes from, or the plugin.
    pub source: String,
    /// Whose it is.
    pub owner: Owner,
    /// How long it may take, in seconds.
    pub seconds: u64,
}

/// Where hooks are looked for.
pub struct HookSources<'a> {
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The folders of the host.
    pub folders: &'a Folders,
    /// The files of the project, if it is trusted.
    pub files: &'a ProjectFiles,
    /// The folder of the project.
    pub project: &'a Path,
    /// What plugins bring.
    pub brought: &'a [Brought<'a>],
    /// Whether programs are confined.
    pub confine: ConfineMode,
}

/// Finds the hooks of a project and of the user, without opening anything else.
///
/// # Errors
///
/// If the configuration, or the user's own file, is invalid.
pub fn find(project: &Project, environment: &Environment) -> Result<HookSet, Failure> {
    let folders = environment.folders()?;
    let files = project.files();
    let configuration = Configuration::read(environment, &folders, files.configuration.as_ref())?;
    let plugins = installed(&files, &folders, &project.root)?;
    HookSet::read(&HookSources {
        brought: &brought(&plugins),
        configuration: &configuration,
        environment,
        folders: &folders,
        files: &files,
        project: &project.root,
        confine: configuration.confine.mode.value(),
    })
}

impl HookSet {
    /// Reads all of them.
    ///
    /// # Errors
    ///
    /// If the user's own configuration or file is invalid: a guard that is not used in silence guards nothing.
    pub fn read(sources: &HookSources<'_>) -> Result<Self, Failure> {
        let config = &sources.configuration.hooks;
        let mut set = Self { confine: sources.confine, resources: resources(sources)?, ..Self::default() };
        let (own, _) = Configuration::path(sources.environment, sources.folders);
        for event in HookEvent::ALL {
            for hook in config.of(event) {
                let component = component_of(hook, sources)?;
                let hook = of_config(event, hook).map_err(|fault| invalid(&own, fault))?;
                set.add(hook, Convention::Host, &own, false, sources);
                if let (Some(runs), Some(last)) = (component, set.hooks.last_mut().and_then(Arc::get_mut)) {
                    last.name =
                        if last.name.is_empty() { host_text::excerpt(&runs.line(), 60) } else { last.name.clone() };
                    last.runs = runs;
                }
            }
        }
        let beside = sources.folders.configuration.join(OWN_FILE);
        if let Some(bytes) = private(&beside).map_err(|fault| invalid(&beside, fault))? {
            let read = FileHooks::read(&bytes, Convention::Claude).map_err(|fault| invalid(&beside, fault))?;
            if let Some(note) = read.notes.first() {
                return Err(invalid(&beside, HookFault::Left(note.clone())).into());
            }
            set.add_all(read, Convention::Claude, &beside, false, sources);
        }
        for agent in &config.read {
            let Some((path, convention)) = sources.environment.home().map(|home| file_of(*agent, home)) else {
                continue;
            };
            match private(&path) {
                Ok(Some(bytes)) => set.add_file(&bytes, convention, &path, false, sources),
                Ok(None) => {}
                Err(why) => set.notes.push(format!("no hook of `{}` is used: {why}", shown(&path)).into()),
            }
        }
        let settings = sources.files.servers.iter().filter(|file| file.path.ends_with(".gemini/settings.json"));
        for file in sources.files.hooks.iter().chain(settings) {
            let is_gemini = file.path.ends_with(".gemini/settings.json");
            let convention = if is_gemini { Convention::Gemini } else { Convention::Claude };
            set.add_file(&file.bytes, convention, &file.path, true, sources);
        }
        for brought in sources.brought {
            set.hooks.extend(brought::hooks_of(*brought)?);
        }
        // What the machine can do is tried out by a process, which no start without hooks waits for.
        if set.confine == ConfineMode::Auto
            && !set.hooks.is_empty()
            && let Some(open) = host_process::level().missing().into_iter().find(|missing| !missing.is_covered)
        {
            let why = &open.why;
            let confined = Notice::from(format!("hooks are not fully confined on this machine ({why}); "));
            set.notes.push(confined.command("doctor").text(" has more"));
        }
        Ok(set)
    }

    /// Returns what the user should know, a line each, safe to show.
    pub fn notes(&self) -> &[Notice] {
        &self.notes
    }

    /// Returns all hooks, in the order of events.
    pub fn list(&self) -> Vec<ListedHook> {
        let mut hooks: Vec<&Hook> = self.hooks.iter().map(AsRef::as_ref).collect();
        hooks.sort_by_key(|hook| hook.event);
        let listed = |hook: &Hook| ListedHook {
            event: hook.event,
            matcher: exact(&hook.matcher.shown()).into_owned(),
            name: hook.name.clone(),
            command: one_line(&hook.line(), SHOWN),
            source: shown(&hook.source),
            owner: hook.owner,
            seconds: hook.limit.as_secs(),
        };
        hooks.into_iter().map(listed).collect()
    }

    fn add_file(
        &mut self,
        bytes: &[u8],
        convention: Convention,
        path: &Path,
        is_project: bool,
        sources: &HookSources<'_>,
    ) {
        match FileHooks::read(bytes, convention) {
            Ok(read) => self.add_all(read, convention, path, is_project, sources),
            Err(why) => self.notes.push(format!("no hook of `{}` is used: {why}", shown(path)).into()),
        }
    }

    fn add_all(
        &mut self,
        read: FileHooks,
        convention: Convention,
        path: &Path,
        is_project: bool,
        sources: &HookSources<'_>,
    ) {
        self.notes.extend(
            read.notes.into_iter().map(|note| format!("a hook of `{}` is not used: {note}", shown(path)).into()),
        );
        for hook in read.hooks {
            self.add(hook, convention, path, is_project, sources);
        }
    }

    fn add(
        &mut self,
        hook: FileHook,
        convention: Convention,
        source: &Path,
        is_project: bool,
        sources: &HookSources<'_>,
    ) {
        let FileHook { event, matcher, name, argv, limit } = hook;
        let line = line_of(&argv);
        let programs =
            of_project::programs_of(&line, sources.project).into_iter().map(|path| sources.project.join(path));
        let programs = programs.filter_map(|path| Some((path.clone(), digest(&path)?))).collect();
        // The user's own scripts lie in a folder beside the file; a project reads what any program may.
        let reads = if is_project { Vec::new() } else { readable(&line, source, sources.environment.home()) };
        let name = host_text::excerpt(name.as_deref().unwrap_or(&line), 60);
        let hook = Hook {
            event,
            matcher,
            name,
            runs: Runs::Program(argv),
            limit,
            convention,
            source: source.to_owned(),
            owner: if is_project { Owner::Project } else { Owner::User },
            programs,
            reads,
        };
        self.hooks.push(Arc::new(hook));
    }
}

impl Hook {
    /// Returns what runs as a line.
    fn line(&self) -> String {
        self.runs.line()
    }
}

impl Runs {
    /// Returns what runs as a line.
    fn line(&self) -> String {
        match self {
            Self::Program(argv) => line_of(argv),
            Self::Component(path, _) => path.display().to_string(),
        }
    }

    /// Whether this is the same program, or the same component.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Program(one), Self::Program(other)) => one == other,
            (Self::Component(_, one), Self::Component(_, other)) => one.digest() == other.digest(),
            (Self::Program(_), Self::Component(..)) | (Self::Component(..), Self::Program(_)) => false,
        }
    }
}

/// Why the hooks of the user, or of a plugin, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// A hook of the user is invalid.
    #[error("invalid hooks in `{}`", shown(.path))]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        fault: HookFault,
    },
    /// A component is none of a hook.
    #[error("the hook `{}` cannot be used", shown(.path))]
    Component {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// What hooks may use is invalid.
    #[error("`[hooks]` cannot be used: {0}")]
    Resources(ScopeError),
}

impl Fault for HooksError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Invalid { fault, .. } => vec![format!("a hook cannot be used: {fault}").into()],
            Self::Component { why, .. } => vec![why.clone().into()],
            Self::Resources(_) => Vec::new(),
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Invalid { .. } => {
                Some("fix or remove the hook: host does not run without a hook that you set up as a guard".into())
            }
            Self::Component { .. } => Some(
                "`component` names a component that exports `host:hook/handler`; docs/hooks.md shows how to build one"
                    .into(),
            ),
            Self::Resources(cause) => Some(cause.help().into()),
        }
    }
}

/// Returns a command as a line: that of the shell, or the words.
fn line_of(argv: &[String]) -> String {
    match argv {
        [shell, option, line] if shell == "sh" && option == "-c" => line.clone(),
        words => words.join(" "),
    }
}

/// Returns the digest of a program; `None` if it cannot be read.
fn digest(path: &Path) -> Option<Digest> {
    host_files::read_file(path, MAX_PROGRAM).ok().map(|bytes| Digest::of(&bytes))
}

fn of_config(event: HookEvent, hook: &HookConfig) -> Result<FileHook, HookFault> {
    let line = hook.command.clone().unwrap_or_default();
    let matcher = Matcher::parse(hook.matcher.as_deref().unwrap_or_default())?;
    Ok(FileHook {
        event,
        matcher,
        name: hook.name.clone(),
        argv: vec!["sh".to_owned(), "-c".to_owned(), line],
        limit: hook.limit().min(host_plugin::MAX_HOOK_TIME),
    })
}

/// The component of a hook, if it is one.
fn component_of(hook: &HookConfig, sources: &HookSources<'_>) -> Result<Option<Runs>, Failure> {
    let Some(file) = &hook.component else { return Ok(None) };
    let path = absolute(file, "hooks", sources.environment)?;
    let unusable = |why: String| HooksError::Component { path: path.clone(), why };
    let about = std::fs::metadata(&path).map_err(|error| unusable(error.to_string()))?;
    check_own(&about).map_err(|how| unusable(how.to_string()))?;
    let bytes = host_files::read_file(&path, MAX_COMPONENT as u64).map_err(|error| unusable(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let component = HookComponent::new(PluginName::new(host_text::excerpt(&name, 60)), bytes)
        .map_err(|error| unusable(error.to_string()))?;
    Ok(Some(Runs::Component(path, Arc::new(component))))
}

/// The file of another agent in this home, and whose names its hooks use.
fn file_of(agent: ForeignAgent, home: &Path) -> (PathBuf, Convention) {
    match agent {
        ForeignAgent::Claude => (home.join(".claude/settings.json"), Convention::Claude),
        ForeignAgent::Codex => (home.join(".codex/hooks.json"), Convention::Claude),
        ForeignAgent::Gemini => (home.join(".gemini/settings.json"), Convention::Gemini),
    }
}

/// What the file that an agent of `hooks.read` stands for has.
#[derive(Debug, Default)]
pub struct ForeignHooks {
    /// The events that it has hooks for.
    pub events: BTreeSet<HookEvent>,
    /// Its events that there are not here.
    pub unknown: Vec<String>,
    /// Why others of its hooks are not used, a line each.
    pub notes: Vec<String>,
}

/// Reads the hooks of another agent in this home.
///
/// # Errors
///
/// Why none of them can be used.
pub fn of_agent(agent: ForeignAgent, home: &Path) -> Result<ForeignHooks, HookFault> {
    let (path, convention) = file_of(agent, home);
    let Some(bytes) = private(&path)? else { return Ok(ForeignHooks::default()) };
    let FileHooks { hooks, unknown, notes } = FileHooks::read(&bytes, convention)?;
    Ok(ForeignHooks { events: hooks.iter().map(|hook| hook.event).collect(), unknown, notes })
}

/// Reads a file that only the user may write; `None` if there is none.
fn private(path: &Path) -> Result<Option<Vec<u8>>, HookFault> {
    match host_files::read_own(path, MAX_FILE) {
        Ok(text) => Ok(Some(text.into_bytes())),
        Err(error) if error.is_missing() => Ok(None),
        Err(cause @ FileError::Exposed(_)) => Err(HookFault::Exposed(cause)),
        Err(cause) => Err(HookFault::Unreadable(cause)),
    }
}

/// What confined hooks may use besides, as the configuration has it.
fn resources(sources: &HookSources<'_>) -> Result<Resources, Failure> {
    let config = &sources.configuration.hooks;
    let paths = |paths: &[PathBuf]| {
        let real = |path: &PathBuf| {
            let named = absolute(path, "hooks", sources.environment)?;
            Ok::<_, Failure>(std::fs::canonicalize(&named).unwrap_or(named))
        };
        paths.iter().map(real).collect::<Result<Vec<_>, _>>()
    };
    check_without_ssh(&config.net, "hooks")?;
    let resources =
        Resources { servers: config.net.clone(), reads: paths(&config.readable)?, writes: paths(&config.writable)? };
    Scope::for_command_using(&["sh".to_owned()], &resources).map_err(HooksError::Resources)?;
    Ok(resources)
}

/// Returns what a hook of the user's own may read: the folder `hooks` beside its file, and files of the home that its
/// line names.
fn readable(line: &str, source: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let beside = source.parent().map(|folder| folder.join("hooks"));
    let plain = line.replace(['"', '\''], "");
    let named = plain.split_whitespace().filter_map(|word| {
        let home = home?;
        let rest = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| word.strip_prefix(start));
        let path = rest.map_or_else(|| PathBuf::from(word), |rest| home.join(rest));
        (path.starts_with(home) && path.is_file()).then_some(path)
    });
    beside.into_iter().chain(named).filter_map(|path| std::fs::canonicalize(path).ok()).collect()
}

fn invalid(path: &Path, fault: HookFault) -> HooksError {
    HooksError::Invalid { path: path.to_owned(), fault }
}

fn shown(path: &Path) -> String {
    exact(&path.display().to_string()).into_owned()
}
