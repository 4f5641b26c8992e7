//! Runs plugins: WebAssembly components that hold exactly the capabilities they were granted.
//!
//! Owns the engine, admission (a component's imports are read before it is compiled), linking (one linker for each set
//! of granted interfaces), one store for each call, the host side of each capability, the limits of a call, and the
//! cache of compiled components.
//!
//! The path of a call: [`Runtime::call`] → [`admission`] → the linker for the granted set → a fresh store → the guest →
//! a host function → a permit of `host-capability`, or a denial, which is an answer → the outcome, checked.
//!
//! Deliberately not here: where plugins come from and which keys are trusted (`host-bundle`), whether a call should run
//! at all (`host-tool`), models and agents. Nothing here prints, or reads the environment or the home folder.

mod access;
mod addresses;
pub mod admission;
mod ahead;
mod allowed_files;
mod answer;
mod background;
mod bindings;
mod cache;
mod certificates;
mod changes;
mod check_program;
mod checklist;
mod compile_limits;
mod compiler;
mod component;
mod context;
mod counted;
mod denials;
mod difference;
mod digest;
mod elicitation;
mod engine;
mod error;
mod file_changes;
mod fs_read;
mod fs_write;
mod guest_clock;
mod guest_log;
mod hook_component;
mod hook_program;
mod http;
mod json_walk;
mod limits;
mod listener;
mod lock;
mod made_calls;
mod mcp;
mod mcp_client;
mod missing;
mod network;
mod open_files;
mod origin;
mod plugin;
mod precompiled;
mod preview_guard;
mod process;
mod readable;
mod reader;
mod remote;
mod runtime;
mod secrets;
mod seen_files;
mod server_program;
mod shared;
mod state;
mod store;
mod tool_caller;
mod tools;
mod touches;
mod wasi;
mod workspace;

pub use access::{Access, CurrentAccess};
pub use ahead::process::AHEAD_NAME;
pub use allowed_files::AllowedFiles;
pub use answer::{
    Confirmation, FileChange, Ground, MAX_DESCRIPTION, MAX_SCHEMA, MAX_TOOLS, Need, ToolDef, command_line,
};
pub use background::{BackgroundProgram, BackgroundPrograms, BackgroundState};
pub use cache::CacheError;
pub use changes::recorder;
pub use compile_limits::{CompileLimit, CompileLimits};
pub use compiler::{COMPILER_NAME, CompileEvent, CompileOptions, compile_to, read_component};
pub use component::{ComponentBytes, ComponentError, StoredComponent};
pub use difference::difference;
pub use digest::Digest;
pub use elicitation::{Elicitation, ElicitationAnswer, ElicitationField, ElicitationForm, ElicitationKind};
pub use engine::{Allocator, MAX_CALLS};
pub use error::{CallError, Claim, Failure, RuntimeError};
pub use hook_component::{HookComponent, HookDecided, HookMoment, HookQuestion, HookReply, HookToolCall};
pub use hook_program::{HookCommand, HookEnd, HookPrinted, MAX_HOOK_OUTPUT, MAX_HOOK_TIME};
pub use host_process::{ConfineMode, Forwarded, SessionNetwork};
pub use host_programs::{Caches, CommandsIn, ProgramAccess, ProgramReach, ProgramWalls};
pub use json_walk::{JsonRule, check_json};
pub use limits::{Limit, Limits, MAX_COMPONENT};
pub use listener::{CallListener, ProgramEnd};
pub use mcp_client::{Answering, McpAnswer, McpClient, McpError};
pub use network::{Network, NetworkService, PreparedAnswer, PreparedError, PreparedNetwork, SeenRequest};
pub use open_files::OpenFiles;
pub use plugin::Plugin;
pub use precompiled::{CodeIdentity, PortableCompiler, PrecompileError, Precompiled};
pub use readable::read_git_settings;
pub use reader::{FileKind, Found, Listed, ReadError, Reader};
pub use remote::{Redirects, RemoteClient, RemoteError, RemoteFailure, remote_failure};
pub use runtime::{Runtime, RuntimeOptions};
pub use secrets::{PlacedSecret, Placement, SecretError, Secrets};
pub use seen_files::{PastFiles, SeenFiles};
pub use server_program::{ServerCommand, ServerProgram, ServerStartError, ServerStreams, ServerWalls};
pub use store::Invocation;
pub use tool_caller::{ToolAnswer, ToolCallError, ToolCaller, ToolRequest};
pub use touches::TouchError;
pub use workspace::{PathError, Workspace};
