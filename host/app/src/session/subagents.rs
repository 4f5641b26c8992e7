//! The agents that the main one can call.

use std::sync::Arc;

use host_agent::{Cost, Subagent, SubagentSetup, TreeLimits};
use host_extensions::agents::Agents;
use host_message::ToolName;
use host_model::Recording;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_settings::models::{self, Model};
use host_settings::request::RunRequest;
use host_tool::Registry;

use super::prompted;
use crate::app::App;

/// The limits of a run and its subagents together.
pub(crate) fn tree_limits(asked: &RunRequest, configuration: &Configuration) -> TreeLimits {
    let configured = configuration.tree_limits();
    TreeLimits {
        tokens: asked.max_tokens.or(configured.tokens),
        cost: asked.max_cost.map(Cost::from_amount).or(configured.cost),
        ..configured
    }
}

/// Checks that every model that may answer has a price, where costs are limited.
pub(crate) fn check_price(request: &RunRequest, app: &App, model: &Model) -> Result<(), Failure> {
    let limits = tree_limits(request, &app.configuration);
    match limits.cost.or(app.configuration.day_limits().cost) {
        Some(_) => Ok(models::check_prices(model, &models::prices::of(&app.configuration, &app.environment))?),
        None => Ok(()),
    }
}

/// Whom agents ask that want no model of their own, and where what models say is recorded.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a Model,
    pub(crate) recording: Option<&'a Recording>,
}

/// Makes every agent that is enabled a tool of the main one.
pub(crate) fn add(
    tools: &mut Registry,
    agents: &Agents,
    setup: &SubagentSetup,
    asked: Asked<'_>,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<(), Failure> {
    let mut setup = setup.clone();
    let prices = models::prices::of(configuration, environment);
    agents.all().iter().for_each(|agent| setup.tools.leave_out(ToolName::new(agent.name())));
    let wanted = agents.all().iter().filter(|agent| agent.enabled && configuration.tree_limits().subagents > 0);
    for agent in wanted {
        let Asked { model, recording } = asked;
        // A recording has the replies to every agent, so it replaces all their models.
        let model = if agent.declared.model.is_none() || model.provider.stands_for().is_some() {
            Ok(model.clone())
        } else {
            let own = agent.own_model(configuration, environment);
            own.map(|own| match recording {
                Some(recording) => own.recorded(recording),
                None => own,
            })
        };
        let priced = |model: Model| match setup.parent.limits_cost() {
            true => models::check_prices(&model, &prices).map(|()| model).map_err(Failure::from),
            false => Ok(model),
        };
        let (definition, Model { id, provider, .. }) = match model.and_then(priced) {
            Ok(model) => {
                let (definition, model) = agent.asking(model, configuration);
                let available = setup.tools.specs().iter().map(|spec| spec.name.as_str());
                (prompted::own(definition, &model, available), model)
            }
            // A missing key or price for an agent that may never be called must not prevent the start.
            Err(failure) => {
                tracing::warn!(why = failure.message, "ignoring the agent `{}`", agent.name());
                continue;
            }
        };
        let unusable = |error: &dyn std::error::Error| {
            Failure::from_error(ErrorKind::Configuration, error)
                .help(format!("it is {}: fix or remove it", agent.source))
        };
        let subagent = Subagent::new(definition, SubagentSetup { model: id, provider, ..setup.clone() })
            .map_err(|error| unusable(&error))?;
        tools.register(Arc::new(subagent)).map_err(|error| unusable(&error))?;
    }
    Ok(())
}
