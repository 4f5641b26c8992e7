//! The command line: what can be said, and how it is explained.

pub(crate) mod acp;
pub(crate) mod adopt;
pub(crate) mod bundles;
pub(crate) mod dev;
pub(crate) mod hooks;
pub(crate) mod indexes;
pub(crate) mod mcp;
pub(crate) mod model;
mod other_host;
mod start;
pub(crate) mod store;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use host_model::{Effort, Verbosity};
use host_process::ConfineMode;
use host_settings::error::ErrorKind;
use host_settings::request::{AccessRequest, FolderRequest, RunRequest};
use host_tool::ApprovalMode;

use self::start::Starts;
use crate::exit::{self, Code};
use crate::printer::{Format, Style};

/// Whether the arguments of this process begin with `run`.
pub(crate) fn is_run() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "run")
}

/// Parses the arguments of this process. Prints help and version; reports a mistake, which is invalid input.
pub(crate) fn parse(style: Style) -> Result<Arguments, Code> {
    let (words, starts) = match start::read(std::env::args_os().collect()) {
        Ok(start) => start,
        Err(failure) => return Err(exit::report(&failure, style)),
    };
    // An invalid line is explained by the whole program.
    let alone = OnlyRun::try_parse_from(&words).map(Arguments::from);
    let mut arguments = alone.or_else(|_| Arguments::try_parse_from(&words)).map_err(|error| {
        let told = error.print();
        if error.use_stderr() || told.is_err() { Code::Failed(ErrorKind::Input) } else { Code::Done }
    })?;
    if let Command::Run(run) = &mut arguments.command {
        run.starts_conversation = starts == Starts::Conversation;
        if let ([word], Starts::Conversation) = (run.prompt.as_slice(), starts) {
            start::check_one_word(word, &words).map_err(|failure| exit::report(&failure, style))?;
        }
    }
    Ok(arguments)
}

#[derive(Debug, Parser)]
#[command(
    name = "host",
    version,
    about = "Runs an LLM agent in your repository. Every tool it can call is a WebAssembly component that holds exactly \
             the capabilities you granted.",
    after_help = START_HELP,
    override_usage = "host [OPTIONS] [PROMPT]...\n       host <COMMAND>",
    max_term_width = 100,
    subcommand_required = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// `host run` alone: the command that is started all day does not wait until the flags of all others are described.
#[derive(Debug, Parser)]
#[command(name = "host", subcommand_required = true)]
struct OnlyRun {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    Run(Run),
}

