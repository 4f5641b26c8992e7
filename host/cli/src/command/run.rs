//! `host run`: an agent on a task.

mod compress;
mod conversation;
mod pick;
mod user_input;

use std::slice;
use std::sync::Arc;

use host_app::app::{self, App, Opening};
use host_app::attach::{Attached, Author, attach};
use host_app::session::hooks::SessionEnd;
use host_app::session::resume::Resume;
use host_app::session::{Session, SessionRequest};
use host_journal::Left;
use host_sessions::report::Report;
use host_sessions::report::refusals::Refusals;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::Project;
use host_settings::request::{Attended, FolderRequest};
use host_terminal::{self as terminal, Interrupt, Keyboard, Terminal};
use host_text::Notice;
use tokio_util::sync::CancellationToken;

use self::pick::Choose;
use self::user_input::{UserInput, read_input};
use crate::approval::{self, ApprovalTask};
use crate::arguments::Run;
use crate::ask::Asker;
use crate::exit::{self, Code};
use crate::first_start;
use crate::folder_question;
use crate::printer::terminal::{self as drawn, Stats};
use crate::printer::{self, Out, current_terminal};
use crate::process;
use crate::trust_question;

pub(crate) async fn run(mut run: Run, environment: Environment, interrupt: Interrupt) -> Result<Code, Failure> {
    let stop = interrupt.stop.clone();
    if run.quiet {
        printer::be_quiet();
        run.print = true;
    }
    let picks = run.resume.as_deref() == Some("");
    let mut resume = resume(&mut run);
    let compressed = compress::asked(&run.prompt);
    let compresses = compressed.is_some();
    check(&run, compresses && resume.is_none())?;
    let attended = attended(&run, &environment);
    let can_talk = attended == Attended::Yes && run.agent.is_none();
    let mut words = match run.agent {
        None => read_input(&run, resume.is_some() || can_talk, &environment, &stop).await?,
        Some(_) => UserInput::nothing(),
    };
    let talks = can_talk && !compresses && (run.starts_conversation || words.is_nothing());
    let first_prompt = talks.then(|| words.take()).filter(|words| !words.is_empty());
    let is_prompted = run.agent.is_some() || !words.is_nothing();
    let asker = Asker::new(&environment, &interrupt).filter(|_| attended == Attended::Yes);
    let mut app = open(&run, &environment, asker.as_ref(), &stop).await?;
    if let Some(asker) = asker.as_ref().filter(|_| run.agent.is_none() && resume.is_none()) {
        first_start::choose(&mut app, run.model.as_deref(), run.access().approval_mode, asker).await?;
    }
    if talks && resume == Some(Resume::Last) {
        let how = if picks && first_prompt.is_none() { Choose::Picked } else { Choose::Last };
        resume = Some(pick::choose(how, &app, asker.as_ref()).await?);
    }
    // Before there is a session: a prompt that cannot be read starts none.
    let command = Some(&words).filter(|words| run.agent.is_none() && app.is_command(&words.words)).is_some();
    let (line, prompt) = match run.agent {
        // A session has to be there for what a command changes in it.
        None if command => (Some(words), None),
        None if is_prompted => (None, Some(prompt(words, attended, &app, &stop).await?)),
        _ => (None, None),
    };
    let has_prompt = is_prompted || talks;
    let request = SessionRequest { run: run.request(), resume, has_prompt, attended };
    let mut session = Session::start(app, request).await?;
    print_start(&mut session, is_prompted, &environment);
    let prompt = match line {
        Some(line) => command_prompt(line, attended, &session, &stop).await?,
        None => prompt,
    };
    if let Some(prompt) = &prompt {
        printer::notes(&prompt.notes, &environment);
    }
    if talks && run.fail_on_refused {
        return Err(Failure::input("`--fail-on-refused` is for a task, and this is a conversation")
            .help("name the task: host run --fail-on-refused \"…\""));
    }
    if talks {
        return conversation::hold(session, interrupt, run.stats, first_prompt).await;
    }
    Task { run: &run, prompt, compressed, environment: &environment }.run(session, interrupt).await
}

/// Prints what the user should know of the session before its first prompt.
fn print_start(session: &mut Session, is_prompted: bool, environment: &Environment) {
    printer::notes(&session.take_notices(), environment);
    if is_prompted && session.left() == Left::Question {
        let note = "the last prompt has no reply and is sent again with this one";
        printer::notes(&[note.to_owned()], environment);
    }
}

