//! The approval modes and the models of a session, as a client offers them.
//!
//! A mode is offered twice, as a mode and as an option: clients that know options leave the modes out. Promises: only
//! what is offered can be chosen, and what cannot is an error.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption, SessionMode,
    SessionModeState,
};
use host_app::session::Session;
use host_text::{excerpt, visible_line};
use host_tool::ApprovalMode;

use crate::errors::invalid;

/// The option for the model.
const MODEL: &str = "model";

/// The option for the approval mode.
const MODE: &str = "mode";

/// How much of an unknown id a message repeats, in characters.
const SHOWN: usize = 100;

/// A choice of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Mode(ApprovalMode),
    Model(String),
}

/// The models that can be chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Models(Vec<String>);

impl Models {
    /// The models of a session before any service was asked: those that the user named.
    pub(crate) fn new(session: &Session) -> Self {
        let mut models = Self::default();
        let configuration = session.app().configuration();
        let saved = configuration.saved.as_ref().and_then(|saved| saved.id());
        models.add([session.model().id.as_str()].into_iter().chain(configuration.model.as_deref()).chain(saved));
        models
    }

    /// Adds models; returns whether any was new.
    pub(crate) fn add<'a>(&mut self, models: impl IntoIterator<Item = &'a str>) -> bool {
        let before = self.0.len();
        for model in models {
            if !self.0.iter().any(|known| known == model) {
                self.0.push(model.to_owned());
            }
        }
        self.0.len() > before
    }
}

/// The modes of a session.
pub(crate) fn modes(session: &Session) -> SessionModeState {
    let mode = |mode: &ApprovalMode| SessionMode::new(mode.name(), mode.name()).description(mode.about().to_owned());
    SessionModeState::new(session.mode().name(), session.possible_modes().iter().map(mode).collect())
}

/// The options of a session, with their present values.
pub(crate) fn options(session: &Session, models: &Models) -> Vec<SessionConfigOption> {
    let mode = |mode: ApprovalMode| {
        SessionConfigSelectOption::new(mode.name(), mode.name()).description(mode.about().to_owned())
    };
    let model = |id: &String| SessionConfigSelectOption::new(id.clone(), visible_line(id));
    let modes: Vec<_> = session.possible_modes().into_iter().map(mode).collect();
    let models: Vec<_> = models.0.iter().map(model).collect();
    vec![
        SessionConfigOption::select(MODE, "Approval mode", session.mode().name(), modes)
            .description("What is allowed without asking".to_owned())
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select(MODEL, "Model", session.model().id.to_string(), models)
            .category(SessionConfigOptionCategory::Model),
    ]
}

/// Returns the mode with this id.
///
/// # Errors
///
/// If the session cannot have it.
pub(crate) fn mode(session: &Session, id: &str) -> Result<Chosen, Error> {
    let modes = session.possible_modes();
    let known = modes.iter().find(|mode| mode.name() == id).copied().map(Chosen::Mode);
    known.ok_or_else(|| {
        let names: Vec<_> = modes.iter().map(|mode| mode.name()).collect();
        invalid(format!("there is no mode `{}`", excerpt(id, SHOWN)), format!("choose one of {}", names.join(", ")))
    })
}

/// Returns what a client chose for an option.
///
/// # Errors
///
/// If there is no such option, or the value is not offered for it.
pub(crate) fn choice(
    session: &Session,
    models: &Models,
    id: &str,
    value: &SessionConfigOptionValue,
) -> Result<Chosen, Error> {
    if id != MODEL && id != MODE {
        let message = format!("there is no option `{}`", excerpt(id, SHOWN));
        return Err(invalid(message, format!("the options are `{MODE}` and `{MODEL}`")));
    }
    let Some(value) = value.as_value_id() else {
        return Err(invalid(format!("the option `{id}` takes one of its values"), "send the id of a value"));
    };
    let value = value.0.as_ref();
    if id == MODE {
        return mode(session, value);
    }
    let known = models.0.iter().find(|model| *model == value).cloned().map(Chosen::Model);
    known.ok_or_else(|| {
        let message = format!("the model `{}` is not offered in this session", excerpt(value, SHOWN));
        invalid(message, "choose one of the list, or set `model` in your configuration")
    })
}
