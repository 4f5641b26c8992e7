//! Which wire and which effort a model gets.

use std::ffi::OsString;

use host_model::{Catalogue, KnownModels};

use super::*;
use crate::environment::Terminals;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Environment::new(variables.collect(), None, Terminals::default())
}

fn parsed(text: &str) -> Configuration {
    Configuration::parsed(text)
}

// promise model.wire: A key of OpenAI's alone chooses the Responses API; another server's address chooses chat
//   completions.
#[test]
fn usual_model_of_openai_is_asked_by_responses_unless_another_server_answers() {
    let key = ("OPENAI_API_KEY", "sk-test");
    for (variables, text, expected) in [
        (&[key][..], "", "openai-responses/gpt-6.1-terra"),
        (&[key, ("OPENAI_BASE_URL", "https://api.openai.com/v1/")], "", "openai-responses/gpt-6.1-terra"),
        (&[key, ("OPENAI_BASE_URL", "http://localhost:1234/v1")], "", "openai/gpt-6.1-terra"),
        (&[key], "[providers.openai]\nbase_url = \"https://models.example.com/v1\"\n", "openai/gpt-6.1-terra"),
    ] {
        let (configuration, environment) = (parsed(text), environment(variables));
        let (_, usual) = by_key(&configuration, &environment).expect("there is a key");
        assert_eq!(on_best_wire(usual.main, &configuration, &environment), expected, "{variables:?} {text}");
    }
    let own = environment(&[key]);
    let access = access(OpenAiResponses::PROVIDER, &parsed("[providers.openai]\nproxy = \"http://p:1\"\n"), &own);
    assert_eq!(access.proxy.as_deref(), Some("http://p:1"), "what is configured for the service holds on both wires");
    assert_eq!(on_best_wire("anthropic/claude-opus-5-5", &Configuration::default(), &own), "anthropic/claude-opus-5-5");
}

#[test]
fn effort_is_the_users_as_near_as_the_model_has_it_or_else_the_usual_one() {
    let check = |id: &str, text: &str, expected: Option<Effort>| {
        let key = [("OPENAI_API_KEY", "sk-test"), ("ANTHROPIC_API_KEY", "sk-test"), ("GEMINI_API_KEY", "sk-test")];
        let model = connect(id, &parsed(text), &environment(&key)).expect("it can be asked");
        assert_eq!(model.settings.effort, expected, "{id} {text}");
    };
    check("openai-responses/gpt-6.1-terra", "", Some(Effort::Medium));
    check("anthropic/claude-opus-5-5", "", Some(Effort::High));
    check("openai-responses/gpt-6.1-terra", "effort = \"max\"", Some(Effort::Max));
    check("openai-responses/gpt-5.1", "effort = \"max\"", Some(Effort::High));
    // The user's words for one model, and a budget.
    let one = "effort = \"low\"\n[models.\"anthropic/claude-opus-5-5\"]\neffort = \"xhigh\"";
    check("anthropic/claude-opus-5-5", one, Some(Effort::Xhigh));
    let budget = "[models.\"anthropic/claude-opus-5-5\"]\nthinking_budget = 0";
    check("anthropic/claude-opus-5-5", budget, None);
    // Where the service decides, or the model does not reason.
    check("openai/gpt-6.1-terra", "", None);
    check("openai/gpt-6.1-terra", "effort = \"low\"", Some(Effort::Low));
    check("gemini/gemini-3.8-flash", "", None);
    check("openai-responses/gpt-4o", "effort = \"high\"", None);
    check("openai-responses/unknown", "", None);
    check("openai-responses/unknown", "effort = \"high\"", Some(Effort::High));
    // A choice for this run wins over both.
    let mut chosen = parsed(one);
    chosen.choose_effort(Effort::Medium);
    let model = connect("anthropic/claude-opus-5-5", &chosen, &environment(&[("ANTHROPIC_API_KEY", "sk-test")]));
    assert_eq!(model.expect("it can be asked").settings.effort, Some(Effort::Medium));
}

