//! Turns the output of a discovery command into tools: its declarations, each with a unique name.
//!
//! A command that lists tools prints a JSON array of function declarations as Gemini's API defines them, bare or within
//! objects with `function_declarations` or `functionDeclarations`. Promises: the list is accepted as a whole, or
//! rejected with the declaration that is invalid, and nothing is left out silently; whatever it contains, the result is
//! bounded, and its schemas can be used.
//!
//! Deliberately not here: running the command, and what a call may touch.

use std::collections::BTreeMap;
use std::sync::Arc;

use host_message::{Annotations, ToolName, ToolSpec};
use host_plugin::{MAX_DESCRIPTION, MAX_SCHEMA, MAX_TOOLS};
use host_text::{clip, excerpt};
use serde_json::{Map, Value, json};

use crate::{Schema, SchemaError};

/// The most that a discovery command may print, in bytes. Protects the host's memory.
pub const MAX_LIST: usize = 10 << 20;

/// The longest name of a tool, in bytes, the same as for any tool.
const MAX_NAME: usize = 64;

/// How much of an invalid name an error repeats, in characters.
const SHOWN: usize = 80;

/// How much of a command a description contains, in characters. Protects the model's context: each tool has it.
const COMMAND: usize = 300;

/// The prefix of a name that is taken, or that does not begin with a letter.
const PREFIX: &str = "discovered_";

/// The types of values as Gemini's API writes them where it does not use JSON Schema.
const TYPES: [(&str, &str); 7] = [
    ("OBJECT", "object"),
    ("ARRAY", "array"),
    ("STRING", "string"),
    ("NUMBER", "number"),
    ("INTEGER", "integer"),
    ("BOOLEAN", "boolean"),
    ("NULL", "null"),
];

/// A tool that a discovery command listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovered {
    /// The command's name for it: the last word of the command that calls it.
    pub original: String,
    /// The description for the model. It has the most cautious annotations, since the effects of the tool are not
    /// declared.
    pub spec: ToolSpec,
}

/// The context in which a list of tools is read.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The command that printed the list, as a user would type it: the descriptions of its tools name it.
    pub listed_by: &'a str,
    /// The command that calls a tool, as a user would type it without the tool's name.
    pub called_by: &'a str,
    /// Whether a name is taken.
    pub is_taken: &'a dyn Fn(&str) -> bool,
}

/// Why a list of tools cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The output is too long.
    #[error("it has {size} bytes, over the limit of {MAX_LIST}")]
    TooLong {
        /// Its length.
        size: usize,
    },
    /// The output is not JSON.
    #[error("it is not JSON: {why}")]
    NotJson {
        /// The parser's words, with line and column.
        why: String,
    },
    /// The output is JSON, but not an array.
    #[error("it is JSON, but not an array of function declarations")]
    NotAList,
    /// An entry of the list is not a declaration.
    #[error(
        "entry {number} of the list is not a function declaration: it has neither a `name` nor a list `function_declarations`"
    )]
    NoDeclaration {
        /// Its number, from 1.
        number: usize,
    },
    /// There are too many tools.
    #[error("it has over {MAX_TOOLS} tools")]
    TooMany,
    /// A name cannot be made valid.
    #[error("`{name}` is not a valid tool name: {why}")]
    Name {
        /// The name, cut.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// Two tools have the same name.
    #[error("it has two tools `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
    /// Two names become the same once they are made valid.
    #[error("`{one}` and `{other}` would both get the name `{name}`")]
    Alike {
        /// The first.
        one: String,
        /// The second.
        other: String,
        /// The name that both would have.
        name: String,
    },
    /// A tool's name is taken, and so is the name with the prefix.
    #[error("the names `{name}` and `{PREFIX}{name}` are both taken by other tools")]
    Taken {
        /// The name.
        name: String,
    },
    /// A description is not a text, or is too long.
    #[error("the description of `{name}` is not a string of at most {MAX_DESCRIPTION} bytes")]
    Description {
        /// The tool.
        name: String,
    },
    /// The parameters are not those of an object, or there are too many.
    #[error("the parameters of `{name}` are not a JSON Schema of an object of at most {MAX_SCHEMA} bytes")]
    Parameters {
        /// The tool.
        name: String,
    },
    /// The parameters are not a valid schema.
    #[error("invalid parameters of `{name}`")]
    Schema {
        /// The tool.
        name: String,
        /// The error.
        #[source]
        cause: SchemaError,
    },
}

