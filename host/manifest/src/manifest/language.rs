//! The languages that plugins are written in, as `plugin.toml` names them.
//!
//! Deliberately not here: how a package in one of them is built (`build`).

use schemars::JsonSchema;
use serde::Deserialize;

/// How a package is built, as its `plugin.toml` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub struct Build {
    /// The language that it is written in.
    pub language: Language,
}

/// A language that plugins are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust, through cargo; what a folder with a `Cargo.toml` is in.
    Rust,
    /// JavaScript or TypeScript, through componentize-qjs.
    JavaScript,
    /// Python, through componentize-py.
    Python,
    /// C, through the C compiler in zig.
    C,
    /// Zig.
    Zig,
    /// Go, through its own compiler for WASI.
    Go,
}

impl Language {
    /// All languages, in the order in which they are listed.
    pub const ALL: [Self; 6] = [Self::Rust, Self::JavaScript, Self::Python, Self::C, Self::Zig, Self::Go];

    /// Its name in `plugin.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::C => "c",
            Self::Zig => "zig",
            Self::Go => "go",
        }
    }
}
