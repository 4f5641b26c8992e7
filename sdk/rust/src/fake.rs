//! A host for tests: files, programs, servers, state and configuration that a test makes up, behind the same functions
//! that a tool calls.
//!
//! ```
//! use host_sdk::fake::FakeHost;
//! use host_sdk::{Failure, fs_read, fs_write};
//!
//! fn shout(path: &str) -> Result<(), Failure> {
//!     let file = fs_read::read_whole(path)?;
//!     fs_write::write(path, &file.data.to_ascii_uppercase(), &fs_write::Expected::Digest(file.digest))?;
//!     Ok(())
//! }
//!
//! let host = FakeHost::new().file("a.txt", "hello");
//! host.run(|| shout("a.txt")).unwrap();
//! assert_eq!(host.text("a.txt").as_deref(), Some("HELLO"));
//!
//! let refused = host.run(|| shout("../b.txt")).unwrap_err();
//! assert!(matches!(refused, Failure::Denied(_)), "nothing outside of the workspace is granted");
//! ```
//!
//! [`FakeHost::run`] puts it behind everything that the closure calls in this thread; [`FakeHost::call`] calls a
//! [`Tool`] as a host does, with no more than the tool asks for. What the tool did is looked at afterwards:
//! [`FakeHost::text`], [`FakeHost::requests`], [`FakeHost::commands`], [`FakeHost::emitted`] and so on.
//!
//! What a new one grants is what there is to test with: reading and changing the workspace, every program, every
//! server, the plugin's state, every tool of an MCP server. [`FakeHost::grant`] and [`FakeHost::deny`] take the words
//! of `--grant` and `--deny`, read by the host's own code, which also makes the refusals.
//!
//! As in the real one: what a path means, which errors there are and what they hold, digests and versions that must
//! match, limits of sizes, globs, depth and ignore files in a walk, cut bodies, redirects that must be granted, refused
//! header fields. Where the real one promises no order (`list`, an unsorted walk), this one has the reverse of the
//! names, so that a tool which relies on an order is found out.
//!
//! Deliberately not here: symbolic links, permission bits and special files; the clock (each change is one millisecond
//! after the one before); names that resolve to addresses, except `localhost`; the user's own ignore files; output
//! while a program still runs; limits of time and memory; the files that no tool may change (version control, the
//! host's own); what a preview named, by which the host holds a call. Those need the real host: `host tool call`.

pub(crate) mod background;
pub(crate) mod context;
pub(crate) mod file_changes;
pub(crate) mod fs_read;
pub(crate) mod fs_write;
mod grants;
pub(crate) mod http;
mod ignored;
pub(crate) mod mcp;
pub(crate) mod process;
pub(crate) mod state;
pub(crate) mod tools;
mod tree;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use host_capability::Grants;
use serde_json::Value;

pub use self::context::Progress;
pub use self::file_changes::NamedChange;
pub use self::http::Answer;
pub use self::mcp::McpCall;
pub use self::process::Printed;
pub use self::tools::NestedCall;
use self::tree::Tree;
use crate::context::Level;
use crate::{Confirmation, Failure, Outcome, Tool};

/// The folder that a fake host works in. A path of a test is relative to it, or absolute.
pub const WORKSPACE: &str = "/workspace";

/// A host that a test makes up.
#[derive(Clone, Debug)]
pub struct FakeHost {
    world: Rc<RefCell<World>>,
    /// What a user granted.
    grants: Grants,
    /// The capabilities for which the test said what is granted.
    said: Vec<host_capability::Capability>,
    /// What it took away, whatever was granted before or after.
    denies: Vec<String>,
}

/// What is there, and what was done with it.
#[derive(Debug, Default)]
pub(crate) struct World {
    tree: Tree,
    programs: Vec<(Vec<String>, Printed)>,
    answers: Vec<(String, String, Answer)>,
    state: BTreeMap<String, Vec<u8>>,
    /// The tools of MCP servers: the server, the tool, and what it answers.
    mcp: Vec<(String, String, Result<crate::mcp::Answer, crate::mcp::Error>)>,
    mcp_calls: Vec<McpCall>,
    /// The other tools of the session, and what each answers.
    tools: Vec<(String, Result<crate::tools::Answer, crate::tools::Error>)>,
    nested_calls: Vec<NestedCall>,
    config: BTreeMap<String, String>,
    /// The servers of each secret.
    secrets: BTreeMap<String, Grants>,
    /// How often `should_stop` still says no; none for ever.
    stop_after: Option<u64>,
    requests: Vec<crate::http::Request>,
    /// The secrets that each of the requests carried.
    carried: Vec<Vec<String>>,
    commands: Vec<crate::process::Command>,
    /// Whether a preview announced that its command goes on.
    announced: bool,
    /// Whether it announced that it does so on a terminal.
    announced_terminal: bool,
    /// What was typed into the terminals of programs, by their ids.
    typed: Vec<(String, String)>,
    background: Vec<self::background::Started>,
    named: Vec<NamedChange>,
    emitted: String,
    progress: Vec<Progress>,
    logged: Vec<(Level, String)>,
}

