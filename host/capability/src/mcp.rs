//! Tools of MCP servers: which ones a plugin may call.
//!
//! An item names a server, or one tool of a server as the server itself calls it. With `read` behind it, it covers only
//! tools that the host knows to read: a server's own words about its tools never make a scope wider.

use std::fmt;
use std::sync::Arc;

use crate::antichain::{Antichain, Element};
use crate::error::ScopeError;
use crate::list::{self, Form, quote};
use crate::visible::visible;

/// The longest name of a server, in characters. A tool is called `SERVER__TOOL`, and services accept names of 64.
pub const MAX_MCP_SERVER_NAME: usize = 32;

/// The longest name of a server's tool, in bytes: the protocol asks servers for at most 128 characters.
pub const MAX_MCP_TOOL_NAME: usize = 128;

/// The word behind an item that covers only tools that read.
const READ: &str = "read";

/// The name of an MCP server, as its user configured it: 1 to 32 of `a-z`, `A-Z`, `0-9`, `-` and `_`, the first a
/// letter, the last no `_`, without `__`, which separates it from a tool's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct McpServerName(Arc<str>);

/// A text that cannot be the name of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be the name of an MCP server")]
pub struct InvalidMcpServerName {
    /// The text, safe for a terminal.
    pub name: String,
}

impl InvalidMcpServerName {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> String {
        format!(
            "use 1 to {MAX_MCP_SERVER_NAME} letters, digits, `-` and `_`, beginning with a letter, without `__` and no `_` \
             at the end"
        )
    }
}

