//! Tools that a command of the user's tells of: found, named, called with exactly one command, and never by a subagent.

mod calls;
mod lists;
mod project;

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

/// What lets every tool of a list run its command.
const GRANT: &str = "discovered:process=*";

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

/// A model that makes these calls at once, and is done when it was told these pieces, in order.
fn calling(calls: &[Value], told: &[&str], arguments: &[&str]) -> Host {
    let replies = [json!({"chunks": calls}), json!({"expect": {"responses": told}, "chunks": [{"text": "Done."}]})];
    Host::scripted(&replies, arguments)
}

/// The host with tools of the user's own: a shell script that prints the list, and one that gets calls. The name of the
/// tool is the `$1` of the second.
fn with_scripts(host: Host, list: &str, called: &str) -> Host {
    let home = host.home().display().to_string();
    let words = |script: &str| json!(["sh", format!("{home}/{script}")]);
    host.home_file("list.sh", list).home_file("call.sh", called).configured(&format!(
        "[tools]\ndiscovery_command = {}\ncall_command = {}\n",
        words("list.sh"),
        words("call.sh")
    ))
}

/// The same with a list as it is.
fn with_tools(host: Host, list: &Value, called: &str) -> Host {
    with_scripts(host, &format!("cat <<'END'\n{list}\nEND\n"), called)
}

fn went_well(ended: &Ended) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
}

/// Checks how it ended, with one error that says this.
fn refused(ended: &Ended, code: i32, says: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:?}");
    for words in says {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
}

