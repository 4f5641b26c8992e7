//! The prices that a session counts by: the user's own, and the list prices of the catalogue of models.
//!
//! Promises: a price that the user configured wins; a model that is not in the list has no price, rather than one of
//! zero or of another model; a server at an address of the user's own has no list price, whatever its models are
//! called.
//!
//! Deliberately not here: other currencies, discounts, the price of writing to a cache, and the higher of two prices
//! that a service has for long prompts. So what is counted by this list is an estimate, and shown as one.

use std::collections::BTreeMap;

use host_agent::{Price, Prices};
use host_model::{Anthropic, Family, Gemini, KnownModels, ListPrice, OpenAi, OpenAiResponses, ProviderId};

use jiff::civil::Date;

use super::is_own_address;
use crate::configuration::Configuration;
use crate::environment::Environment;

/// The services whose models have a list price, and the family that they make.
const LISTED: &[(ProviderId, Family)] = &[
    (Anthropic::PROVIDER, Family::Claude),
    (OpenAi::PROVIDER, Family::Gpt),
    (OpenAiResponses::PROVIDER, Family::Gpt),
    (Gemini::PROVIDER, Family::Gemini),
];

/// How much more than other tokens those cost that Anthropic keeps in its cache for an hour, according to its
/// documentation of prompt caching.
const LONG_CACHE: f64 = 2.0;

/// Returns the prices that a session counts by.
pub fn of(configuration: &Configuration, environment: &Environment) -> Prices {
    let is_own = |provider: ProviderId| is_own_address(provider, configuration, environment);
    let is_long = |id: &str| {
        let options = configuration.models.get(id);
        id.starts_with(Anthropic::PROVIDER.name()) && options.and_then(|options| options.long_cache).unwrap_or_default()
    };
    Prices::new(configuration.prices(), listed(&configuration.known, is_own, is_long))
}

/// Returns whether a model has a list price at its own service.
pub fn is_listed(id: &str) -> bool {
    Prices::new(BTreeMap::new(), listed(&KnownModels::default(), |_| true, |_| false)).of(id).is_some()
}

/// The list, by the ids of the models: the user's own catalogue wins over the built-in one.
fn listed(
    known: &KnownModels,
    is_wanted: impl Fn(ProviderId) -> bool,
    is_long: impl Fn(&str) -> bool,
) -> BTreeMap<String, (Price, Date)> {
    let wanted: Vec<_> = LISTED.iter().filter(|(provider, _)| is_wanted(*provider)).collect();
    let mut found = BTreeMap::new();
    let all = known.catalogues().flat_map(|catalogue| catalogue.models().iter().map(|facts| (facts, catalogue.read)));
    for (facts, read) in all {
        let Some(ListPrice { input, cached, cache_write, output }) = facts.prices else { continue };
        for (provider, _) in wanted.iter().filter(|(_, family)| *family == facts.family) {
            let id = format!("{provider}/{}", facts.id);
            let cache_write = match is_long(&id) {
                true => LONG_CACHE * input,
                false => cache_write.unwrap_or(input),
            };
            let price = Price { input, cached: cached.unwrap_or(input), cache_write, output };
            found.entry(id).or_insert((price, read));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use host_agent::PriceBasis;
    use host_model::Catalogue;

    use super::*;
    use crate::environment::Terminals;

    fn price(id: &str, configuration: &Configuration, variables: &[(&str, &str)]) -> Option<(f64, PriceBasis)> {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = Environment::new(variables.collect(), None, Terminals::default());
        of(configuration, &environment).of(id).map(|(price, basis)| (price.input, basis))
    }

    fn listed() -> PriceBasis {
        PriceBasis::Listed(Catalogue::built_in().read)
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
            ("openai/gpt-5-pro", Some(15.0)),
            // Another model, whose price is not in the list.
            ("openai/gpt-5-huge", None),
            ("anthropic/claude-opus-5-9", None),
            ("anthropic/gpt-5", None),
            // Local, replayed, or at another service.
            ("ollama/gpt-5", None),
            ("scripted:claude-opus-5", None),
            ("offline", None),
            ("vertex/gemini-2.5-pro", None),
        ] {
            assert_eq!(price(id, &none, &[]), expected.map(|price| (price, listed())), "{id}");
        }
        for (address, expected) in [
            ("http://localhost:1234/v1", None),
            ("https://models.example.com/v1", None),
            ("https://api.openai.com/v1", Some((1.25, listed()))),
            ("https://api.openai.com/v1/", Some((1.25, listed()))),
        ] {
            assert_eq!(price("openai/gpt-5", &none, &[("OPENAI_BASE_URL", address)]), expected, "{address}");
        }
    }

    // promise model.prices
    #[test]
    fn a_configured_price_wins_over_the_list_and_holds_for_any_server() {
        let text = "[models.\"openai/gpt-5\"]\nprice = { input = 7.0, output = 1.0 }\n";
        let own = Configuration::parsed(text);
        let local = [("OPENAI_BASE_URL", "http://localhost:1234/v1")];
        for variables in [&[][..], &local] {
            assert_eq!(price("openai/gpt-5", &own, variables), Some((7.0, PriceBasis::Configured)));
        }
        assert_eq!(price("openai/gpt-5.4", &own, &[]), Some((2.5, listed())));
    }
}
