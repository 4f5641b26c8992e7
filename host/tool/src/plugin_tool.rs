//! A tool of a plugin: each call runs in the sandbox with the plugin's grants, and every end is an outcome.
//!
//! Promises that a call holds what its plugin is granted and what was allowed for this call or for the session, and
//! nothing beyond the ceiling of its sandbox, whoever allowed it; and if its preview named something, only what it
//! named. A call that only reads, and is denied a path outside of the workspace, runs again when the user allows that
//! path; one that changes files does not run before its preview has read what it needs.

mod outside;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{Capability, Denied, Grants, Resources, Scope, StateAccess};
use host_message::{FunctionCall, ToolSpec};
use host_plugin::admission::AdmissionError;
use host_plugin::{
    BackgroundPrograms, CallError, CallListener, Confirmation, Elicitation, ElicitationAnswer, Failure, Invocation,
    McpClient, Network, Plugin, ProgramEnd, Runtime, Secrets, SeenFiles, Workspace,
};
use host_text::{TitleTemplate, with_causes};
use host_undo::Recorder;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::outside::{Unseen, failure};
use crate::tool::{IntentFuture, ReviseFuture};
use crate::{
    CANCEL_GRACE, CallAsker, CallContext, CallFailure, FailureKind, FailureWords, ForeignSource, Intent, LiveOutput,
    Looking, McpTarget, Origin, Outcome, ReachAnswer, SimpleCommand, Tool, commands_in, simple_commands, suggestion,
    title,
};

/// One tool of a plugin, with what a call of it may touch.
pub struct PluginTool {
    spec: ToolSpec,
    /// The grants that this tool needs, according to the manifest.
    needs: Grants,
    plugin: Arc<Plugin>,
    sandbox: Sandbox,
    /// The title of its calls, according to the manifest.
    template: Option<TitleTemplate>,
    /// What commands were kept from: who runs one again is asked about it.
    wanted: Arc<Wanted>,
    /// Commands that failed because they need what no door leads to: who runs one again is asked whether it may run
    /// without walls.
    fenced: Arc<Fenced>,
    /// The tool of an MCP server that it calls.
    mcp: Option<Arc<McpTarget>>,
}

/// What confined commands were kept from, by their words.
type Wanted = Mutex<BTreeMap<Vec<String>, Resources>>;

/// Commands, by their words.
type Fenced = Mutex<BTreeSet<Vec<String>>>;

/// What a model is told about a call that would change something in the mode `plan`.
const PLAN_READS: &str = "plan mode only reads; the user can leave it with Shift-Tab or /mode";

/// How much longer than the calls that it makes a cancelled call may take.
const CALLER_GRACE: Duration = Duration::from_secs(1);

/// The most commands of which that is remembered. Protects memory.
const MAX_WANTED: usize = 256;

/// The environment in which the tools of a plugin run.
#[derive(Clone)]
pub struct Sandbox {
    /// Runs the calls.
    pub runtime: Arc<Runtime>,
    /// What the calls may touch without asking. The runtime reduces it to what the plugin requests.
    pub grants: Arc<Grants>,
    /// The most that a call may ever touch, whoever allows it. A call for which even this covers only reading is not
    /// asked about: it runs, and gets an error for what it lacks.
    pub ceiling: Arc<Grants>,
    /// The folder where relative paths start.
    pub workspace: Arc<Workspace>,
    /// The plugin's own configuration, each value as JSON text.
    pub config: Arc<BTreeMap<String, String>>,
    /// The secrets that its requests may carry.
    pub secrets: Arc<Secrets>,
    /// The destination of its requests.
    pub network: Network,
    /// The standard input of the program that a preview names.
    pub input: ProgramInput,
    /// Whose words its failures are.
    pub failures: FailureWords,
    /// Why its calls can be allowed nothing but reading; `None` if that is not so.
    pub only_reads: Option<OnlyReads>,
    /// The programs in the background of the session; with `None` none can be started.
    pub background: Option<Arc<BackgroundPrograms>>,
    /// Keeps what its calls change, to be undone; `None` outside of a session.
    pub changes: Option<Arc<Recorder>>,
    /// The files that the model of its conversation saw; `None` outside of a conversation.
    pub seen: Option<Arc<SeenFiles>>,
    /// Calls the tools of MCP servers; `None` if there are no servers.
    pub mcp: Option<Arc<dyn McpClient>>,
}

