//! The first start without a model: leads through the ways to one, and offers to remember the choice.
//!
//! Promises: a key is never shown, and saved only if the user says so. Deliberately not here: which ways there are, and
//! where a choice is kept (`host-settings`).

use host_app::app::App;
use host_app::start_mode;
use host_model::ProviderId;
use host_settings::error::{ErrorKind, Failure, Fault as _};
use host_settings::models::saved::{self, SavedKey, SavedModel};
use host_settings::models::ways::{self, KeyCheck, Way};
use host_terminal::{Choice, Escape, Line, Pick, PickEntry, Question};
use host_text::{visible, visible_line};
use host_tool::ApprovalMode;

use crate::approval::look::Page;
use crate::ask::{Answered, Asker, choice};
use crate::password::Secrets;
use crate::printer::to_stderr;

/// How often a key may be rejected.
const TRIES: usize = 3;

/// The letters of ways that have none of their own.
const LETTERS: [char; 8] = ['l', 'm', 's', 'v', 'w', 'x', 'y', 'z'];

/// Lets the user choose a model if nothing decides which one is used, and then how host works. The choice holds for
/// this process, and for later ones if they want. `mode` is the approval mode that was asked for.
///
/// # Errors
///
/// If the user chooses none, or the choice cannot be saved.
pub(crate) async fn choose(
    app: &mut App,
    flag: Option<&str>,
    mode: Option<ApprovalMode>,
    asker: &Asker<'_>,
) -> Result<(), Failure> {
    if !ways::is_undecided(flag, app.configuration(), app.environment()) {
        return Ok(());
    }
    let (way, model) = loop {
        let (way, typed) = way(app, asker).await?;
        let model = match &way {
            Way::Key(provider) => service(*provider, app).await?,
            Way::Local { model, .. } => model.clone(),
            Way::NotRunning { server, start } => {
                to_stderr(&format!("{server} does not answer: start it with `{start}`, and choose again\n"));
                continue;
            }
            Way::Address => match server_at(&typed, asker).await? {
                Some(model) => model,
                None => continue,
            },
            Way::Offline => ways::offline(),
        };
        break (way, model);
    };
    // The planner is for a try.
    let is_try = way == Way::Offline;
    if !is_try && is_kept(&model, app, asker).await? {
        model.save(app.folders())?;
    }
    app.use_saved(model);
    if !is_try {
        how_to_work(app, mode, asker).await?;
    }
    Ok(())
}

/// Lets the user choose the approval mode, unless somebody chose one before. The choice is saved.
async fn how_to_work(app: &mut App, flag: Option<ApprovalMode>, asker: &Asker<'_>) -> Result<(), Failure> {
    let modes = start_mode::modes(app, flag);
    if modes.is_empty() {
        return Ok(());
    }
    let mut page = Page::new(asker.style(), asker.columns());
    page.title("How should host work here? It is saved as `approval_mode` in:");
    page.path(&start_mode::file(app).display().to_string());
    let choices = modes.iter().map(|mode| {
        let (letter, label) = in_mode(*mode);
        choice(letter, label)
    });
    let asked =
        Question { lines: page.into_lines(), choices: choices.collect(), escape: Escape::Skips, ..Question::default() };
    match asker.ask(asked).await? {
        Answered::Choice(at) => modes.get(at).map_or(Ok(()), |mode| start_mode::choose(app, *mode)),
        // It is not asked again: the model is saved. `/mode` and the documents have it.
        Answered::Dismissed => Ok(()),
    }
}

/// The letter and the words of a mode.
fn in_mode(mode: ApprovalMode) -> (char, String) {
    match mode {
        ApprovalMode::Auto => {
            ('a', "auto (recommended): edits files, and runs confined programs without asking".to_owned())
        }
        ApprovalMode::Default => ('d', "ask about each change and each program".to_owned()),
        ApprovalMode::Plan | ApprovalMode::AutoEdit | ApprovalMode::Yolo => ('m', mode.about().to_owned()),
    }
}

