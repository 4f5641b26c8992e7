//! What each fuzz target does with its bytes: it reads them as the host reads untrusted input, and checks what the
//! reader promises.
//!
//! Owns one function a target and the list of them ([`TARGETS`]). A function panics when a promise is broken, and
//! returns whatever the bytes are. The programs in `fuzz/` call it with what libFuzzer makes up, and a test of the
//! host calls it with each file of `fuzz/corpus`.
//!
//! Deliberately not here: MCP and ACP, which the host does not speak, and running what a guest compiles to beyond its
//! answers, which is wasmtime's own to fuzz.

mod answer;
mod bundle;
mod cache;
mod configuration;
mod definition;
mod discovery;
mod grants;
mod guest;
mod instructions;
mod manifest;
mod model;
mod plugin_index;
mod policy;
mod schema;
mod session;
mod shell;
mod shown;
mod text;
mod text_mode;
mod trust;
mod typing;

pub use answer::answer;
pub use bundle::{archive, bundle};
pub use cache::cache;
pub use configuration::configuration;
pub use definition::definition;
pub use discovery::discovery;
pub use grants::grants;
pub use instructions::instructions;
pub use manifest::manifest;
pub use model::{anthropic, gemini, ollama, openai, openai_responses};
pub use plugin_index::plugin_index;
pub use policy::policy;
pub use schema::schema;
pub use session::session;
pub use shell::{shell, shell_syntax, shell_words};
pub use text::text;
pub use text_mode::{script, text_mode};
pub use trust::{lock, trust};
pub use typing::typing;

/// A target: its name, and what it does with its bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets, by name: each has a program of this name in `fuzz/fuzz_targets` and a folder of this name in
/// `fuzz/corpus`.
pub const TARGETS: &[Target] = &[
    ("answer", answer),
    ("anthropic", anthropic),
    ("archive", archive),
    ("bundle", bundle),
    ("cache", cache),
    ("configuration", configuration),
    ("definition", definition),
    ("discovery", discovery),
    ("gemini", gemini),
    ("grants", grants),
    ("instructions", instructions),
    ("lock", lock),
    ("manifest", manifest),
    ("ollama", ollama),
    ("openai", openai),
    ("openai_responses", openai_responses),
    ("plugin_index", plugin_index),
    ("policy", policy),
    ("schema", schema),
    ("script", script),
    ("session", session),
    ("shell", shell),
    ("shell_syntax", shell_syntax),
    ("shell_words", shell_words),
    ("text", text),
    ("text_mode", text_mode),
    ("trust", trust),
    ("typing", typing),
];