/// Why calls can be allowed nothing but reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlyReads {
    /// The session is in the mode `plan`.
    Plan,
    /// A subagent makes them.
    Subagent,
}

/// The standard input of the program that the preview of a call names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramInput {
    /// Empty, as for every third-party plugin: its preview could not show the input.
    #[default]
    Nothing,
    /// The arguments of the call, as they are passed to the plugin: rules and users see those.
    Arguments,
}

impl ProgramInput {
    /// Returns the preview of a call with these arguments, with the program's input added.
    #[must_use]
    pub fn added(self, previewed: Confirmation, arguments: &Map<String, Value>) -> Confirmation {
        match (self, previewed) {
            (Self::Arguments, Confirmation::Exec { argv, directory, ground, .. }) => {
                Confirmation::Exec { argv, directory, input: Some(written(arguments)), ground }
            }
            (_, previewed) => previewed,
        }
    }
}

/// Returns the arguments as a plugin receives them.
fn written(arguments: &Map<String, Value>) -> String {
    Value::Object(arguments.clone()).to_string()
}

impl PluginTool {
    /// Creates the tool with this spec and these needs, from the plugin's manifest.
    pub fn new(spec: ToolSpec, needs: Grants, plugin: Arc<Plugin>, sandbox: Sandbox) -> Self {
        Self { spec, needs, plugin, sandbox, template: None, wanted: Arc::default(), fenced: Arc::default(), mcp: None }
    }

    /// Sets the tool of an MCP server that it calls.
    #[must_use]
    pub fn calling(self, target: McpTarget) -> Self {
        Self { mcp: Some(Arc::new(target)), ..self }
    }

    /// Sets the template for the titles of its calls, from the plugin's manifest.
    #[must_use]
    pub fn with_title(self, template: Option<TitleTemplate>) -> Self {
        Self { template, ..self }
    }

    /// Returns what its calls may touch now without asking.
    fn held(&self) -> Arc<Grants> {
        let reads = self.sandbox.runtime.access().reads.grants();
        match reads.capabilities().is_empty() {
            true => Arc::clone(&self.sandbox.grants),
            false => Arc::new(self.sandbox.grants.join(&reads.meet(&self.sandbox.ceiling))),
        }
    }

    fn invocation(&self, call: &FunctionCall, grants: Arc<Grants>, cancel: CancellationToken) -> Invocation {
        let (arguments, workspace) = (written(&call.arguments), Arc::clone(&self.sandbox.workspace));
        let (config, secrets) = (Arc::clone(&self.sandbox.config), Arc::clone(&self.sandbox.secrets));
        let (id, tool) = (call.id.clone(), self.spec.name.clone());
        let (needs, background) = (self.needs.capabilities(), self.sandbox.background.clone());
        let network = self.sandbox.network.clone();
        let (changes, seen, mcp) = (self.sandbox.changes.clone(), self.sandbox.seen.clone(), self.sandbox.mcp.clone());
        let invocation = Invocation::new(id, tool, arguments, grants, workspace);
        // A program that was started in another mode may change what this call must not.
        let may_type = self.sandbox.only_reads.is_none();
        Invocation { config, secrets, network, needs, background, may_type, changes, seen, mcp, cancel, ..invocation }
    }