impl From<OnlyRun> for Arguments {
    fn from(OnlyRun { command: RunCommand::Run(run) }: OnlyRun) -> Self {
        Self { command: Command::Run(run) }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent on a task, or chat with it, in this repository
    Run(Run),
    /// Serve as the agent of an editor, over the Agent Client Protocol
    Acp(acp::Acp),
    /// List or show the agents that a model can call, and that `host run --agent` runs
    #[command(subcommand, after_help = AGENT_HELP)]
    Agent(Agent),
    /// List the skills, or check one
    #[command(subcommand)]
    Skill(Skill),
    /// List the models that the program knows, show what it knows, or fetch newer facts
    #[command(subcommand, after_help = model::MODEL_HELP)]
    Model(model::Model),
    /// List, show or call the tools, through the same sandbox and without a model
    #[command(subcommand)]
    Tool(Tool),
    /// Use MCP servers, and serve the tools to other agents
    #[command(subcommand, after_help = mcp::MCP_HELP)]
    Mcp(mcp::Mcp),
    /// Create, build, test, publish and install plugins
    #[command(subcommand)]
    Plugin(Plugin),
    /// Create keys that sign plugins, and choose which keys are trusted
    #[command(subcommand, after_help = bundles::KEYS_HELP)]
    Keys(bundles::Keys),
    /// List, show, export, fork or remove recorded sessions
    #[command(subcommand)]
    Session(Session),
    /// Take back what a session changed in files, back to before one of its calls
    #[command(after_help = UNDO_HELP)]
    Undo(UndoArguments),
    /// Import another agent's configuration: MCP servers, permissions, hooks, commands and skills
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArguments),
    /// Choose which projects may bring configuration, agents, skills, commands, plugins, rules, hooks and MCP servers,
    /// and show what they bring
    #[command(after_help = TRUST_HELP, args_conflicts_with_subcommands = true)]
    Trust {
        #[command(subcommand)]
        command: Option<Trust>,
    },
    /// List the hooks: programs that are asked about calls, prompts and ends
    #[command(subcommand, after_help = hooks::HOOKS_HELP)]
    Hooks(hooks::Hooks),
    /// Explain whether a call would be allowed, and by which rule; list the rules
    #[command(subcommand, after_help = POLICY_HELP)]
    Policy(Policy),
    /// Print a JSON Schema: of `host run`'s output, of a plugin's manifests or of config.toml
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// json (the one object) or stream-json (each line) that `host run` prints; plugin (a `plugin.toml`) or
        /// manifest (what is shipped); config (your config.toml)
        #[arg(value_enum, value_name = "FORMAT", hide_possible_values = true)]
        format: Schema,
    },
    /// Check that everything the host needs is there
    Doctor(Doctor),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  host completions bash > ~/.local/share/bash-completion/completions/host")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  host manual | man -l -\n  host manual --out ~/.local/share/man/man1")]
    Manual {
        /// Write a page for each command into this folder instead
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Replace this program with a newer release that you fetched, if its signature holds
    #[command(after_help = UPDATE_HELP)]
    Update {
        /// The archive, with its signature beside it (`.minisig`)
        archive: PathBuf,
        /// The key that signs releases, or the file that has it; builds of a release know it
        #[arg(long, value_name = "KEY")]
        public_key: Option<String>,
    },
}

/// Help on updates.
const UPDATE_HELP: &str =
    "Nothing is fetched, and no release that is not newer is taken. What a package manager installed is updated there;
`host doctor` says how this program was installed.

Example:
  host update host-x86_64-unknown-linux-musl.tar.gz";

/// Help on starting without a command.
const START_HELP: &str =
    "Without a command, host starts a conversation in a terminal; the options are those of `host run`:
  host                                  # a conversation
  host \"Why do the tests fail?\"         # a conversation that begins with a prompt
  host -c                               # continue the last conversation of this folder
  host --resume                         # choose which one to continue
  host -p \"List the TODOs\"              # print the answer and exit
  host --yolo \"Fix the tests\"           # allow everything without asking

Try it without a key or a network:
  host --model offline \"Survey this repository\"";

