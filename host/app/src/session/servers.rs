//! The MCP servers of a session: their prompts, and what their tools take of the model's window.

use std::collections::BTreeMap;

use host_capability::McpServerName;
use host_message::{OutputPart, Part, PartData};
use host_settings::error::{ErrorKind, Fault};
use host_settings::mcp::{McpMessage, McpPrompt, McpPromptArgument};
use host_text::{Advice, Notice, exact};
use serde_json::{Map, Value};

use super::Session;
use crate::attach::Attached;

/// What the definitions of a server's tools take of the model's window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTokens {
    /// The server.
    pub name: McpServerName,
    /// How many tools it offers.
    pub tools: usize,
    /// How many of them are declared to the model.
    pub declared: usize,
    /// What all of its definitions take, in tokens, estimated.
    pub tokens: u64,
}

/// Why a prompt of an MCP server is not filled in.
#[derive(Debug, thiserror::Error)]
pub enum ServerPromptError {
    /// No server is configured.
    #[error("there is no MCP server `{0}`")]
    NoServers(String),
    /// There is no such server.
    #[error("there is no MCP server `{shown}`")]
    NoServer {
        /// The name.
        server: String,
        /// The name, safe to show.
        shown: String,
        /// The servers that there are.
        known: Vec<String>,
    },
    /// It has no such prompt.
    #[error("the MCP server `{server}` has no prompt `{shown}`")]
    NoPrompt {
        /// The server.
        server: String,
        /// The name.
        prompt: String,
        /// The name, safe to show.
        shown: String,
        /// The prompts that it has.
        known: Vec<String>,
    },
    /// The server does not answer as it should.
    #[error("the prompt `/{server}:{prompt}` cannot be used")]
    Failed {
        /// The server.
        server: String,
        /// The prompt, safe to show.
        prompt: String,
        /// Why, in words.
        why: String,
    },
    /// It takes no argument.
    #[error("the prompt `/{server}:{prompt}` takes no argument")]
    NoArguments {
        /// The server.
        server: String,
        /// The prompt.
        prompt: String,
    },
    /// An argument is missing.
    #[error("the prompt needs `{name}`{about}")]
    Missing {
        /// Its name, safe to show.
        name: String,
        /// What it is, in brackets.
        about: String,
        /// How the prompt is written.
        form: String,
    },
}

impl Fault for ServerPromptError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoServers(_)
            | Self::NoServer { .. }
            | Self::NoPrompt { .. }
            | Self::NoArguments { .. }
            | Self::Missing { .. } => Vec::new(),
            Self::Failed { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoServers(_) => Some("docs/mcp.md says how to configure one".into()),
            Self::NoServer { server, known, .. } => {
                Some(Advice::on_name(server, known.iter().map(String::as_str), "/mcp lists the servers"))
            }
            Self::NoPrompt { prompt, known, .. } => {
                Some(Advice::on_name(prompt, known.iter().map(String::as_str), "/mcp lists its prompts"))
            }
            Self::Failed { .. } | Self::NoArguments { .. } => None,
            Self::Missing { form, .. } => Some(format!("write it as {form}").into()),
        }
    }
}

impl Session {
    /// Returns what the definitions of each MCP server take of the model's window; empty if there are no servers.
    pub fn server_tokens(&self) -> Vec<ServerTokens> {
        let Some(servers) = &self.app.mcp else { return Vec::new() };
        let offer = servers.offer();
        let declared = self.conversation.executor.declared_tools();
        let row = |(name, tokens): &(McpServerName, u64)| {
            let tools = offer.tools.iter().filter(|tool| tool.target.server == *name);
            let (mut all, mut shown) = (0, 0);
            for tool in tools {
                all += 1;
                shown += usize::from(declared.contains(&tool.spec.name));
            }
            ServerTokens { name: name.clone(), tools: all, declared: shown, tokens: *tokens }
        };
        offer.tokens.iter().map(row).collect()
    }

    /// Fills in a prompt of an MCP server, `written` with its arguments behind its name: words in their order, or
    /// `NAME=VALUE`. The server's text is the user's prompt then: they asked for it.
    ///
    /// # Errors
    ///
    /// If there is no such server or prompt, an argument is missing, or the server does not answer.
    pub async fn server_prompt(
        &self,
        server: &str,
        prompt: &str,
        written: &str,
    ) -> Result<Attached, ServerPromptError> {
        let servers = self.app.mcp.as_ref();
        let servers = servers.ok_or_else(|| ServerPromptError::NoServers(exact(server).into_owned()))?;
        let statuses = servers.statuses();
        let status = statuses.iter().find(|status| status.name.as_str() == server);
        let status = status.ok_or_else(|| ServerPromptError::NoServer {
            server: server.to_owned(),
            shown: exact(server).into_owned(),
            known: statuses.iter().map(|one| one.name.to_string()).collect(),
        })?;
        let known = status.prompts.iter().find(|known| known.name == prompt);
        let known = known.ok_or_else(|| ServerPromptError::NoPrompt {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            shown: exact(prompt).into_owned(),
            known: status.prompts.iter().map(|one| one.name.clone()).collect(),
        })?;
        let arguments = arguments(server, known, written)?;
        let messages = servers.connected().prompt(&status.name, prompt, arguments).await;
        let messages = messages.map_err(|error| ServerPromptError::Failed {
            server: server.to_owned(),
            prompt: exact(prompt).into_owned(),
            why: error.to_string(),
        })?;
        Ok(attached(messages))
    }
}