/// Opens the application: asks about the folder and the project if a user is there.
async fn open(
    run: &Run,
    environment: &Environment,
    asker: Option<&Asker<'_>>,
    stop: &CancellationToken,
) -> Result<App, Failure> {
    let folders = environment.folders()?;
    let place = folder_question::about(run.place.request(), environment, &folders, asker).await?;
    let project = project(run, &place, environment, asker).await?;
    let notice = |note: &Notice| printer::notes(slice::from_ref(note), environment);
    let (access, tooling) = (run.access(), process::tooling(environment));
    let opening = Opening { place: &place, access: &access, project, environment, tooling: &tooling };
    App::open(opening, &notice, stop).await
}

/// Rejects options that make no sense together. `compresses_nothing` is whether a conversation is to be compressed and
/// none was named.
fn check(run: &Run, compresses_nothing: bool) -> Result<(), Failure> {
    if run.agent.is_none() && !run.input.is_empty() {
        // clap does not require `--agent` if there is also a prompt, since the two exclude each other.
        return Err(Failure::input("`--input` is for an agent that `--agent` names")
            .help("name the agent, or put everything into the prompt"));
    }
    if compresses_nothing {
        return Err(Failure::input("there is no conversation to compress").help(
            "name the session: host run --resume ID /compress, or host run --resume /compress for the last one",
        ));
    }
    Ok(())
}

/// One task: a prompt, an agent on its inputs, what is left of a session, or a compression.
struct Task<'a> {
    run: &'a Run,
    prompt: Option<Attached>,
    /// What a summary keeps, if the conversation is to be compressed.
    compressed: Option<String>,
    environment: &'a Environment,
}

impl Task<'_> {
    /// Runs it to its end.
    async fn run(self, mut session: Session, interrupt: Interrupt) -> Result<Code, Failure> {
        let Self { run, prompt, compressed, environment } = self;
        let stop = interrupt.stop.clone();
        let terminal = terminal(environment, session.app().configuration(), run, interrupt)?;
        let _approvals = listen(&session, terminal.as_ref(), environment);
        let out = Out::new(stop.clone());
        let report = report(&session, run, terminal.as_ref(), out.clone(), environment);
        session.observers().add(Arc::new(Watch(Arc::clone(&report))));
        let refusals = Arc::new(Refusals::default());
        session.observers().add(Arc::clone(&refusals) as Arc<_>);
        if let Some(keep) = &compressed {
            let keep = Some(keep.as_str()).filter(|keep| !keep.is_empty());
            return compress::run(&mut session, keep, run.output_format, &out, &stop).await;
        }
        let result = match prompt {
            Some(prompt) => session.prompt(prompt, &stop).await,
            None if run.agent.is_some() => session.run_agent(&stop).await,
            None => session.finish_left(&stop).await,
        };
        let refused = || run.fail_on_refused.then(|| refusals.failure()).flatten();
        let failure = session.failure(&result).or_else(refused);
        session.end(SessionEnd::Other).await;
        report.finish(&result, failure.as_ref());
        // A server that could not be used is why a tool was missing.
        printer::notes(&session.take_notices(), environment);
        Ok(failure.as_ref().into())
    }
}

/// Returns the prompt with its attachments. Piped input in addition to words is not searched for `@`, and the words of
/// a script may be those of whoever wrote what it works on.
async fn prompt(
    input: UserInput,
    attended: Attended,
    app: &App,
    stop: &CancellationToken,
) -> Result<Attached, Failure> {
    let UserInput { words, piped } = input;
    let author = if words.is_empty() { Author::Unknown } else { author(attended) };
    let (mentioning, beside) = if words.is_empty() { (piped, String::new()) } else { (words, piped) };
    let attached = attach(&mentioning, author, app, app.grants(), stop).await?;
    Ok(with_piped(attached, beside))
}

/// Returns the prompt of a command of the session, such as a skill.
async fn command_prompt(
    input: UserInput,
    attended: Attended,
    session: &Session,
    stop: &CancellationToken,
) -> Result<Option<Attached>, Failure> {
    let UserInput { words, piped } = input;
    let attached = session.command_prompt(&words, author(attended), stop).await?;
    Ok(attached.map(|attached| with_piped(attached, piped)))
}