/// Help on the location of rules; the error for an invalid file refers to it.
const POLICY_HELP: &str = "Rules are in the folder `policies` of your configuration, in files that end with .toml:

  [[rule]]
  tool = \"shell\"
  command = [\"cargo test\", \"git log\"]
  decision = \"allow\"                  # or ask, deny
  match = [\"cargo test --all\"]        # checked against the rule when the file is read

Your lasting answers are stored in answers.toml there. A trusted project has its own rules in .host/policies, and \
the administrator in /etc/host/policies.";

/// Help on declaring an agent; the error for an invalid file refers to it.
const AGENT_HELP: &str = "An agent of your own is a Markdown file in the folder `agents` of your configuration:

  ---
  name: reviewer
  description: Reviews the files of a change for mistakes.
  tools: [read_file, grep]     # of ls, read_file, grep, glob, read_many_files, memory, web_search
  model: gemini/gemini-3.6-flash # without it, the caller's model
  temperature: 0.2
  max_turns: 10
  timeout_mins: 5
  inputs:
    files: {type: 'string[]', description: The files to look at.}
  output:
    name: review
    description: What is wrong.
    schema: {type: object, properties: {mistakes: {type: array, items: {type: string}}}}
  query: Review ${files}.
  ---
  You review code. …

It can only read: its tools get the part of your grants that only reads.";

/// Help on the subject of a schema.
const SCHEMA_HELP: &str =
    "The schema is of this version: a later one may print more. A run that cannot start prints nothing on \
standard output, and the error on standard error.

Examples:
  host schema stream-json > stream-json.schema.json
  host schema plugin > plugin.schema.json            # for the editor that you write plugin.toml in
  host schema config > config.schema.json            # for the editor that you write config.toml in";

/// A short explanation of trust.
const TRUST_HELP: &str =
    "The files in the `.host/` at the top of a project (config.toml, agents/*.md, plugins/*.wasm with their \
manifests, policies/*.toml), and the MCP servers of its `.mcp.json` and `.gemini/settings.json`, are used only if you \
trust them. When one of them changes, you are asked again. `docs/trust.md` lists what a project may set.

Examples:
  host trust                  # what is there, and whether it is trusted
  host trust add              # trust it as it is now
  host trust remove ~/src/old
  host trust list";

/// Examples of runs.
const RUN_EXAMPLES: &str = "Examples:
  host run --model offline \"Survey this repository: what is it, and where are the TODOs?\"
  GEMINI_API_KEY=… host run \"Why does the test suite take so long?\"
  host run \"Explain @src/main.rs\"
  git diff | host run \"Review this change\"
  host run --approval-mode auto \"Make the tests pass\"
  host run --grant 'shell:process=cargo test' \"Run the tests and explain the first failure\"
  host run --record talk.jsonl \"…\" && host run --model scripted:talk.jsonl \"…\"
  host run --output-format stream-json \"…\" | jq .
  host run                                   # in a terminal: a conversation; also just `host`
  host run --continue
  host run --resume
  host run --resume /compress
  host run --resume 20260301-12 \"Now write the tests\"
  host run --agent codebase_investigator --input objective=\"How are paths checked?\"
  host run --output-schema answer.schema.json \"Which licences do the dependencies have?\"";

fn run_help() -> String {
    let codes = exit::codes_of_runs();
    format!(
        "{RUN_EXAMPLES}\n\nExit codes: {codes}. A failing tool call is reported to the model and does not end the run."
    )
}

#[derive(Debug, Args)]
#[command(after_help = run_help())]
pub(crate) struct Run {
    /// The task; without it, in a terminal, a conversation starts. `@PATH` in it attaches a file, a folder or a glob.
    /// Standard input, if it is not a terminal, is added to it
    pub(crate) prompt: Vec<String>,
    #[arg(short, long, value_name = "ID", help = model_help())]
    pub(crate) model: Option<String>,
    /// How much the model thinks: none, minimal, low, medium, high, xhigh or max; a model without this one uses the
    /// next lower one [default: the configured one, else the usual one of the model]
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<Effort>,
    /// How many words the model's answers have: low, medium or high, for the models that let you choose [default: the
    /// configured one, else the model's own]
    #[arg(long, value_name = "VERBOSITY")]
    pub(crate) verbosity: Option<Verbosity>,
    /// Print the answer and exit, also on a terminal: nothing is drawn, and nobody is asked
    #[arg(short, long)]
    pub(crate) print: bool,
    /// Print the answer and errors, and nothing else: like --print, and without notes on standard error
    #[arg(short, long, conflicts_with = "stats")]
    pub(crate) quiet: bool,
    /// Exit with code 54 if a call was refused, although the model continued without it
    #[arg(long)]
    pub(crate) fail_on_refused: bool,
    /// Continue the last session of this folder
    #[arg(short, long = "continue", conflicts_with_all = ["resume", "agent"])]
    pub(crate) continues: bool,
    /// Allow everything without asking, the same as --approval-mode yolo
    #[arg(long, conflicts_with = "approval_mode")]
    pub(crate) yolo: bool,
    /// Record the model's replies, to replay them later with --model scripted:FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Resume a session: answer the prompt, or finish its unfinished work. The beginning of an id is enough; what does
    /// not look like an id is part of the prompt. Without an id, in a terminal, a list to choose from; with a prompt or
    /// elsewhere the last session of this folder
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Run this agent (see `host agent list`) on its inputs, instead of the main agent on a prompt
    #[arg(long, value_name = "NAME", conflicts_with_all = ["prompt", "output_schema", "resume"])]
    pub(crate) agent: Option<String>,
    /// An input of the agent; repeat it for each input, and for each value of a list
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) input: Vec<String>,
    /// Answer with JSON that meets the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// What to print: text (the answer), json (one object at the end) or stream-json (a line for each event)
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) output_format: Format,
    /// Print tokens, cost, time and calls by tool on standard error. JSON always has them
    #[arg(long)]
    pub(crate) stats: bool,
    /// Maximum number of requests to the model [default: no limit; with --agent, the agent's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Time limit, such as 90s, 10m or 1h [default: no limit; with --agent, the agent's own]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Maximum number of tokens sent and received, subagents included [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Maximum cost, subagents included, by configured or list prices [default: no limit]
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
    /// Exit with code 55 if the project brings settings for host and is not trusted, instead of ignoring them
    #[arg(long)]
    pub(crate) require_trust: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) access: Access,
    /// Whether it was named without `run`: on a terminal, a prompt begins a conversation then.
    #[arg(skip)]
    pub(crate) starts_conversation: bool,
}

