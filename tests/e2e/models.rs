//! What is known about models: the commands that show it, and newer facts that a user fetches.

use host_tests::host::Host;
use host_tests::host_snapshot;
use host_tests::server::{Answer, Server};

/// What models.dev has, with one model that the program does not know and one that it knows otherwise.
const LIST: &str = r#"{"anthropic": {"models": {
  "claude-opus-9": {"tool_call": true, "modalities": {"input": ["text", "image"]},
    "cost": {"input": 3, "output": 15, "cache_read": 0.3}, "limit": {"context": 300000, "output": 64000}},
  "claude-opus-5-5": {"tool_call": true, "limit": {"context": 2000000, "output": 128000}}}}}"#;

#[test]
fn model_show_has_what_the_catalogue_knows() {
    let host = Host::new(["model", "show", "openai/gpt-6.1-terra"]);
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    gpt-6.1-terra
      window        922000 tokens
      answer        up to 128000 tokens
      compressed    from 244800 tokens on, unless `[compression] threshold` is set
      efforts       none to max (usually medium)
      verbosity     low, medium or high
      wire          openai-responses, unless you name another one
      tools         functions, custom tools, deferred tools, web search
      also reads    images, PDFs
      price         1 / 0.05 / 5 US dollars for a million tokens sent / cached / received
      long requests 2 / 0.1 / 7.5 above 272000 tokens
    ----- stderr
    ");
    host_snapshot!(host, ["model", "show", "claude-opus-5-20270101"], @r"
    exit: 0
    ----- stdout
    claude-opus-5
      window        1000000 tokens
      answer        up to 128000 tokens
      compressed    from 500000 tokens on, unless `[compression] threshold` is set
      efforts       none to max (usually high)
      wire          anthropic, unless you name another one
      tools         functions, deferred tools, web search
      also reads    images, PDFs
      price         5 / 0.5 / 25 US dollars for a million tokens sent / cached / received
    ----- stderr
    ");
    host_snapshot!(host, ["model", "show", "claude-opus-6"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: nothing is known about the model `claude-opus-6`
    help: did you mean `claude-opus-5`? `host model list` has all
    ");
    host_snapshot!(host, ["model", "show", "\u{1b}[2J"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: nothing is known about the model `\u{1b}[2J`
    help: `host model list` has all; `host model update` fetches newer facts
    ");
}

// promise model.catalogue: Facts that a user fetched are used in place of the built-in ones, and only those.
#[test]
fn model_update_puts_newer_facts_in_front_and_names_what_it_cannot_read() {
    let host = Host::new(["model", "show", "claude-opus-9"]).home_file("list.json", LIST);
    host_snapshot!(host, @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: nothing is known about the model `claude-opus-9`
    help: did you mean `claude-opus-5`? `host model list` has all
    ");
    let list = host.home().join("list.json");
    host_snapshot!(host, ["model", "update", list.to_str().expect("UTF-8")], @r"
    exit: 0
    ----- stdout
    Saved 2 models of [HOME]/list.json (read on [DATE]) in [HOME]/.config/host/catalogue.json.
    ----- stderr
    ");
    host_snapshot!(host, ["model", "show", "claude-opus-9"], @r"
    exit: 0
    ----- stdout
    claude-opus-9
      window        300000 tokens
      answer        up to 64000 tokens
      wire          anthropic, unless you name another one
      tools         functions, web search
      also reads    images
      price         3 / 0.3 / 15 US dollars for a million tokens sent / cached / received
    ----- stderr
    ");
    host_snapshot!(host, ["model", "show", "claude-opus-5-5"], @r"
    exit: 0
    ----- stdout
    claude-opus-5-5
      window        2000000 tokens
      answer        up to 128000 tokens
      compressed    from 1000000 tokens on, unless `[compression] threshold` is set
      efforts       low to max (usually high)
      wire          anthropic, unless you name another one
      tools         functions, deferred tools, web search
    ----- stderr
    ");
    let all = host.run_of(&["model", "list"]);
    assert!(all.stdout.contains("gpt-6.1-terra"), "what is built in stays: {}", all.stdout);

    std::fs::write(&list, "{}").expect("written");
    host_snapshot!(host, ["model", "update", list.to_str().expect("UTF-8")], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: `[HOME]/list.json` is not a catalogue of models
      caused by: the list has no model with a context limit
    help: give the list of models.dev (https://models.dev/api.json), or a catalogue.json of this program
    ");
    host_snapshot!(host, ["model", "update", "nowhere.json"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the catalogue `nowhere.json` cannot be read
      caused by: No such file or directory (os error 2)
    help: give a file, or an address such as https://models.dev/api.json
    ");
    host_snapshot!(host, ["model", "update", "http://models.example.com/api.json"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the catalogue `http://models.example.com/api.json` cannot be read
      caused by: only addresses with https are fetched, or this machine itself
    help: give a file, or an address such as https://models.dev/api.json
    ");

    let saved = host.home().join(".config/host/catalogue.json");
    std::fs::write(&saved, "not a catalogue").expect("written");
    host_snapshot!(host, ["model", "show", "claude-opus-5-5"], @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: the catalogue of models `[HOME]/.config/host/catalogue.json` cannot be used
      caused by: expected ident at line 1 column 2
    help: fetch it again with `host model update`, or remove the file to use the built-in one
    ");
}

/// A catalogue with a model that calls no tools.
const TALK: &str = r#"{"source": "mine", "read": "2026-11-01", "models": [
  {"id": "talk-1", "family": "other", "window": 64000, "tools": [], "wire": "openai"}]}"#;

// promise model.catalogue
#[tokio::test]
async fn model_that_calls_no_tools_is_asked_by_its_bare_name_on_its_wire_with_the_tools_in_text() {
    let server = Server::start(|_| {
        let said = r#"{"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}"#;
        Answer::ok(format!("data: {said}\n\ndata: [DONE]\n\n")).header("content-type", "text/event-stream")
    })
    .await;
    let host = Host::new(["run", "--model", "talk-1", "Hi"]).home_file(".config/host/catalogue.json", TALK);
    host_snapshot!(host, @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: no server is configured for the model `talk-1`
    help: set OPENAI_BASE_URL, or `base_url` under `[providers.openai]` in the configuration, to the \
    address of a service that has it; or name the provider, as in `openai/talk-1`
    ");
    let host = host.env("OPENAI_BASE_URL", server.url("/v1"));
    let ended = tokio::task::spawn_blocking(move || host.run()).await.expect("it ends");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    let asked: Vec<_> =
        server.requests().into_iter().filter(|request| request.path.ends_with("/completions")).collect();
    let body = asked[0].json();
    assert_eq!((asked[0].path.as_str(), &body["model"]), ("/v1/chat/completions", &serde_json::json!("talk-1")));
    assert_eq!(body.get("tools"), None);
    let system = body["messages"][0]["content"].as_str().expect("a text");
    assert!(system.contains("```tool_call") && system.contains("## read_file"), "{system}");
}
