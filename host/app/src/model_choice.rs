//! The models that a user can choose: asked for once in a while, when one is about to be named.
//!
//! Deliberately not here: asking the services (`host_settings::model_list`).

use std::sync::mpsc;
use std::time::{Duration, Instant};

use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::model_list;
use tokio::runtime::Handle;

/// How long a list is used before the services are asked again.
const FRESH: Duration = Duration::from_secs(300);

/// The same for a list that a service is missing from: long enough to type a name.
const INCOMPLETE: Duration = Duration::from_secs(20);

/// The models that can be asked.
pub struct ModelList {
    runtime: Handle,
    configuration: Configuration,
    environment: Environment,
    /// The last list, and until when it is used.
    listed: Option<(Instant, ListedModels)>,
}

/// Their ids, and why there are no more.
#[derive(Clone, Debug, Default)]
pub struct ListedModels {
    /// The ids.
    pub models: Vec<String>,
    /// Why there are no more, if something is to be said.
    pub note: Option<String>,
}

impl ModelList {
    /// Creates an empty list. Must be called within a runtime.
    pub fn new(configuration: Configuration, environment: Environment) -> Self {
        Self { runtime: Handle::current(), configuration, environment, listed: None }
    }

    /// Returns the list, and asks the services if it is old. Blocks.
    pub fn look_up(&mut self) -> ListedModels {
        if let Some((_, listed)) = self.listed.as_ref().filter(|(until, _)| Instant::now() < *until) {
            return listed.clone();
        }
        let (sender, receiver) = mpsc::channel();
        let (configuration, environment) = (self.configuration.clone(), self.environment.clone());
        // As a task of the runtime, which drops it when the conversation ends.
        self.runtime.spawn(async move { sender.send(model_list::list(&configuration, &environment).await).ok() });
        let Ok(found) = receiver.recv() else { return ListedModels::default() };
        let note = match (found.failures.is_empty(), found.models.is_empty()) {
            (false, _) => Some(found.failures.join(" · ")),
            (true, true) => Some("no service lists its models; name one, such as openai/NAME".to_owned()),
            (true, false) => None,
        };
        let listed = ListedModels { models: found.models, note };
        let kept = if found.failures.is_empty() { FRESH } else { INCOMPLETE };
        self.listed = Some((Instant::now() + kept, listed.clone()));
        listed
    }
}