/// The arguments of a prompt, as written behind its name.
fn arguments(server: &str, prompt: &McpPrompt, written: &str) -> Result<Map<String, Value>, ServerPromptError> {
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    let mut free = prompt.arguments.iter();
    for word in words(written) {
        let named = word.split_once('=').and_then(|(name, value)| {
            let known = prompt.arguments.iter().find(|known| known.name == name)?;
            Some((known.name.as_str(), value.to_owned()))
        });
        let (name, value) = match named {
            Some(named) => named,
            None => match free.find(|known| !given.contains_key(known.name.as_str())) {
                Some(known) => (known.name.as_str(), word),
                None => match given.iter_mut().next_back() {
                    // The last one takes the rest, as in a sentence.
                    Some((_, last)) => {
                        last.push(' ');
                        last.push_str(&word);
                        continue;
                    }
                    None => {
                        let (server, prompt) = (server.to_owned(), prompt.name.clone());
                        return Err(ServerPromptError::NoArguments { server, prompt });
                    }
                },
            },
        };
        given.insert(name, value);
    }
    if let Some(missing) = prompt.arguments.iter().find(|one| one.is_required && !given.contains_key(one.name.as_str()))
    {
        let about = missing.description.as_ref().map(|words| format!(" ({})", exact(words))).unwrap_or_default();
        let (name, form) = (exact(&missing.name).into_owned(), form(server, prompt));
        return Err(ServerPromptError::Missing { name, about, form });
    }
    Ok(given.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect())
}

/// How a prompt is written, such as `/github:review <pull> [depth]`.
fn form(server: &str, prompt: &McpPrompt) -> String {
    let argument = |McpPromptArgument { name, is_required, .. }: &McpPromptArgument| match is_required {
        true => format!(" <{}>", exact(name)),
        false => format!(" [{}]", exact(name)),
    };
    let arguments: String = prompt.arguments.iter().map(argument).collect();
    format!("/{server}:{}{arguments}", exact(&prompt.name))
}

/// Words, of which one in quotes can have spaces.
fn words(written: &str) -> Vec<String> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    for c in written.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) if word.as_ref().is_none_or(|word| word.ends_with('=')) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The messages of a prompt as one of the user's: a model's among them are marked, since the user said none of them.
fn attached(messages: Vec<McpMessage>) -> Attached {
    let is_talk = messages.iter().any(|message| message.is_model);
    let (mut texts, mut parts): (Vec<String>, Vec<Part>) = Default::default();
    for McpMessage { is_model, content } in messages {
        let said = match content {
            OutputPart::Text(text) => text,
            OutputPart::Link { uri, .. } => uri,
            OutputPart::Data(data) => {
                parts.push(PartData::InlineData(data).into());
                continue;
            }
        };
        texts.push(match (is_talk, is_model) {
            (false, _) => said,
            (true, false) => format!("User: {said}"),
            (true, true) => format!("Assistant: {said}"),
        });
    }
    Attached { prompt: texts.join("\n\n"), parts, ..Attached::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt() -> McpPrompt {
        let argument = |name: &str, is_required| McpPromptArgument {
            name: name.to_owned(),
            description: Some("what it is".to_owned()),
            is_required,
        };
        let arguments = vec![argument("pull", true), argument("depth", false)];
        McpPrompt { name: "review".to_owned(), description: None, arguments }
    }

    #[test]
    fn mcp_prompt_takes_words_in_order_or_by_name() {
        for (written, expected) in [
            ("7", json!({"pull": "7"})),
            ("7 deep", json!({"pull": "7", "depth": "deep"})),
            ("depth=deep 7", json!({"pull": "7", "depth": "deep"})),
            ("depth=\"very deep\" 'pull 7'", json!({"pull": "pull 7", "depth": "very deep"})),
            ("it's x=y", json!({"pull": "it's", "depth": "x=y"})),
        ] {
            let Value::Object(expected) = expected else { unreachable!("objects") };
            assert_eq!(arguments("github", &prompt(), written).expect(written), expected, "{written}");
        }
        let missing = arguments("github", &prompt(), "depth=x").expect_err("one is missing");
        assert_eq!(missing.to_string(), "the prompt needs `pull` (what it is)");
        assert_eq!(
            missing.help().map(|help| help.to_string()).as_deref(),
            Some("write it as /github:review <pull> [depth]")
        );
        let none = McpPrompt { arguments: Vec::new(), ..prompt() };
        assert!(arguments("github", &none, "x").expect_err("it takes none").to_string().contains("takes no argument"));
    }

    #[test]
    fn mcp_prompt_with_words_of_a_model_says_who_said_what() {
        let said = |is_model, text: &str| McpMessage { is_model, content: OutputPart::Text(text.to_owned()) };
        assert_eq!(attached(vec![said(false, "a"), said(false, "b")]).prompt, "a\n\nb");
        assert_eq!(attached(vec![said(false, "a"), said(true, "b")]).prompt, "User: a\n\nAssistant: b");
    }
}
