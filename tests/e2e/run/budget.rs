//! Limits of tokens and of cost, and the model that is picked by another.

use host_tests::host::Host;
use host_tests::server::{Answer, Server};
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use serde_json::{Value, json};

/// A reply that cost this many tokens.
fn reply(tokens: u64, chunk: Value) -> Value {
    json!({"chunks": [chunk, {"usage": {"input": tokens, "output": 10}}]})
}

fn look(at: u32) -> Value {
    json!({"call": {"name": "ls", "arguments": {"path": ".", "ignore": [format!("x{at}")]}}})
}

/// Prices for the model of a script.
fn priced(host: Host) -> Host {
    let script = host.home().join("script.jsonl").display().to_string();
    let model = format!("scripted:{script}");
    host.configured(&format!("[models.\"{model}\"]\nprice = {{ input = 1.0, output = 10.0, cached = 0.1 }}\n"))
}

#[test]
fn a_token_budget_gives_one_last_request_and_then_its_own_code() {
    let last = json!({"expect": {"last_text": "the budget of 1000 tokens is used up: 1220 tokens sent and received"},
                      "chunks": [{"text": "As far as I got."}]});
    let replies = [reply(600, look(1)), reply(600, look(2)), last];
    host_snapshot!(Host::scripted(&replies, &["--max-tokens", "1000", "Look"]), @r#"
    exit: 57
    ----- stdout
    As far as I got.
    ----- stderr
    error: the budget of 1000 tokens is used up: 1220 tokens sent and received; the answer is the best so \
    far and may be unfinished
    help: continue with `host run --resume "…"`, or raise --max-tokens
    "#);

    let replies = [reply(600, look(1)), reply(600, look(2)), reply(600, look(3))];
    let ended = Host::scripted(&replies, &["--max-tokens", "1000", "--output-format", "json", "Look"]).run();
    assert_eq!(ended.code, Some(57), "{ended:?}");
    let object = ended.json();
    assert_eq!(object["terminate_reason"], "TIMEOUT");
    assert!(object["error"]["message"].as_str().is_some_and(|text| text.contains("1000 tokens")), "{object}");
    assert!(object["error"]["help"].as_str().is_some_and(|text| text.contains("--max-tokens")), "{object}");
}

// promise budget.estimated: A service that counts no tokens makes no limit void: the host's estimate counts, for the
//   day too.
#[test]
fn budget_counts_an_estimate_where_the_service_counts_nothing() {
    let read =
        |at: u32| json!({"chunks": [{"call": {"name": "read_file", "arguments": {"path": "big", "limit": 500 + at}}}]});
    let replies: Vec<Value> = (0..12).map(read).collect();
    let big = "some words of a line that is read again and again\n".repeat(2_000);
    let host = Host::scripted(&replies, &["--max-tokens", "20000", "Look"]).file("big", &big);
    host_snapshot!(host, @r#"
    exit: 57
    ----- stdout
    ----- stderr
    error: the budget of 20000 tokens is used up: [NUMBER] tokens sent and received (an estimate, since the \
    model's service does not count them)
    help: continue with `host run --resume "…"`, or raise --max-tokens
    "#);
    let asked = host.session().iter().filter(|entry| entry["content"]["role"] == "model").count();
    assert!((2..6).contains(&asked), "{asked} replies");

    let host = Host::scripted(&replies, &["Look"]).file("big", &big).configured("[budget]\ntokens_per_day = 20000\n");
    let ended = host.run();
    assert!(ended.code == Some(57) && ended.stderr.contains("`tokens_per_day`"), "{ended:?}");
    // Without a limit nothing is estimated, and nothing stops it.
    let host = Host::scripted(&[replies, vec![json!({"chunks": [{"text": "Done."}]})]].concat(), &["Look"]);
    assert_eq!(host.file("big", &big).run().code, Some(0));
}

#[test]
fn budget_that_is_spent_prevents_the_retry_of_an_invalid_reply() {
    let empty = json!({"chunks": [{"text": ""}, {"usage": {"input": 2000}}]});
    host_snapshot!(Host::scripted(&[empty], &["--max-tokens", "1000", "Look"]), @r#"
    exit: 57
    ----- stdout
    ----- stderr
    the model's reply is empty (it ended with `stop`); retrying in [DURATION] (attempt 2 of 2)
    error: the budget of 1000 tokens is used up: 2000 tokens sent and received
    help: continue with `host run --resume "…"`, or raise --max-tokens
    "#);
}

#[test]
fn a_limit_of_costs_counts_by_the_configured_prices() {
    let replies = [reply(1_000_000, look(1)), reply(1_000_000, json!({"text": "Done."}))];
    let ended = priced(Host::scripted(&replies, &["--max-cost", "5", "--output-format", "json", "Look"])).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["stats"]["cost"], 2.0002);
    let replies = [reply(1_000_000, look(1)), reply(1_000, json!({"text": "Enough."}))];
    let ended = priced(Host::scripted(&replies, &["--max-cost", "1", "--output-format", "json", "Look"])).run();
    assert_eq!((ended.code, &ended.json()["partial_response"]), (Some(57), &json!("Enough.")), "{ended:?}");
    host_snapshot!(priced(Host::scripted(&replies[..1], &["--max-cost", "1", "Look"])), @r#"
    exit: 57
    ----- stdout
    ----- stderr
    error: the budget of 1.00 is used up: the cost so far is 1.0001
    help: continue with `host run --resume "…"`, or raise --max-cost
    "#);
}

#[test]
fn a_limit_of_costs_without_a_price_is_refused_before_anyone_is_asked() {
    host_snapshot!(Host::scripted(&[reply(1, json!({"text": "x"}))], &["--max-cost", "1", "Look"]), @r#"
    exit: 52
    ----- stdout
    ----- stderr
    error: the cost is limited, but the price of the model `scripted:[HOME]/script.jsonl` is not known
    help: add `[models."scripted:[HOME]/script.jsonl"]` with `price = { input = …, output = … }` (per \
    million tokens) to the configuration
    "#);
    let mut errors = Transcript::default();
    for wrong in ["0", "-1", "NaN", "much"] {
        errors.add(wrong, &Host::new(["run", "--model", "offline", "--max-cost", wrong, "Look"]).run());
    }
    transcript_snapshot!(errors, @"
    # 0
    exit: 42
    ----- stderr
    error: invalid value '0' for '--max-cost <AMOUNT>': `0` is not an amount above 0, such as 0.50

    For more information, try '--help'.

    # -1
    exit: 42
    ----- stderr
    error: unexpected argument '-1' found

      tip: to pass '-1' as a value, use '-- -1'

    Usage: host run [OPTIONS] [PROMPT]...

    For more information, try '--help'.

    # NaN
    exit: 42
    ----- stderr
    error: invalid value 'NaN' for '--max-cost <AMOUNT>': `NaN` is not an amount above 0, such as 0.50

    For more information, try '--help'.

    # much
    exit: 42
    ----- stderr
    error: invalid value 'much' for '--max-cost <AMOUNT>': `much` is not an amount above 0, such as 0.50

    For more information, try '--help'.
    ");
    let ended = Host::new(["run", "--model", "offline", "--max-cost", "1", "Look"]).run();
    assert_eq!(ended.code, Some(0), "what costs nothing needs no price: {ended:?}");
}

// promise model.prices
#[test]
fn a_limit_of_costs_knows_list_prices_of_services_and_of_no_other_server() {
    let start = |model: &str, address: Option<&str>| {
        let mut host = Host::new(["run", "--model", model, "--max-cost", "1", "Look"])
            .env("ANTHROPIC_API_KEY", "sk-ant-secret")
            // Nothing leaves the machine: no proxy answers there.
            .env("HTTPS_PROXY", "http://127.0.0.1:1")
            .configured("[retry]\nattempts = 1\n");
        if let Some(address) = address {
            host = host.env("ANTHROPIC_BASE_URL", address);
        }
        host.run()
    };
    let listed = start("anthropic/claude-opus-5-20260101", None);
    assert!(!listed.stderr.contains("price") && listed.code != Some(52), "the model was asked: {listed:?}");
    outcome_snapshot!(start("anthropic/claude-opus-99", None), @r#"
    exit: 52
    ----- stdout
    ----- stderr
    error: the cost is limited, but the price of the model `anthropic/claude-opus-99` is not known
    help: add `[models."anthropic/claude-opus-99"]` with `price = { input = …, output = … }` (per million \
    tokens) to the configuration
    "#);
    outcome_snapshot!(start("anthropic/claude-opus-5", Some("http://127.0.0.1:1")), @r#"
    exit: 52
    ----- stdout
    ----- stderr
    error: the cost is limited, but the price of the model `anthropic/claude-opus-5` is not known
    help: add `[models."anthropic/claude-opus-5"]` with `price = { input = …, output = … }` (per million \
    tokens) to the configuration
    "#);
}

/// A service whose models answer with their own names, and whose smallest one picks.
async fn service(picks: &'static str) -> Server {
    Server::start(move |request| {
        let model = request.path.split(['/', ':']).find(|part| part.starts_with("gemini-")).unwrap_or_default();
        // The one that picks is offered no tools.
        let text = if request.body.contains("functionDecl") { model } else { picks };
        let content = json!({"role": "model", "parts": [{"text": text}]});
        let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 1});
        Answer::events([json!({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage})])
    })
    .await
}

async fn ask_auto(server: &Server, configuration: &str) -> host_tests::host::Ended {
    let host = Host::new(["run", "--model", "auto", "--output-format", "json", "How many files are there?"])
        .env("GEMINI_API_KEY", "AIza-secret")
        .env("GOOGLE_GEMINI_BASE_URL", server.url(""))
        .configured(configuration);
    tokio::task::spawn_blocking(move || host.run()).await.expect("it ends")
}

#[tokio::test]
async fn auto_asks_a_small_model_once_which_one_is_to_answer() {
    let server = service(r#"{"reasoning": "It is one question.", "model": "gemini/gemini-3.5-flash-lite"}"#).await;
    let ended = ask_auto(&server, "").await;
    assert_eq!((ended.code, &ended.json()["response"]), (Some(0), &json!("gemini-3.5-flash-lite")), "{ended:?}");
    assert_eq!(ended.json()["stats"]["tokens"]["input"], 20, "what picking cost is counted");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].body.contains("How many files are there?") && !requests[0].body.contains("functionDecl"));
}

#[tokio::test]
async fn auto_falls_back_to_the_default() {
    let server = service("I cannot say.").await;
    let ended = ask_auto(&server, "").await;
    assert_eq!((ended.code, &ended.json()["response"]), (Some(0), &json!("gemini-3.6-flash")), "{ended:?}");
    let routing = "[routing]\ndefault = \"gemini/gemini-3-pro\"\nclassifier = \"gemini/gemini-2.5-flash-lite\"\n\
                   [routing.models]\n\"gemini/gemini-2.5-flash\" = \"small things\"\n";
    let ended = ask_auto(&server, routing).await;
    assert_eq!((ended.code, &ended.json()["response"]), (Some(0), &json!("gemini-3-pro")), "{ended:?}");
    host_snapshot!(Host::new(["run", "--model", "auto", "Look"]), @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: the model `auto` has no models to pick from
    help: set `default` and `[routing.models]` under `[routing]` in the configuration, or the key of a \
    service
    ");
}