/// The names of the tools that there are, and the plugins that they are of.
fn listed(host: &Host, arguments: &[&str]) -> Vec<(String, String)> {
    let ended = host.run_of(&[&["tool", "list", "--json"], arguments].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    ended.json().as_array().expect("a list").iter().map(|row| (text(&row["name"]), text(&row["plugin"]))).collect()
}

/// The names of the discovered ones.
fn discovered(host: &Host) -> Vec<String> {
    let found = listed(host, &[]).into_iter().filter(|(_, plugin)| plugin == "discovered");
    found.map(|(name, _)| name).collect()
}

#[test]
fn without_a_command_there_is_nothing_to_see_of_it() {
    let host = Host::new(["tool"]);
    assert!(discovered(&host).is_empty());
    refused(&host.run_of(&["tool", "show", "discovered"]), 42, &["there is no tool `discovered`"]);
    refused(&host.run_of(&["tool", "list", "--grant", GRANT]), 42, &["there is no plugin `discovered`"]);
}

#[test]
fn tools_are_found_and_shown_with_where_they_come_from() {
    let list = json!([
        {"name": "get_time", "description": "Tells the time.", "parameters": {"type": "OBJECT", "properties": {"zone": {"type": "STRING"}}}},
        {"function_declarations": [{"name": "fs.read"}]},
        {"functionDeclarations": [{"name": "count", "parametersJsonSchema": {"type": "object", "required": ["n"]}}]},
    ]);
    let host = with_tools(Host::new(["tool"]), &list, "");
    assert_eq!(discovered(&host), ["get_time", "fs_read", "count"]);
    let text = host.run_of(&["tool", "list"]).stdout;
    assert!(text.contains("found by sh ") && text.contains("process (not granted)"), "{text}");
    let shown = host.run_of(&["tool", "show", "get_time", "--json"]).json();
    assert_eq!(shown["tool"]["input_schema"]["properties"]["zone"]["type"], "string");
    assert!(shown["tool"]["description"].as_str().is_some_and(|text| text.starts_with("Tells the time.\n\n")));
    let script = host.home().join("call.sh").display().to_string();
    let asked = shown["asks_for"]["process"]["scope"].as_str().expect("a scope").to_owned();
    let expected = ["count", "fs.read", "get_time"].map(|name| format!("sh {script} {name} $")).join(",");
    assert_eq!(asked, expected, "it asks for these commands and no other");
    assert_eq!(shown["component"]["imports"].as_array().map(Vec::len), Some(4), "{shown}");
}

// promise command-tools.list: A list of tools takes no existing name, is limited in size and cannot control a terminal.
#[test]
fn a_name_that_is_taken_gets_a_prefix_and_takes_nothing_from_its_owner() {
    let list =
        json!([{"name": "ls"}, {"name": "codebase_investigator"}, {"name": "complete_task"}, {"name": "discovered"}]);
    let host = with_tools(Host::new(["tool"]), &list, "echo mine $1");
    let expected =
        ["ls", "codebase_investigator", "complete_task", "discovered"].map(|name| format!("discovered_{name}"));
    assert_eq!(discovered(&host), expected);
    let called = |name: &str| host.run_of(&["tool", "call", name, "{}", "--grant", GRANT]);
    assert_eq!(called("discovered_ls").stdout, "mine ls\n");
    assert!(!called("ls").stdout.contains("mine"), "{:?}", called("ls"));
    // And a run, whose model is told of agents too, has all of them.
    let tools = json!({"tools": ["ls", "discovered_ls", "codebase_investigator", "discovered_codebase_investigator"]});
    let reply = json!({"expect": tools, "chunks": [{"text": "Done."}]});
    went_well(&with_tools(Host::scripted(&[reply], &["Look"]), &list, "").run());
    // Nobody else takes the plugin's name.
    let (component, manifest) = (repository_file("ls.wasm"), repository_file("ls.json"));
    let manifest = String::from_utf8(manifest).expect("text").replacen("\"ls\"", "\"discovered\"", 1);
    let host = Host::new(["tool"]).file("p/x.wasm", component).file("p/x.json", manifest);
    refused(&host.run_of(&["tool", "list", "--plugin", "p"]), 42, &["there is a plugin `discovered` already"]);
}

fn repository_file(name: &str) -> Vec<u8> {
    std::fs::read(host_tests::repository().join("plugins/dist").join(name)).expect("it is built")
}

// promise command-tools.subagent: A subagent never has such a tool.
#[test]
fn a_subagent_never_gets_a_discovered_tool() {
    let agent = "---\nname: reader\ndescription: Reads.\ntools: [web_search]\n---\nYou read.\n";
    let list = json!([{"name": "web_search"}, {"name": "get_time"}]);
    let called = "touch called; echo noon";
    let investigate = call("codebase_investigator", json!({"objective": "What time is it?"}));
    let report = json!({"report": {"SummaryOfFindings": "None.", "ExplorationTrace": [], "RelevantLocations": []}});
    let replies = [
        json!({"expect": {"tools": ["get_time"]}, "chunks": [investigate]}),
        json!({"chunks": [call("get_time", json!({}))]}),
        json!({
            "expect": {"responses": ["the tool `get_time` is not available to this agent"]},
            "chunks": [call("complete_task", report)],
        }),
        json!({"expect": {"responses": ["Termination reason: GOAL"]}, "chunks": [{"text": "Done."}]}),
    ];
    let host =
        with_tools(Host::scripted(&replies, &["--grant", GRANT, "--approval-mode", "yolo", "Look"]), &list, called);
    went_well(&host.run());
    assert!(!host.repository().join("called").exists());
    // A name on the list of those that a subagent may have does not help it.
    let host = with_tools(Host::scripted(&[answer("Done.")], &["Look"]), &list, called).agent("reader.md", agent);
    refused(&host.run(), 52, &["there is no tool `web_search`"]);
    // An agent that is the run itself holds what the run was granted.
    let replies = [
        json!({"expect": {"tools": ["web_search"]}, "chunks": [call("web_search", json!({}))]}),
        json!({"expect": {"responses": ["noon"]}, "chunks": [call("complete_task", json!({"result": "Noon."}))]}),
    ];
    let host = Host::scripted(&replies, &["--grant", GRANT, "--agent", "reader"]);
    let host = with_tools(host, &list, called).agent("reader.md", agent);
    assert_eq!(host.run().code, Some(0), "{:?}", host.run());
}
