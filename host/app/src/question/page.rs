//! A question, composed once: what every frontend shows, each in its own look.
//!
//! Promises: whatever a user has to know before an answer is in a block, so that a frontend that draws each kind of
//! block leaves nothing out.
//!
//! Deliberately not here: what an answer does (`question`), and how a block looks. Whether its text is safe to show is
//! said at each block.

use std::path::Path;

use host_plugin::{Confirmation, FileChange, Ground, command_line};
use host_text::{counted, exact};
use host_tool::{About, ApprovalMode, Question};

use super::{Choice, Summary, Touches, asker, choices, commands, line, reaching, reason_of_model, server_in_words};

/// What a question asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionPage {
    /// Who wants what.
    pub title: Title,
    /// All else, in the order in which it is read.
    pub blocks: Vec<Block>,
    /// The answers that it offers, the narrowest first.
    pub answers: Vec<Choice>,
}

/// Who wants what. Safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// In the host's words: `shell wants to change`.
    pub words: String,
    /// The same in words that what the model says can follow on one line; `None` if it cannot.
    pub before_reason: Option<String>,
    /// What comes behind them, which a model chose: a file, a folder, a tool. It may be empty, and may be long.
    pub name: String,
}

/// A part of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// What the model says that the call is for, in quotes. Safe to show.
    Reason(String),
    /// A text of others whose lines count, in this language (`sh`, `json` or none). Not escaped.
    Code {
        /// The language, for a frontend that has colours for it.
        language: &'static str,
        /// The text.
        text: String,
    },
    /// Sentences of others, a line each. Not escaped.
    Prose(String),
    /// A plan, as Markdown. Not escaped.
    Plan(String),
    /// A change. Not escaped.
    Difference {
        /// The file; `None` if it is none.
        path: Option<String>,
        /// The change, as a unified difference.
        unified: String,
    },
    /// Files or servers that the question is about. Safe to show.
    Names(Vec<String>),
    /// What a command does, the most dangerous part first. Safe to show.
    Effects(Summary),
    /// The commands of a line.
    Commands(CommandList),
    /// One kind of thing, an item each. Not escaped.
    List {
        /// The kind: `cannot be undone`.
        label: &'static str,
        /// The items.
        items: Vec<String>,
        /// Whether an approval grants each of them, so that none may be left out.
        is_whole: bool,
    },
    /// A sentence of the host's. Safe to show.
    Note(String),
    /// Why the question is asked again. Safe to show.
    Objection(String),
}

/// The commands of a line, which are listed where the line does not show each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandList {
    line: String,
    commands: Vec<String>,
}

impl CommandList {
    /// Returns those to list besides the line, which is shown on rows of this width. Not escaped.
    pub fn to_list(&self, columns: usize) -> &[String] {
        if commands::are_shown(&self.line, &self.commands, columns) { &[] } else { &self.commands }
    }
}

impl QuestionPage {
    /// Composes what a question asks.
    pub fn new(question: &Question) -> Self {
        let tool = line(question.call.name.as_str());
        let who = match question.agent_id.is_subagent() {
            true => format!("{tool} (of the agent {})", line(&question.agent)),
            false => tool,
        };
        let (title, blocks) = match &question.about {
            About::Reading { path } => reading(&who, path),
            About::Reaching { program, what, servers } => (
                Title::new(reaching(program, *what, servers), ""),
                vec![Block::Names(servers.iter().map(|server| server_in_words(server)).collect())],
            ),
            About::Plan { text, .. } => (Title::new("The plan".to_owned(), ""), vec![Block::Plan(text.clone())]),
            About::Call => about_call(question, &who),
        };
        let mut page = Self { title, blocks, answers: choices(question) };
        page.list("reason", question.reasons.iter().cloned());
        page.list("cannot be undone", question.not_undone.iter().cloned());
        if question.about == About::Call {
            page.blocks.extend(origin(question));
            if question.mode != ApprovalMode::Default {
                page.blocks.push(Block::Note(format!("{} mode", question.mode)));
            }
        }
        page.blocks.extend(question.objection.as_deref().map(|words| Block::Objection(line(words))));
        page
    }

