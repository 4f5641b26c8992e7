//! A project's own configuration: the keys that it may set, and how it overrides the user's.
//!
//! The keys and their meaning are those of the user's file, and the project's values override the user's. But trusting
//! a project means that it may configure how it is worked on; it does not hand over the user's safety. So only the user
//! can set where keys are sent, who pays, and which questions are skipped, and a project can only lower a limit. The
//! list names the allowed keys: a new key belongs to the user alone until it is added here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use host_agent::{RunConfig, TreeLimits};
use host_tool::ApprovalMode;
use toml::de::{DeTable, DeValue};

use super::commands::{Owner, ToolCommands};
use super::fault::{ConfigurationError, ProjectRule, WhyNot};
use super::{
    Agent, Amount, AtLeastOne, Compression, ConfigurationFile, Confine, DailyBudget, Deny, Limits, Model, Routing, Run,
    overlay,
};
use crate::error::Failure;
use crate::models::prices;
use crate::project::{ProjectFile, shown};

/// The keys that a project may set; `*` is any name.
const ALLOWED: &[&[&str]] = &[
    &["model"],
    &["approval_mode"],
    &["confine", "mode"],
    &["deny", "read"],
    &["check", "commands"],
    &["check", "attempts"],
    &["check", "seconds"],
    &["run", "max_turns"],
    &["run", "timeout_seconds"],
    &["run", "grace_seconds"],
    &["run", "loop_detection"],
    &["run", "max_tokens"],
    &["run", "max_cost"],
    &["run", "max_subagents"],
    &["run", "max_total_turns"],
    &["budget", "tokens_per_day"],
    &["budget", "cost_per_day"],
    &["context", "files"],
    &["tools", "discovery_command"],
    &["tools", "call_command"],
    &["limits", "call_seconds"],
    &["limits", "process_call_seconds"],
    &["limits", "memory_mib"],
    &["compression", "threshold"],
    &["compression", "summarised"],
    &["routing", "default"],
    &["routing", "classifier"],
    &["routing", "models", "*"],
    &["models", "*", "temperature"],
    &["models", "*", "top_p"],
    &["models", "*", "max_output_tokens"],
    &["models", "*", "thinking_budget"],
    &["models", "*", "effort"],
    &["models", "*", "verbosity"],
    &["models", "*", "stop"],
    &["models", "*", "fallback"],
    &["models", "*", "window"],
    &["models", "*", "price"],
    &["models", "*", "tools"],
    &["agents", "*", "enabled"],
    &["agents", "*", "model"],
    &["agents", "*", "max_turns"],
    &["agents", "*", "timeout_minutes"],
    &["agents", "*", "temperature"],
    &["plugins", "*", "config", "*"],
];

/// The files of user and project, as far as they can be one, and the rest.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The user's, overridden by the project's.
    pub(super) file: ConfigurationFile,
    pub(super) of_project: ProjectConfig,
}

/// Settings of a project that are kept separate from the user's.
#[derive(Debug, Default)]
pub(super) struct ProjectConfig {
    /// The names of its context files. They are not looked up in the user's own folder, whose files a project must not
    /// show to a model.
    pub(super) context_files: Option<Vec<String>>,
    /// About agents: after what the user says, which it can only make less.
    pub(super) agents: BTreeMap<String, Agent>,
    /// The sources of more tools: the project's own programs, which were trusted with it.
    pub(super) tools: ToolCommands,
}

impl ConfigurationFile {
    /// Overrides this file, the user's, with that of a trusted project.
    pub(super) fn with_project(self, file: Option<&ProjectFile>) -> Result<Layers, Failure> {
        let Some(file) = file else { return Ok(Layers { file: self, ..Layers::default() }) };
        let text = file.text()?;
        let project = Self::parse(text, &file.path)?;
        check(text, &file.path)?;
        let programs = project.tools.check_programs(Owner::Project);
        programs.map_err(|fault| ConfigurationError::of_commands(&file.path, fault))?;
        Ok(self.overlaid_by(project))
    }

