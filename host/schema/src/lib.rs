//! JSON Schemas as checks whose errors a model can act on.
//!
//! A schema comes from a plugin, a tool server or an agent's definition and the values come from a model, so neither is
//! trusted: a `$ref` stays within the schema, patterns run on an engine that takes linear time and have a bounded size,
//! a check has a bounded number of steps, and so has the text of its answer. A schema without `$schema` is draft
//! 2020-12; drafts 4 to 2019-09 work where they differ only in the form of a keyword. `format` and `content…` describe
//! and do not reject.
//!
//! Deliberately not here: fetching schemas, `$dynamicRef`, and which schema belongs to which tool.

use std::fmt;

use serde_json::Value;

mod check;
mod compile;
mod number;
mod pattern;
mod rule;
mod words;

use rule::Node;

/// The most violations that one check reports. Without a limit, a long list of values of the wrong type would produce
/// as many lines.
const REPORTED_VIOLATIONS: usize = 8;

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {
    /// The first one is the root.
    nodes: Vec<Node>,
    /// Whether a keyword needs to know what its neighbours left unevaluated.
    tracks: bool,
}

/// A schema that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON Schema at `{at}`: {why}")]
pub struct SchemaError {
    /// The place in the schema, as a JSON pointer; empty for the root.
    pub at: String,
    /// The reason.
    pub why: String,
}

/// How a value violates a schema: never empty, and bounded. Prints one line for each violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations(Vec<String>);

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// If a keyword has an invalid value, if a reference leaves the schema or leads back to itself, if a pattern needs
    /// backtracking, or if the schema exceeds a limit.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let (nodes, tracks) = compile::compile(schema)?;
        Ok(Self { nodes, tracks })
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// If it violates the schema, or if the check takes more steps than allowed.
    pub fn check(&self, value: &Value) -> Result<(), Violations> {
        let violations = check::violations(self, value, REPORTED_VIOLATIONS);
        if violations.is_empty() { Ok(()) } else { Err(Violations(violations)) }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

#[cfg(test)]
mod tests;