    async fn intend(&self, call: &FunctionCall, looking: Looking) -> Result<Intent, CallFailure> {
        // What holds now: answers for the session may have come since the run began.
        let held = self.held();
        let granted = held.meet(&self.needs);
        // Never beyond the sandbox's ceiling, whatever anyone answers.
        let at_most = self.sandbox.ceiling.meet(&self.needs);
        let quiet = Intent {
            touches: granted.clone(),
            granted: granted.clone(),
            at_most: at_most.clone(),
            origin: self.origin(),
            mcp: self.mcp.clone(),
            outside: looking.outside.clone(),
            ..Intent::default()
        };
        // A call that only reads begins without a question: which files it opens is known when it opens them.
        if at_most.le(&at_most.reading()) {
            return Ok(quiet);
        }
        let previewed = match self.previewed(call, &held, looking).await {
            Ok(previewed) => previewed,
            Err(Unseen::Failed(failure)) => return Err(failure),
            Err(Unseen::Reads(first)) => return Ok(self.reading_first(*first, quiet)),
        };
        let Some(confirmation) = previewed else { return Ok(quiet) };
        // The host adds the arguments: a guest that could name an input could feed a shell lines that no rule read.
        let confirmation = self.sandbox.input.added(confirmation, &call.arguments);
        let confirmation = match &self.mcp {
            // What is shown of a server's tool comes from the connection and not from the component that calls it.
            Some(target) => Confirmation::Mcp {
                server: target.server.to_string(),
                identity: target.identity.clone(),
                tool: target.definition.original.clone(),
                changed: None,
            },
            None => confirmation,
        };
        let touches = confirmation.touches(&self.needs, &self.sandbox.workspace).map_err(|error| {
            let words = with_causes(&error);
            CallFailure::new(FailureKind::Denied, format!("`{}` was not run: {words}", call.name))
        })?;
        // A call beyond the ceiling is denied before the user is asked.
        if let Some(denied) = self.beyond(&confirmation, &at_most) {
            return Err(CallFailure::new(FailureKind::Denied, self.never_allowed(call, &denied)));
        }
        let changes_outside = self.changes_outside(&confirmation, &granted)?;
        let granted = if changes_outside.is_empty() { granted } else { self.with_session_writes(granted, &at_most) };
        let touches = self.touched(&confirmation, touches, &granted, &at_most);
        let refusal = self.beyond(&confirmation, &granted).or_else(|| self.uncovered(&touches, &granted));
        let refusal =
            refusal.map(|denied| self.naming_commands(&confirmation, denied).explain(self.sandbox.runtime.wording()));
        // Looked at before the question, since afterwards it is too late to decide.
        let not_undone = self.not_undone(&confirmation);
        let uses = self.uses(&confirmation, &touches.join(&granted));
        let changed_before = self.changed_before(&confirmation);
        let is_fenced = self.is_fenced(&confirmation);
        let confirmation = Some(confirmation);
        let of_files = Intent { granted, changes_outside, ..quiet };
        Ok(Intent { confirmation, touches, refusal, uses, not_undone, changed_before, is_fenced, ..of_files })
    }

    /// Returns what a call that named this touches.
    fn touched(&self, confirmation: &Confirmation, named: Grants, granted: &Grants, at_most: &Grants) -> Grants {
        let touches = match confirmation {
            // Nothing was named, so all that could be used counts.
            Confirmation::Mcp { .. } | Confirmation::Call => self.unnamed(&named, granted, at_most),
            // With what the last run of this command was kept from, so that one question opens all of it.
            Confirmation::Exec { argv, .. } => self.with_wanted(argv, named).meet(at_most),
            Confirmation::Edit { .. } | Confirmation::Edits { .. } | Confirmation::Info { .. } => named.meet(at_most),
        };
        match self.beyond(confirmation, granted) {
            Some(_) => touches,
            None => without_what_is_denied(touches, granted),
        }
    }