    fn list(&mut self, label: &'static str, items: impl Iterator<Item = String>) {
        self.blocks.extend(list(label, items, false));
    }

    /// Returns every text that a user must get to see besides the answers, one line each, as it is before it is
    /// escaped: for the tests of frontends.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.title.words.clone(), self.title.name.clone()];
        for block in &self.blocks {
            match block {
                Block::Reason(text)
                | Block::Code { text, .. }
                | Block::Prose(text)
                | Block::Plan(text)
                | Block::Note(text)
                | Block::Objection(text) => words.extend(text.lines().map(str::to_owned)),
                Block::Difference { unified, .. } => {
                    let changed = unified.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++"));
                    let changed = changed.filter_map(|line| line.strip_prefix(['-', '+']));
                    words.extend(changed.map(str::to_owned));
                }
                Block::Names(names) => words.extend(names.iter().cloned()),
                Block::Effects(summary) => words.extend(summary.parts().iter().map(|part| part.words.clone())),
                Block::Commands(list) => words.extend(list.commands.iter().cloned()),
                Block::List { label, items, .. } => {
                    words.push((*label).to_owned());
                    words.extend(items.iter().cloned());
                }
            }
        }
        words.retain(|words| !words.is_empty());
        words
    }
}

impl Title {
    fn new(words: String, name: &str) -> Self {
        Self { words, before_reason: None, name: line(name) }
    }
}

fn list(label: &'static str, items: impl Iterator<Item = String>, is_whole: bool) -> Option<Block> {
    let items: Vec<String> = items.collect();
    (!items.is_empty()).then_some(Block::List { label, items, is_whole })
}

fn reading(who: &str, path: &Path) -> (Title, Vec<Block>) {
    let path = exact(&path.display().to_string().replace('\n', "\\n")).into_owned();
    let title = Title::new(format!("{who} wants to read outside of the workspace"), "");
    (title, vec![Block::Names(vec![path])])
}

/// The plugin of the call, where its name is another than the tool's. Of a server the question says more.
fn origin(question: &Question) -> Option<Block> {
    let is_of_server = matches!(question.confirmation, Confirmation::Mcp { .. });
    let origin = question.origin.as_ref().filter(|_| !is_of_server)?;
    let is_named = origin.plugin.as_str() == question.call.name.as_str();
    (!is_named).then(|| Block::Note(format!("plugin {}", line(origin.plugin.as_str()))))
}

/// What a user is told of a command in the background.
const GOES_ON: &str = "it runs on after the call, until it ends, is stopped, or this session ends";

/// What a user is told of a command in a terminal.
const TYPED_LATER: &str = "the model types into it later without another question; it runs on after the call, until it \
                           ends, is stopped, or this session ends";

