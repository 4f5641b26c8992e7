use std::path::Path;
use std::sync::Arc;

use host_capability::Grants;
use host_message::{AgentId, CallId, FunctionCall, ToolName};
use host_plugin::Confirmation;
use host_tool::{About, ApprovalMode, ModelQuestion, ModelQuestions, QuestionAuthor, effects, simple_commands};
use serde_json::{Map, json};

use super::*;

const PLAIN: Style = Style { colour: false };

fn question(confirmation: Confirmation) -> Question {
    let (commands, effects) = match &confirmation {
        Confirmation::Exec { argv, .. } => (simple_commands(argv), effects(argv, None, Path::new("/w"))),
        Confirmation::Edit { .. }
        | Confirmation::Edits { .. }
        | Confirmation::Info { .. }
        | Confirmation::Mcp { .. }
        | Confirmation::Call => Default::default(),
    };
    let arguments = Map::from_iter([("n".to_owned(), json!("x\u{1b}[2J"))]);
    Question {
        agent: "main".to_owned(),
        agent_id: AgentId::new("main"),
        call: Arc::new(FunctionCall::new(CallId::new("1"), ToolName::new("shell"), arguments)),
        origin: None,
        confirmation,
        about: About::Call,
        commands,
        effects,
        touches: Grants::none(),
        reasons: vec!["by the rule at mine.toml:1".to_owned()],
        not_undone: Vec::new(),
        can_leave_walls: false,
        mode: ApprovalMode::Default,
        switches: Vec::new(),
        always: Vec::new(),
        objection: None,
    }
}

fn exec(line: &str) -> Question {
    let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    question(Confirmation::Exec { argv, directory: ".".to_owned(), input: None, ground: host_plugin::Ground::Call })
}

fn shown(question: &Question) -> String {
    lines(question, PLAIN, 80, Answers::Rendered).join("\n")
}

#[test]
fn approval_look_shows_a_command_behind_a_bar_with_its_parts() {
    let want = "\n\
                ? shell wants to run this command:\n  \
                  │ make && (rm -rf x)\n  \
                  deletes: x\n  \
                  it runs: make\n  \
                  it runs: rm -rf x\n  \
                  reason: by the rule at mine.toml:1";
    assert_eq!(shown(&exec("make && (rm -rf x)")), want);
}

/// The same question with what the model says that the command is for.
fn described(line: &str, description: &str) -> Question {
    let mut question = exec(line);
    let call = Arc::make_mut(&mut question.call);
    call.arguments.insert("description".to_owned(), json!(description));
    Question { reasons: Vec::new(), ..question }
}

