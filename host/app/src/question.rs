//! A question about a call: its answers, for every frontend, and its text, for one that shows a form and not a
//! terminal; and what a model or an MCP server asks by itself (`asked`).
//!
//! Promises: every text from a model, a plugin or a file is escaped and behind a bar, so that it can neither look like
//! the question nor hide a part of it; what is long is cut in the middle, with a note; an answer that was not offered
//! is none.
//!
//! Deliberately not here: how it is laid out on a terminal (`host/cli`), and what an answer means (`host-tool`).

mod asked;
mod commands;
mod page;
mod summary;
mod touches;

use host_plugin::{Confirmation, command_line};
use host_text::{clip, exact};
use host_tool::{About, Answer, ApprovalMode, Lasting, Question, Until};

pub use self::asked::{AskedChoice, AskedPage, AskedQuestion, Takes};
pub use self::page::{Block, CommandList, QuestionPage, Title};
pub use self::summary::{Part, Summary, Weight};
pub use self::touches::Touches;

/// The most lines of one text that a question shows: the first and the last of them. Protects the user from a form in
/// which the end is never seen.
const TEXT_LINES: usize = 120;

/// The longest line that a question shows, in characters: its beginning and its end.
const LINE_CHARACTERS: usize = 2_000;

/// The longest reason of a model that a question shows, in characters: a sentence. Protects the user from one in which
/// the command is lost.
const REASON_CHARACTERS: usize = 160;

/// The columns of a form, as far as anybody knows.
const FORM_COLUMNS: usize = 80;

/// The most commands, requests or files of one kind that a question lists before it says how many more there are. What
/// an approval grants is listed as a whole.
const LISTED: usize = 12;

/// One of the answers that a question offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name, for programs: the same for the same kind of answer.
    pub id: &'static str,
    /// What it means, on one line that is safe to show.
    pub label: String,
    /// What is done with it.
    pub meaning: Meaning,
}

/// What an answer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It answers the question.
    Answer(Answer),
    /// It answers with the user's text, which replaces the content or the command.
    Edit,
    /// It rejects, with the user's text as the reason if there is one.
    Reject,
}

impl Choice {
    /// Returns the answer, with the text that came along with it. `None` if it needs a text.
    pub fn answer(&self, text: Option<String>) -> Option<Answer> {
        let text = text.filter(|text| !text.is_empty());
        match &self.meaning {
            Meaning::Answer(answer) => Some(answer.clone()),
            Meaning::Edit => text.map(|text| Answer::Modify { text }),
            Meaning::Reject => Some(Answer::Cancel { reason: text }),
        }
    }
}

/// Returns the answers that a question offers, the narrowest first.
fn choices(question: &Question) -> Vec<Choice> {
    let choice = |id, label: &str, meaning| Choice { id, label: label.to_owned(), meaning };
    if let About::Plan { modes, .. } = &question.about {
        let of_mode =
            |mode: &ApprovalMode| choice(mode.name(), plan_in(*mode), Meaning::Answer(Answer::Switch { mode: *mode }));
        return modes.iter().map(of_mode).chain([choice("reject", "No, keep planning", Meaning::Reject)]).collect();
    }
    let mut choices = vec![choice("once", "Yes, this once", Meaning::Answer(Answer::ProceedOnce))];
    for always in &question.always {
        let (id, how_long) = match (always.until, always.answer) {
            (Until::SessionEnds, _) => ("session", "Yes, for this session"),
            (Until::TakenBack, Lasting::Always) => ("always", "Always in this folder"),
            (Until::TakenBack, Lasting::AlwaysTool) => ("always_tool", "Always in this folder"),
            (Until::TakenBack, Lasting::AlwaysPlugin) => ("always_plugin", "Always in this folder"),
        };
        let answer = Answer::Proceed { lasting: always.answer, until: always.until };
        choices.push(choice(id, &format!("{how_long}: {}", line(&always.words)), Meaning::Answer(answer)));
    }
    if question.can_leave_walls {
        let label = "Yes, this once, without walls: with all your rights";
        choices.push(choice("unconfined", label, Meaning::Answer(Answer::ProceedWithoutWalls)));
    }
    for mode in &question.switches {
        choices.push(choice(mode.name(), &switching_to(*mode), Meaning::Answer(Answer::Switch { mode: *mode })));
    }
    if is_editable(question) {
        choices.push(choice("edit", "Use the text below instead, and ask again", Meaning::Edit));
    }
    choices.push(choice("reject", "No", Meaning::Reject));
    choices
}