fn about_call(question: &Question, who: &str) -> (Title, Vec<Block>) {
    let reason = reason_of_model(question).map(Block::Reason);
    match &question.confirmation {
        Confirmation::Exec { argv, directory, input, ground } => {
            let command = Command { argv, directory, input: input.as_deref(), ground: *ground };
            let (title, blocks) = about_command(question, who, &command);
            (title, reason.into_iter().chain(blocks).collect())
        }
        Confirmation::Edit { path, unified, .. } => {
            let difference = Block::Difference { path: Some(path.clone()), unified: unified.clone() };
            let title = Title::new(format!("{who} wants to change"), path);
            (title, reason.into_iter().chain([difference]).collect())
        }
        Confirmation::Edits { changes } => {
            let (title, blocks) = about_changes(who, changes);
            (title, reason.into_iter().chain(blocks).collect())
        }
        Confirmation::Info { text, requests, writes } => {
            let what = match (requests.len(), writes.is_empty()) {
                (0, true) => "do this",
                (0, false) => "change files",
                (1, true) => "send a request",
                (_, true) => "send requests",
                (_, false) => "send requests and change files",
            };
            let requests = requests.iter().map(|(method, url)| format!("{method} {url}"));
            let mut blocks: Vec<Block> = reason.into_iter().chain([Block::Prose(text.clone())]).collect();
            blocks.extend(list("it sends", requests, true));
            blocks.extend(list("it changes", writes.iter().cloned(), true));
            (Title::new(format!("{who} wants to {what}"), ""), blocks)
        }
        Confirmation::Mcp { server, identity, tool, changed } => {
            let mut blocks = vec![arguments(question), Block::Note(format!("`{server}` is: {}", line(identity)))];
            if let Some(changed) = changed {
                let words = "what the server says about this tool has changed since you allowed it:";
                blocks.push(Block::Note(words.to_owned()));
                blocks.push(Block::Difference { path: None, unified: changed.clone() });
            }
            let name = format!("`{tool}` of the MCP server `{server}`");
            (Title::new(format!("{} wants to call", asker(question)), &name), blocks)
        }
        Confirmation::Call => {
            let Touches { capabilities, exceptions } = Touches::new(&question.touches);
            let mut blocks = vec![arguments(question)];
            blocks.extend(list("it could touch", capabilities.into_iter(), false));
            blocks.extend(list("but not", exceptions.into_iter(), false));
            (Title::new(format!("{who} wants to run with these arguments"), ""), blocks)
        }
    }
}

/// A command that is asked about.
struct Command<'a> {
    argv: &'a [String],
    directory: &'a str,
    input: Option<&'a str>,
    ground: Ground,
}

fn about_command(question: &Question, who: &str, command: &Command<'_>) -> (Title, Vec<Block>) {
    let Command { argv, directory, input, ground } = *command;
    let (ground, words) = match ground {
        Ground::Call => ("", None),
        Ground::Background => (" in the background", Some(GOES_ON)),
        Ground::Terminal => (" in a terminal", Some(TYPED_LATER)),
    };
    let place = if directory == "." { String::new() } else { format!("in {directory}") };
    let line = command_line(argv);
    let commands = question.commands.iter().map(|command| command.text.clone()).collect();
    let mut blocks = vec![
        Block::Code { language: "sh", text: line.clone() },
        Block::Effects(Summary::new(question)),
        Block::Commands(CommandList { line, commands }),
    ];
    if let Some(input) = input {
        blocks.push(Block::Note("which reads this:".to_owned()));
        blocks.push(Block::Code { language: "", text: input.to_owned() });
    }
    blocks.extend(words.map(|words| Block::Note(words.to_owned())));
    let before_reason = Some(format!("{who} wants to run{ground}, in the model's words"));
    (Title { before_reason, ..Title::new(format!("{who} wants to run this command{ground}"), &place) }, blocks)
}

fn about_changes(who: &str, changes: &[FileChange]) -> (Title, Vec<Block>) {
    let only = match changes {
        [FileChange { path, proposed: Some(_), .. }] => Some(path),
        _ => None,
    };
    let mut blocks = Vec::new();
    for FileChange { path, unified, proposed } in changes {
        // The title has no room for all of them.
        let what = if proposed.is_some() { "" } else { " is removed" };
        blocks.extend(only.is_none().then(|| Block::Note(format!("`{}`{what}:", line(path)))));
        blocks.push(Block::Difference { path: Some(path.clone()), unified: unified.clone() });
    }
    let title = match only {
        Some(path) => Title::new(format!("{who} wants to change"), path),
        None => Title::new(format!("{who} wants to change {}", counted(changes.len(), "file")), ""),
    };
    (title, blocks)
}