    /// Says that no answer could allow a call.
    fn never_allowed(&self, call: &FunctionCall, denied: &Denied) -> String {
        match denied.capability {
            Capability::FsWrite => format!(
                "`{}` was not run: `{}` is protected, and no answer or grant allows changing it. Protected are the \
                 files of version control and of host, files that a shell runs when it starts, and what the user \
                 denied",
                call.name, denied.wanted
            ),
            Capability::FsRead
            | Capability::Process
            | Capability::Http
            | Capability::State
            | Capability::Mcp
            | Capability::Tools => self.explained(denied),
        }
    }

    /// Whether the command failed behind its walls before.
    fn is_fenced(&self, confirmation: &Confirmation) -> bool {
        match confirmation {
            Confirmation::Exec { argv, .. } => {
                self.fenced.lock().unwrap_or_else(PoisonError::into_inner).contains(argv)
            }
            Confirmation::Edit { .. }
            | Confirmation::Edits { .. }
            | Confirmation::Info { .. }
            | Confirmation::Mcp { .. }
            | Confirmation::Call => false,
        }
    }

    /// Returns which of the files that a command's programs are known to run were changed in this session.
    fn changed_before(&self, confirmation: &Confirmation) -> Vec<String> {
        let (Some(changes), Confirmation::Exec { argv, .. }) = (&self.sandbox.changes, confirmation) else {
            return Vec::new();
        };
        // Nothing is made by looking.
        if !changes.folder().exists() {
            return Vec::new();
        }
        let programs: Vec<String> = commands_in(argv)
            .iter()
            .filter_map(|command| command.first()?.rsplit('/').next().map(str::to_owned))
            .collect();
        let runs = |path: &Path| {
            let by = host_undo::run_later_by(path)?;
            programs.iter().find(|program| by.contains(&program.as_str())).cloned()
        };
        // Ignored folders, such as `node_modules/.bin`, are in no journal.
        let ignored = self.sandbox.runtime.run_later_changed();
        let found = changes.with_journal(|journal| {
            let kept = journal.changes().iter().map(|change| &*change.path);
            let changed: BTreeSet<&Path> = kept.chain(ignored.iter().map(PathBuf::as_path)).collect();
            let clause = |path: &Path| {
                let program = runs(path)?;
                let name = host_text::exact(&path.file_name()?.to_string_lossy()).into_owned();
                Some(format!("`{name}`, which `{}` runs, was changed in this session", host_text::exact(&program)))
            };
            changed.into_iter().filter_map(clause).collect()
        });
        found.unwrap_or_default()
    }

    /// Returns what of the call's changes cannot be undone.
    fn not_undone(&self, confirmation: &Confirmation) -> Vec<String> {
        match (&self.sandbox.changes, confirmation) {
            (Some(changes), Confirmation::Exec { ground, .. }) => {
                // While the user reads the question.
                changes.prepare_early();
                self.sandbox.runtime.not_undone(changes, ground.outlasts_call())
            }
            (Some(_), Confirmation::Mcp { .. }) => vec!["what the server changes outside of the workspace".to_owned()],
            (None, _) | (_, Confirmation::Edit { .. } | Confirmation::Edits { .. }) => Vec::new(),
            (_, Confirmation::Info { .. } | Confirmation::Call) => Vec::new(),
        }
    }

    /// Returns what a confined command may use, once it is allowed these grants; `None` if it is not confined.
    fn uses(&self, confirmation: &Confirmation, grants: &Grants) -> Option<Resources> {
        let Confirmation::Exec { argv, .. } = confirmation else { return None };
        let permit = grants.permit_process(self.plugin.name(), argv).ok()?;
        self.sandbox.runtime.confines_programs().then(|| permit.running(commands_in(argv)).resources())
    }

    /// Adds what this very command was kept from.
    fn with_wanted(&self, argv: &[String], touches: Grants) -> Grants {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let scope = wanted.get(argv).and_then(|wanted| Scope::for_command_using(argv, wanted).ok().flatten());
        scope.into_iter().fold(touches, Grants::with)
    }