/// The label that allows a call and switches to a mode.
fn switching_to(mode: ApprovalMode) -> String {
    let what = match mode {
        ApprovalMode::Auto => "programs run confined, fewer questions",
        ApprovalMode::Plan | ApprovalMode::Default | ApprovalMode::AutoEdit | ApprovalMode::Yolo => mode.about(),
    };
    format!("Yes, and switch to {mode}: {what}")
}

/// The label that approves a plan in a mode.
fn plan_in(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Plan => "Yes, but change nothing",
        ApprovalMode::Default => "Yes, and ask before each change",
        ApprovalMode::AutoEdit => "Yes, and edit files without asking",
        ApprovalMode::Auto => "Yes, and run confined programs without asking, too",
        ApprovalMode::Yolo => "Yes, and ask about nothing",
    }
}

/// Whether the user can change what the call would do.
fn is_editable(question: &Question) -> bool {
    let is_call = question.about == About::Call;
    match &question.confirmation {
        Confirmation::Edit { .. } => is_call,
        // The user cannot edit the input of a program.
        Confirmation::Exec { input, .. } => is_call && input.is_none(),
        Confirmation::Edits { .. } | Confirmation::Info { .. } => false,
        Confirmation::Mcp { .. } | Confirmation::Call => false,
    }
}

/// Returns the text that the user can change, as it is; `None` if there is none.
pub fn editable(question: &Question) -> Option<String> {
    match &question.confirmation {
        Confirmation::Edit { proposed, .. } if is_editable(question) => Some(proposed.clone()),
        Confirmation::Exec { argv, .. } if is_editable(question) => Some(command_line(argv)),
        Confirmation::Edit { .. }
        | Confirmation::Edits { .. }
        | Confirmation::Exec { .. }
        | Confirmation::Info { .. }
        | Confirmation::Mcp { .. }
        | Confirmation::Call => None,
    }
}

/// Returns what a question asks, in lines. Safe to show.
pub fn text(question: &Question) -> String {
    // A form has the answers in a field of its own.
    let QuestionPage { title, blocks, answers: _ } = QuestionPage::new(question);
    let mut page = Page::default();
    let together = format!("{} {}", title.words, title.name);
    if title.name.is_empty() || together.chars().count() <= FORM_COLUMNS {
        page.say(&format!("{}:", together.trim_end()));
    } else {
        page.say(&format!("{}:", title.words));
        page.text(&title.name);
    }
    for block in &blocks {
        match block {
            Block::Reason(words) => {
                page.say("in the model's words:");
                page.text(words);
            }
            Block::Code { text, .. } | Block::Prose(text) | Block::Plan(text) => page.text(text),
            Block::Difference { unified, .. } => page.text(unified.trim_end_matches('\n')),
            Block::Names(names) => names.iter().for_each(|name| page.text(name)),
            Block::Effects(summary) => summary.line().iter().for_each(|line| page.say(line)),
            Block::Commands(commands) => page.list("it runs", commands.to_list(FORM_COLUMNS), LISTED),
            Block::List { label, items, is_whole: true } => page.list(label, items, usize::MAX),
            Block::List { label, items, is_whole: false } => page.list(label, items, LISTED),
            Block::Note(words) => page.say(words),
            Block::Objection(words) => page.say(&format!("Asked again: {words}")),
        }
    }
    page.0
}

