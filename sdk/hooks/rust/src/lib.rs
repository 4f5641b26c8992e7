//! Writes a hook for `host`: a WebAssembly component that is asked about events of a session.
//!
//! It imports nothing, so that it can only answer. A function takes an [`Event`] and returns an [`Answer`]:
//!
//! ```
//! use host_hook_sdk::{Answer, Event, Moment, export_hook};
//!
//! fn handle(event: &Event) -> Result<Answer, String> {
//!     match (&event.moment, &event.call) {
//!         (Moment::PreToolUse, Some(call)) if call.arguments.contains("rm -rf /") => Ok(Answer::deny("not the root")),
//!         _ => Ok(Answer::nothing()),
//!     }
//! }
//!
//! export_hook!(handle);
//! # fn main() {}
//! ```
//!
//! Deliberately not here: reading the arguments, which are JSON as text.

/// The contract as generated Rust.
#[doc(hidden)]
#[allow(missing_docs, clippy::all, unreachable_pub)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/hook",
        world: "host:hook/hook",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_generated",
        default_bindings_module: "host_hook_sdk::bindings",
    });
}

pub use bindings::exports::host::hook::handler::{Answer, Event};
pub use bindings::host::hook::types::{Decision, Moment, ToolCall};

impl Answer {
    /// Says nothing.
    pub fn nothing() -> Self {
        Self { decision: None, reason: String::new(), arguments: None, context: None, message: None }
    }

    /// Denies, with a reason for the model and the user.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: reason.into(), ..Self::nothing() }
    }

    /// Wants the user to be asked, for this reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask), reason: reason.into(), ..Self::nothing() }
    }
}

/// Exports a function from [`Event`] to [`Answer`] as the hook of this component.
#[macro_export]
macro_rules! export_hook {
    ($handle:path) => {
        struct ExportedHook;

        impl $crate::bindings::exports::host::hook::handler::Guest for ExportedHook {
            fn handle(event: $crate::Event) -> Result<$crate::Answer, String> {
                $handle(&event)
            }
        }

        $crate::bindings::export_generated!(ExportedHook with_types_in $crate::bindings);
    };
}
