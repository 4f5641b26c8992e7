//! What each family gets, as reviewed snapshots, and what holds for all of them.

use host_model::estimate_text;

use super::*;
use crate::{ASK_USER, SUBAGENT_TOOLS};

/// The tools that sessions have by default, and those that a user can add.
const TOOLS: &[&str] = &[
    "activate_skill",
    "apply_patch",
    "ask_user",
    "codebase_investigator",
    "edit",
    "glob",
    "grep",
    "ls",
    "memory",
    "read_file",
    "read_many_files",
    "shell",
    "todo",
    "web_fetch",
    "web_search",
    "write_file",
];

/// The most that the instructions may have, in estimated tokens: they are part of each request.
const MOST_TOKENS: &[(PromptFamily, u64)] = &[
    (PromptFamily::Gpt, 2_300),
    (PromptFamily::Claude, 2_300),
    (PromptFamily::Gemini, 2_500),
    (PromptFamily::Other, 2_500),
    (PromptFamily::Small, 3_300),
];

/// Those of them that a session with a model of the family has: it changes files in one way.
fn tools_of(family: PromptFamily) -> Vec<&'static str> {
    let other_way: &[&str] = if family == PromptFamily::Gpt { &["edit", "write_file"] } else { &["apply_patch"] };
    TOOLS.iter().copied().filter(|name| !other_way.contains(name)).collect()
}

fn names(tools: &[&str]) -> BTreeSet<ToolName> {
    tools.iter().map(|name| ToolName::new(*name)).collect()
}

fn situation(family: PromptFamily, tools: &BTreeSet<ToolName>) -> Situation<'_> {
    Situation { family, tools, is_attended: true, has_git: true, has_context: true, completes: false }
}

/// The instructions with the size of each section.
fn shown(situation: &Situation<'_>) -> String {
    let sections = instructions(situation);
    let sizes = sections.iter().map(|PromptSection { name, text }| (*name, text.chars().count(), estimate_text(text)));
    let lines = sizes.map(|(name, characters, tokens)| format!("{name}: {characters} characters, {tokens} tokens\n"));
    let whole = joined(&sections);
    let lines: String = lines.collect();
    let total = format!("all: {} characters, {} tokens", whole.chars().count(), estimate_text(&whole));
    format!("{lines}{total}\n\n{whole}")
}

// Reviewed word for word: a model's behaviour cannot be seen in any other test.
#[test]
fn prompt_of_each_family_is_as_it_was_reviewed() {
    for family in PromptFamily::ALL {
        let (tools, unasked) = (names(&tools_of(family)), names(&without(&tools_of(family), ASK_USER)));
        let attended = situation(family, &tools);
        let headless = Situation { is_attended: false, tools: &unasked, ..attended };
        insta::assert_snapshot!(format!("{}_attended", family.name()), shown(&attended));
        insta::assert_snapshot!(format!("{}_headless", family.name()), shown(&headless));
    }
}

#[test]
fn prompt_without_tools_git_or_a_user_is_as_it_was_reviewed() {
    let none = BTreeSet::new();
    let whole = situation(PromptFamily::Other, &none);
    let bare = Situation { is_attended: false, has_git: false, completes: true, ..whole };
    insta::assert_snapshot!("bare", shown(&bare));
    let reading = names(SUBAGENT_TOOLS);
    let others = Situation { tools: &reading, has_context: false, ..bare };
    insta::assert_snapshot!("of_other_agents", instructions_of_others(&others));
}

#[test]
fn prompt_is_bounded_for_each_family() {
    for (family, most) in MOST_TOKENS {
        let tools = names(&tools_of(*family));
        let tokens = estimate_text(&joined(&instructions(&situation(*family, &tools))));
        assert!(tokens <= *most, "{}: {tokens}", family.name());
    }
}

#[test]
fn prompt_names_only_tools_that_the_session_has() {
    let all = names(TOOLS);
    for family in PromptFamily::ALL {
        for missing in TOOLS {
            let tools = names(&without(TOOLS, missing));
            let text = joined(&instructions(&situation(family, &tools)));
            assert!(!text.contains(&format!("`{missing}`")), "{}: {missing} in {text}", family.name());
        }
        let text = joined(&instructions(&situation(family, &all)));
        assert!(!text.contains("${") && !text.contains("{{"), "it is a template, in which nothing is filled in");
    }
}

#[test]
fn prompt_conditions_are_families_facts_or_tools() {
    for Section { name, text, .. } in SECTIONS {
        for word in PromptText::parse(text).words() {
            let is_known = ["attended", "git", "context", "complete_task", "long"].contains(&word)
                || PromptFamily::ALL.iter().any(|family| family.name() == word)
                || TOOLS.contains(&word);
            assert!(is_known, "{name}: {word}");
        }
    }
}

fn without<'a>(tools: &[&'a str], missing: &str) -> Vec<&'a str> {
    tools.iter().copied().filter(|name| *name != missing).collect()
}