/// Returns what a program wants of servers, as the head of a question. Safe to show.
pub(crate) fn reaching(program: &str, what: Option<&str>, servers: &[String]) -> String {
    let program = line(program);
    if let Some(server) = servers.first().filter(|server| server.starts_with(SSH)) {
        let does = if parts(server).pushes { "send to" } else { "fetch from" };
        return format!("{program} wants, over ssh and with your keys, to {does}");
    }
    match what {
        Some(what) => format!("{program} wants to download {what} from"),
        None => format!("{program} wants to reach"),
    }
}

/// The beginning of the name of a server that git reaches over ssh.
const SSH: &str = "ssh://";

/// The parts of a server's name, as a grant has it.
struct ServerParts<'s> {
    name: &'s str,
    pushes: bool,
    is_private: bool,
}

fn parts(server: &str) -> ServerParts<'_> {
    let without = |text, end| str::strip_suffix(text, end).map_or((text, false), |text| (text, true));
    let (name, is_private) = without(server, " +private");
    let (name, pushes) = without(name, " +push");
    ServerParts { name, pushes, is_private }
}

/// Returns a server, which is named as a grant names it, for a user: without the usual port, and with what a private
/// address means. Safe to show.
pub(crate) fn server_in_words(server: &str) -> String {
    let ServerParts { name, is_private, .. } = parts(server);
    let name = line(name.strip_prefix(SSH).or_else(|| name.strip_suffix(":443")).unwrap_or(name));
    if is_private { format!("{name}, which leads to this machine or a private network") } else { name }
}

/// Returns who wants to make a call, at the beginning of a sentence: for a tool whose name says where it is and not who
/// it is. Safe to show.
pub(crate) fn asker(question: &Question) -> String {
    match question.agent_id.is_subagent() {
        true => format!("The agent {}", line(&question.agent)),
        false => "The model".to_owned(),
    }
}

/// Returns what the model says that the call is for, in quotes that it cannot end. `None` if it says nothing, and for a
/// call whose arguments are shown as they are. Safe to show.
pub(crate) fn reason_of_model(question: &Question) -> Option<String> {
    match &question.confirmation {
        Confirmation::Exec { .. } | Confirmation::Edit { .. } | Confirmation::Edits { .. } => {}
        Confirmation::Info { .. } => {}
        Confirmation::Mcp { .. } | Confirmation::Call => return None,
    }
    let text = question.call.arguments.get("description")?.as_str()?;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = exact(&clip(&words, REASON_CHARACTERS)).replace(['“', '”', '„', '‟'], "\"");
    (!words.is_empty()).then(|| format!("“{shown}”"))
}

/// Returns a text as one line in which nothing is hidden. Safe to show.
pub fn line(text: &str) -> String {
    shown(&text.replace('\n', "\\n"))
}

/// Returns a line, escaped exactly. Of a line that is too long, the beginning and the end are shown: text is usually
/// hidden at the end of a long line.
pub fn shown(text: &str) -> String {
    let escaped = |text: &str| exact(&text.replace('\t', "    ")).into_owned();
    let count = text.chars().count();
    if count <= LINE_CHARACTERS {
        return escaped(text);
    }
    let at = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let half = LINE_CHARACTERS / 2;
    let (head, tail) = (&text[..at(half)], &text[at(count - half)..]);
    format!("{} … {} characters are not shown here … {}", escaped(head), count - 2 * half, escaped(tail))
}

/// The lines of a question.
#[derive(Default)]
struct Page(String);

impl Page {
    fn say(&mut self, words: &str) {
        self.0.push_str(words);
        self.0.push('\n');
    }

    /// Adds a text from outside behind the bar.
    fn text(&mut self, text: &str) {
        let lines: Vec<&str> = text.split('\n').collect();
        let left_out = lines.len().saturating_sub(TEXT_LINES);
        for (at, row) in lines.iter().enumerate() {
            if left_out > 0 && at == TEXT_LINES / 2 {
                self.say(&format!("… {left_out} lines are not shown here …"));
            }
            if left_out == 0 || !(TEXT_LINES / 2..TEXT_LINES / 2 + left_out).contains(&at) {
                self.say(&format!("│ {}", shown(row)));
            }
        }
    }