    fn overlaid_by(self, project: Self) -> Layers {
        let mode = |mode: ApprovalMode| mode.min(self.approval_mode.unwrap_or(ApprovalMode::Default));
        let mut routing = self.routing;
        routing.models.extend(project.routing.models);
        let mut models = self.models;
        for (id, mut over) in project.models {
            let model = models.remove(&id).unwrap_or_default();
            if prices::is_listed(&id) {
                // A price of the project in place of the listed one could lift the user's limit of costs.
                over.price = None;
            }
            models.insert(id, model.overlaid_by(over));
        }
        let file = Self {
            model: project.model.or(self.model),
            approval_mode: project.approval_mode.map(mode).or(self.approval_mode),
            any_folder: self.any_folder,
            effort: project.effort.or(self.effort),
            verbosity: project.verbosity.or(self.verbosity),
            editing: project.editing.or(self.editing),
            code_mode: project.code_mode.or(self.code_mode),
            written: self.written.overlaid_by(project.written),
            confine: Confine {
                // A project may only ask for more.
                mode: project.confine.mode.max(self.confine.mode),
                ..self.confine
            },
            // What one of them denies is denied.
            deny: Deny { read: [self.deny.read, project.deny.read].concat() },
            // A project has its own file for hooks, which is trusted with it.
            hooks: self.hooks,
            check: self.check.with_project(project.check),
            run: self.run.narrowed(project.run),
            budget: self.budget.narrowed(&project.budget),
            conversation: self.conversation,
            context: self.context,
            limits: self.limits.narrowed(project.limits),
            tools: self.tools,
            retry: self.retry,
            compression: Compression {
                threshold: project.compression.threshold.or(self.compression.threshold),
                summarised: project.compression.summarised.or(self.compression.summarised),
            },
            providers: self.providers,
            routing: Routing {
                default: project.routing.default.or(routing.default),
                classifier: project.routing.classifier.or(routing.classifier),
                models: routing.models,
            },
            models,
            agents: self.agents,
            plugins: overlay(self.plugins, project.plugins),
            mcp: self.mcp,
            indexes: self.indexes,
        };
        let of_project =
            ProjectConfig { context_files: project.context.files, agents: project.agents, tools: project.tools };
        Layers { file, of_project }
    }
}

impl Run {
    fn narrowed(self, project: Self) -> Self {
        let (usual, tree) = (RunConfig::unlimited(), TreeLimits::default());
        Self {
            max_turns: narrower(project.max_turns, self.max_turns, None),
            timeout_seconds: narrower(project.timeout_seconds, self.timeout_seconds, None),
            grace_seconds: narrower(project.grace_seconds, self.grace_seconds, Some(usual.grace.as_secs())),
            loop_detection: project.loop_detection.or(self.loop_detection),
            max_tokens: narrower(project.max_tokens, self.max_tokens, None),
            max_cost: lower(project.max_cost, self.max_cost),
            max_subagents: narrower(project.max_subagents, self.max_subagents, Some(tree.subagents)),
            max_total_turns: narrower(project.max_total_turns, self.max_total_turns, None),
        }
    }
}

impl DailyBudget {
    fn narrowed(self, project: &Self) -> Self {
        Self {
            tokens_per_day: narrower(project.tokens_per_day, self.tokens_per_day, None),
            cost_per_day: lower(project.cost_per_day, self.cost_per_day),
        }
    }
}

impl Limits {
    fn narrowed(self, project: Self) -> Self {
        let usual = host_plugin::Limits::default();
        let seconds = |time: Duration| AtLeastOne::usual(time.as_secs());
        Self {
            call_seconds: narrower(project.call_seconds, self.call_seconds, seconds(usual.time)),
            process_call_seconds: narrower(
                project.process_call_seconds,
                self.process_call_seconds,
                seconds(usual.process_time),
            ),
            memory_mib: narrower(project.memory_mib, self.memory_mib, AtLeastOne::usual(usual.memory >> 20)),
        }
    }
}

impl Model {
    fn overlaid_by(self, project: Self) -> Self {
        Self {
            temperature: project.temperature.or(self.temperature),
            top_p: project.top_p.or(self.top_p),
            max_output_tokens: project.max_output_tokens.or(self.max_output_tokens),
            thinking_budget: project.thinking_budget.or(self.thinking_budget),
            effort: project.effort.or(self.effort),
            verbosity: project.verbosity.or(self.verbosity),
            stop: project.stop.or(self.stop),
            safety: self.safety,
            fallback: project.fallback.or(self.fallback),
            window: project.window.or(self.window),
            // It makes requests dearer.
            long_cache: self.long_cache,
            // The user's limit of costs counts in the user's prices.
            price: self.price.or(project.price),
            tools: project.tools.or(self.tools),
            deferred_tools: project.deferred_tools.or(self.deferred_tools),
            custom_tools: project.custom_tools.or(self.custom_tools),
        }
    }
}