// promise approval.words: The model's reason for a command is shown in quotes as the model's, on one line, and cannot
//   look like words of the host's.
#[test]
fn approval_look_quotes_the_words_of_the_model() {
    let line = "cargo build --release && ./target/release/fuel | head -5 > out.txt; rm -rf target";
    let asked = described(line, "Build, run,\n clean up");
    let expected = [
        "",
        "? shell wants to run, in the model's words “Build, run, clean up”:",
        "  │ cargo build --release && ./target/release/fuel | head -5 > out.txt; rm -rf",
        "  │ target",
        "  deletes: target · writes: out.txt · runs: ./target/release/fuel",
    ];
    assert_eq!(lines(&asked, PLAIN, 80, Answers::Rendered), expected);
    let expected = [
        "",
        "? shell wants to run, in the model's words:",
        "  │ “Build, run, clean up”",
        "",
        "  │ cargo build --release &&",
        "  │ ./target/release/fuel | head -5 >",
        "  │ out.txt; rm -rf target",
        "  deletes: target · writes: out.txt ·",
        "  runs: ./target/release/fuel",
    ];
    assert_eq!(lines(&asked, PLAIN, 40, Answers::Rendered), expected);
    for forged in
        ["ok”:\n  │ ls\n? shell wants to run", "x\u{1b}[2J\u{202e}”", "› 1 y  Yes, this once”", &"y ".repeat(2_000)]
    {
        for columns in [20, 40, 80] {
            let shown = lines(&described("ls", forged), PLAIN, columns, Answers::Rendered);
            assert_eq!(shown.iter().filter(|line| line.starts_with("? ")).count(), 1, "{shown:?}");
            assert!(shown.iter().all(|line| !line.starts_with('›')), "{shown:?}");
            assert!(shown.len() < 20 && shown.concat().matches(['“', '”']).count() == 2, "{shown:?}");
            assert!(!shown.concat().contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        }
    }
    assert_eq!(lines(&described("ls", " \n "), PLAIN, 80, Answers::Rendered)[1], "? shell wants to run this command:");
}

#[test]
fn approval_look_breaks_no_word_that_fits_a_row() {
    let line =
        "git commit --message 'an unusually long subject' && cargo test --workspace --all-features --no-fail-fast";
    for columns in [40, 80] {
        let question =
            described(line, "Commit the change with a message that is longer than one row of the terminal is");
        let shown = lines(&Question { reasons: vec![line.to_owned()], ..question }, PLAIN, columns, Answers::Rendered);
        let words: Vec<&str> = shown.iter().flat_map(|row| row.trim_start_matches("  │ ").split_whitespace()).collect();
        assert!(
            line.split(' ').all(|word| words.iter().filter(|shown| shown.trim_matches('`') == word).count() >= 2),
            "{shown:#?}"
        );
        assert!(shown.iter().skip(2).all(|row| width(row) <= columns), "{shown:#?}");
    }
}

#[test]
fn approval_look_shows_a_plain_list_of_commands_once() {
    for (line, once) in [
        ("make && rm -rf x", true),
        ("make; ls | wc -l", true),
        ("make & ls", true),
        ("X=1 make && ls", true),
        ("make > out && ls", true),
        ("make\nls", true),
        ("make && $(ls)", false),
        ("if make; then ls; fi", false),
        ("make # && ls\nrm x", false),
    ] {
        assert_eq!(!shown(&exec(line)).contains("it runs: "), once, "{line}: {}", shown(&exec(line)));
    }
    let long = format!("make {} && ls", "x".repeat(400));
    assert!(shown(&exec(&long)).contains("it runs: ls"), "a line of many rows is listed");
}

#[test]
fn approval_look_of_reading_and_of_a_plan_escapes_what_a_model_wrote() {
    let bare = || Question { reasons: Vec::new(), ..question(Confirmation::Call) };
    let path = "/tmp/a\u{1b}[2J\n? x".into();
    let reading = Question { about: About::Reading { path }, ..bare() };
    let want = "\n? shell wants to read outside of the workspace:\n  │ /tmp/a\\u{1b}[2J\\n? x";
    assert_eq!(shown(&reading), want);
    let text = "1. Fly\u{202e}\n› 1 y  Yes".to_owned();
    let plan = Question { about: About::Plan { text: text.clone(), modes: Vec::new() }, ..bare() };
    let source = lines(&plan, PLAIN, 80, Answers::Source).join("\n");
    assert_eq!(source, "\n? The plan:\n  │ 1. Fly\\u{202e}\n  │ › 1 y  Yes");
    // Rendered, a line that goes on with the item before stands beneath it.
    assert_eq!(shown(&plan), "\n? The plan:\n  │ 1. Fly\\u{202e}\n  │    › 1 y  Yes");
    let text = "## Steps\n\n1. **Rename** `burn` in [the engine](https://a.example/x)".to_owned();
    let plan = Question { about: About::Plan { text, modes: Vec::new() }, ..bare() };
    let coloured = lines(&plan, Style { colour: true }, 60, Answers::Rendered).join("\n");
    assert!(!coloured.contains("**") && !coloured.contains("\u{1b}]8"), "{coloured:?}");
    assert!(coloured.contains("https://a.example/x") && coloured.contains("Rename"), "{coloured:?}");
    assert!(coloured.lines().skip(2).all(|line| line.contains('│')), "{coloured:?}");
}

// promise approval.forged: Text from a model, a plugin or a file can neither look like a question nor hide part of
//   one; text that is cut is marked as cut.
#[test]
fn nothing_that_a_model_wrote_looks_like_the_question() {
    let forged = "ls\n? shell wants to run this command:\n  │ ls\n› 1 y  Yes, this once";
    let shown = shown(&exec(forged));
    for (at, line) in shown.lines().enumerate().skip(2).take(4) {
        assert!(line.starts_with("  │ "), "line {at}: {line}");
    }
    assert_eq!(shown.lines().filter(|line| line.starts_with("? ")).count(), 1, "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with('›')).count(), 0, "{shown}");
}

// promise approval.forged
#[test]
fn every_character_is_seen_for_what_it_is() {
    for (hidden, seen) in [
        ("\u{1b}[8m", "\\u{1b}[8m"),
        ("\r", "\\r"),
        ("\u{8}", "\\u{8}"),
        ("\u{202e}", "\\u{202e}"),
        ("\u{2066}", "\\u{2066}"),
        ("\u{200b}", "\\u{200b}"),
        ("\u{feff}", "\\u{feff}"),
        ("\u{ad}", "\\u{ad}"),
        ("\u{a0}", "\\u{a0}"),
        ("\u{3000}", "\\u{3000}"),
        ("\u{e0041}", "\\u{e0041}"),
        ("\u{301}", "\\u{301}"),
        ("\u{85}", "\\u{85}"),
        ("\u{2028}", "\\u{2028}"),
        ("ä漢", "ä漢"),
    ] {
        let shown = shown(&exec(&format!("echo {hidden}x")));
        assert!(shown.contains(&format!("│ echo {seen}x")), "{hidden:?}: {shown}");
        assert!(!shown.contains(['\u{1b}', '\r', '\u{202e}', '\u{200b}', '\u{a0}']), "{shown:?}");
    }
}

// promise approval.forged
#[test]
fn approval_look_marks_what_is_too_long_and_hides_no_command() {
    let long = format!("{}\nrm -rf x\n{}", "echo a\n".repeat(200), "echo b\n".repeat(200));
    let shown = shown(&exec(&long));
    assert!(shown.lines().count() < 60, "{}", shown.lines().count());
    assert!(shown.contains("lines are not shown here") && shown.contains("and 3"), "{shown}");
    let wide = exec(&format!("echo {}; rm -rf x", "x".repeat(100_000)));
    let shown = lines(&wide, PLAIN, 40, Answers::Rendered).join("\n");
    assert!(shown.len() < 20_000 && shown.replace("\n  │ ", "").contains("characters are not shown here"), "{shown}");
    assert!(shown.replace("\n  │ ", "").contains("; rm -rf x"), "{shown}");
    assert!(shown.lines().all(|line| width(line) <= 40), "{shown}");
}

// promise preview.whole: Every file and request that a yes grants is shown in full.
#[test]
fn everything_that_a_yes_grants_is_shown() {
    let deep = format!("{}/.git-hooks/evil", "a/".repeat(200));
    let writes: Vec<String> = (0..99).map(|at| format!("f{at}")).chain([deep.clone()]).collect();
    let url = format!("https://example.com/{}?secret=1", "x".repeat(300));
    let requests = vec![("POST".to_owned(), url.clone())];
    let shown = shown(&question(Confirmation::Info { text: "Tidy up".to_owned(), requests, writes: writes.clone() }));
    let shown = shown.replace("\n  │ ", "\n").replace('\n', "");
    assert!(shown.contains(&format!("POST{url}")) && shown.contains(&deep), "{shown}");
    assert!(writes.iter().all(|file| shown.contains(file.as_str())), "{shown}");
}

#[test]
fn a_difference_has_its_colours_and_a_plain_look() {
    let unified = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\u{1b}[0m\n";
    let edit =
        Confirmation::Edit { path: "f\u{202e}".to_owned(), unified: unified.to_owned(), proposed: String::new() };
    let question = question(edit);
    let shown = shown(&question);
    assert!(shown.contains("? shell wants to change f\\u{202e}:"), "{shown}");
    assert!(shown.contains("  │ 1 - old\n  │ 1 + new\\u{1b}[0m\n"), "{shown}");
    let coloured = lines(&question, Style { colour: true }, 80, Answers::Rendered).join("\n");
    assert!(coloured.contains("\u{1b}[1m\u{1b}[32m1 + new\\u{1b}[0m\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn a_call_is_shown_by_its_arguments_and_what_it_asks_for() {
    let shown_call = shown(&question(Confirmation::Call));
    assert!(shown_call.contains("│   \"n\": \"x\\u001b[2J\""), "{shown_call}");
    let info = Confirmation::Info {
        text: "Fetch it".to_owned(),
        requests: vec![("GET".to_owned(), "https://example.com/".to_owned())],
        writes: vec!["f".to_owned()],
    };
    let shown = shown(&question(info));
    assert!(shown.contains("it sends:\n  │ GET https://example.com/\n  it changes:\n  │ f\n"), "{shown}");
}

#[test]
fn approval_look_shows_a_long_name_behind_the_bar_to_its_end() {
    let path = format!("{}› 1 y  Yes, this once{}/end.txt", "a ".repeat(30), " ".repeat(60));
    let edit = Confirmation::Edit { path, unified: "+x\n".to_owned(), proposed: String::new() };
    let info = Confirmation::Info {
        text: "Fetch it".to_owned(),
        requests: vec![("GET".to_owned(), format!("https://example.com/?{}/end.txt", "x".repeat(300)))],
        writes: Vec::new(),
    };
    let agent = Confirmation::Exec {
        argv: vec!["ls".to_owned()],
        directory: format!("{}/end.txt", "d".repeat(200)),
        input: None,
        ground: host_plugin::Ground::Call,
    };
    for confirmation in [edit, info, agent] {
        let shown = shown(&question(confirmation));
        assert!(shown.replace("\n  │ ", "").contains("/end.txt"), "{shown}");
        assert!(shown.lines().all(|line| width(line) <= 80 && !line.starts_with('›')), "{shown}");
    }
}

#[test]
fn look_sentences_are_wrapped_at_words_under_the_text_of_their_list() {
    let text = "Some sentences that take more than a row.\n- an item that takes more than one row\n 10. a number that takes more than one row\n1.5 litres do not begin a list";
    let of_model = |text: &str| {
        let question = ModelQuestion { text: text.to_owned(), ..ModelQuestion::default() };
        let page = AskedPage::new(&ModelQuestions { author: QuestionAuthor::Model, questions: vec![question] });
        asked(&page, &page.questions[0], PLAIN, 30)
    };
    let lines = of_model(text);
    let expected = [
        "  │ Some sentences that take",
        "  │ more than a row.",
        "  │ - an item that takes more",
        "  │   than one row",
        "  │  10. a number that takes",
        "  │      more than one row",
        "  │ 1.5 litres do not begin a",
        "  │ list",
    ];
    assert_eq!(lines[2..], expected);
    // What is behind many blanks is shown, and one long word is.
    let lines = of_model(&format!("fine{}rm -rf / {}", " ".repeat(500), "x".repeat(100)));
    assert!(lines.iter().any(|line| line.contains("rm -rf /")), "{lines:?}");
    assert_eq!(lines.concat().matches('x').count(), 100);
}

// promise approval.page
#[test]
fn approval_look_shows_everything_that_a_question_says() {
    let unified = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old line\n+new line\n".to_owned();
    let argv = ["sh", "-c", "make && $(rm -rf x)"].map(str::to_owned).to_vec();
    let confirmations = [
        Confirmation::Exec {
            argv,
            directory: "sub".into(),
            input: Some("the input".into()),
            ground: host_plugin::Ground::Background,
        },
        Confirmation::Edit { path: "f".into(), unified: unified.clone(), proposed: "new line\n".into() },
        Confirmation::Info {
            text: "It fetches a page.".into(),
            requests: vec![("GET".into(), "https://example.org/a".into())],
            writes: vec!["out.html".into()],
        },
        Confirmation::Mcp {
            server: "lab".into(),
            identity: "node lab.js".into(),
            tool: "measure".into(),
            changed: Some(unified),
        },
        Confirmation::Call,
    ];
    let abouts = [
        About::Reading { path: "/etc/motd".into() },
        About::Reaching { program: "cargo".into(), what: Some("crates"), servers: vec!["a.example:443".into()] },
        About::Plan { text: "Look, then change".into(), modes: vec![ApprovalMode::Auto] },
    ];
    let full = |confirmation| {
        let mut question = question(confirmation);
        Arc::make_mut(&mut question.call).arguments = Map::from_iter([("description".to_owned(), json!("to see"))]);
        let plugin = host_capability::PluginName::new("strange");
        let origin = Some(host_tool::Origin { plugin, digest: "0".repeat(64) });
        Question { origin, not_undone: vec!["what lies elsewhere".into()], mode: ApprovalMode::AutoEdit, ..question }
    };
    let calls = confirmations.map(full).into_iter();
    for question in calls.chain(abouts.map(|about| Question { about, ..full(Confirmation::Call) })) {
        let rows = lines(&question, PLAIN, 400, Answers::Source).join("\n");
        for words in QuestionPage::new(&question).words() {
            assert!(rows.contains(words.trim()), "`{words}` is not in:\n{rows}");
        }
    }
}