#[test]
fn verbosity_is_the_users_where_the_model_lets_a_client_choose_it() {
    let check = |id: &str, text: &str, expected: Option<Verbosity>| {
        let key = [("OPENAI_API_KEY", "sk-test"), ("ANTHROPIC_API_KEY", "sk-test"), ("GEMINI_API_KEY", "sk-test")];
        let model = connect(id, &parsed(text), &environment(&key)).expect("it can be asked");
        assert_eq!(model.settings.verbosity, expected, "{id} {text}");
    };
    check("openai-responses/gpt-6.1-terra", "", None);
    let low = "verbosity = \"low\"";
    check("openai-responses/gpt-6.1-terra", low, Some(Verbosity::Low));
    check("openai/gpt-5", low, Some(Verbosity::Low));
    check("openai-responses/own-1", low, Some(Verbosity::Low));
    for id in
        ["openai-responses/gpt-4o", "openai/gpt-5-chat-latest", "anthropic/claude-opus-5-5", "gemini/gemini-3.8-flash"]
    {
        check(id, low, None);
    }
    // Another service's model of any name.
    check("ollama/gpt-5", low, None);
    let one = "verbosity = \"low\"\n[models.\"openai/gpt-5\"]\nverbosity = \"high\"";
    check("openai/gpt-5", one, Some(Verbosity::High));
    let mut chosen = parsed(one);
    chosen.choose_verbosity(Verbosity::Medium);
    let model = connect("openai/gpt-5", &chosen, &environment(&[("OPENAI_API_KEY", "sk-test")]));
    assert_eq!(model.expect("it can be asked").settings.verbosity, Some(Verbosity::Medium));
    let error = Configuration::check_text("verbosity = \"wordy\"", Path::new("c")).expect_err("there is none");
    let error = format!("{error:?}");
    assert!(error.contains("unknown variant `wordy`, expected one of `low`, `medium`, `high`"), "{error}");
}

#[test]
fn windows_and_comfort_are_the_catalogues_unless_a_window_is_configured() {
    let limits = |text: &str| {
        let environment = environment(&[("OPENAI_API_KEY", "sk-test")]);
        let model = connect("openai-responses/gpt-6.1-terra", &parsed(text), &environment).expect("it can be asked");
        let run = parsed(text).with_run_defaults(host_agent::RunConfig::unlimited(), &model);
        (model.window, run.compression.comfortable)
    };
    assert_eq!(limits(""), (922_000, Some(244_800)));
    assert_eq!(limits("[models.\"openai-responses/gpt-6.1-terra\"]\nwindow = 5000"), (5_000, None));
    assert_eq!(limits("[compression]\nthreshold = 0.9"), (922_000, None));
}

#[test]
fn unknown_models_are_those_without_facts_and_without_a_window() {
    let unknown = |text: &str| unknown(&parsed(text));
    assert_eq!(unknown("model = \"openai/own-1\""), ["openai/own-1"]);
    assert_eq!(unknown("model = \"openai/own-1\"\n[models.\"openai/own-1\"]\nwindow = 9000"), [""; 0]);
    assert_eq!(unknown("model = \"anthropic/claude-opus-5-5\"\n[models.offline]\n"), [""; 0]);
    let two = "model = \"openai/b\"\n[models.\"openai/b\"]\ntemperature = 1.0\n[models.\"openai/a\"]\ntop_p = 0.5\n";
    assert_eq!(unknown(two), ["openai/a", "openai/b"]);
}

// promise model.wire
#[test]
fn model_without_a_provider_is_asked_on_the_wire_of_the_catalogue() {
    let with = |id: &str, text: &str| with_provider(id, &parsed(text), &environment(&[]));
    let server = "[providers.openai]\nbase_url = \"https://models.example.com/v1\"\n";
    for (id, text, expected) in [
        ("gpt-6.1-terra", "", "openai-responses/gpt-6.1-terra"),
        ("gpt-6.1-terra", server, "openai/gpt-6.1-terra"),
        ("claude-opus-5-20260101", "", "anthropic/claude-opus-5-20260101"),
        ("gemini-2.5-pro", "", "gemini/gemini-2.5-pro"),
        ("kimi-k3", server, "openai/kimi-k3"),
        ("openai/gpt-6.1-terra", "", "openai/gpt-6.1-terra"),
        ("offline", "", "offline"),
    ] {
        assert_eq!(with(id, text).expect("it is known"), expected, "{id} {text}");
    }
    let refused = |id: &str| {
        let failure = with(id, "").expect_err(id);
        (failure.message, failure.kind)
    };
    let (words, kind) = refused("kimi-k3");
    assert_eq!((words.as_str(), kind), ("no server is configured for the model `kimi-k3`", ErrorKind::Configuration));
    for id in ["own-1", "nobody/gpt-6.1-terra", ""] {
        let (words, _) = refused(id);
        assert!(words.contains(&format!("`{id}`")), "{words}");
    }
    let key = [("OPENAI_API_KEY", "sk-test")];
    let model = connect("gpt-5.4", &parsed("effort = \"low\""), &environment(&key)).expect("it can be asked");
    assert_eq!((model.id.as_str(), model.name.as_str()), ("openai-responses/gpt-5.4", "gpt-5.4"));
}

