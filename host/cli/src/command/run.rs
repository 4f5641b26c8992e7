//! `host run`: an agent on a task.

mod begin;
mod compress;
mod conversation;
mod main_agent;
mod resume;
mod said;
mod subagents;
mod task;

use std::sync::Arc;

use host_agent::AgentDefinition;
use host_message::{ModelId, Part};
use host_model::Recording;
use host_tool::Standstill;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::begin::{Begun, Workbench};
use self::resume::Resume;
use self::said::{Said, joined, said};
use super::place::{self, Workplace};
use crate::agents::Agents;
use crate::approval::{self, Person};
use crate::arguments::{Format, Run};
use crate::attach::{self, Attached};
use crate::context::{self, Context};
use crate::environment::Environment;
use crate::exit::{self, Code, Failure};
use crate::interrupt::Interrupt;
use crate::models::{self, Model};
use crate::printer::terminal::{self as drawn, Stats};
use crate::printer::{self, About, Out, Printer, Style};
use crate::project::{self, Project};
use crate::terminal::{self, Keyboard, Terminal};

/// What the root agent is called in the log of its session.
const MAIN: &str = "main";

pub(crate) async fn run(mut run: Run, environment: Environment, interrupt: Interrupt) -> Result<Code, Failure> {
    let stop = interrupt.stop.clone();
    if run.agent.is_none() && !run.input.is_empty() {
        // clap does not require `--agent` of somebody who also gave a prompt, since the two exclude each other.
        return Err(Failure::input("`--input` is for an agent that `--agent` names")
            .help("name the agent, or say everything in the prompt"));
    }
    let resume = Resume::of(&mut run);
    let compresses = compress::is_asked(&run.prompt);
    if compresses && resume.is_none() {
        return Err(Failure::input("there is no conversation to shorten").help(
            "name the session: host run --resume ID /compress, or host run --resume /compress for the last one",
        ));
    }
    let can_talk = conversation::is_possible(&run, &environment);
    let words = match run.agent {
        None => said(&run.prompt, resume.is_some() || can_talk, &environment, &stop).await?,
        Some(_) => Said::nothing(),
    };
    let is_prompted = run.agent.is_some() || !words.is_nothing();
    let talks = can_talk && !is_prompted;
    let project = project(&run, &environment, &stop).await?;
    let standstill = Standstill::default();
    let about = printer::About { project_trust: project.word(), standstill: standstill.clone(), stats: run.stats };
    let mut place = Workplace::open(&run.place, &run.access, project, &environment, &stop).await?;
    place.is_attended = printer::is_drawn(run.output_format, &environment) && environment.stdin_is_terminal;
    let agents = Agents::read(&place.folders, &place.configuration, &place.agents)?;
    let reopened = resume.map(|resume| resume.reopen(&place, is_prompted || talks)).transpose()?;
    let recorded = reopened.as_ref().and_then(|reopened| reopened.recorded().model.clone());
    let job = match &run.agent {
        Some(name) => declared(&run, name, &place, &agents, &environment).await?,
        None => main(&run, words, recorded, &place, &environment, &stop).await?,
    };
    let Job { definition, inputs, attached, model, recording } = job;
    let out = Out::new(stop.clone());
    let mut workbench = Workbench::new(run, place, agents, environment, recording, standstill);
    if talks {
        return conversation::hold(workbench, definition, model, &inputs, reopened, interrupt, about).await;
    }
    let terminal = terminal(&workbench, interrupt)?;
    let _person = person(&workbench, terminal.as_ref());
    let printer = printer(&workbench, terminal.as_ref(), out.clone(), about);
    let observer: Arc<dyn host_agent::Observer> = Arc::new(Watch(Arc::clone(&printer)));
    let Begun { mut executor, .. } = workbench.begin(definition, &model, reopened, observer)?;
    if compresses {
        return compress::run(&mut executor, workbench.run.output_format, &out, &stop).await;
    }
    let result = if is_prompted {
        executor.run_with(&inputs, attached, &stop).await
    } else {
        executor.go_on(&inputs, &stop).await
    };
    let (code, failure) = exit::of_run(&result);
    printer.finish(&result, failure.as_ref());
    Ok(code)
}

/// The project that is worked in. Where somebody can answer and the output is for them, they are asked whether to trust
/// what it brings; elsewhere it is said that it is not used.
async fn project(run: &Run, environment: &Environment, stop: &CancellationToken) -> Result<Project, Failure> {
    let folders = environment.folders()?;
    let mut project = place::project(&run.place, &folders)?;
    if run.output_format == Format::Text && !run.require_trust {
        project = project::ask::about(project, &folders, environment, stop).await?;
    }
    if run.require_trust
        && let Some(failure) = project.untrusted("the project is to be trusted, and is not")
    {
        return Err(failure);
    }
    printer::notes(project.note().as_slice(), environment);
    Ok(project)
}