impl McpServerName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// When it is too long, empty, or has another form.
    pub fn parse(text: &str) -> Result<Self, InvalidMcpServerName> {
        let fits = text.len() <= MAX_MCP_SERVER_NAME
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !text.contains("__")
            && !text.ends_with('_');
        if fits { Ok(Self(text.into())) } else { Err(InvalidMcpServerName { name: visible(text) }) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for McpServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The tools of MCP servers that a grant covers: at least one item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct McpTools(Antichain<Item>);

/// A server's tools, or one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Item {
    /// `None` is any server.
    server: Option<McpServerName>,
    /// `None` is any tool of the server.
    tool: Option<Arc<str>>,
    /// Whether only tools that read are covered.
    reads: bool,
}

impl Element for Item {
    fn meet(&self, other: &Self) -> Option<Self> {
        let server = both(self.server.as_ref(), other.server.as_ref())?;
        let tool = both(self.tool.as_ref(), other.tool.as_ref())?;
        Some(Self { server: server.cloned(), tool: tool.cloned(), reads: self.reads || other.reads })
    }

    fn is_below(&self, other: &Self) -> bool {
        let is_within = |narrow: bool, wide: bool, same: bool| wide || (!narrow && same);
        is_within(self.server.is_none(), other.server.is_none(), self.server == other.server)
            && is_within(self.tool.is_none(), other.tool.is_none(), self.tool == other.tool)
            && (self.reads || !other.reads)
    }
}

/// What two names cover both, where none covers everything; `None` if they are different.
fn both<'a, T: PartialEq>(one: Option<&'a T>, other: Option<&'a T>) -> Option<Option<&'a T>> {
    match (one, other) {
        (Some(one), Some(other)) => (one == other).then_some(Some(one)),
        (some, None) | (None, some) => Some(some),
    }
}

impl McpTools {
    /// Reads items: `SERVER`, `SERVER/TOOL` or `*`, each with ` read` behind it where only tools that read are meant.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let items = list::items(text, form)?.iter().map(item).collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Antichain::new(items)))
    }

    /// Returns the scope of one tool, as the server calls it; `reads` if only as long as it reads.
    pub(crate) fn tool(server: &McpServerName, tool: &str, reads: bool) -> Self {
        Self(Antichain::new([Item { server: Some(server.clone()), tool: Some(tool.into()), reads }]))
    }

    /// Returns the scope of a server's tools that read.
    pub(crate) fn reading_of(server: &McpServerName) -> Self {
        Self(Antichain::new([Item { server: Some(server.clone()), tool: None, reads: true }]))
    }

    /// Returns the scope of all tools of the servers that are named here; `None` if an item is about any server.
    pub(crate) fn whole_servers(&self) -> Option<Self> {
        let whole = |item: &Item| Some(Item { server: Some(item.server.clone()?), tool: None, reads: item.reads });
        Some(Self(Antichain::new(self.0.iter().map(whole).collect::<Option<Vec<_>>>()?)))
    }

    /// Returns whether each item names its server.
    pub fn are_named(&self) -> bool {
        self.0.iter().all(|item| item.server.is_some())
    }

    /// Returns whether only tools that read are covered.
    pub fn only_read(&self) -> bool {
        self.0.iter().all(|item| item.reads)
    }

    /// Describes the tools for a user: `` `search` of `github` ``.
    pub fn in_words(&self) -> String {
        let words = |item: &Item| {
            let tools = match (&item.tool, item.reads) {
                (Some(tool), _) => format!("`{}`", visible(tool)),
                (None, true) => "the tools that only read".to_owned(),
                (None, false) => "every tool".to_owned(),
            };
            match &item.server {
                Some(server) => format!("{tools} of the MCP server `{server}`"),
                None => format!("{tools} of every MCP server"),
            }
        };
        self.0.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    /// Returns whether the tool is covered; `reads` if the host knows that it reads.
    pub(crate) fn permits(&self, server: &McpServerName, tool: &str, reads: bool) -> bool {
        self.0.iter().any(|item| {
            item.server.as_ref().is_none_or(|named| named == server)
                && item.tool.as_deref().is_none_or(|named| named == tool)
                && (reads || !item.reads)
        })
    }

    /// The part that covers only tools that read.
    pub(crate) fn reading(&self) -> Self {
        Self(Antichain::new(self.0.iter().cloned().map(|item| Item { reads: true, ..item })))
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        Some(Self(self.0.meet(&other.0))).filter(|met| !met.0.is_empty())
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.le(&other.0)
    }
}

fn item(item: &list::Item) -> Result<Item, ScopeError> {
    let wrong = || ScopeError::McpTool { text: visible(&item.whole.text) };
    let (name, reads) = match item.words.as_slice() {
        [name] => (name, false),
        // A tool may be called `read`; quoted it is part of a name and no keyword.
        [name, read] if read.text == READ && !read.quoted => (name, true),
        _ => return Err(wrong()),
    };
    if name.text == "*" && !name.quoted {
        return Ok(Item { server: None, tool: None, reads });
    }
    // At the first slash: names of servers have none, those of tools may.
    let (server, tool) = match name.text.split_once('/') {
        Some((server, tool)) => (server, Some(tool)),
        None => (name.text.as_str(), None),
    };
    if tool.is_some_and(|tool| tool.is_empty() || tool.len() > MAX_MCP_TOOL_NAME) {
        return Err(wrong());
    }
    let server = McpServerName::parse(server).map_err(|_| wrong())?;
    Ok(Item { server: Some(server), tool: tool.map(Into::into), reads })
}

impl fmt::Display for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Item { server, tool, reads }) in self.0.iter().enumerate() {
            f.write_str(if at > 0 { "," } else { "" })?;
            match (server, tool) {
                (Some(server), Some(tool)) => f.write_str(&quote(&format!("{server}/{tool}")))?,
                (Some(server), None) => f.write_str(server.as_str())?,
                (None, _) => f.write_str("*")?,
            }
            f.write_str(if *reads { " read" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> McpTools {
        McpTools::parse(text, Form::Stored).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_scope_is_read_back_as_it_was_written() {
        for (text, written) in [
            ("github", "github"),
            ("*", "*"),
            ("b/x,a", "a,b/x"),
            ("a,a/x", "a"),
            ("a/x read,a/x", "a/x"),
            ("a read,a/x", "a read,a/x"),
            ("'a/list repos' read", "'a/list repos' read"),
            ("a/ns/tool.v1", "a/ns/tool.v1"),
        ] {
            assert_eq!(tools(text).to_string(), written);
            assert_eq!(tools(written), tools(text));
        }
        for text in ["", "a/", "/x", "*/x", "a b", "a read read", "a__b", "_a", "a_", "1a", "ä", "a 'read'", "'*'"] {
            assert!(McpTools::parse(text, Form::Stored).is_err(), "{text}");
        }
        assert!(McpTools::parse(&format!("a/{}", "x".repeat(MAX_MCP_TOOL_NAME + 1)), Form::Stored).is_err());
    }

    #[test]
    fn only_what_is_named_is_permitted() {
        let check = |scope: &str, server: &str, tool: &str, reads: bool, is_permitted: bool| {
            let server = McpServerName::parse(server).expect("a name");
            assert_eq!(tools(scope).permits(&server, tool, reads), is_permitted, "{scope}: {server}/{tool}");
        };
        check("a", "a", "x", false, true);
        check("a", "b", "x", false, false);
        check("a", "A", "x", true, false);
        check("a/x", "a", "x", false, true);
        check("a/x", "a", "xy", false, false);
        check("a/x", "a", "X", false, false);
        check("a read", "a", "x", false, false);
        check("a read", "a", "x", true, true);
        check("a/x read", "a", "y", true, false);
        check("*", "b", "x", false, true);
        check("* read", "b", "x", false, false);
    }

    #[test]
    fn meets_and_order_are_those_of_what_is_covered() {
        let check = |one: &str, other: &str, met: Option<&str>| {
            assert_eq!(tools(one).meet(&tools(other)).map(|met| met.to_string()).as_deref(), met, "{one} ∧ {other}");
            if let Some(met) = met {
                assert!(tools(met).le(&tools(one)) && tools(met).le(&tools(other)));
            }
        };
        check("a", "a/x", Some("a/x"));
        check("a", "b", None);
        check("*", "a/x read", Some("a/x read"));
        check("a read", "a/x", Some("a/x read"));
        check("a,b/x", "b,a/y", Some("a/y,b/x"));
        assert!(!tools("a").le(&tools("a read")) && tools("a read").le(&tools("a")));
        assert!(!tools("a").le(&tools("a/x")) && !tools("*").le(&tools("a")));
        assert_eq!(tools("a,b/x").reading().to_string(), "a read,b/x read");
    }
}
