//! Writes a plugin for `host`: a WebAssembly component that offers tools to a model.
//!
//! A plugin is a list of [`Tool`]s given to [`export_plugin!`]. A tool is a name, a description and a JSON
//! Schema for the model, and a function from its arguments, a type of serde's, to an [`Outcome`] or a
//! [`Failure`]:
//!
//! ```
//! use host_sdk::{Annotations, Failure, Outcome, Tool, export_plugin};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Arguments {
//!     text: String,
//! }
//!
//! fn shout() -> Tool {
//!     let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
//!     Tool::new("shout", "Returns the text in capitals.", schema, |arguments: Arguments| {
//!         Ok(Outcome::text(arguments.text.to_uppercase()))
//!     })
//!     .annotations(Annotations::READ_ONLY)
//! }
//!
//! export_plugin!(shout());
//! # fn main() {}
//! ```
//!
//! What a tool touches goes through one module for each capability: [`fs_read`], [`fs_write`], [`process`],
//! [`http`], [`state`]. Using one makes it an import of the component, and so a request that the user must
//! grant; a module that is not used leaves no trace. Their errors turn into a [`Failure`] with `?`.
//! [`context`] needs no grant.
//!
//! Everything here also compiles for the machine that it is built on, so that what a tool computes can be
//! tested there. Calling a capability there panics: there is no host behind it.
//!
//! Deliberately not here: any capability of WASI's (a plugin made with this crate has none), and deriving the
//! schema from the type of the arguments.

/// The bindings that the contract in `wit/` generates. Not for use by hand, except by [`export_plugin!`].
#[doc(hidden)]
#[allow(missing_docs)]
pub mod bindings {
    wit_bindgen::generate!({
        inline: "
            package host:sdk;

            /// Every interface there is. The linker drops those that the plugin does not use.
            world everything {
                import host:tool/context@0.1.0;
                import host:cap/fs-read@0.1.0;
                import host:cap/fs-write@0.1.0;
                import host:cap/process@0.1.0;
                import host:cap/http@0.1.0;
                import host:cap/state@0.1.0;
                export host:tool/tool@0.1.0;
            }
        ",
        path: ["../../wit/tool", "../../wit/cap"],
        generate_all,
        additional_derives: [Clone, PartialEq, Eq],
        pub_export_macro: true,
        export_macro_name: "export_generated",
        default_bindings_module: "host_sdk::bindings",
    });
}

pub mod context;
#[doc(hidden)]
pub mod export;
pub mod fs_read;
pub mod fs_write;
pub mod http;
mod outcome;
pub mod process;
pub mod state;
mod tool;

pub use outcome::{
    Blob, Confirmation, Content, Denial, Display, ExecConfirmation, Failure, FileDifference, HttpRequest,
    InfoConfirmation, Link, Outcome,
};
pub use tool::{Annotations, CapabilityNeed, Tool, ToolDef};

/// Makes the crate a plugin that offers these tools.
///
/// Takes one or more expressions of type [`Tool`]. They are evaluated anew for each call, since each call has
/// an instance of the component to itself: keep them cheap. Use it once, at the root of a crate of type `cdylib`;
/// it also defines `tools()` there, which returns them.
#[macro_export]
macro_rules! export_plugin {
    ($($tool:expr),+ $(,)?) => {
        /// The plugin's tools.
        pub fn tools() -> ::std::vec::Vec<$crate::Tool> {
            ::std::vec![$($tool),+]
        }

        // Where there is no host to call it, a plugin is an ordinary library whose tools can be tested.
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Exported;

            impl $crate::export::Guest for Exported {
                fn describe() -> ::std::vec::Vec<$crate::ToolDef> {
                    $crate::export::describe(&tools())
                }

                fn preview(
                    call: $crate::export::Call,
                ) -> ::core::result::Result<::core::option::Option<$crate::Confirmation>, $crate::Failure> {
                    $crate::export::preview(&tools(), &call)
                }

                fn revise(
                    call: $crate::export::Call,
                    text: ::std::string::String,
                ) -> ::core::result::Result<::std::string::String, $crate::Failure> {
                    $crate::export::revise(&tools(), &call, text)
                }

                fn call(call: $crate::export::Call) -> ::core::result::Result<$crate::Outcome, $crate::Failure> {
                    $crate::export::call(&tools(), &call)
                }
            }

            $crate::bindings::export_generated!(Exported);
        };
    };
}