/// The terminal, where the run is shown on one. A person can be asked there when standard input is one as well.
fn terminal(workbench: &Workbench, interrupt: Interrupt) -> Result<Option<Terminal>, Failure> {
    let environment = &workbench.environment;
    if !printer::is_drawn(workbench.run.output_format, environment) {
        return Ok(None);
    }
    let setup = terminal::Setup {
        keyboard: if environment.stdin_is_terminal { Keyboard::WhenAsked } else { Keyboard::Never },
        looks: environment.looks(),
        style: Style::of(environment),
        interrupt,
        history: terminal::History::default(),
        completer: Box::new(|_| terminal::Completions::default()),
    };
    Ok(Some(Terminal::open(setup).map_err(terminal::unusable)?))
}

/// The person at the terminal, who is asked about calls where there is a keyboard.
fn person(workbench: &Workbench, terminal: Option<&Terminal>) -> Option<Person> {
    let environment = &workbench.environment;
    let terminal = terminal.filter(|_| environment.stdin_is_terminal)?;
    Some(approval::listen(&workbench.bus, terminal.clone(), Style::of(environment), environment))
}

/// Who shows the run.
fn printer(workbench: &Workbench, terminal: Option<&Terminal>, out: Out, about: About) -> Arc<dyn Printer> {
    let environment = &workbench.environment;
    match terminal {
        Some(terminal) => {
            let stats = if about.stats { Stats::Table } else { Stats::Line };
            Arc::new(drawn::Terminal::new(terminal.clone(), Style::of(environment), about, stats))
        }
        None => printer::of(workbench.run.output_format, environment, out, about),
    }
}

/// What is run: an agent, what it is given, and whom it asks.
struct Job {
    definition: AgentDefinition,
    inputs: Map<String, Value>,
    attached: Vec<Part>,
    model: Model,
    /// Where all that models say is recorded, when that was asked for.
    recording: Option<Recording>,
}

/// The main agent on what the person said.
async fn main(
    run: &Run,
    said: Said,
    before: Option<ModelId>,
    place: &Workplace,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Job, Failure> {
    let wanted = run.model.as_deref().or(before.as_ref().map(ModelId::as_str));
    let (model, recording) = recorded(run, models::choose(wanted, &place.configuration, environment).await?)?;
    let definition = main_agent::definition(run, place, &model)?;
    let Said { words, piped } = said;
    // What comes through a pipe beside words is material, in which an `@` is an `@`.
    let (mentioning, beside) = if words.is_empty() { (piped, String::new()) } else { (words, piped) };
    let Attached { prompt, parts, notes } = attach::attach(&mentioning, place, &place.tools()?, stop).await?;
    let prompt = joined(&prompt, &beside);
    let Context { text: context, warnings } = context::gather(place);
    printer::notes(&[warnings, notes].concat(), environment);
    let inputs = main_agent::inputs(place, prompt, context);
    Ok(Job { definition, inputs, attached: parts, model, recording })
}

/// A declared agent on its inputs.
async fn declared(
    run: &Run,
    name: &str,
    place: &Workplace,
    agents: &Agents,
    environment: &Environment,
) -> Result<Job, Failure> {
    let agent = agents.find(name, &place.project)?;
    if !agent.enabled {
        return Err(Failure::configuration(format!("the agent `{name}` is not enabled"))
            .help(format!("take `enabled = false` out of `[agents.{name}]` in the configuration")));
    }
    let inputs = task::inputs(name, &agent.declared.definition.inputs, &run.input)?;
    // The flag wins over what the agent declares.
    let model = match agent.declared.model.as_deref().filter(|_| run.model.is_none()) {
        Some(_) => agent.own_model(&place.configuration, environment)?,
        None => models::choose(run.model.as_deref(), &place.configuration, environment).await?,
    };
    let (model, recording) = recorded(run, model)?;
    let (mut definition, model) = agent.asking(model, &place.configuration);
    definition.run.max_turns = run.max_turns.unwrap_or(definition.run.max_turns);
    definition.run.max_time = run.timeout.unwrap_or(definition.run.max_time);
    Ok(Job { definition, inputs, attached: Vec::new(), model, recording })
}

/// The model, recorded where that was asked for.
fn recorded(run: &Run, model: Model) -> Result<(Model, Option<Recording>), Failure> {
    let Some(file) = &run.record else { return Ok((model, None)) };
    let recording = models::recording(file)?;
    Ok((model.recorded(&recording), Some(recording)))
}

/// The printer as the loop sees it.
struct Watch(Arc<dyn printer::Printer>);

impl host_agent::Observer for Watch {
    fn event(&self, event: &host_agent::Event<'_>) {
        self.0.event(event);
    }
}
