//! `host run`: an agent on a task.

mod compress;
mod conversation;
mod said;

use std::sync::Arc;

use host_agent::AgentDefinition;
use host_app::agents::Agents;
use host_app::app_context::{self, Workplace};
use host_app::attach::{self, Attached};
use host_app::context::{self, Context};
use host_app::environment::Environment;
use host_app::error::{Failure, of_run};
use host_app::models::{self, Model};
use host_app::project::Project;
use host_app::report::{About, Report};
use host_app::request::RunRequest;
use host_app::session::builder::{Begun, Workbench};
use host_app::session::resume::Resume;
use host_app::session::{main_agent, task};
use host_message::{ModelId, Part};
use host_model::Recording;
use host_terminal::Interrupt;
use host_terminal::{self as terminal, Keyboard, Terminal};
use host_tool::Standstill;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::said::{Said, joined, said};
use crate::approval::{self, Person};
use crate::arguments::{Format, Run};
use crate::exit::{self, Code};
use crate::printer::terminal::{self as drawn, Stats};
use crate::printer::{self, Out};
use crate::process;
use crate::trust_question;

pub(crate) async fn run(mut run: Run, environment: Environment, interrupt: Interrupt) -> Result<Code, Failure> {
    let stop = interrupt.stop.clone();
    if run.agent.is_none() && !run.input.is_empty() {
        // clap does not require `--agent` of somebody who also gave a prompt, since the two exclude each other.
        return Err(Failure::input("`--input` is for an agent that `--agent` names")
            .help("name the agent, or say everything in the prompt"));
    }
    let resume = resume(&mut run);
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
    let about = About { project_trust: project.word(), standstill: standstill.clone(), stats: run.stats };
    let mut place = Workplace::open(
        &run.place.request(),
        &run.access.request(),
        project,
        &environment,
        &|note| printer::notes(&[note.to_owned()], &environment),
        &stop,
    )
    .await?;
    place.is_attended = printer::is_drawn(run.output_format, &environment) && environment.stdin_is_terminal;
    let agents = Agents::read(&place.folders, &place.configuration, &place.agents)?;
    let request = run.request();
    let reopened = resume.map(|resume| resume.reopen(&place, is_prompted || talks)).transpose()?;
    let recorded = reopened.as_ref().and_then(|reopened| reopened.recorded().model.clone());
    let job = match &run.agent {
        Some(name) => declared(&request, name, &place, &agents, &environment).await?,
        None => main(&request, words, recorded, &place, &environment, &stop).await?,
    };
    let Job { definition, inputs, attached, model, recording } = job;
    let out = Out::new(stop.clone());
    let mut workbench = Workbench::new(request, place, agents, environment, recording, standstill);
    if talks {
        return conversation::hold(workbench, definition, model, &inputs, reopened, interrupt, about).await;
    }
    let terminal = terminal(&workbench, run.output_format, interrupt)?;
    let _person = person(&workbench, terminal.as_ref());
    let printer = printer(&workbench, run.output_format, terminal.as_ref(), out.clone(), about);
    let observer: Arc<dyn host_agent::Observer> = Arc::new(Watch(Arc::clone(&printer)));
    let Begun { mut executor, .. } = workbench.begin(definition, &model, reopened, observer)?;
    if compresses {
        return compress::run(&mut executor, run.output_format, &out, &stop).await;
    }
    let result = if is_prompted {
        executor.run_with(&inputs, attached, &stop).await
    } else {
        executor.go_on(&inputs, &stop).await
    };
    let failure = of_run(&result);
    printer.finish(&result, failure.as_ref());
    Ok(failure.as_ref().into())
}

/// The session that the command line names. A word that is not an id belongs to the prompt: `--resume "Now the tests"`.
fn resume(run: &mut Run) -> Option<Resume> {
    let word = run.resume.take()?;
    Some(Resume::parse(&word).unwrap_or_else(|| {
        run.prompt.insert(0, word);
        Resume::Last
    }))
}

/// The project that is worked in. Where somebody can answer and the output is for them, they are asked whether to trust
/// what it brings; elsewhere it is said that it is not used.
async fn project(run: &Run, environment: &Environment, stop: &CancellationToken) -> Result<Project, Failure> {
    let folders = environment.folders()?;
    let mut project = app_context::project(&run.place.request(), &folders)?;
    if run.output_format == Format::Text && !run.require_trust {
        project = trust_question::about(project, &folders, environment, stop).await?;
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
fn terminal(workbench: &Workbench, format: Format, interrupt: Interrupt) -> Result<Option<Terminal>, Failure> {
    let environment = &workbench.environment;
    if !printer::is_drawn(format, environment) {
        return Ok(None);
    }
    let setup = terminal::Setup {
        keyboard: if environment.stdin_is_terminal { Keyboard::WhenAsked } else { Keyboard::Never },
        looks: process::looks(environment),
        style: printer::style(environment),
        interrupt,
        history: terminal::History::default(),
        completer: Box::new(|_| terminal::Completions::default()),
    };
    Ok(Some(Terminal::open(setup).map_err(exit::terminal_unusable)?))
}

/// The person at the terminal, who is asked about calls where there is a keyboard.
fn person(workbench: &Workbench, terminal: Option<&Terminal>) -> Option<Person> {
    let environment = &workbench.environment;
    let terminal = terminal.filter(|_| environment.stdin_is_terminal)?;
    Some(approval::listen(&workbench.bus, terminal.clone(), printer::style(environment), environment))
}

/// Who shows the run.
fn printer(
    workbench: &Workbench,
    format: Format,
    terminal: Option<&Terminal>,
    out: Out,
    about: About,
) -> Arc<dyn Report> {
    let environment = &workbench.environment;
    match terminal {
        Some(terminal) => {
            let stats = if about.stats { Stats::Table } else { Stats::Line };
            Arc::new(drawn::Terminal::new(terminal.clone(), printer::style(environment), about, stats))
        }
        None => printer::of(format, environment, out, about),
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
    run: &RunRequest,
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
    run: &RunRequest,
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
fn recorded(run: &RunRequest, model: Model) -> Result<(Model, Option<Recording>), Failure> {
    let Some(file) = &run.record else { return Ok((model, None)) };
    let recording = models::recording(file)?;
    Ok((model.recorded(&recording), Some(recording)))
}

/// The printer as the loop sees it.
struct Watch(Arc<dyn Report>);

impl host_agent::Observer for Watch {
    fn event(&self, event: &host_agent::Event<'_>) {
        self.0.event(event);
    }
}