    /// Returns what a call touches if nothing more specific is known: what is granted for it, or else what could be; of
    /// files those in the workspace.
    fn unnamed(&self, touches: &Grants, granted: &Grants, at_most: &Grants) -> Grants {
        let workspace = Scope::for_path(Capability::FsWrite, self.sandbox.workspace.root()).ok();
        let scope = |capability: Capability| match (granted.scope(capability), at_most.scope(capability)) {
            (Some(held), _) => Some(held.clone()),
            (None, Some(most)) if capability == Capability::FsWrite => most.meet(workspace.as_ref()?),
            (None, most) => most.cloned(),
        };
        touches.capabilities().iter().filter_map(scope).collect()
    }

    /// Returns the denial of the first use in the preview that these grants do not cover, as the check in the sandbox
    /// would word it.
    fn beyond(&self, confirmation: &Confirmation, grants: &Grants) -> Option<Denied> {
        match confirmation {
            Confirmation::Exec { argv, .. } => grants.permit_process(self.plugin.name(), argv).err(),
            Confirmation::Edit { .. } | Confirmation::Edits { .. } | Confirmation::Info { .. } => {
                confirmation.writes().into_iter().find_map(|path| self.unwritable(path, grants))
            }
            Confirmation::Mcp { .. } | Confirmation::Call => None,
        }
    }

    /// Returns the denial of the first use besides reading that these grants do not cover.
    fn uncovered(&self, touches: &Grants, grants: &Grants) -> Option<Denied> {
        let covered = |scope: &Scope| grants.scope(scope.capability()).is_some_and(|held| scope.le(held));
        let scope = touches.iter().find(|scope| !reads(scope) && !covered(scope))?;
        Some(Denied::ungranted(self.plugin.name(), scope.capability(), &scope.to_string()))
    }

    /// Returns the denial of a command with the commands of its line in the place of the shell around them: those are
    /// what a user grants.
    fn naming_commands(&self, confirmation: &Confirmation, denied: Denied) -> Denied {
        let Confirmation::Exec { argv, .. } = confirmation else { return denied };
        // Anything else would need quotes, in which nobody reads what is granted.
        let is_plain = |word: &String| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./=@%+:".contains(c))
        };
        let words = |command: &SimpleCommand| {
            let words =
                command.words.iter().cloned().collect::<Option<Vec<_>>>().filter(|_| command.doubts.is_empty())?;
            let words = suggestion(&words).map_or(words, |suggestion| suggestion.words().to_vec());
            words.iter().all(is_plain).then(|| words.join(" "))
        };
        let commands = simple_commands(argv);
        match commands.iter().map(words).collect::<Option<Vec<_>>>() {
            Some(mut commands) if !commands.is_empty() => {
                commands.dedup();
                Denied::ungranted(self.plugin.name(), Capability::Process, &commands.join(","))
            }
            Some(_) | None => denied,
        }
    }

    fn unwritable(&self, path: &str, grants: &Grants) -> Option<Denied> {
        let absolute = self.sandbox.workspace.absolute(path).ok()?;
        grants.permit_write(self.plugin.name(), &absolute).err()
    }
}

/// Returns what a call touches, whose files are all granted, without what the grants for those files deny: grants are
/// compared with their denies, and those of the ceiling are others.
fn without_what_is_denied(touches: Grants, granted: &Grants) -> Grants {
    let narrower = |scope: &Scope| match (scope, granted.scope(scope.capability())) {
        (Scope::FsWrite(_), Some(held)) => scope.meet(held),
        (
            Scope::FsWrite(_)
            | Scope::FsRead(_)
            | Scope::Process(_)
            | Scope::Http(_)
            | Scope::State(_)
            | Scope::Mcp(_)
            | Scope::Tools(_),
            _,
        ) => Some(scope.clone()),
    };
    touches.iter().filter_map(narrower).collect()
}

