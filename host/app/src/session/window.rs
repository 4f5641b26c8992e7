//! What fills the model's window in a session: an estimate for each kind of content, and the service's own count.
//!
//! Deliberately not here: what it looks like, and when a conversation is compressed (`host-agent`).

use host_agent::prompts::ENVIRONMENT;
use host_agent::{KeptText, MessageTokens, WindowUse, fill};
use host_model::{estimate_part, estimate_text};

use super::Session;
use super::servers::ServerTokens;
use crate::context::ContextPart;

/// The use of the model's window, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowReport {
    /// The most that the model takes at once.
    pub window: u64,
    /// The part of the window that a request leaves free for the reply.
    pub reply: u64,
    /// The number at which the conversation is compressed; `None` is never.
    pub compressed_at: Option<u64>,
    /// What is in the window, each with its estimate, in the order in which it is sent.
    pub contents: Vec<(WindowContent, u64)>,
    /// What the tools of each MCP server take, in order. Those that are declared are part of `contents`.
    pub servers: Vec<ServerTokens>,
    /// All of it.
    pub total: WindowTotal,
}

/// A kind of content of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowContent {
    /// The instructions of the system prompt.
    Instructions,
    /// The environment: the place, the date, what the agent may do.
    Environment,
    /// The tree of the workspace.
    Tree,
    /// Context files, such as `AGENTS.md`.
    ContextFiles,
    /// The facts that were kept in earlier runs.
    Facts,
    /// The list of skills.
    Skills,
    /// The declarations of the tools.
    Tools,
    /// What the user said and attached.
    Prompts,
    /// What the model said.
    Answers,
    /// The calls that the model made.
    Calls,
    /// The outcomes of those calls.
    Results,
}

/// The headings of texts that a conversation keeps, and what they are, in the order in which they are sent.
const KEPT: [(&str, WindowContent); 5] = [
    (ENVIRONMENT, WindowContent::Environment),
    (ContextPart::Tree.name(), WindowContent::Tree),
    (ContextPart::Files.name(), WindowContent::ContextFiles),
    (ContextPart::Facts.name(), WindowContent::Facts),
    (ContextPart::Skills.name(), WindowContent::Skills),
];

/// How many tokens are in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowTotal {
    /// The service counted the last request; messages since are estimated.
    Counted(u64),
    /// The sum of the estimates.
    Estimated(u64),
}

impl WindowContent {
    /// Returns its name for a user.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Environment => "environment",
            Self::Tree => ContextPart::Tree.name(),
            Self::ContextFiles => ContextPart::Files.name(),
            Self::Facts => ContextPart::Facts.name(),
            Self::Skills => ContextPart::Skills.name(),
            Self::Tools => "tools",
            Self::Prompts => "your messages",
            Self::Answers => "answers",
            Self::Calls => "calls",
            Self::Results => "results",
        }
    }
}

impl WindowTotal {
    /// Returns the number.
    pub fn tokens(self) -> u64 {
        match self {
            Self::Counted(tokens) | Self::Estimated(tokens) => tokens,
        }
    }
}

impl WindowReport {
    /// Returns how many tokens still fit beside the reply.
    pub fn free(&self) -> u64 {
        self.window.saturating_sub(self.reply).saturating_sub(self.total.tokens())
    }
}

impl Session {
    /// Returns what fills the model's window now.
    pub fn window(&self) -> WindowReport {
        let WindowUse { window, reply, compressed_at, tools, messages, counted } =
            self.conversation.executor.window_use();
        let MessageTokens { prompts, answers, calls, results } = messages;
        let kept = self.kept_tokens();
        let of =
            |wanted: &str| -> u64 { kept.iter().filter(|(name, _)| name == wanted).map(|(_, tokens)| tokens).sum() };
        // The context files of folders that the model entered have headings of their own.
        let others = kept.iter().filter(|(name, _)| KEPT.iter().all(|(known, _)| known != name));
        let others: u64 = others.map(|(_, tokens)| tokens).sum();
        let mut contents = vec![(WindowContent::Tools, tools), (WindowContent::Instructions, self.instructions())];
        contents.extend(KEPT.map(|(name, content)| match content {
            WindowContent::ContextFiles => (content, of(name).saturating_add(others)),
            _ => (content, of(name)),
        }));
        contents.extend([
            (WindowContent::Prompts, prompts),
            (WindowContent::Answers, answers),
            (WindowContent::Calls, calls),
            (WindowContent::Results, results),
        ]);
        // Few sessions have them.
        contents.retain(|(content, tokens)| {
            *tokens > 0 || !matches!(content, WindowContent::Environment | WindowContent::Facts | WindowContent::Skills)
        });
        let sum = contents.iter().fold(0, |sum: u64, (_, tokens)| sum.saturating_add(*tokens));
        let total = counted.map_or(WindowTotal::Estimated(sum), WindowTotal::Counted);
        WindowReport { window, reply, compressed_at, contents, servers: self.server_tokens(), total }
    }

    /// Estimates the tokens of the instructions.
    fn instructions(&self) -> u64 {
        let Some(system) = self.definition.prompt.system.as_deref() else { return 0 };
        // One that cannot be filled in is an error of the next run.
        fill(system, &self.inputs).map_or(0, |system| estimate_text(&system))
    }

    /// The headings of the texts that the conversation keeps, or will begin with, and their tokens.
    fn kept_tokens(&self) -> Vec<(String, u64)> {
        let contents = self.history().contents();
        if contents.is_empty() {
            let texts = self.surroundings.iter().flat_map(|surroundings| surroundings.texts());
            return texts.map(|text| (text.heading.clone(), estimate_part(&text.part()))).collect();
        }
        KeptText::tokens(contents).map(|(heading, tokens)| (heading.to_owned(), tokens)).collect()
    }
}