fn arguments(question: &Question) -> Block {
    let text = serde_json::to_string_pretty(&question.call.arguments).unwrap_or_default();
    Block::Code { language: "json", text }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use host_capability::PluginName;
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use host_tool::{Origin, simple_commands};
    use serde_json::{Map, json};

    use super::super::tests::question;
    use super::super::text;
    use super::*;

    /// A question of each kind, with everything that it can say.
    fn all() -> Vec<Question> {
        let unified = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old line\n+new line\n";
        let words = |text: &str| text.to_owned();
        let argv = ["sh", "-c", "make && $(rm -rf x)"].map(str::to_owned).to_vec();
        let confirmations = [
            Confirmation::Exec {
                argv: argv.clone(),
                directory: words("sub"),
                input: Some(words("the input")),
                ground: Ground::Background,
            },
            Confirmation::Exec { argv, directory: words("."), input: None, ground: Ground::Call },
            Confirmation::Edit { path: words("src/f"), unified: words(unified), proposed: words("new line\n") },
            Confirmation::Edits {
                changes: vec![
                    FileChange { path: words("src/g"), unified: words(unified), proposed: Some(words("new line\n")) },
                    FileChange { path: words("src/gone"), unified: words(unified), proposed: None },
                ],
            },
            Confirmation::Info {
                text: words("It fetches a page."),
                requests: vec![(words("GET"), words("https://example.org/a"))],
                writes: vec![words("out.html")],
            },
            Confirmation::Mcp {
                server: words("lab"),
                identity: words("node lab.js"),
                tool: words("measure"),
                changed: Some(words(unified)),
            },
            Confirmation::Call,
        ];
        let abouts = [
            About::Reading { path: PathBuf::from("/etc/motd") },
            About::Reaching { program: words("cargo"), what: Some("crates"), servers: vec![words("a.example:443")] },
            About::Plan { text: words("1. Look\n2. Change"), modes: vec![ApprovalMode::Auto] },
        ];
        let arguments = Map::from_iter([
            ("description".to_owned(), json!("to see it built")),
            ("depth".to_owned(), json!("seven")),
        ]);
        let full = |confirmation: Confirmation| {
            let commands = match &confirmation {
                Confirmation::Exec { argv, .. } => simple_commands(argv),
                Confirmation::Edit { .. }
                | Confirmation::Edits { .. }
                | Confirmation::Info { .. }
                | Confirmation::Mcp { .. }
                | Confirmation::Call => Vec::new(),
            };
            Question {
                agent: words("helper"),
                agent_id: AgentId::new("main/helper-1"),
                call: Arc::new(FunctionCall::new(CallId::new("c"), ToolName::new("builds"), arguments.clone())),
                origin: Some(Origin { plugin: PluginName::new("strange"), digest: "0".repeat(64) }),
                commands,
                reasons: vec![words("a reason of a rule")],
                not_undone: vec![words("what lies elsewhere")],
                mode: ApprovalMode::AutoEdit,
                objection: Some(words("the text was empty")),
                ..question(confirmation)
            }
        };
        let of_calls = confirmations.map(full).into_iter();
        let others = abouts.map(|about| Question { about, ..full(Confirmation::Call) });
        of_calls.chain(others).collect()
    }

    // promise approval.page: Each frontend shows everything that a question says: what a call does, its reasons, what
    //   cannot be undone, the plugin that it comes from, the mode, and why it is asked again.
    #[test]
    fn question_page_says_everything_and_a_form_shows_all_of_it() {
        for question in all() {
            let page = QuestionPage::new(&question);
            let form = text(&question);
            for words in page.words() {
                assert!(form.contains(words.trim()), "`{words}` is not in:\n{form}");
            }
            let all = page.words().join("\n");
            for words in ["a reason of a rule", "cannot be undone", "what lies elsewhere", "the text was empty"] {
                assert!(all.contains(words), "{words}: {all}");
            }
            let is_of_server = matches!(question.confirmation, Confirmation::Mcp { .. });
            if question.about == About::Call {
                assert_eq!(all.contains("plugin strange"), !is_of_server, "{all}");
                assert!(all.contains("auto-edit mode"), "{all}");
            }
        }
    }
}