/// What a thread's calls go to.
#[derive(Clone)]
struct Installed {
    world: Rc<RefCell<World>>,
    grants: Grants,
}

thread_local! {
    static INSTALLED: RefCell<Vec<Installed>> = const { RefCell::new(Vec::new()) };
}

/// Asks the host behind this thread.
///
/// # Panics
///
/// When there is none.
pub(crate) fn ask<T>(function: &str, answer: impl FnOnce(&mut World, &Grants) -> T) -> T {
    let Some(Installed { world, grants }) = INSTALLED.with_borrow(|all| all.last().cloned()) else {
        panic!(
            "`{function}` was called and there is no host behind it: in a test, put the call into \
             `host_sdk::fake::FakeHost::new().run(|| …)`"
        );
    };
    answer(&mut world.borrow_mut(), &grants)
}

/// Takes the host away again, also when a test panics.
struct Uninstall;

impl Drop for Uninstall {
    fn drop(&mut self) {
        INSTALLED.with_borrow_mut(Vec::pop);
    }
}

impl Default for FakeHost {
    fn default() -> Self {
        Self::new()
    }
}

/// What there is.
impl FakeHost {
    /// An empty workspace, no program, no server, no state.
    pub fn new() -> Self {
        Self { world: Rc::default(), grants: grants::everything(), said: Vec::new(), denies: Vec::new() }
    }

    /// A file with this content; the folders above it are made.
    ///
    /// # Panics
    ///
    /// When there is a file where a folder must be.
    #[must_use]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.world.borrow_mut().tree.put(path, content.as_ref());
        self
    }

    /// An empty folder; those above it are made.
    ///
    /// # Panics
    ///
    /// When there is a file where a folder must be.
    #[must_use]
    pub fn folder(self, path: &str) -> Self {
        self.world.borrow_mut().tree.put_folder(path);
        self
    }

    /// A program that prints this when it is run with exactly these words. The last one that was said counts.
    #[must_use]
    pub fn program(self, argv: impl IntoIterator<Item = impl Into<String>>, printed: impl Into<Printed>) -> Self {
        self.world.borrow_mut().programs.push((argv.into_iter().map(Into::into).collect(), printed.into()));
        self
    }

    /// A server that gives this answer to this method and address. The last one that was said counts.
    #[must_use]
    pub fn http(self, method: &str, url: &str, answer: impl Into<Answer>) -> Self {
        self.world.borrow_mut().answers.push((method.to_owned(), url.to_owned(), answer.into()));
        self
    }

    /// A tool of an MCP server that gives this answer. The last one that was said counts.
    #[must_use]
    pub fn mcp(self, server: &str, tool: &str, answer: Result<crate::mcp::Answer, crate::mcp::Error>) -> Self {
        self.world.borrow_mut().mcp.push((server.to_owned(), tool.to_owned(), answer));
        self
    }

    /// Another tool of the session, which gives this answer to a call of the plugin's. The last one that was said
    /// counts.
    #[must_use]
    pub fn tool(self, name: &str, answer: Result<crate::tools::Answer, crate::tools::Error>) -> Self {
        self.world.borrow_mut().tools.push((name.to_owned(), answer));
        self
    }

    /// A value that the plugin kept in an earlier call.
    #[must_use]
    pub fn state(self, key: &str, value: impl AsRef<[u8]>) -> Self {
        self.world.borrow_mut().state.insert(key.to_owned(), value.as_ref().to_vec());
        self
    }

    /// A value of the plugin's configuration.
    #[must_use]
    pub fn config(self, key: &str, value: impl Into<Value>) -> Self {
        self.world.borrow_mut().config.insert(key.to_owned(), value.into().to_string());
        self
    }

    /// A secret that the user gave, and the server that `plugin.toml` names for it, such as `api.example.com`.
    ///
    /// # Panics
    ///
    /// When the server is none.
    #[must_use]
    pub fn secret(self, name: &str, server: &str) -> Self {
        let servers = Grants::none().with(grants::scope(&format!("http=* {server}")));
        self.world.borrow_mut().secrets.insert(name.to_owned(), servers);
        self
    }

    /// Tells the call to stop when it has asked so many times whether it should.
    #[must_use]
    pub fn stop_after(self, times: u64) -> Self {
        self.world.borrow_mut().stop_after = Some(times);
        self
    }

    /// Grants this, in the words of `--grant` without the plugin: `fs-read=src`, `http=api.example.com`. The first one
    /// for a capability takes the place of what a new fake host grants of it.
    ///
    /// # Panics
    ///
    /// When the words are invalid.
    #[must_use]
    pub fn grant(mut self, words: &str) -> Self {
        let scope = grants::scope(words);
        let capability = scope.capability();
        if !self.said.contains(&capability) {
            self.said.push(capability);
            self.grants = grants::without(&self.grants, capability);
        }
        self.grants = self.grants.with(scope);
        self
    }

    /// Takes away a capability (`process`), or files from one (`fs-read=.env`), in the words of `--deny`.
    ///
    /// # Panics
    ///
    /// When the words are invalid.
    #[must_use]
    pub fn deny(mut self, words: &str) -> Self {
        self.denies.push(words.to_owned());
        // Said where it is wrong, not where it is used.
        self.held();
        self
    }
}