#[test]
fn custom_tools_are_for_models_that_have_them_at_the_services_own_address() {
    let check = |id: &str, text: &str, expected: bool| {
        let key = [("OPENAI_API_KEY", "sk-test"), ("ANTHROPIC_API_KEY", "sk-test")];
        let model = connect(id, &parsed(text), &environment(&key)).expect("it can be asked");
        assert_eq!(!model.settings.custom_tools.is_empty(), expected, "{id} {text}");
    };
    let of = |id: &str, option: &str| format!("[models.\"{id}\"]\n{option}\n");
    let gpt = "openai-responses/gpt-5";
    check(gpt, "", true);
    check(gpt, &of(gpt, "custom_tools = false"), false);
    check(gpt, &of(gpt, "tools = \"text\""), false);
    check("openai-responses/own-1", "", false);
    check("openai-responses/own-1", &of("openai-responses/own-1", "custom_tools = true"), true);
    for id in ["openai/gpt-5", "anthropic/claude-haiku-4-5"] {
        check(id, &of(id, "custom_tools = true"), false);
    }
}

#[test]
fn deferred_tools_are_for_models_that_have_them_at_the_services_own_address() {
    let check = |id: &str, text: &str, expected: bool| {
        let key = [("OPENAI_API_KEY", "sk-test"), ("ANTHROPIC_API_KEY", "sk-test"), ("GEMINI_API_KEY", "sk-test")];
        let model = connect(id, &parsed(text), &environment(&key)).expect("it can be asked");
        assert_eq!(model.settings.deferred_tools, expected, "{id} {text}");
    };
    let of = |id: &str, option: &str| format!("[models.\"{id}\"]\n{option}\n");
    check("openai-responses/gpt-6.1-terra", "", true);
    check("anthropic/claude-haiku-4-5", "", true);
    check("openai-responses/gpt-5", "", false);
    check("openai-responses/own-1", "", false);
    // Wires without them.
    for id in ["openai/gpt-6.1-terra", "gemini/gemini-2.5-pro", "ollama/qwen3:8b"] {
        check(id, "", false);
        check(id, &of(id, "deferred_tools = true"), false);
    }
    // A server that may not have them, and one of which the user knows it.
    let (claude, server) =
        ("anthropic/claude-haiku-4-5", "[providers.anthropic]\nbase_url = \"https://a.example.com\"\n");
    check(claude, server, false);
    check(claude, &format!("{server}{}", of(claude, "deferred_tools = true")), true);
    check(claude, &of(claude, "deferred_tools = false"), false);
    check(claude, &of(claude, "tools = \"text\""), false);
    // Others answer in the place of a model that has none: the conversation is kept as that one needs it.
    check("openai-responses/gpt-5", &of("openai-responses/gpt-5", "fallback = \"anthropic/claude-haiku-4-5\""), false);
    check(AUTO, "[routing]\ndefault = \"anthropic/claude-haiku-4-5\"\n", false);
}

#[test]
fn model_that_calls_no_tools_gets_them_in_text_and_one_without_a_search_has_no_address_for_it() {
    let mut configuration = parsed("");
    let catalogue = r#"{"source": "x", "read": "2026-11-01", "models": [
        {"id": "talk-1", "family": "other", "window": 9000, "tools": []}]}"#;
    configuration.known = KnownModels::new(Some(Catalogue::parse(catalogue).expect("it is one")));
    let key = [("OPENAI_API_KEY", "sk-test")];
    let search = |id: &str, configuration: &Configuration| {
        connect(id, configuration, &environment(&key)).expect("it can be asked").search_address()
    };
    let address = Some("https://api.openai.com/v1/responses".to_owned());
    assert_eq!(search("openai-responses/gpt-6.1-terra", &configuration), address);
    assert_eq!(search("openai-responses/own-1", &configuration), address, "of an unknown model its service knows more");
    assert_eq!(search("openai-responses/gpt-4.1-nano", &configuration), None);
    assert_eq!(search("openai-responses/talk-1", &configuration), None);
}
