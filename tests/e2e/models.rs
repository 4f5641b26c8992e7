//! What is known about models: the commands that show it, and newer facts that a user fetches.

use host_tests::host::Host;
use host_tests::host_snapshot;

/// What models.dev has, with one model that the program does not know and one that it knows otherwise.
const LIST: &str = r#"{"anthropic": {"models": {
  "claude-opus-9": {"tool_call": true, "modalities": {"input": ["text", "image"]},
    "cost": {"input": 3, "output": 15, "cache_read": 0.3}, "limit": {"context": 300000, "output": 64000}},
  "claude-opus-5-5": {"tool_call": true, "limit": {"context": 2000000, "output": 128000}}}}}"#;

#[test]
fn model_show_has_what_the_catalogue_knows() {
    let host = Host::new(["model", "show", "openai/gpt-6.1-terra"]);
    host_snapshot!(host, @"");
    host_snapshot!(host, ["model", "show", "claude-opus-5-20270101"], @"");
    host_snapshot!(host, ["model", "show", "claude-opus-6"], @"");
    host_snapshot!(host, ["model", "show", "\u{1b}[2J"], @"");
}

// promise model.catalogue: Facts that a user fetched are used in place of the built-in ones, and only those.
#[test]
fn model_update_puts_newer_facts_in_front_and_names_what_it_cannot_read() {
    let host = Host::new(["model", "show", "claude-opus-9"]).home_file("list.json", LIST);
    host_snapshot!(host, @"");
    let list = host.home().join("list.json");
    host_snapshot!(host, ["model", "update", list.to_str().expect("UTF-8")], @"");
    host_snapshot!(host, ["model", "show", "claude-opus-9"], @"");
    host_snapshot!(host, ["model", "show", "claude-opus-5-5"], @"");
    let all = host.run_of(&["model", "list"]);
    assert!(all.stdout.contains("gpt-6.1-terra"), "what is built in stays: {}", all.stdout);

    std::fs::write(&list, "{}").expect("written");
    host_snapshot!(host, ["model", "update", list.to_str().expect("UTF-8")], @"");
    host_snapshot!(host, ["model", "update", "nowhere.json"], @"");
    host_snapshot!(host, ["model", "update", "http://models.example.com/api.json"], @"");

    let saved = host.home().join(".config/host/catalogue.json");
    std::fs::write(&saved, "not a catalogue").expect("written");
    host_snapshot!(host, ["model", "show", "claude-opus-5-5"], @"");
}