/// Adds what was piped in. Without a prompt beside it, it is the prompt.
fn with_piped(attached: Attached, piped: String) -> Attached {
    match (attached.prompt.trim().is_empty(), piped.trim().is_empty()) {
        (_, true) => attached,
        (true, false) => Attached { prompt: piped, ..attached },
        (false, false) => Attached { piped: Some(piped), ..attached },
    }
}

/// Returns who wrote the words of the command line.
fn author(attended: Attended) -> Author {
    match attended {
        Attended::Yes => Author::User,
        Attended::No => Author::Unknown,
    }
}

/// Returns whether the user can be asked: where the run is shown on a terminal, and that is also what they type on.
/// With `--print` nobody is.
fn attended(run: &Run, environment: &Environment) -> Attended {
    Attended::from_presence(is_drawn(run, environment) && environment.stdin_is_terminal)
}

/// Returns whether the run is shown on a terminal while it is under way.
fn is_drawn(run: &Run, environment: &Environment) -> bool {
    !run.print && printer::is_drawn(run.output_format, environment)
}

/// The session that the command line names. A word that is not an id belongs to the prompt: `--resume "Now the tests"`.
fn resume(run: &mut Run) -> Option<Resume> {
    if run.continues {
        return Some(Resume::Last);
    }
    let word = run.resume.take()?;
    Some(Resume::parse(&word).unwrap_or_else(|| {
        run.prompt.insert(0, word);
        Resume::Last
    }))
}

/// Returns the project of the workspace. If a user can be asked, they decide whether to trust its files; otherwise a
/// note says that they are not used.
async fn project(
    run: &Run,
    place: &FolderRequest,
    environment: &Environment,
    asker: Option<&Asker<'_>>,
) -> Result<Project, Failure> {
    let folders = environment.folders()?;
    let mut project = app::project(place, &folders)?;
    if let Some(asker) = asker.filter(|_| !run.require_trust) {
        project = trust_question::about(project, &folders, asker).await?;
    }
    if run.require_trust
        && let Some(failure) = project.untrusted("the project is not trusted, and --require-trust is set")
    {
        return Err(failure.into());
    }
    printer::notes(project.note().as_slice(), environment);
    Ok(project)
}

/// Opens the terminal, if the run is shown on one. A user can be asked there when standard input is one as well.
fn terminal(
    environment: &Environment,
    configuration: &Configuration,
    run: &Run,
    interrupt: Interrupt,
) -> Result<Option<Terminal>, Failure> {
    if !is_drawn(run, environment) {
        return Ok(None);
    }
    let setup = terminal::Setup {
        keyboard: if environment.stdin_is_terminal { Keyboard::WhenAsked } else { Keyboard::Never },
        mode: process::terminal_mode(environment),
        style: printer::style(environment),
        interrupt,
        history: terminal::History::default(),
        resize: process::resize(environment),
        answers: process::answers(configuration),
        assist: terminal::Assist::default(),
        attention: terminal::Attention::default(),
    };
    Ok(Some(current_terminal::open(setup).map_err(exit::terminal_unusable)?))
}

/// Starts to ask the user at the terminal about calls, if there is a keyboard.
fn listen(session: &Session, terminal: Option<&Terminal>, environment: &Environment) -> Option<ApprovalTask> {
    let terminal = terminal.filter(|_| environment.stdin_is_terminal)?;
    Some(approval::listen(session.approvals(), terminal.clone(), printer::style(environment), environment))
}

/// Creates the report that shows the run.
fn report(
    session: &Session,
    run: &Run,
    terminal: Option<&Terminal>,
    out: Out,
    environment: &Environment,
) -> Arc<dyn Report> {
    let about = session.about(run.stats, exit::number);
    match terminal {
        Some(terminal) => {
            let stats = if run.stats { Stats::Table } else { Stats::Line };
            Arc::new(drawn::Terminal::new(terminal.clone(), printer::style(environment), about, stats))
        }
        None => printer::for_format(run.output_format, environment, out, about),
    }
}

/// The report as the loop sees it.
struct Watch(Arc<dyn Report>);

impl host_agent::Observer for Watch {
    fn event(&self, event: &host_agent::Event<'_>) {
        self.0.event(event);
    }
}