/// Asks for a way, and for the address of a server if that is the way.
async fn way(app: &App, asker: &Asker<'_>) -> Result<(Way, String), Failure> {
    let mut ways = ways::ways(app.configuration(), app.environment()).await;
    let mut page = Page::new(asker.style(), asker.columns());
    page.title("No model is set up yet. Which one do you want to use?");
    let mut choices: Vec<Choice> = Vec::new();
    for way in &ways {
        let is_free = |letter: &char| choices.iter().all(|choice| choice.letter != *letter);
        let own = letter(way);
        let letter = std::iter::once(own).chain(LETTERS).find(is_free).unwrap_or(own);
        choices.push(choice(letter, way.to_string()));
    }
    choices.push(choice('q', "Quit"));
    let line = Line {
        choice: ways.iter().position(|way| *way == Way::Address).unwrap_or(usize::MAX),
        label: "address › ".to_owned(),
        help: "Enter to ask it for its models · Esc to go back".to_owned(),
    };
    let asked = Question { lines: page.into_lines(), choices, escape: Escape::Quits, ..Question::default() };
    match asker.ask_with_line(asked, line).await? {
        (Answered::Choice(at), typed) if at < ways.len() => Ok((ways.swap_remove(at), typed)),
        (Answered::Choice(_) | Answered::Dismissed, _) => Err(none()),
    }
}

/// Lets the user pick a model of the server at the address that they typed; `None` if there is none, or they pick none.
async fn server_at(address: &str, asker: &Asker<'_>) -> Result<Option<SavedModel>, Failure> {
    let server = match ways::server_at(address).await {
        Ok(server) => server,
        Err(error) => {
            let help = error.help().unwrap_or_default().to_string();
            to_stderr(&format!("{}\n{}\n", visible(&error.to_string()), visible(&help)));
            return Ok(None);
        }
    };
    if let [_] = server.models.as_slice() {
        return Ok(server.model(0));
    }
    let entry = |name: &String| PickEntry {
        title: visible_line(name).into_owned(),
        details: String::new(),
        preview: Vec::new(),
    };
    let mut page = Page::new(asker.style(), asker.columns());
    page.title("Which of its models?");
    let pick = Pick { lines: page.into_lines(), entries: server.models.iter().map(entry).collect(), renamed: 0 };
    Ok(match asker.pick(pick).await? {
        Answered::Choice(at) => server.model(at),
        Answered::Dismissed => None,
    })
}

fn none() -> Failure {
    Failure::new(ErrorKind::Authentication, "no model was chosen")
        .help("set a key in the environment or name a model with --model; to try it without a model: --model offline")
}

/// The letter of a way.
fn letter(way: &Way) -> char {
    match way {
        Way::Key(provider) => provider.name().chars().next().unwrap_or('k'),
        Way::Local { .. } | Way::NotRunning { .. } => 'l',
        Way::Address => 'u',
        Way::Offline => 't',
    }
}

/// Asks for the key of a service until the service accepts one, or cannot be asked.
async fn service(provider: ProviderId, app: &App) -> Result<SavedModel, Failure> {
    if let Some(usual) = provider.usual_models {
        to_stderr(&format!("Create a key at {}\n", usual.key_page));
    }
    for _ in 0..TRIES {
        let typed = tokio::task::spawn_blocking(typed_key).await;
        let Some(key) = typed.map_err(|error| Failure::input(format!("the key cannot be read: {error}")))?? else {
            break;
        };
        match ways::check_key(provider, &key, app.configuration(), app.environment()).await {
            KeyCheck::Accepted => return Ok(SavedModel::Service { provider, key }),
            KeyCheck::Rejected(why) => to_stderr(&format!("the key was rejected: {}\n", visible(&why))),
            KeyCheck::Unknown(why) => {
                to_stderr(&format!("the key could not be checked: {}\n", visible(&why)));
                return Ok(SavedModel::Service { provider, key });
            }
        }
    }
    Err(none())
}

/// Asks until something that can be a key is typed. Nothing that is typed is shown, however often it is asked.
fn typed_key() -> Result<Option<SavedKey>, Failure> {
    let secrets = Secrets::open()?;
    for _ in 0..TRIES {
        match SavedKey::parse(&secrets.ask_counted("API key (it is not shown): ")?) {
            Ok(key) => return Ok(Some(key)),
            Err(error) => to_stderr(&format!("{error}\n")),
        }
    }
    Ok(None)
}

/// Asks whether the choice is saved.
async fn is_kept(model: &SavedModel, app: &App, asker: &Asker<'_>) -> Result<bool, Failure> {
    let what = match model {
        SavedModel::Service { .. } => "Save this key? Only you can read the file:",
        SavedModel::Model { .. } => "Save this choice?",
    };
    let mut page = Page::new(asker.style(), asker.columns());
    page.title(what);
    page.path(&saved::path(app.folders()).display().to_string());
    let choices = vec![choice('y', "Save it"), choice('n', "Use it only this time")];
    let asked = Question { lines: page.into_lines(), choices, escape: Escape::Skips, ..Question::default() };
    let answer = asker.ask(asked).await?;
    Ok(answer == Answered::Choice(0))
}
