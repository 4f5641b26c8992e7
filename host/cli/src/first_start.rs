//! The first start without a model: leads through the ways to one, and offers to remember the choice.
//!
//! Promises: a key is never shown, and saved only if the user says so. Deliberately not here: which ways there are, and
//! where a choice is kept (`host-app`).

use host_app::app::App;
use host_app::error::{ErrorKind, Failure};
use host_app::models::saved::{self, SavedKey, SavedModel};
use host_app::models::ways::{self, KeyCheck, Way};
use host_model::ProviderId;
use host_terminal::{Choice, Question};
use host_text::{exact, visible};

use crate::approval::look::Page;
use crate::ask::{Answered, Asker, choice};
use crate::password::Secrets;
use crate::printer::to_stderr;

/// How often a key may be rejected.
const TRIES: usize = 3;

/// The letters of ways that have none of their own.
const LETTERS: [char; 8] = ['l', 'm', 's', 'v', 'w', 'x', 'y', 'z'];

/// Lets the user choose a model if nothing decides which one is used. The choice holds for this process, and for later
/// ones if they want.
///
/// # Errors
///
/// If the user chooses none, or the choice cannot be saved.
pub(crate) async fn choose(app: &mut App, flag: Option<&str>, asker: &Asker<'_>) -> Result<(), Failure> {
    if !ways::is_undecided(flag, &app.configuration, &app.environment) {
        return Ok(());
    }
    let ways = ways::ways(&app.configuration, &app.environment).await;
    let mut page = Page::new(asker.style(), asker.columns());
    page.title("No model is set up yet. Which one do you want to use?");
    let mut choices: Vec<Choice> = Vec::new();
    for way in &ways {
        let (letter, label) = described(way);
        let is_free = |letter: &char| choices.iter().all(|choice| choice.letter != *letter);
        let letter = std::iter::once(letter).chain(LETTERS).find(is_free).unwrap_or(letter);
        choices.push(choice(letter, label));
    }
    choices.push(choice('q', "Quit"));
    let asked = Question { lines: page.into_lines(), choices, preselected: 0 };
    let chosen = match asker.ask(asked).await? {
        Answered::Choice(at) => ways.get(at),
        Answered::Dismissed => None,
    };
    let model = match chosen {
        None => return Err(none()),
        Some(Way::Key(provider)) => service(*provider, app).await?,
        Some(Way::Local { model, .. }) => model.clone(),
        Some(Way::Offline) => ways::offline(),
    };
    // The planner is for a try.
    if chosen != Some(&Way::Offline) && is_kept(&model, app, asker).await? {
        model.save(&app.folders)?;
    }
    app.configuration.saved = Some(model);
    Ok(())
}

fn none() -> Failure {
    Failure::new(ErrorKind::Authentication, "no model was chosen")
        .help("set a key in the environment or name a model with --model; to try it without a model: --model offline")
}

fn described(way: &Way) -> (char, String) {
    match way {
        Way::Key(provider) => {
            let name = service_name(*provider);
            let letter = provider.name().chars().next().unwrap_or('k');
            (letter, format!("{name}: paste an API key"))
        }
        Way::Local { server, model } => {
            let id = match model {
                SavedModel::Model { id, .. } => exact(id).into_owned(),
                SavedModel::Service { provider, .. } => provider.name().to_owned(),
            };
            ('l', format!("{id}, from {server} on this machine"))
        }
        Way::Offline => ('t', "Try it offline: a planner in code, not a language model".to_owned()),
    }
}

fn service_name(provider: ProviderId) -> &'static str {
    match provider.name() {
        "gemini" => "Gemini",
        "openai" => "OpenAI",
        "anthropic" => "Anthropic",
        name => name,
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
        match ways::check_key(provider, &key, &app.configuration, &app.environment).await {
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
        match SavedKey::parse(&secrets.ask("API key (it is not shown): ")?) {
            Ok(key) => return Ok(Some(key)),
            Err(failure) => to_stderr(&format!("{}\n", failure.message)),
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
    page.path(&saved::path(&app.folders).display().to_string());
    let choices = vec![choice('y', "Save it"), choice('n', "Use it only this time")];
    let answer = asker.ask(Question { lines: page.into_lines(), choices, preselected: 0 }).await?;
    Ok(answer == Answered::Choice(0))
}