/// Whether the scope allows only reading.
fn reads(scope: &Scope) -> bool {
    match scope {
        // What calls other tools touches nothing by that: each of those calls is decided about.
        Scope::FsRead(_) | Scope::State(StateAccess::Read) | Scope::Tools(_) => true,
        Scope::Mcp(tools) => tools.only_read(),
        Scope::State(StateAccess::Write) | Scope::FsWrite(_) | Scope::Process(_) | Scope::Http(_) => false,
    }
}

impl Tool for PluginTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(self.run(call, context))
    }

    fn title(&self, call: &FunctionCall) -> String {
        title::of_tool(self.template.as_ref(), &self.spec, call)
    }

    fn origin(&self) -> Option<Origin> {
        let digest = match &self.mcp {
            Some(target) => target.definition.digest.clone(),
            None => self.plugin.digest().to_string(),
        };
        Some(Origin { plugin: self.plugin.name().clone(), digest })
    }

    fn source(&self) -> Option<ForeignSource> {
        match (self.needs.has(Capability::Mcp), self.needs.has(Capability::Http)) {
            (true, _) => Some(ForeignSource::Server),
            (false, true) => Some(ForeignSource::Network),
            (false, false) => None,
        }
    }

    fn calls_tools(&self) -> bool {
        self.needs.has(Capability::Tools)
    }

    fn cancel_grace(&self) -> Duration {
        // The calls that it makes come to their ends first.
        if self.calls_tools() { CANCEL_GRACE + CALLER_GRACE } else { CANCEL_GRACE }
    }

    fn is_out_of_reach(&self) -> bool {
        let (optional, ceiling) = (self.plugin.optional(), &self.sandbox.ceiling);
        let is_needed = |scope: &&Scope| !optional.contains(scope.capability());
        // It is not started without one of these.
        self.needs.iter().filter(is_needed).any(|scope| !ceiling.has(scope.capability()))
    }

    fn intent<'a>(&'a self, call: &'a FunctionCall, looking: Looking) -> IntentFuture<'a> {
        Box::pin(self.intend(call, looking))
    }

    fn revise<'a>(&'a self, call: &'a FunctionCall, text: &'a str, looking: Looking) -> ReviseFuture<'a> {
        Box::pin(async move {
            let invocation = self.looking(call, &self.held(), looking);
            self.sandbox
                .runtime
                .revise(&self.plugin, invocation, text)
                .await
                .map_err(|error| failure(self.outcome(error)))
        })
    }
}

/// Passes a guest's live output on, and remembers what it and its programs were kept from, and how the program ended
/// that the call was decided about.
struct Listener {
    live: LiveOutput,
    shown: Option<Arc<Confirmation>>,
    wanted: Arc<Wanted>,
    fenced: Arc<Fenced>,
    /// Asks the user for a server; `None` if the user cannot be asked.
    questions: Option<Arc<dyn CallAsker>>,
    /// The plugin of the call, and its digest.
    origin: Option<Origin>,
    /// What was answered about servers, by what a grant calls each. Held while a question is open: connections that a
    /// program opens side by side are asked about once.
    reached: tokio::sync::Mutex<BTreeMap<String, bool>>,
    /// The last path that it was not let read.
    denied: Mutex<Option<PathBuf>>,
}