/// Returns the project's value, limited to what the user allows, or else to the host's default. Without either there is
/// no limit.
pub(super) fn narrower<T: Ord + Copy>(project: Option<T>, own: Option<T>, usual: Option<T>) -> Option<T> {
    match (project, own.or(usual)) {
        (Some(project), Some(most)) => Some(project.min(most)),
        (Some(project), None) => Some(project),
        (None, _) => own,
    }
}

/// The same for amounts.
fn lower(project: Option<Amount>, own: Option<Amount>) -> Option<Amount> {
    match (project, own) {
        (Some(Amount(project)), Some(Amount(own))) => Some(Amount(project.min(own))),
        (project, own) => project.or(own),
    }
}

/// Rejects keys that a project may not set.
fn check(text: &str, file: &Path) -> Result<(), ConfigurationError> {
    // It was parsed before.
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    let Some(wrong) = first_wrong(table.get_ref(), &mut Vec::new()) else { return Ok(()) };
    let line = 1 + text.get(..wrong.at).unwrap_or(text).matches('\n').count();
    Err(ConfigurationError::OfProject { path: shown::path(file), line, key: shown::name(&wrong.key), rule: wrong.rule })
}

/// Something that a project may not say.
struct Wrong {
    key: String,
    at: usize,
    rule: ProjectRule,
}

/// The first such thing in the order of the keys.
fn first_wrong(table: &DeTable<'_>, path: &mut Vec<String>) -> Option<Wrong> {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        let fits = |allowed: &&[&str]| {
            path.len() <= allowed.len() && path.iter().zip(*allowed).all(|(key, name)| *name == "*" || key == name)
        };
        let wrong = |rule| Some(Wrong { key: path.join("."), at: key.span().start, rule });
        let allowed: Vec<_> = ALLOWED.iter().copied().filter(&fits).collect();
        let found = match value.get_ref() {
            _ if allowed.is_empty() => wrong(ProjectRule::NotAllowed(why_not(path))),
            DeValue::Table(beneath) if allowed.iter().all(|allowed| allowed.len() > path.len()) => {
                first_wrong(beneath, path)
            }
            DeValue::String(mode) if *path == ["approval_mode"] && !matches!(&**mode, "plan" | "default") => {
                wrong(ProjectRule::Mode)
            }
            DeValue::Boolean(false) if *path == ["run", "loop_detection"] => wrong(ProjectRule::LoopDetection),
            _ => None,
        };
        path.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns why only the user can set a key.
fn why_not(path: &[String]) -> WhyNot {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["providers", ..] => WhyNot::Service,
        ["plugins", _, "secrets", ..] => WhyNot::Secret,
        ["retry", ..] => WhyNot::Retry,
        ["models", _, "safety", ..] => WhyNot::Safety,
        _ => WhyNot::Other,
    }
}

#[cfg(test)]
mod tests {
    use host_plugin::Digest;
    use host_process::ConfineMode;

    use super::*;
    use crate::project::Part;

    fn layered(own: &str, project: &str) -> Result<Layers, Failure> {
        let own = ConfigurationFile::parse(own, Path::new("own.toml")).expect("it is right");
        let bytes = project.as_bytes().to_vec();
        let digest = Digest::of(&bytes);
        let path = "/p/.host/config.toml".into();
        own.with_project(Some(&ProjectFile { path, part: Part::Configuration, bytes, digest }))
    }