/// Where to work.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Work in a folder that is not a repository
    #[arg(long)]
    pub(crate) any_folder: bool,
}

/// What the tools may touch.
#[derive(Clone, Debug, Args)]
pub(crate) struct Access {
    /// What is allowed without asking: plan reads and denies everything else, default reads, auto-edit also changes
    /// files of the workspace, auto also runs programs that are confined, yolo runs any and fetches [default: auto at a
    /// terminal where programs can be confined, otherwise default]
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(ApprovalMode::ALL.map(ApprovalMode::name)).try_map(|name| name.parse::<ApprovalMode>()), hide_possible_values = true)]
    pub(crate) approval_mode: Option<ApprovalMode>,
    /// Whether programs that tools start are confined: require confines or denies them, auto confines as far as this
    /// machine can, off lets them do whatever you can do [default: auto, and off with --approval-mode yolo]
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(ConfineMode::ALL.map(ConfineMode::name)).try_map(|name| name.parse::<ConfineMode>()), hide_possible_values = true)]
    pub(crate) confine: Option<ConfineMode>,
    /// Grant a plugin more, as PLUGIN:CAPABILITY=SCOPE; may be repeated
    #[arg(long, value_name = "PLUGIN:CAP=SCOPE")]
    pub(crate) grant: Vec<String>,
    /// Deny a plugin (`*` = every plugin) a capability or files: PLUGIN:CAPABILITY, or PLUGIN:fs-read=GLOB; may be
    /// repeated
    #[arg(long, value_name = "PLUGIN:CAP")]
    pub(crate) deny: Vec<String>,
    /// Give tools the same access to this folder as to the workspace; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<String>,
    /// Add a plugin that `host plugin build` made: its .wasm file, or a folder of them; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) plugin: Vec<PathBuf>,
}

impl Run {
    /// The run as a plain request.
    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            model: self.model.clone(),
            effort: self.effort,
            verbosity: self.verbosity,
            record: self.record.clone(),
            agent: self.agent.clone(),
            input: self.input.clone(),
            output_schema: self.output_schema.clone(),
            max_turns: self.max_turns,
            timeout: self.timeout,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
        }
    }

    /// What its tools may touch, as a plain request.
    pub(crate) fn access(&self) -> AccessRequest {
        let access = self.access.request();
        AccessRequest {
            approval_mode: if self.yolo { Some(ApprovalMode::Yolo) } else { access.approval_mode },
            ..access
        }
    }
}