/// Calling a tool.
impl FakeHost {
    /// Runs the closure with this host behind every capability that it uses in this thread.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        self.installed(self.held(), work)
    }

    /// Calls the tool with these arguments, as a host does: with what is granted and no more of it than the tool asks
    /// for, so that a capability which it uses and does not name is denied.
    ///
    /// The arguments are not held against the schema: what the schema forbids reaches the tool here.
    ///
    /// # Errors
    ///
    /// Whatever the tool says.
    pub fn call(&self, tool: &Tool, arguments: Value) -> Result<Outcome, Failure> {
        self.installed(grants::of_tool(&self.held(), tool), || tool.run(&arguments.to_string()))
    }

    /// Asks the tool what a call would do, as a host does: with the part of its grants that reads.
    ///
    /// # Errors
    ///
    /// Whatever the tool says.
    pub fn preview(&self, tool: &Tool, arguments: Value) -> Result<Option<Confirmation>, Failure> {
        let grants = grants::of_tool(&self.held(), tool).reading();
        self.installed(grants, || tool.run_preview(&arguments.to_string()))
    }

    /// Asks the tool for the arguments of the call that does what a user made of this one.
    ///
    /// # Errors
    ///
    /// Whatever the tool says.
    pub fn revise(&self, tool: &Tool, arguments: Value, text: &str) -> Result<Value, Failure> {
        let grants = grants::of_tool(&self.held(), tool).reading();
        let revised = self.installed(grants, || tool.run_revise(&arguments.to_string(), text.to_owned()))?;
        Ok(serde_json::from_str(&revised)?)
    }

    /// What is granted and not denied.
    fn held(&self) -> Grants {
        self.denies.iter().fold(self.grants.clone(), |grants, words| grants::denied(&grants, words))
    }

    fn installed<T>(&self, grants: Grants, work: impl FnOnce() -> T) -> T {
        INSTALLED.with_borrow_mut(|all| all.push(Installed { world: Rc::clone(&self.world), grants }));
        let _uninstall = Uninstall;
        work()
    }
}

/// What was done.
impl FakeHost {
    /// What is in a file now; none when there is no such file.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.world.borrow().tree.bytes(path)
    }

    /// What is in a file now, as text; none when there is no such file, or it is no UTF-8.
    pub fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path)?).ok()
    }

    /// The files that there are now, in the order of their names, those of the workspace relative to it.
    pub fn files(&self) -> Vec<String> {
        self.world.borrow().tree.files()
    }

    /// The requests that were sent, redirects not counted. What was refused is not among them.
    pub fn requests(&self) -> Vec<crate::http::Request> {
        self.world.borrow().requests.clone()
    }

    /// The names of the secrets that each of the [requests](Self::requests) carried.
    pub fn carried(&self) -> Vec<Vec<String>> {
        self.world.borrow().carried.clone()
    }

    /// The calls of tools of MCP servers. What was refused is not among them.
    pub fn mcp_calls(&self) -> Vec<McpCall> {
        self.world.borrow().mcp_calls.clone()
    }

    /// The calls of other tools, in order. What was refused is not among them.
    pub fn nested_calls(&self) -> Vec<NestedCall> {
        self.world.borrow().nested_calls.clone()
    }

    /// The commands that were run. What was refused is not among them.
    pub fn commands(&self) -> Vec<crate::process::Command> {
        self.world.borrow().commands.clone()
    }

    /// The changes to files that previews named with [`crate::file_changes`], in order.
    pub fn named_changes(&self) -> Vec<NamedChange> {
        self.world.borrow().named.clone()
    }

    /// Whether a preview announced that its command goes on after the call.
    pub fn announced(&self) -> bool {
        self.world.borrow().announced
    }

    /// Whether a preview announced that its command goes on after the call on a terminal.
    pub fn announced_terminal(&self) -> bool {
        self.world.borrow().announced_terminal
    }

    /// What was typed into the terminals of programs, with their ids: a key is its name in `<` and `>`.
    pub fn typed(&self) -> Vec<(String, String)> {
        self.world.borrow().typed.clone()
    }

    /// What is kept under a key now.
    pub fn value(&self, key: &str) -> Option<Vec<u8>> {
        self.world.borrow().state.get(key).cloned()
    }

    /// The live output, all of it together.
    pub fn emitted(&self) -> String {
        self.world.borrow().emitted.clone()
    }

    /// How far the call said that it was, each time.
    pub fn progress(&self) -> Vec<Progress> {
        self.world.borrow().progress.clone()
    }

    /// The lines of the log.
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.world.borrow().logged.clone()
    }
}