    #[test]
    fn project_settings_that_only_the_user_may_set_are_an_error_with_their_line() {
        for (project, line, key) in [
            ("\n[providers.openai]\nbase_url = \"http://evil.example\"\n", 2, "`providers`"),
            ("providers = {}\n", 1, "`providers`"),
            ("providers.gemini.proxy = \"http://evil.example\"\n", 1, "`providers`"),
            ("model = \"x\"\n[retry]\nattempts = 9\n", 2, "`retry`"),
            ("[plugins.\"a/b\"]\nsecrets.token = { env = \"X\" }\n", 2, "`plugins.a/b.secrets`"),
            ("[models.x.safety]\nA = \"BLOCK_NONE\"\n", 1, "`models.x.safety`"),
            ("[models.\"a\\nb\"]\nsafety = {}\n", 2, "`models.a\\nb.safety`"),
            ("model = \"x\"\napproval_mode = \"yolo\"\n", 2, "`approval_mode`"),
            ("approval_mode = 'auto-edit'\n", 1, "`approval_mode`"),
            ("[confine]\nmode = 'auto'\nwritable = ['/']\n", 3, "`confine.writable`"),
            ("confine.readable = ['~']\n", 1, "`confine.readable`"),
            ("\n[conversation]\nnotify_command = ['evil']\n", 2, "`conversation`"),
            ("conversation.notify = 'osc9'\n", 1, "`conversation`"),
            ("[run]\nmax_turns = 3\nloop_detection = false\n", 3, "`run.loop_detection`"),
        ] {
            let failure = layered("", project).expect_err("it is not allowed in a project");
            assert!(
                failure.causes[0].to_string().starts_with(&format!("line {line}: {key} ")),
                "{failure:?} for {project}"
            );
            assert!(failure.message.contains("/p/.host/config.toml") && failure.help.is_some(), "{failure:?}");
        }
        let failure = layered("", "modle = \"x\"\n").expect_err("nobody reads it");
        assert_eq!(failure.help_text().as_deref(), Some("did you mean `model`?"));
    }

    #[test]
    fn every_key_of_the_list_is_one() {
        for allowed in ALLOWED {
            let key: Vec<&str> = allowed.iter().map(|name| if *name == "*" { "gemini/x" } else { name }).collect();
            // Every key has a type, and none is a datetime: the error is about the type and not the key.
            let quoted = key.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(".");
            let failure = layered("", &format!("{quoted} = 2026-01-01\n")).expect_err("it is of the wrong type");
            let last = key.last().expect("it has a name");
            assert!(
                !failure.causes[0].to_string().contains(&format!("unknown field `{last}`")),
                "{quoted}: {failure:?}"
            );
        }
    }

    #[test]
    fn project_settings_override_those_of_the_user() {
        let own = "model = \"a\"\n[models.a]\ntemperature = 1.0\ntop_p = 0.5\nstop = [\"X\"]\n\
                   [routing]\ndefault = \"a\"\nclassifier = \"c\"\n[context]\nfiles = [\"MINE.md\"]\n";
        let project = "model = \"b\"\n[models.a]\ntemperature = 0.0\nstop = []\n[models.b]\nwindow = 9\n\
                       [routing]\ndefault = \"b\"\n[context]\nfiles = [\"OURS.md\"]\n";
        let Layers { file: both, of_project } = layered(own, project).expect("it is right");
        assert_eq!(both.model.as_deref(), Some("b"));
        let settings = both.models["a"].settings();
        assert_eq!((settings.temperature, settings.top_p, settings.stop), (Some(0.0), Some(0.5), Vec::new()));
        assert_eq!(both.models["b"].window, Some(9));
        assert_eq!((both.routing.default.as_deref(), both.routing.classifier.as_deref()), (Some("b"), Some("c")));
        assert_eq!(both.context.files, Some(vec!["MINE.md".to_owned()]));
        assert_eq!(of_project.context_files, Some(vec!["OURS.md".to_owned()]));
    }