impl Place {
    /// The folder as a plain request.
    pub(crate) fn request(&self) -> FolderRequest {
        FolderRequest { folder: self.folder.clone(), any_folder: self.any_folder }
    }
}

impl Access {
    /// The access as a plain request.
    pub(crate) fn request(&self) -> AccessRequest {
        AccessRequest {
            approval_mode: self.approval_mode,
            confine: self.confine,
            grant: self.grant.clone(),
            deny: self.deny.clone(),
            add_dir: self.add_dir.clone(),
            plugin: self.plugin.clone(),
            servers: Vec::new(),
        }
    }
}

/// The documents that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Schema {
    Json,
    StreamJson,
    Plugin,
    Manifest,
    PluginIndex,
    Config,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// List the agents
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an agent: its inputs and output, its tools, limits and prompts
    #[command(after_help = "Example:\n  host agent show codebase_investigator")]
    Show {
        /// The agent's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what the model of the main agent gets before the first prompt, with the size of each section; nothing is
    /// sent
    #[command(after_help = "Examples:
  host agent prompt --model anthropic/claude-sonnet-5
  host agent prompt --approval-mode plan --headless --sizes")]
    Prompt {
        /// The model, as for `host run`
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Show it as it is where no user can be asked
        #[arg(long)]
        headless: bool,
        /// Show the sizes alone
        #[arg(long)]
        sizes: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Skill {
    /// List the skills: of this project, if it is trusted, and your own
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the SKILL.md of a folder; the exit code is 42 if it is invalid
    #[command(after_help = "Example:\n  host skill check .agents/skills/release-notes")]
    Check {
        /// The folder of the skill
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tool {
    /// List the tools and what they may touch
    List {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a tool: its description for the model, its imports, and what it may touch
    #[command(after_help = "Example:\n  host tool show grep")]
    Show {
        /// The tool's name
        name: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Call a tool
    #[command(after_help = "Examples:
  host tool call ls '{\"path\": \"src\"}'
  host tool call grep '{\"pattern\": \"TODO\", \"output\": \"count\"}'
  host tool call --preview edit '{\"path\": \"a.txt\", \"old_string\": \"a\", \"new_string\": \"b\"}'

The exit code is 54 if the call fails or is denied, and 42 if it cannot be made.")]
    Call {
        /// The tool's name
        name: String,
        /// The arguments, a JSON object; `-` reads it from standard input
        #[arg(default_value = "{}")]
        arguments: String,
        /// Show what the call would do, without doing it
        #[arg(long)]
        preview: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print the whole outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Create a plugin: a folder with a working tool to start from
    #[command(after_help = "The folder has everything that the plugin needs, including the contract in wit/.
For Rust it also adds the compiler's target for WebAssembly with rustup, if it is missing.

Examples:
  host plugin new count-words --lang python
  host plugin new acme/count-words --lang c --in plugins/count-words")]
    New {
        /// The plugin's name: NAME or PUBLISHER/NAME
        #[arg(value_name = "[PUBLISHER/]NAME")]
        name: String,
        /// The language that it is written in
        #[arg(long, value_name = "LANGUAGE", value_parser = PossibleValuesParser::new(host_devkit::template_languages()))]
        lang: String,
        /// The folder to write to; it must be empty or not exist yet [default: NAME]
        #[arg(long = "in", value_name = "FOLDER")]
        into: Option<PathBuf>,
    },
    /// Build the plugins of a package or workspace to components
    #[command(
        after_help = "A folder with a Cargo.toml is Rust; `[build]` with `language` in plugin.toml names another. \
In Rust, C, Zig and Go the same sources and compiler give the same bytes.

Examples:
  host plugin build . --out dist
  host plugin build plugins --out plugins/dist --check"
    )]
    Build {
        /// The package or workspace
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// The folder for the components and their manifests
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write nothing; fail if the existing files differ from what would be built
        #[arg(long)]
        check: bool,
    },
    /// Make a plugin of a component that other tools built
    Adopt(adopt::Adopt),
    /// Write the contract between plugins and the host, for the tools of any language
    Wit(adopt::Wit),
    /// Run a plugin's test cases, each a call in the sandbox
    #[command(after_help = "The cases are in tests/*.toml of the plugin's folder: docs/plugin-tests.md.

Examples:
  host plugin test
  host plugin test plugins --filter \"is denied\"
  host plugin test my-plugin --built dist --json | jq '.[] | select(.passed | not)'")]
    Test(PluginTest),
    /// Build a plugin and run its cases, and again whenever its sources change
    Dev(dev::PluginDev),
    /// Check a plugin before you publish it: imports, requests, schemas, size, and what changed
    #[command(after_help = "The exit code is 54 for errors, and for a version that is too low for the changes.

Examples:
  host plugin check
  host plugin check my-plugin --since released/my-plugin.json
  host plugin check --built dist --json | jq '.[].findings'")]
    Check(PluginCheck),
    /// Explain in plain words what a plugin may touch
    #[command(after_help = "Examples:
  host plugin explain dist
  host plugin explain dist/my-plugin.wasm")]
    Explain {
        /// A component NAME.wasm with its NAME.json, or the folder that they were built into
        #[arg(value_name = "PATH")]
        built: PathBuf,
    },
    /// Pack a plugin into a bundle: one file, to sign and publish
    Pack(bundles::Pack),
    /// Sign a bundle
    Sign(bundles::Sign),
    /// Show what is in a bundle, and whether a key that is trusted for it signed it
    Verify(bundles::Verify),
    /// Install a plugin from a registry, a file or an address
    Install(store::Install),
    /// List the installed plugins
    List(store::List),
    /// Remove an installed plugin
    Remove(store::Remove),
    /// Push a bundle to a registry
    Push(store::Push),
    /// Pull a bundle from a registry
    Pull(store::Pull),
    /// List the versions of a plugin in a registry
    Versions(store::Versions),
    /// Search the indexes of plugins that you configured
    Search(indexes::Search),
    /// Make a signed index of the bundles in a folder
    Index(indexes::Index),
}

/// The plugins that a command is about.
#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// The package or workspace
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Use what was built into this folder before, instead of building
    #[arg(long, value_name = "DIR")]
    pub(crate) built: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PluginCheck {
    #[command(flatten)]
    pub(crate) plugins: Sources,
    /// Compare with a released version: its manifest, or the folder that it was built into
    #[arg(long, value_name = "PATH")]
    pub(crate) since: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginTest {
    #[command(flatten)]
    pub(crate) plugins: Sources,
    /// Run only the cases with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Explain whether a call would run, be asked about or be denied, and why; nothing runs
    #[command(after_help = "Examples:
  host policy check shell '{\"command\": \"cargo test && git push\"}'
  host policy check edit '{\"path\": \"a.txt\", \"old_string\": \"a\", \"new_string\": \"b\"}' --approval-mode auto-edit
  host policy check web_fetch '{\"url\": \"https://example.com\"}' --json | jq .decision")]
    Check {
        /// The tool's name
        tool: String,
        /// The arguments, a JSON object; `-` reads it from standard input
        #[arg(default_value = "{}")]
        arguments: String,
        /// The agent that would call it
        #[arg(long, default_value = "main", value_name = "NAME")]
        agent: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the rules in the order of their precedence, each with its source; your answers have numbers
    List {
        #[command(flatten)]
        place: Place,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep files from every tool and every program, in every mode; saved as `[deny]` in your configuration
    #[command(after_help = "Examples:
  host policy deny .env '*.pem'       # these names, in every folder
  host policy deny 'secrets/**'       # in the folder that host works in
  host policy deny ~/notes")]
    Deny {
        /// The files and folders: a name for every folder, a path beneath the workspace, or one that begins with / or ~
        #[arg(required = true, value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Take back what `host policy deny` saved
    #[command(after_help = "Example:\n  host policy allow '*.pem'")]
    Allow {
        /// The files and folders, as `host policy list` shows them
        #[arg(required = true, value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Take back something that you allowed by answering "always"
    #[command(after_help = "Examples:
  host policy list
  host policy forget 2
  host policy forget git log")]
    Forget {
        /// The number from `host policy list`, or a part of the words beside it
        #[arg(required = true, value_name = "NUMBER|TEXT")]
        what: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Trust {
    /// Show what a project brings, what its plugins ask for, and whether it is trusted
    Status {
        /// A folder of the project, instead of the current one
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Trust a project as it is now
    #[command(after_help = "Example:\n  host trust add ~/src/rocket")]
    Add {
        /// A folder of the project, instead of the current one
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Revoke the trust in a project
    Remove {
        /// A folder of the project, instead of the current one; if it no longer exists, its path as `host trust list`
        /// shows it
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// List the projects that are trusted
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// List the sessions of this folder, the newest first
    List {
        /// The folder whose sessions are listed, instead of the current one
        #[arg(short = 'C', value_name = "DIR")]
        folder: Option<PathBuf>,
        /// List the sessions of all folders
        #[arg(long, conflicts_with = "folder")]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the messages and calls of a session, with long texts cut
    #[command(after_help = "Examples:\n  host session show\n  host session show 20260301-12")]
    Show {
        /// The session's id, or its beginning [default: the last session of this folder]
        id: Option<String>,
    },
    /// Copy a session, to continue it in two ways
    #[command(after_help = "Example:\n  host session fork 20260301-12 && host --resume")]
    Fork {
        /// The session's id, or its beginning [default: the last session of this folder]
        id: Option<String>,
    },
    /// Give a session a title, by which lists show it in place of its first prompt
    #[command(after_help = "Examples:
  host session rename 20260301-12 'The parser, second try'
  host session rename 20260301-12 ''     # its first prompt again")]
    Rename {
        /// The session's id, or its beginning
        id: String,
        /// The title; an empty one takes it away
        title: String,
    },
    /// Remove sessions for good: their logs and large outputs. A session that is running is not removed
    #[command(after_help = "Example:\n  host session rm 20260301-12")]
    Rm {
        /// The ids of the sessions, or their beginnings
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Verify that no byte of recorded sessions was changed since they were written
    #[command(after_help = VERIFY_HELP)]
    Verify {
        /// The ids of the sessions, or their beginnings [default: the last session of this folder]
        #[arg(value_name = "SESSION")]
        ids: Vec<String>,
        /// Verify all sessions, also those of other folders and those whose logs are missing
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which call of which session wrote each version of a file, with the prompt and who allowed it
    #[command(after_help = "Examples:
  host session blame src/lib.rs
  host session blame --json src/lib.rs | jq '.versions[-1].prompt'")]
    Blame {
        /// The file, which need not exist any more
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Export a whole session, as a document or as data
    #[command(after_help = "Examples:
  host session export -o session.md
  host session export 20260301-12 --format json | jq '.entries[] | select(.type == \"call\")'")]
    Export {
        /// The session's id, or its beginning [default: the last session of this folder]
        id: Option<String>,
        /// markdown or json
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown, value_name = "FORMAT", hide_possible_values = true)]
        format: ExportFormat,
        /// The file to write instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Json,
}

const VERIFY_HELP: &str =
    "Verifies every byte of the log, its large outputs, the journal of changed files and what is kept \
to undo them. The exit code is 65 if something was changed or cannot be verified.

Examples:
  host session verify               # the last session of this folder
  host session verify 20260301-12
  host session verify --all --json | jq '.[] | select(.verdict != \"verified\")'";

const IMPORT_HELP: &str =
    "Shows what goes where and what cannot be taken over, and asks before it writes. Nothing that is \
there is replaced. Values of variables and headers of MCP servers go into files that only you can read.

Examples:
  host import claude
  host import codex --yes
  host import gemini --json | jq '.left_out'";

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// claude, codex or gemini
    #[arg(value_enum, value_name = "AGENT", hide_possible_values = true)]
    pub(crate) agent: ImportFrom,
    /// The project whose settings apply, instead of the current folder
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the plan as JSON, and do not ask
    #[arg(long)]
    pub(crate) json: bool,
}

/// An agent to import from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFrom {
    Claude,
    Codex,
    Gemini,
}

const UNDO_HELP: &str = "Without --to it lets you pick a call, or lists the calls where there is no terminal. A file that \
changed since the session left it is never touched: the exit code is 54 if one was left alone. An undo is a call of its \
own, and can be undone.

Examples:
  host undo                       # the last session of this folder
  host undo --to 3                # take back call 3 and all later ones
  host undo 20260301-12 --json    # list the calls that changed files";

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The session's id, or its beginning [default: the last session of this folder]
    #[arg(value_name = "SESSION")]
    pub(crate) id: Option<String>,
    /// Take back what this call and all later ones changed
    #[arg(long, value_name = "NUMBER")]
    pub(crate) to: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The help of `--model`, with the forms of all providers.
fn model_help() -> String {
    let forms: Vec<String> = host_model::model_forms().collect();
    format!(
        "The model: {}, or auto [default: the configured one, else the first whose key is set, else the first of \
         Ollama's on this machine]",
        forms.join(", ")
    )
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) | Err(_) => Err(format!("`{text}` is not an amount above 0, such as 0.50")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let range = || format!("`{text}` is out of range: it must be more than 0, such as 90s, 10m or 1h30m");
    if text.trim() == "0" {
        return Err(range());
    }
    let parsed: jiff::SignedDuration =
        text.parse().map_err(|_| format!("`{text}` is not a duration; write it as 90s, 10m or 1h30m"))?;
    match Duration::try_from(parsed) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) | Err(_) => Err(range()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_have_each_option_that_helps_name() {
        fn options(command: &clap::Command, all: &mut Vec<String>) {
            for option in command.get_arguments() {
                all.extend(option.get_long().map(|long| format!("--{long}")));
                all.extend(option.get_short().map(|short| format!("-{short}")));
            }
            command.get_subcommands().for_each(|command| options(command, all));
        }
        let mut known = Vec::new();
        options(&Arguments::command(), &mut known);
        for flag in host_text::Flag::ALL {
            assert!(known.iter().any(|option| option == flag.typed()), "{flag:?}");
        }
    }

    #[test]
    fn run_alone_is_read_as_among_all_commands() {
        for line in ["run", "run --yolo --model gemini/x fix it", "run -p x --grant a:fs-read=. --turns 3", "run -- -x"]
        {
            let words: Vec<_> = std::iter::once("host").chain(line.split(' ')).collect();
            let alone = OnlyRun::try_parse_from(&words).map(Arguments::from);
            let among_all = Arguments::try_parse_from(&words);
            assert_eq!(format!("{:?}", alone.ok()), format!("{:?}", among_all.ok()), "{line}");
        }
        for line in ["session list", "run --help", "run --no-such", "--version", ""] {
            let words: Vec<_> = std::iter::once("host").chain(line.split(' ')).collect();
            assert!(OnlyRun::try_parse_from(words).is_err(), "{line}");
        }
    }

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, seconds) in
            [("90s", Some(90)), ("10m", Some(600)), ("1h30m", Some(5400)), ("0", None), ("-1s", None), ("ten", None)]
        {
            assert_eq!(duration(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
