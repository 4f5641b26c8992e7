//! List prices of common models, and the prices that a session counts by.
//!
//! Promises: a price that the user configured wins; a model that is not in the list has no price, rather than one of
//! zero or of another model; a server at an address of the user's own has no list price, whatever its models are
//! called.
//!
//! Deliberately not here: other currencies, discounts, the price of writing to a cache, and the higher of two prices
//! that a service has for long prompts. So what is counted by this list is an estimate, and shown as one.

use std::collections::BTreeMap;

use host_agent::{Price, Prices};
use host_model::{Anthropic, Gemini, OpenAi, OpenAiResponses, PROVIDERS, ProviderId};

use super::access;
use crate::configuration::Configuration;
use crate::environment::Environment;

/// When the prices were read from the pages of the services: year and month.
pub const PRICES_READ: &str = "2026-11";

/// A model with its price in US dollars for a million tokens: sent, received, sent and cached.
type Row = (&'static str, f64, f64, f64);

/// From <https://platform.claude.com/docs/en/about-claude/pricing>. `claude-haiku-5-5` costs five times as much for
/// prompts of more than 100,000 tokens.
const ANTHROPIC: &[Row] = &[
    ("claude-fable-5-1", 10.0, 50.0, 0.25),
    ("claude-opus-5-5", 4.0, 20.0, 0.20),
    ("claude-opus-5", 5.0, 25.0, 0.50),
    ("claude-opus-4-8", 5.0, 25.0, 0.50),
    ("claude-opus-4-7", 5.0, 25.0, 0.50),
    ("claude-opus-4-6", 5.0, 25.0, 0.50),
    ("claude-opus-4-5", 5.0, 25.0, 0.50),
    ("claude-sonnet-5-5", 2.0, 10.0, 0.10),
    ("claude-sonnet-5", 2.0, 10.0, 0.20),
    ("claude-sonnet-4-6", 3.0, 15.0, 0.30),
    ("claude-sonnet-4-5", 3.0, 15.0, 0.30),
    ("claude-haiku-5-5", 0.10, 0.50, 0.01),
    ("claude-haiku-4-5", 1.0, 5.0, 0.10),
];

/// From <https://platform.openai.com/docs/pricing>: the prices of prompts up to 272,000 tokens.
const OPENAI: &[Row] = &[
    ("gpt-6-astra", 10.0, 50.0, 1.0),
    ("gpt-6.1-sol", 2.0, 10.0, 0.10),
    ("gpt-6-sol", 2.0, 10.0, 0.20),
    ("gpt-6-luna", 0.10, 0.50, 0.01),
    ("gpt-5.6-sol", 4.0, 20.0, 0.40),
    ("gpt-5.6-terra", 2.0, 12.0, 0.20),
    ("gpt-5.6-luna", 0.20, 1.20, 0.02),
    ("gpt-5.5", 5.0, 30.0, 0.50),
    ("gpt-5.4", 2.5, 15.0, 0.25),
    ("gpt-5.4-mini", 0.75, 4.5, 0.075),
    ("gpt-5", 1.25, 10.0, 0.125),
];

/// From <https://ai.google.dev/gemini-api/docs/pricing>: the prices of prompts up to 200,000 tokens. `gemini-3.8-flash`
/// costs twice as much from 2027 on. Models without a price of cached tokens have that of sent ones here.
const GEMINI: &[Row] = &[
    ("gemini-3.8-flash", 0.75, 3.75, 0.075),
    ("gemini-3.5-flash", 1.50, 9.0, 0.15),
    ("gemini-3.5-flash-lite", 0.30, 2.50, 0.03),
    ("gemini-3.1-pro-preview", 2.0, 12.0, 2.0),
    ("gemini-2.5-pro", 1.25, 10.0, 1.25),
    ("gemini-2.5-flash", 0.30, 2.50, 0.30),
    ("gemini-2.5-flash-lite", 0.10, 0.40, 0.10),
];

/// The services whose prices are listed.
const LISTED: &[(ProviderId, &[Row])] = &[
    (Anthropic::PROVIDER, ANTHROPIC),
    (OpenAi::PROVIDER, OPENAI),
    (OpenAiResponses::PROVIDER, OPENAI),
    (Gemini::PROVIDER, GEMINI),
];

/// Returns the prices that a session counts by.
pub fn of(configuration: &Configuration, environment: &Environment) -> Prices {
    let is_service = |provider: ProviderId| {
        let default = PROVIDERS.iter().find(|known| **known == provider).and_then(|known| known.address?.default);
        match access(provider, configuration, environment).address {
            None => true,
            Some(address) => {
                default.is_some_and(|default| address.trim_end_matches('/') == default.trim_end_matches('/'))
            }
        }
    };
    Prices::new(configuration.prices(), listed(is_service))
}

/// Returns whether a model has a list price at its own service.
pub fn is_listed(id: &str) -> bool {
    Prices::new(BTreeMap::new(), listed(|_| true)).of(id).is_some()
}

/// The list, by the ids of the models.
fn listed(is_wanted: impl Fn(ProviderId) -> bool) -> BTreeMap<String, Price> {
    let wanted = LISTED.iter().filter(|(provider, _)| is_wanted(*provider));
    let rows = wanted.flat_map(|(provider, rows)| rows.iter().map(move |row| (provider, row)));
    rows.map(|(provider, (name, input, output, cached))| {
        (format!("{provider}/{name}"), Price { input: *input, output: *output, cached: *cached })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use host_agent::PriceBasis;

    use super::*;
    use crate::environment::Terminals;

    fn price(id: &str, configuration: &Configuration, variables: &[(&str, &str)]) -> Option<(f64, PriceBasis)> {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = Environment::new(variables.collect(), None, Terminals::default());
        of(configuration, &environment).of(id).map(|(price, basis)| (price.input, basis))
    }

    // promise model.prices: A model without a known price has no cost; a list price is of the model's own service, and
    //   the user's price wins.
    #[test]
    fn list_prices_are_of_a_service_and_never_of_a_local_server() {
        let none = Configuration::default();
        for (id, expected) in [
            ("anthropic/claude-opus-5-5", Some(4.0)),
            ("anthropic/claude-opus-5-20260101", Some(5.0)),
            ("openai/gpt-5.4", Some(2.5)),
            ("openai/gpt-5.4-mini", Some(0.75)),
            ("openai-responses/gpt-5-2025-08-07", Some(1.25)),
            ("gemini/gemini-2.5-flash-preview-09-2025", Some(0.30)),
            // Another model, whose price is not in the list.
            ("openai/gpt-5-pro", None),
            ("anthropic/claude-opus-5-9", None),
            ("anthropic/gpt-5", None),
            // Local, replayed, or at another service.
            ("ollama/gpt-5", None),
            ("scripted:claude-opus-5", None),
            ("offline", None),
            ("vertex/gemini-2.5-pro", None),
        ] {
            assert_eq!(price(id, &none, &[]), expected.map(|price| (price, PriceBasis::Listed)), "{id}");
        }
        for (address, expected) in [
            ("http://localhost:1234/v1", None),
            ("https://models.example.com/v1", None),
            ("https://api.openai.com/v1", Some((1.25, PriceBasis::Listed))),
            ("https://api.openai.com/v1/", Some((1.25, PriceBasis::Listed))),
        ] {
            assert_eq!(price("openai/gpt-5", &none, &[("OPENAI_BASE_URL", address)]), expected, "{address}");
        }
    }

    // promise model.prices
    #[test]
    fn a_configured_price_wins_over_the_list_and_holds_for_any_server() {
        let text = "[models.\"openai/gpt-5\"]\nprice = { input = 7.0, output = 1.0 }\n";
        let own: Configuration = toml::from_str(text).expect("it is right");
        let local = [("OPENAI_BASE_URL", "http://localhost:1234/v1")];
        for variables in [&[][..], &local] {
            assert_eq!(price("openai/gpt-5", &own, variables), Some((7.0, PriceBasis::Configured)));
        }
        assert_eq!(price("openai/gpt-5.4", &own, &[]), Some((2.5, PriceBasis::Listed)));
    }

    #[test]
    fn list_prices_are_plausible() {
        for (provider, rows) in LISTED {
            for (name, input, output, cached) in *rows {
                assert!(0.0 < *cached && cached <= input && input < output, "{provider}/{name}");
            }
        }
        let all: usize = LISTED.iter().map(|(_, rows)| rows.len()).sum();
        assert_eq!(listed(|_| true).len(), all, "no model is listed twice");
        let (year, month) = PRICES_READ.split_once('-').expect("a year and a month");
        assert!(year.parse::<u32>().is_ok() && matches!(month.parse(), Ok(1..=12)), "{PRICES_READ}");
    }
}
