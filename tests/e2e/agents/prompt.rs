//! `host agent prompt`: what the model of the main agent gets before the first prompt.

use host_tests::host::Host;

use super::answer;

/// The text without the lines that are empty beside others.
fn paragraphs(text: &str) -> String {
    let mut text = text.trim().to_owned();
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}

#[test]
fn agent_prompt_is_what_a_run_gives_its_model() {
    let host = Host::scripted(&[answer("Done.")], &["Look"])
        .in_git()
        .file("AGENTS.md", "Use tabs.\n")
        .file("src/main.rs", "fn main() {}\n");
    assert_eq!(host.run().code, Some(0));
    let told = host.told();
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let shown = host.run_of(&["agent", "prompt", "--headless", "--model", &model]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown:?}");
    let (sizes, text) = shown.stdout.split_once(" tokens, estimated\n\n").expect("the sizes come first");
    let (text, tools) = text.rsplit_once("\n\nTools: ").expect("the tools come last");
    assert_eq!(paragraphs(text), paragraphs(&told));
    assert!(["read_file", "shell", "ask_user"].iter().all(|tool| tools.contains(tool)), "{tools}");
    let names: Vec<&str> = sizes.lines().skip(2).filter_map(|line| line.split("  ").next()).collect();
    let sections = ["role", "work", "editing", "verification", "git", "tools", "asking", "safety", "answer"];
    assert_eq!(names[..9], sections);
    assert_eq!(names[9..], ["environment", "file tree", "context files", "tools", "all"]);
    // The list of sessions is as it was: nothing was recorded.
    assert_eq!(host.run_of(&["session", "list", "--json"]).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn agent_prompt_is_that_of_the_model_the_mode_and_the_user() {
    let host = Host::new(["agent", "prompt"]);
    let shown = |arguments: &[&str]| {
        let shown = host.run_of(&[&["agent", "prompt"][..], arguments].concat());
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown:?}");
        shown.stdout
    };
    let plan = shown(&["--model", "anthropic/claude-sonnet-5", "--approval-mode", "plan"]);
    assert!(plan.starts_with("anthropic/claude-sonnet-5: instructions `claude`, mode plan, with a user\n"), "{plan}");
    // The user can switch to a mode in which files change, and the instructions stay as they are.
    assert!(plan.contains("present_plan") && plan.contains("\n# Editing\n"), "{plan}");
    // Without tools that change files there is nothing to say about changes.
    let alone = shown(&["--model", "anthropic/claude-sonnet-5", "--approval-mode", "plan", "--headless"]);
    assert!(!alone.contains("present_plan") && !alone.contains("\n# Editing\n"), "{alone}");
    let small = shown(&["--model", "ollama/qwen3-coder:30b", "--approval-mode", "default"]);
    assert!(small.contains("\n# Editing\n") && small.contains("\n# Example\n"), "{small}");
    let headless = shown(&["--model", "ollama/qwen3-coder:30b", "--headless", "--sizes"]);
    assert!(headless.starts_with("ollama/qwen3-coder:30b: instructions `small`, mode default, without a user\n"));
    assert!(headless.ends_with(" tokens, estimated\n"), "{headless}");
    let unknown = host.run_of(&["agent", "prompt", "--model", "nobody/x"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(42), ""), "{unknown:?}");
}