    fn list(&mut self, what: &str, items: &[String], most: usize) {
        for item in items.iter().take(most) {
            self.say(&format!("{what}: {}", line(item)));
        }
        if items.len() > most {
            self.say(&format!("{what}: … and {} more", items.len() - most));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host_capability::Grants;
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use host_tool::Always;

    use super::*;

    pub(super) fn question(confirmation: Confirmation) -> Question {
        let call = FunctionCall::new(CallId::new("c"), ToolName::new("shell"), serde_json::Map::new());
        Question {
            agent: "main".to_owned(),
            agent_id: AgentId::new("main"),
            call: Arc::new(call),
            origin: None,
            confirmation,
            about: About::Call,
            commands: Vec::new(),
            effects: Vec::new(),
            touches: Grants::none(),
            reasons: Vec::new(),
            not_undone: Vec::new(),
            can_leave_walls: false,
            mode: ApprovalMode::Default,
            switches: Vec::new(),
            always: vec![Always {
                answer: Lasting::Always,
                until: Until::TakenBack,
                words: "`make\u{202e}`".to_owned(),
            }],
            objection: None,
        }
    }

    pub(super) fn exec(line: &str) -> Confirmation {
        let argv = vec!["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        Confirmation::Exec { argv, directory: ".".to_owned(), input: None, ground: host_plugin::Ground::Call }
    }

    // promise mcp.form: In a form, text from a model or a plugin is escaped and marked as such, and what is cut is
    //   marked.
    #[test]
    fn a_question_as_text_hides_nothing_and_imitates_nothing() {
        let command = format!("true\nshell wants to run this command:\n{}\u{1b}[2J\u{202e}end", "x\n".repeat(300));
        let shown = text(&question(exec(&command)));
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        let own: Vec<&str> = shown.lines().filter(|line| !line.starts_with('│')).collect();
        assert_eq!(own.len(), 2, "{own:?}");
        assert_eq!(own[0], "shell wants to run this command:");
        assert!(own[1].contains("lines are not shown here"), "{own:?}");
        assert!(shown.trim_end().ends_with("end"), "the end is shown: {shown:?}");
        let long = text(&question(exec(&"a".repeat(9_000))));
        assert!(long.contains("characters are not shown here") && long.len() < 3_000, "{}", long.len());
    }

    #[test]
    fn choices_about_a_plan_are_the_modes_to_carry_it_out_in() {
        let modes = vec![ApprovalMode::Default, ApprovalMode::AutoEdit];
        let about = About::Plan { text: "do it".to_owned(), modes };
        let offered = choices(&Question { about, ..question(Confirmation::Call) });
        let labels: Vec<_> = offered.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(
            labels,
            ["Yes, and ask before each change", "Yes, and edit files without asking", "No, keep planning"]
        );
        let answers: Vec<_> = offered.iter().map(|choice| choice.answer(None)).collect();
        let mode = |mode| Some(Answer::Switch { mode });
        let no = Some(Answer::Cancel { reason: None });
        assert_eq!(answers, [mode(ApprovalMode::Default), mode(ApprovalMode::AutoEdit), no]);
    }

    #[test]
    fn each_choice_of_a_question_answers_what_its_id_says() {
        let offered = choices(&question(exec("make")));
        let ids: Vec<&str> = offered.iter().map(|choice| choice.id).collect();
        assert_eq!(ids, ["once", "always", "edit", "reject"]);
        assert!(!offered[1].label.contains('\u{202e}'), "{offered:?}");
        let answer = |id: &str, text: Option<&str>| {
            offered.iter().find(|choice| choice.id == id).and_then(|choice| choice.answer(text.map(str::to_owned)))
        };
        assert_eq!(answer("once", Some("ignored")), Some(Answer::ProceedOnce));
        assert_eq!(answer("edit", None), None, "an edit needs a text");
        assert_eq!(answer("edit", Some("make -n")), Some(Answer::Modify { text: "make -n".to_owned() }));
        assert_eq!(answer("reject", Some("no")), Some(Answer::Cancel { reason: Some("no".to_owned()) }));
        assert_eq!(answer("session", None), None, "it was not offered");
    }
}