impl CallListener for Listener {
    fn output(&self, text: &str) {
        self.live.output(text);
    }

    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        self.live.progress(done, total, message);
    }

    fn ended(&self, argv: &[String], end: ProgramEnd) {
        if let Some(Confirmation::Exec { argv: shown, .. }) = self.shown.as_deref()
            && shown == argv
        {
            self.live.command_ended(end);
        }
    }

    fn background_failed(&self, end: ProgramEnd) {
        self.live.command_ended(end);
    }

    fn mcp_meta(&self, meta: Arc<Map<String, Value>>) {
        self.live.says_beside(meta);
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        match &self.questions {
            Some(questions) => questions.elicit(question),
            None => Box::pin(async { ElicitationAnswer::Cancelled }),
        }
    }

    fn may_reach<'a>(&'a self, argv: &'a [String], server: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let Some(questions) = &self.questions else { return false };
            let mut reached = self.reached.lock().await;
            if let Some(answered) = reached.get(server) {
                return *answered;
            }
            let (servers, answer) = match questions.may_reach(argv, server, self.origin.clone()).await {
                ReachAnswer::Allowed(servers) => (servers, true),
                ReachAnswer::Rejected(servers) => (servers, false),
                ReachAnswer::NotAsked => return false,
            };
            reached.extend(servers.into_iter().map(|server| (server, answer)));
            answer
        })
    }

    fn read_denied(&self, path: &Path) {
        *self.denied.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }

    fn needs_machine(&self, argv: &[String]) {
        let mut fenced = self.fenced.lock().unwrap_or_else(PoisonError::into_inner);
        if fenced.len() < MAX_WANTED {
            fenced.insert(argv.to_vec());
        }
    }

    fn kept_from(&self, argv: &[String], resources: &Resources) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.len() < MAX_WANTED || wanted.contains_key(argv) {
            // What it was kept from adds up: a second need must not hide the first, or it is asked about in turns for
            // ever.
            let all = wanted.entry(argv.to_vec()).or_default();
            add_new(&mut all.servers, &resources.servers);
            add_new(&mut all.reads, &resources.reads);
            add_new(&mut all.writes, &resources.writes);
        }
    }
}

/// Adds what is not there yet.
fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// What a failed call of a plugin is to a model.
impl PluginTool {
    fn outcome(&self, error: CallError) -> Outcome {
        // Without wildcards: a new error must say whether the model can do something about it.
        let kind = match &error {
            CallError::Failure(failure) => match failure {
                Failure::InvalidArguments(_) => FailureKind::InvalidArguments,
                Failure::Denied { .. } => FailureKind::Denied,
                // The host did nothing, so this is a failure like any that a tool reports.
                Failure::Claimed { .. } => FailureKind::Failed,
                Failure::NotFound(_) => FailureKind::NotFound,
                Failure::Conflict(_) => FailureKind::Conflict,
                Failure::Unavailable(_) => FailureKind::Unavailable,
                Failure::Failed(_) => FailureKind::Failed,
                // Only where the host was asked to stop; a plugin's own claim is a failure.
                Failure::Cancelled(partial) => {
                    let partial = Some(partial.clone()).filter(|partial| !partial.is_empty());
                    return Outcome::Cancelled { reason: "the call was asked to stop".to_owned(), partial };
                }
            },
            CallError::Admission(AdmissionError::Ungranted(denied)) => {
                return CallFailure::new(FailureKind::Denied, self.explained(denied)).into();
            }
            CallError::Admission(_) | CallError::Runtime(_) => FailureKind::Failed,
            CallError::Crashed { .. }
            | CallError::Limit { .. }
            | CallError::TooMuch { .. }
            | CallError::TooMany { .. }
            | CallError::NotJson { .. } => FailureKind::Crashed,
            CallError::Unsaved { .. } | CallError::Changed { .. } => FailureKind::Conflict,
            CallError::TimedOut { .. } => FailureKind::TimedOut,
        };
        CallFailure::new(kind, self.sandbox.failures.of(&self.spec.name, &error)).into()
    }

    /// Explains a denial to a model. What is beyond the ceiling no grant allows.
    fn explained(&self, denied: &Denied) -> String {
        if self.sandbox.ceiling.has(denied.capability) {
            return denied.explain(self.sandbox.runtime.wording());
        }
        match self.sandbox.only_reads {
            Some(OnlyReads::Plan) => PLAN_READS.to_owned(),
            Some(OnlyReads::Subagent) => format!("{denied}, and no answer allows it: a subagent only reads"),
            None => format!("{denied}, and no answer allows it: what the user denies stays denied"),
        }
    }
}
