//! JSON Schemas as checks that answer in words.
//!
//! A schema comes from a plugin or from an agent's definition and its instances from a model, so neither is
//! trusted: nothing is fetched for a `$ref`, a `pattern` runs on an engine that takes linear time, and the words
//! of a refusal are bounded. Draft 2020-12 is meant where a schema names none.

use std::fmt;

use host_text::clip;
use jsonschema::PatternOptions;
use serde_json::Value;

/// How many violations are listed. Otherwise a long list with a wrong type would be answered with as many lines.
const TOLD_VIOLATIONS: usize = 8;

/// The longest violation, in characters. The validator's words quote the value, which may be huge.
const VIOLATION_CHARACTERS: usize = 300;

/// The largest program that a `pattern` may compile to, in bytes. Protects memory from a hostile schema.
const PATTERN_BYTES: usize = 1024 * 1024;

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// A schema that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON Schema at `{at}`: {why}")]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer; empty for the root.
    pub at: String,
    /// The validator's words.
    pub why: String,
}

/// What a value breaks of a schema: never empty, and bounded. Prints one line for each violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations(Vec<String>);

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// When it is no valid schema, refers to another document, or holds a pattern that needs backtracking.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        let validator =
            jsonschema::options().offline().with_pattern_options(patterns).build(schema).map_err(|error| {
                SchemaError {
                    at: clip(error.instance_path().as_str(), VIOLATION_CHARACTERS).into_owned(),
                    why: clip(&error.to_string(), VIOLATION_CHARACTERS).into_owned(),
                }
            })?;
        Ok(Self { validator })
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// With the validator's words for what is wrong.
    pub fn check(&self, value: &Value) -> Result<(), Violations> {
        let mut errors = self.validator.iter_errors(value);
        let mut told: Vec<String> = errors
            .by_ref()
            .take(TOLD_VIOLATIONS)
            .map(|error| {
                let words = error.to_string();
                let words = clip(&words, VIOLATION_CHARACTERS);
                match error.instance_path().as_str() {
                    "" => words.into_owned(),
                    path => format!("at `{}`: {words}", clip(path, VIOLATION_CHARACTERS)),
                }
            })
            .collect();
        if errors.next().is_some() {
            told.push(format!("and more: only the first {TOLD_VIOLATIONS} are listed"));
        }
        if told.is_empty() { Ok(()) } else { Err(Violations(told)) }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, value: Value, told: Option<&str>) {
        let answer = Schema::compile(&schema).expect("a good schema").check(&value);
        assert_eq!(answer.err().map(|violations| violations.to_string()).as_deref(), told, "{value}");
    }

    #[test]
    fn violations_are_told_in_the_validators_words() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        check(schema.clone(), json!({"n": 1}), None);
        check(schema.clone(), json!({}), Some("\"n\" is a required property"));
        check(schema, json!({"n": "x"}), Some("at `/n`: \"x\" is not of type \"integer\""));
    }

    #[test]
    fn violations_are_bounded_in_number_and_length() {
        let schema = json!({"type": "array", "items": {"type": "integer"}});
        let words = Schema::compile(&schema).expect("a good schema").check(&json!(vec!["x".repeat(100_000); 50]));
        let words = words.expect_err("strings are no integers").to_string();
        assert!(words.len() < (TOLD_VIOLATIONS + 1) * (VIOLATION_CHARACTERS + 50), "{}", words.len());
        assert!(words.contains("only the first 8 are listed"), "{words}");
    }

    // promise model.schema: A schema cannot fetch, and its patterns run in linear time.
    #[test]
    fn a_bad_schema_is_told_with_its_place() {
        for (schema, at) in [
            (json!({"type": "objekt"}), "/type"),
            (json!({"properties": {"a": {"pattern": "(?=x)"}}}), "/properties/a/pattern"),
            (json!({"$ref": "https://example.com/schema.json"}), ""),
        ] {
            let error = Schema::compile(&schema).expect_err("not a good schema");
            assert!(error.at.starts_with(at), "{schema}: {error}");
        }
    }
}
