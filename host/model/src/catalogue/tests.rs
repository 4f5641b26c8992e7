use super::*;

fn known() -> KnownModels {
    KnownModels::default()
}

#[test]
fn catalogue_built_in_has_plausible_facts_and_no_model_twice() {
    let catalogue = Catalogue::built_in();
    assert!(catalogue.models().len() > 100, "{}", catalogue.models().len());
    for facts in catalogue.models() {
        let name = &facts.id;
        assert_eq!(catalogue.models().iter().filter(|other| other.id == *name).count(), 1, "{name} is there twice");
        assert!((4_000..=20_000_000).contains(&facts.window), "{name}: {}", facts.window);
        assert!(facts.output.is_none_or(|output| (1..=facts.window).contains(&output)), "{name}");
        assert!(facts.tools.as_ref().is_some_and(|tools| tools.is_sorted() && !tools.is_empty()), "{name}");
        assert_eq!(facts.wire, Some(facts.family.wire()), "{name}");
        assert!(facts.efforts.is_sorted(), "{name}: {:?}", facts.efforts);
        for price in facts.prices.iter().chain(facts.long.iter().map(|long| &long.price)) {
            let cached = price.cached.unwrap_or(price.input);
            assert!(0.0 < cached && cached <= price.input && price.input < price.output, "{name}: {price:?}");
            assert!(price.cache_write.is_none_or(|write| write >= price.input), "{name}: {price:?}");
        }
        if let (Some(price), Some(long)) = (facts.prices, facts.long) {
            assert!(long.above < facts.window && long.price.input > price.input, "{name}");
        }
    }
}

#[test]
fn catalogue_is_the_same_after_it_is_written_and_read() {
    let catalogue = Catalogue::built_in();
    assert_eq!(Catalogue::parse(&catalogue.to_text()).expect("it can be read"), *catalogue);
    assert_eq!(catalogue.to_text(), format!("{}\n", BUILT_IN.trim_end()), "the file is as the program writes it");
}

#[test]
fn catalogue_finds_snapshots_and_gateways_names_but_no_other_model() {
    for (name, found) in [
        ("claude-opus-5-5", Some("claude-opus-5-5")),
        ("claude-opus-5-20260101", Some("claude-opus-5")),
        ("claude-opus-4-5@20251101", Some("claude-opus-4-5")),
        ("anthropic/claude-sonnet-5", Some("claude-sonnet-5")),
        ("models/gemini-2.5-pro", Some("gemini-2.5-pro")),
        ("gpt-5-2025-08-07", Some("gpt-5")),
        ("gpt-5-mini", Some("gpt-5-mini")),
        ("claude-opus-5-9", None),
        ("gpt-5-huge", None),
        ("gpt-7", None),
        ("qwen3:8b", None),
        ("", None),
        ("-", None),
        ("日本-2026-01-01", None),
    ] {
        assert_eq!(Catalogue::built_in().find(name).map(|facts| facts.id.as_str()), found, "{name}");
    }
}

#[test]
fn window_of_a_model_is_listed_or_a_careful_guess() {
    for (model, expected) in [
        ("gemini-2.5-pro", 1_048_576),
        ("models/gemini-2.5-flash", 1_048_576),
        ("claude-sonnet-4-5", 200_000),
        ("claude-opus-5", 1_000_000),
        ("gpt-5-mini", 272_000),
        ("gpt-6.1-terra", 922_000),
        // Not listed: the smallest of the family.
        ("claude-opus-9", 200_000),
        ("gpt-9", 272_000),
        ("gpt-oss:20b", 131_072),
        ("qwen3:8b", UNKNOWN_WINDOW),
    ] {
        assert_eq!(known().window(model), expected, "{model}");
    }
}

#[test]
fn conversation_is_comfortable_up_to_a_step_of_the_price_or_half_of_a_large_window() {
    for (model, expected) in [
        ("gpt-6.1-terra", Some(244_800)),
        ("claude-haiku-5-5", Some(90_000)),
        ("gemini-2.5-pro", Some(180_000)),
        ("claude-opus-5", Some(500_000)),
        ("claude-haiku-4-5", None),
        ("gpt-5", None),
        ("qwen3:8b", None),
    ] {
        assert_eq!(known().comfortable(model), expected, "{model}");
    }
}

