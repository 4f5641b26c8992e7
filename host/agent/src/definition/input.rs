//! The inputs of an agent: named values of six kinds, as a JSON Schema for the caller and as a check of the given
//! values.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

/// The inputs of an agent, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputConfig(pub BTreeMap<String, Input>);

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its description for the caller.
    pub description: String,
    /// Its kind.
    pub kind: InputKind,
    /// Whether it is required.
    pub required: bool,
}

/// The kinds of inputs. `Display` prints the word that a definition file has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Text.
    String,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Texts.
    Strings,
    /// Numbers.
    Numbers,
}

/// The given values do not match the agent's inputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Required inputs are not there.
    #[error("these inputs are missing: {}", listed(names))]
    Missing {
        /// Their names.
        names: Vec<String>,
    },
    /// The agent has no such input.
    #[error("there is no input `{name}`; the inputs are {}", listed(available))]
    Unknown {
        /// The name.
        name: String,
        /// The declared inputs.
        available: Vec<String>,
    },
    /// It is of another kind.
    #[error("the input `{name}` is not of type `{kind}`")]
    Kind {
        /// The input.
        name: String,
        /// Its kind.
        kind: InputKind,
    },
}

impl InputConfig {
    /// The inputs as the JSON Schema of an object.
    pub fn schema(&self) -> Value {
        let properties: Map<_, _> = self.0.iter().map(|(name, input)| (name.clone(), input.schema())).collect();
        let required: Vec<_> = self.0.iter().filter(|(_, input)| input.required).map(|(name, _)| name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// Checks the given values.
    ///
    /// # Errors
    ///
    /// When a required input is missing, a name is not that of an input, or a value is of the wrong kind.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), InputError> {
        let missing = self.0.iter().filter(|(name, input)| input.required && !given.contains_key(*name));
        let names: Vec<_> = missing.map(|(name, _)| name.clone()).collect();
        if !names.is_empty() {
            return Err(InputError::Missing { names });
        }
        for (name, value) in given {
            let Some(input) = self.0.get(name) else {
                return Err(InputError::Unknown { name: name.clone(), available: self.0.keys().cloned().collect() });
            };
            if !input.kind.holds(value) {
                return Err(InputError::Kind { name: name.clone(), kind: input.kind });
            }
        }
        Ok(())
    }

    /// Returns the given values, with an empty text for each optional input that is missing: that is what a prompt
    /// shows for it.
    pub(crate) fn filled(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let mut filled = given.clone();
        for name in self.0.keys() {
            filled.entry(name.clone()).or_insert_with(|| Value::String(String::new()));
        }
        filled
    }
}

impl Input {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            InputKind::String => json!({"type": "string"}),
            InputKind::Number => json!({"type": "number"}),
            InputKind::Boolean => json!({"type": "boolean"}),
            InputKind::Integer => json!({"type": "integer"}),
            InputKind::Strings => json!({"type": "array", "items": {"type": "string"}}),
            InputKind::Numbers => json!({"type": "array", "items": {"type": "number"}}),
        };
        schema["description"] = Value::from(self.description.as_str());
        schema
    }
}

impl InputKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::String, Self::Number, Self::Boolean, Self::Integer, Self::Strings, Self::Numbers];

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            // JSON Schema counts 1.0 as an integer.
            Self::Integer => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
            Self::Strings => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            Self::Numbers => value.as_array().is_some_and(|all| all.iter().all(Value::is_number)),
        }
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Strings => "string[]",
            Self::Numbers => "number[]",
        })
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use host_tool::Schema;

    use super::*;

    fn all_kinds() -> InputConfig {
        let kinds = [
            ("text", InputKind::String, true),
            ("n", InputKind::Number, false),
            ("yes", InputKind::Boolean, false),
            ("i", InputKind::Integer, false),
            ("texts", InputKind::Strings, false),
            ("ns", InputKind::Numbers, false),
        ];
        let input = |kind, required| Input { description: format!("a {kind}"), kind, required };
        InputConfig(kinds.into_iter().map(|(name, kind, required)| (name.to_owned(), input(kind, required))).collect())
    }

    #[test]
    fn the_check_and_the_schema_agree() {
        let config = all_kinds();
        let schema = Schema::compile(&config.schema()).expect("a good schema");
        let cases = [
            (json!({"text": "a", "n": 1.5, "yes": true, "i": 3, "texts": ["a"], "ns": [1, 2.5]}), None),
            (json!({"text": "", "i": 2.0, "texts": [], "ns": []}), None),
            (json!({"n": 1}), Some("these inputs are missing: `text`")),
            (json!({"text": null}), Some("the input `text` is not of type `string`")),
            (json!({"text": "a", "i": 1.5}), Some("the input `i` is not of type `integer`")),
            (json!({"text": "a", "texts": ["a", 1]}), Some("the input `texts` is not of type `string[]`")),
            (json!({"text": "a", "ns": "1"}), Some("the input `ns` is not of type `number[]`")),
            (
                json!({"text": "a", "txt": "b"}),
                Some("there is no input `txt`; the inputs are `i`, `n`, `ns`, `text`, `texts`, `yes`"),
            ),
        ];
        for (given, want) in cases {
            assert_eq!(schema.check(&given).is_ok(), want.is_none(), "{given}");
            let Value::Object(given) = given else { unreachable!() };
            assert_eq!(config.check(&given).err().map(|error| error.to_string()).as_deref(), want, "{given:?}");
        }
    }
}