/// Reads the output of a discovery command, which must be JSON in UTF-8.
///
/// A name is made valid if possible: each character that a tool's name may not have becomes `_`, and a name that does
/// not begin with a letter, or is taken, gets the prefix `discovered_`.
///
/// # Errors
///
/// With the first problem, and the tool that has it.
pub fn discovered(printed: &[u8], around: Surroundings<'_>) -> Result<Vec<Discovered>, DiscoveryError> {
    if printed.len() > MAX_LIST {
        return Err(DiscoveryError::TooLong { size: printed.len() });
    }
    let list: Value =
        serde_json::from_slice(printed).map_err(|error| DiscoveryError::NotJson { why: error.to_string() })?;
    let Value::Array(entries) = list else { return Err(DiscoveryError::NotAList) };
    let mut originals = BTreeMap::new();
    let mut tools: Vec<Discovered> = Vec::new();
    for declaration in declarations(&entries)? {
        let tool = tool(declaration, around)?;
        if originals.insert(tool.original.clone(), ()).is_some() {
            return Err(DiscoveryError::Twice { name: tool.original });
        }
        if let Some(one) = tools.iter().find(|one| one.spec.name == tool.spec.name) {
            let (one, other) = (one.original.clone(), tool.original);
            return Err(DiscoveryError::Alike { one, other, name: tool.spec.name.to_string() });
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// Returns all declarations of a list, in order.
fn declarations(entries: &[Value]) -> Result<Vec<&Map<String, Value>>, DiscoveryError> {
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let wrong = || DiscoveryError::NoDeclaration { number: at + 1 };
        let entry = entry.as_object().ok_or_else(wrong)?;
        let within = ["function_declarations", "functionDeclarations"].iter().find_map(|key| entry.get(*key));
        match within {
            Some(Value::Array(within)) => {
                for declaration in within {
                    found.push(declaration.as_object().filter(|one| one.contains_key("name")).ok_or_else(wrong)?);
                }
            }
            Some(_) => return Err(wrong()),
            None if entry.contains_key("name") => found.push(entry),
            None => return Err(wrong()),
        }
        if found.len() > MAX_TOOLS {
            return Err(DiscoveryError::TooMany);
        }
    }
    Ok(found)
}

fn tool(declaration: &Map<String, Value>, around: Surroundings<'_>) -> Result<Discovered, DiscoveryError> {
    let original = original(declaration)?;
    // The program's own name may be one that no service accepts, or one that is taken.
    let name = fitting(&original, around.is_taken)?;
    // Only text: a description that is something else is a mistake in the command, which its author should see.
    let said = match declaration.get("description") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text.trim(),
        Some(_) => return Err(DiscoveryError::Description { name: original }),
    };
    let description = described(said, &original, around);
    if description.len() > MAX_DESCRIPTION {
        return Err(DiscoveryError::Description { name: original });
    }
    let input_schema = schema(declaration).ok_or_else(|| DiscoveryError::Parameters { name: original.clone() })?;
    // Now and not at the first call: a schema that cannot be checked would let every argument through.
    Schema::compile(&input_schema).map_err(|cause| DiscoveryError::Schema { name: original.clone(), cause })?;
    let spec = ToolSpec {
        name: ToolName::new(name),
        title: Some(format!("found by {}", clip(around.listed_by, SHOWN))),
        description,
        input_schema: Arc::new(input_schema),
        output_schema: None,
        // Nothing that the command says makes a tool one that only reads.
        annotations: Annotations::default(),
    };
    Ok(Discovered { original, spec })
}

/// Returns the name as it was declared.
fn original(declaration: &Map<String, Value>) -> Result<String, DiscoveryError> {
    let name = declaration.get("name").cloned().unwrap_or_default();
    let wrong = |why| {
        let shown = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        DiscoveryError::Name { name: excerpt(&shown, SHOWN), why }
    };
    match name.as_str() {
        None => Err(wrong("it is not text")),
        Some("") => Err(wrong("it is empty")),
        Some(text) if text.len() > MAX_NAME => Err(wrong("it has over 64 bytes")),
        // The name is shown in messages, and becomes a word of a command.
        Some(text) if text.chars().any(char::is_control) => Err(wrong("it has control characters")),
        Some(text) => Ok(text.to_owned()),
    }
}

/// Returns the name as a model can use it.
fn fitting(original: &str, is_taken: &dyn Fn(&str) -> bool) -> Result<String, DiscoveryError> {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = original.chars().map(fits).collect();
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && !is_taken(&name) {
        return Ok(name);
    }
    let longer = format!("{PREFIX}{name}");
    if longer.len() > MAX_NAME {
        let name = clip(original, SHOWN).into_owned();
        return Err(DiscoveryError::Name { name, why: "with `discovered_` before it, it has over 64 bytes" });
    }
    if is_taken(&longer) { Err(DiscoveryError::Taken { name }) } else { Ok(longer) }
}

/// Returns the description of a tool for the model: its author's text, and how the tool is called.
fn described(said: &str, original: &str, around: Surroundings<'_>) -> String {
    let (listed_by, called_by) = (clip(around.listed_by, COMMAND), clip(around.called_by, COMMAND));
    let said = if said.is_empty() { format!("The user's own tool `{original}`.") } else { said.to_owned() };
    format!(
        "{said}\n\nThis is a tool of the user's or of the project's, which the command `{listed_by}` listed. A call runs \
         `{called_by} {original}` in the workspace, with the arguments as JSON on its standard input. On success the \
         answer is what it printed. Otherwise it has a line for each of these: `Stdout:` and `Stderr:`, what it printed, \
         which can be `(empty)` or only a part; `Error:`, or `(none)`; `Exit Code:`, or `(none)` when a signal ended it; \
         `Signal:`, or `(none)`."
    )
}

/// Returns the schema of the arguments: a JSON Schema, or one converted from Gemini's; `None` if it is not that of an
/// object.
fn schema(declaration: &Map<String, Value>) -> Option<Value> {
    let given = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
    let given = given.iter().filter_map(|key| declaration.get(*key)).find(|value| !value.is_null());
    let mut schema = given.cloned().unwrap_or_else(|| json!({}));
    if schema.to_string().len() > MAX_SCHEMA {
        return None;
    }
    small_types(&mut schema);
    let object = schema.as_object_mut()?;
    object.entry("type").or_insert_with(|| json!("object"));
    (object.get("type").and_then(Value::as_str) == Some("object")).then_some(schema)
}

/// Writes the types as JSON Schema does, wherever a schema occurs in this one. Values that are not schemas, such as a
/// default or a list of values, stay unchanged.
fn small_types(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for (key, value) in schema.iter_mut() {
        match (key.as_str(), value) {
            ("type", Value::String(name)) => {
                if let Some((_, small)) = TYPES.iter().find(|(large, _)| large == name) {
                    *name = (*small).to_owned();
                }
            }
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(small_types);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => all.iter_mut().for_each(small_types),
            ("items" | "additionalProperties" | "not", inner) => small_types(inner),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