#[test]
fn family_is_known_by_the_name() {
    for (model, expected) in [
        ("claude-opus-9", Family::Claude),
        ("openai/gpt-5.4", Family::Gpt),
        ("gemini-9-flash", Family::Gemini),
        ("gpt-oss-20b", Family::Other),
        ("kimi-k3", Family::Other),
        ("qwen3:8b", Family::Other),
    ] {
        assert_eq!(known().family(model), expected, "{model}");
    }
}

#[test]
fn usual_effort_makes_a_model_think_that_would_not_by_itself() {
    let usual = |model: &str| known().find(model).and_then(ModelFacts::usual_effort);
    assert_eq!(usual("gpt-5.4-mini"), Some(Effort::Medium));
    assert_eq!(usual("claude-opus-5-5"), Some(Effort::High));
    assert_eq!(usual("gpt-4o"), None);
    assert_eq!(usual("claude-haiku-4-5"), None);
    assert_eq!(usual("gemini-3.8-flash"), None);
}

const DAY: Date = jiff::civil::date(2026, 11, 27);

const MODELS_DEV: &str = r#"{
  "openai": {"id": "openai", "name": "OpenAI", "env": ["OPENAI_API_KEY"], "models": {
    "gpt-9": {"id": "gpt-9", "name": "GPT-9", "tool_call": true, "reasoning": true, "attachment": true,
      "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
      "cost": {"input": 3, "output": 12, "cache_read": 0.3}, "limit": {"context": 500000, "input": 400000, "output": 128000}},
    "gpt-9-2027-01-01": {"tool_call": true, "limit": {"context": 400000, "output": 128000}},
    "gpt-6.1-terra": {"tool_call": true, "cost": {"input": 1, "output": 5}, "limit": {"context": 1050000, "output": 128000}},
    "whisper": {"tool_call": false, "limit": {"context": 1000, "output": 1000}},
    "gpt-talk": {"tool_call": false, "modalities": {"input": ["text"], "output": ["text"]}, "limit": {"context": 9000}}
  }},
  "gateway": {"models": {
    "openai/gpt-9": {"tool_call": true, "limit": {"context": 1000, "output": 1000}},
    "own-1": {"tool_call": true, "cost": {"input": 9, "output": 9}, "limit": {"context": 64000, "output": 8000}}
  }},
  "more": {"models": {"own-1": {"modalities": {"output": ["text"]}, "limit": {"context": 48000}}}},
  "other": {"models": {"own-1": {"tool_call": true, "limit": {"context": 32000, "output": 8000}}}}
}"#;

#[test]
fn catalogue_of_models_dev_has_the_makers_word_and_the_smallest_window_of_others() {
    let catalogue = Catalogue::from_models_dev(MODELS_DEV, "models.dev", DAY).expect("it is a list");
    let names: Vec<&str> = catalogue.models().iter().map(|facts| facts.id.as_str()).collect();
    assert_eq!(names, ["gpt-6.1-terra", "gpt-9", "gpt-talk", "own-1"]);
    let gpt = catalogue.find("gpt-9-2027-01-01").expect("a snapshot");
    assert_eq!((gpt.window, gpt.output, gpt.images, gpt.pdfs), (400_000, Some(128_000), true, true));
    let price = gpt.prices.expect("the maker's");
    assert_eq!((price.input, price.output, price.cached), (3.0, 12.0, Some(0.3)));
    assert_eq!(catalogue.find("own-1").map(|facts| (facts.window, facts.prices)), Some((32_000, None)));
    // What models.dev does not say stays known.
    assert!(catalogue.find("gpt-6.1-terra").is_some_and(|facts| facts.efforts.contains(&Effort::Max)));

    let tools = |name: &str| catalogue.find(name).and_then(|facts| facts.tools.clone()).expect("it is there");
    assert_eq!(tools("gpt-6.1-terra"), ToolKind::ALL);
    assert_eq!(tools("gpt-9"), [ToolKind::Functions, ToolKind::WebSearch]);
    assert_eq!((tools("gpt-talk"), tools("own-1")), (Vec::new(), vec![ToolKind::Functions]));
    let wire = |name: &str| catalogue.find(name).and_then(|facts| facts.wire);
    assert_eq!((wire("gpt-9"), wire("own-1")), (Some(Wire::OpenAiResponses), Some(Wire::OpenAi)));

    // What the user fetched wins, and everything else is as built in.
    let own = KnownModels::new(Some(catalogue));
    assert_eq!(own.window("gpt-6.1-terra"), 1_050_000);
    assert_eq!(own.window("claude-opus-5"), 1_000_000);
}