    // promise project.settings
    #[test]
    fn project_limits_only_narrow_those_of_the_user() {
        let run = |own: &str, project: &str| layered(own, project).expect("it is right").file.run;
        let turns = |own: &str, project: &str| run(own, project).max_turns.map(AtLeastOne::get);
        assert_eq!(turns("", "run.max_turns = 5"), Some(5));
        assert_eq!(turns("", "run.max_turns = 500"), Some(500), "the user has no limit");
        assert_eq!(turns("run.max_turns = 50", "run.max_turns = 500"), Some(50));
        assert_eq!(turns("run.max_turns = 50", ""), Some(50));
        let tokens = |own: &str, project: &str| run(own, project).max_tokens.map(AtLeastOne::get);
        assert_eq!(tokens("", "run.max_tokens = 7"), Some(7));
        assert_eq!(tokens("run.max_tokens = 5", "run.max_tokens = 7"), Some(5));
        let cost = |run: Run| run.max_cost.map(|amount| amount.0);
        assert_eq!(cost(run("run.max_cost = 1.0", "run.max_cost = 7.0")), Some(1.0));
        assert_eq!(cost(run("", "run.max_cost = 7.0")), Some(7.0));
        let day = |own: &str, project: &str| {
            let limits = layered(own, project).expect("it is right").file.budget.resolved();
            (limits.tokens, limits.cost.map(host_agent::Cost::amount))
        };
        let own = "budget = { tokens_per_day = 50, cost_per_day = 2.0 }";
        assert_eq!(day(own, "budget = { tokens_per_day = 500, cost_per_day = 20.0 }"), (Some(50), Some(2.0)));
        assert_eq!(day(own, "budget = { tokens_per_day = 5, cost_per_day = 0.5 }"), (Some(5), Some(0.5)));
        assert_eq!(day("", "budget = { tokens_per_day = 5 }"), (Some(5), None));
        assert_eq!(run("", "run.max_subagents = 99").max_subagents, Some(TreeLimits::default().subagents));
        let limits = layered("limits.memory_mib = 64", "limits.memory_mib = 4096").expect("it is right").file.limits;
        assert_eq!(limits.memory_mib.map(AtLeastOne::get), Some(64));
        let usual = host_plugin::Limits::default();
        let limits =
            layered("", "limits.call_seconds = 99999\nlimits.process_call_seconds = 1").expect("it is right").file;
        assert_eq!(
            (limits.limits.resolved().time, limits.limits.resolved().process_time),
            (usual.time, Duration::from_secs(1))
        );
    }

    // promise confine.settings: Only the user can let programs touch more; a project can only have them confined.
    #[test]
    fn confine_settings_of_a_project_only_confine() {
        let mode = |own: &str, project: &str| layered(own, project).expect("it is right").file.confine.mode;
        assert_eq!(mode("", "confine.mode = 'require'"), Some(ConfineMode::Require));
        assert_eq!(mode("confine.mode = 'auto'", "confine.mode = 'off'"), Some(ConfineMode::Auto));
        assert_eq!(mode("confine.mode = 'off'", "confine.mode = 'auto'"), Some(ConfineMode::Auto));
        assert_eq!(mode("confine.mode = 'require'", ""), Some(ConfineMode::Require));
        let own = "[confine]\nreadable = ['~/a']\nwritable = ['~/b']";
        let confine = layered(own, "confine.mode = 'auto'").expect("it is right").file.confine;
        assert_eq!((confine.readable, confine.writable), (vec!["~/a".into()], vec!["~/b".into()]));
    }

    #[test]
    fn a_projects_mode_only_asks_more() {
        let mode = |own: &str, project: &str| layered(own, project).expect("it is right").file.approval_mode;
        assert_eq!(mode("", "approval_mode = 'plan'"), Some(ApprovalMode::Plan));
        assert_eq!(mode("approval_mode = 'yolo'", "approval_mode = 'default'"), Some(ApprovalMode::Default));
        assert_eq!(mode("approval_mode = 'plan'", "approval_mode = 'default'"), Some(ApprovalMode::Plan));
        assert_eq!(mode("approval_mode = 'yolo'", ""), Some(ApprovalMode::Yolo));
    }

    // promise project.settings
    #[test]
    fn project_cost_limit_is_counted_in_the_users_prices() {
        let price = |text: &str| format!("[models.m]\nprice = {{ input = {text}, output = {text} }}\n");
        let both = layered(&price("2.0"), &price("0.0")).expect("it is right").file;
        assert_eq!(both.models["m"].price.map(|price| price.input.0), Some(2.0));
        let both = layered("", &price("1.0")).expect("it is right").file;
        assert_eq!(both.models["m"].price.map(|price| price.input.0), Some(1.0));
        let listed = "[models.\"anthropic/claude-opus-5\"]\nprice = { input = 0.0, output = 0.0 }\n";
        let both = layered("", listed).expect("it is right").file;
        assert!(both.models["anthropic/claude-opus-5"].price.is_none(), "the listed price is the user's");
        let own = layered(listed, "").expect("it is right").file;
        assert!(own.models["anthropic/claude-opus-5"].price.is_some());
    }
}
