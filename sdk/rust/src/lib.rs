//! Writes a plugin for `host`: a WebAssembly component that offers tools to a model.
//!
//! A tool is a function above which stands [`macro@tool`]. Its name, its doc comment and its parameters are what the
//! model is told; the whole of one, which is all that a plugin needs:
//!
//! ```
//! use host_sdk::{Failure, export_plugin, fs_read, tool};
//!
//! /// Counts the lines of one text file. Use `grep` to count those that match a pattern.
//! #[tool(read_only, needs(fs_read, reason = "count the lines of the file that the model names"))]
//! fn count_lines(
//!     /// The file, relative to the workspace or absolute.
//!     path: String,
//! ) -> Result<String, Failure> {
//!     let text = fs_read::read_text(&path)?;
//!     Ok(format!("{path} has {} lines", text.lines().count()))
//! }
//!
//! export_plugin!(count_lines::tool());
//! # fn main() {
//! #     let host = host_sdk::fake::FakeHost::new().file("a.txt", "1\n2\n");
//! #     let outcome = host.call(&count_lines::tool(), host_sdk::serde_json::json!({"path": "a.txt"}));
//! #     assert_eq!(outcome, Ok(host_sdk::Outcome::text("a.txt has 2 lines")));
//! # }
//! ```
//!
//! # Arguments and results
//!
//! A parameter may be of any type of serde's that has a schema; [`macro@data`] makes such types. One of type `Option`,
//! or with a `#[default = …]`, may be left out. What is no text becomes the structured result, with a schema that the
//! model is told:
//!
//! ```
//! use host_sdk::{Failure, data, fs_read, tool};
//!
//! /// How often something was found.
//! #[data]
//! struct Found {
//!     /// The lines that contain it, counted from 1.
//!     lines: Vec<usize>,
//! }
//!
//! /// Finds a text in a file.
//! #[tool(title = "Find text", read_only, needs(fs_read = "*", reason = "search the file that the model names"))]
//! fn find(
//!     /// The file to search.
//!     path: String,
//!     /// What to look for.
//!     text: String,
//!     /// How many lines to name at most.
//!     #[default = 100]
//!     #[schemars(range(min = 1))]
//!     most: usize,
//! ) -> Result<Found, Failure> {
//!     let all = fs_read::read_text(&path)?;
//!     let found = all.lines().enumerate().filter(|(_, line)| line.contains(&text)).map(|(at, _)| at + 1);
//!     Ok(Found { lines: found.take(most).collect() })
//! }
//!
//! let definition = find::tool().definition();
//! assert!(definition.input_schema.contains(r#""required":["path","text"]"#));
//! assert!(definition.output_schema.is_some());
//! ```
//!
//! [`Tool::new`] makes a tool without the attribute, of a schema that is written by hand; with the feature `macros`
//! switched off nothing else is compiled.
//!
//! # Capabilities
//!
//! What a tool touches goes through one module for each capability: [`fs_read`], [`fs_write`], [`process`], [`http`],
//! [`state`], [`mcp`], [`tools`]. Using one makes it an import of the component, and so a request that the user must
//! grant; a module that is not used leaves no trace. It must stand in the tool's `needs` and in `plugin.toml`.
//! [`context`], [`background`] and [`file_changes`] need no grant.
//!
//! # Failures
//!
//! A call that fails says so to the model, which reads it and goes on: a [`Failure`] is an answer. Every error of a
//! capability turns into one with `?`, and so do those of serde and of the standard library; [`Context`] adds what was
//! being done. A panic is caught and told too, as a crash.
//!
//! # Tests
//!
//! Everything here also compiles for the machine that it is built on, where [`fake::FakeHost`] stands behind the
//! capabilities. Without one, calling a capability there panics and says so.
//!
//! Deliberately not here: any capability of WASI's (a plugin made with this crate has none), and anything asynchronous:
//! a call that waits is suspended by the host.

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
                import host:tool/background@0.1.0;
                import host:tool/file-changes@0.1.0;
                import host:cap/fs-read@0.1.0;
                import host:cap/fs-write@0.1.0;
                import host:cap/process@0.1.0;
                import host:cap/http@0.1.0;
                import host:cap/state@0.1.0;
                import host:cap/mcp@0.1.0;
                import host:cap/tools@0.1.0;
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

#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
mod allocator;
pub mod background;
pub mod context;
#[doc(hidden)]
pub mod export;
mod failure;
#[cfg(not(target_family = "wasm"))]
pub mod fake;
pub mod file_changes;
pub mod fs_read;
pub mod fs_write;
pub mod http;
pub mod mcp;
mod outcome;
pub mod process;
#[cfg(feature = "macros")]
mod schema;
pub mod state;
mod tool;
pub mod tools;

pub use failure::Context;
#[cfg(feature = "macros")]
pub use host_sdk_macros::{data, tool};
pub use outcome::{
    Blob, Confirmation, Content, Denial, Display, ExecConfirmation, Failure, FileDifference, HttpRequest,
    InfoConfirmation, Link, Outcome,
};
/// The copy that [`macro@tool`] and [`macro@data`] derive from.
#[cfg(feature = "macros")]
#[doc(no_inline)]
pub use schemars;
/// The copy that [`macro@tool`] and [`macro@data`] derive from.
#[doc(no_inline)]
pub use serde;
/// The copy that this crate reads and writes JSON with.
#[doc(no_inline)]
pub use serde_json;
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

        $crate::export_plugin_with!(tools, |_| tools());
    };
}

/// Makes the crate a plugin that answers to more names than it describes, as one does whose tools are in its
/// configuration.
///
/// `$tools` is a function that returns the tools that the plugin describes. `$called` takes the [`Call`](export::Call)
/// and returns the tools among which the one is that it names. Use it once, at the root of a crate of type `cdylib`.
#[macro_export]
macro_rules! export_plugin_with {
    ($tools:expr, $called:expr $(,)?) => {
        // Where there is no host to call it, a plugin is an ordinary library whose tools can be tested.
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Exported;

            fn called(call: &$crate::export::Call) -> ::std::vec::Vec<$crate::Tool> {
                ($called)(call)
            }

            impl $crate::export::Guest for Exported {
                fn describe() -> ::std::vec::Vec<$crate::ToolDef> {
                    $crate::export::describe(&($tools)())
                }

                fn preview(
                    call: $crate::export::Call,
                ) -> ::core::result::Result<::core::option::Option<$crate::Confirmation>, $crate::Failure> {
                    $crate::export::preview(&called(&call), &call)
                }

                fn revise(
                    call: $crate::export::Call,
                    text: ::std::string::String,
                ) -> ::core::result::Result<::std::string::String, $crate::Failure> {
                    $crate::export::revise(&called(&call), &call, text)
                }

                fn call(call: $crate::export::Call) -> ::core::result::Result<$crate::Outcome, $crate::Failure> {
                    $crate::export::call(&called(&call), &call)
                }
            }

            $crate::bindings::export_generated!(Exported);
        };
    };
}