#[test]
fn catalogue_of_models_dev_that_is_none_is_refused() {
    for (text, expected) in [
        ("[]", "neither a catalogue nor a list of models.dev"),
        ("{\"a\": 1}", "neither a catalogue nor a list of models.dev"),
        ("{}", "no model with a context limit"),
        ("{\"openai\": {\"models\": {\"x\": {\"tool_call\": true}}}}", "no model with a context limit"),
    ] {
        let error = Catalogue::from_models_dev(text, "x", DAY).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn verbosity_is_a_choice_of_gpt_models_since_5() {
    let known = KnownModels::default();
    let check = |name: &str, expected: Option<&[Verbosity]>| assert_eq!(known.verbosities(name), expected, "{name}");
    for name in ["gpt-5", "gpt-5-mini", "openai/gpt-5.1", "gpt-6.1-terra", "gpt-5-2025-08-07", "gpt-17-unheard-of"] {
        check(name, Some(&Verbosity::ALL));
    }
    for name in
        ["gpt-4.1", "gpt-4o", "o3", "gpt-5-chat-latest", "gpt-5.1-codex-max", "claude-opus-5-5", "gemini-3.8-flash"]
    {
        check(name, Some(&[]));
    }
    for name in ["gpt-oss-120b", "glm-5"] {
        check(name, Some(&[]));
    }
    check("own-1", None);
}

#[test]
fn tools_and_wire_are_those_of_the_catalogue_and_of_an_older_one_those_that_are_built_in() {
    use ToolKind::{Custom, Deferred, Functions, WebSearch};
    let known = KnownModels::default();
    let check = |name: &str, tools: Option<&[ToolKind]>, wire: Option<Wire>| {
        assert_eq!((known.tools(name), known.wire(name)), (tools, wire), "{name}");
    };
    check("claude-haiku-4-5-20251001", Some(&[Functions, Deferred, WebSearch]), Some(Wire::Anthropic));
    check("gpt-6.1-terra", Some(&ToolKind::ALL), Some(Wire::OpenAiResponses));
    check("gpt-5.4-nano", Some(&[Functions, Custom, WebSearch]), Some(Wire::OpenAiResponses));
    check("gpt-5-chat-latest", Some(&[Functions, WebSearch]), Some(Wire::OpenAiResponses));
    check("gpt-4.1-nano", Some(&[Functions]), Some(Wire::OpenAiResponses));
    check("gemini-2.5-pro", Some(&[Functions, WebSearch]), Some(Wire::Gemini));
    check("kimi-k3", Some(&[Functions]), Some(Wire::OpenAi));
    check("own-1", None, None);

    let older = r#"{"source": "x", "read": "2026-11-01", "models": [
        {"id": "gpt-5.4", "family": "gpt", "window": 9000}, {"id": "own-1", "family": "other", "window": 9000}]}"#;
    let own = KnownModels::new(Some(Catalogue::parse(older).expect("it is one")));
    assert_eq!(own.tools("gpt-5.4"), Some(&ToolKind::ALL[..]));
    assert_eq!((own.wire("gpt-5.4"), own.wire("own-1")), (Some(Wire::OpenAiResponses), Some(Wire::OpenAi)));
    assert_eq!(own.tools("own-1"), Some(&[Functions][..]));
}
