//! The task of a run: the user's words for the main agent, or the inputs of a declared agent; and the form of the
//! answer.

use std::path::{Path, PathBuf};

use host_agent::{Input, InputConfig, InputKind, OutputConfig};
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, Flag, Notice};
use serde_json::{Map, Value};

/// The largest schema that is read. Protects the model's window, which all of it goes into.
const MAX_SCHEMA: u64 = 256 << 10;

/// The name of the argument that the main agent hands its result over by.
const RESULT: &str = "result";

/// Why the inputs of an agent, or the form of its answer, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It has no name.
    #[error("invalid input `{0}`")]
    Form(String),
    /// The agent has no such input.
    #[error("the agent `{agent}` has no input `{name}`")]
    Unknown {
        /// The agent.
        agent: String,
        /// The name.
        name: String,
        /// The inputs that it has.
        known: Vec<String>,
    },
    /// The value is of another type.
    #[error("invalid input `{text}`: `{name}` is of the type `{kind}`")]
    Kind {
        /// The input as it was written.
        text: String,
        /// The name.
        name: String,
        /// Its type.
        kind: InputKind,
    },
    /// It was given twice.
    #[error("the input `{0}` was given twice")]
    Twice(String),
    /// A required one is missing.
    #[error("the agent `{agent}` needs the input `{name}`")]
    Missing {
        /// The agent.
        agent: String,
        /// The name.
        name: String,
        /// Its type.
        kind: InputKind,
        /// What it is.
        description: String,
    },
    /// The file has no schema.
    #[error("invalid output schema `{}`", .file.display())]
    Schema {
        /// The file.
        file: PathBuf,
        /// Why, in words.
        why: String,
    },
}

impl Fault for InputError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Form(_) | Self::Unknown { .. } | Self::Kind { .. } | Self::Twice(_) => Vec::new(),
            Self::Missing { description, .. } => vec![description.clone().into()],
            Self::Schema { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Form(_) => Some("write it as NAME=VALUE".into()),
            Self::Unknown { name, known, .. } => Some(help_on(name, known)),
            Self::Kind { name, kind, .. } | Self::Missing { name, kind, .. } => Some(form(name, *kind)),
            Self::Twice(_) => Some("give it once".into()),
            Self::Schema { .. } => {
                Some("name a file with a JSON Schema, such as {\"type\": \"object\", \"properties\": {…}}".into())
            }
        }
    }
}

/// What to do about an input that the agent does not have.
fn help_on(name: &str, known: &[String]) -> Advice {
    match known {
        [] => "it has no inputs".into(),
        known => {
            let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let names = known.iter().map(String::as_str);
            Advice::on_name(name, names, format!("its inputs are {}", all.join(", ")))
        }
    }
}

/// Reads inputs `NAME=VALUE`, each as its declaration says. A list takes one value each time.
pub fn inputs(agent: &str, declared: &InputConfig, given: &[String]) -> Result<Map<String, Value>, InputError> {
    let mut inputs = Map::new();
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            return Err(InputError::Form(text.clone()));
        };
        let Some(input) = declared.0.get(name) else {
            let (agent, name) = (agent.to_owned(), name.to_owned());
            return Err(InputError::Unknown { agent, name, known: declared.0.keys().cloned().collect() });
        };
        let parsed = parse(input.kind, value).ok_or_else(|| InputError::Kind {
            text: text.clone(),
            name: name.to_owned(),
            kind: input.kind,
        })?;
        match (input.kind, inputs.get_mut(name)) {
            (_, None) => {
                let is_list = matches!(input.kind, InputKind::Strings | InputKind::Numbers);
                inputs.insert(name.to_owned(), if is_list { Value::Array(vec![parsed]) } else { parsed });
            }
            (InputKind::Strings | InputKind::Numbers, Some(Value::Array(list))) => list.push(parsed),
            (_, Some(_)) => {
                return Err(InputError::Twice(name.to_owned()));
            }
        }
    }
    match declared.0.iter().find(|(name, input)| input.required && !inputs.contains_key(*name)) {
        None => Ok(inputs),
        Some((name, Input { kind, description, .. })) => {
            let (agent, description) = (agent.to_owned(), description.trim().to_owned());
            Err(InputError::Missing { agent, name: name.clone(), kind: *kind, description })
        }
    }
}

/// One value of this kind; for a list, one of its values.
fn parse(kind: InputKind, text: &str) -> Option<Value> {
    let json = || serde_json::from_str::<Value>(text.trim()).ok();
    match kind {
        InputKind::String | InputKind::Strings => Some(Value::from(text)),
        InputKind::Number | InputKind::Numbers => json().filter(Value::is_number),
        InputKind::Boolean => json().filter(Value::is_boolean),
        InputKind::Integer => json().filter(|value| value.is_i64() || value.is_u64()),
    }
}

fn form(name: &str, kind: InputKind) -> Advice {
    let (value, rest) = match kind {
        InputKind::String => ("TEXT", ""),
        InputKind::Number => ("1.5", ""),
        InputKind::Boolean => ("true", ", or false"),
        InputKind::Integer => ("3", ""),
        InputKind::Strings => ("TEXT", ", once for each"),
        InputKind::Numbers => ("1.5", ", once for each"),
    };
    Advice::from("add ").flag_with(Flag::Input, format!("{name}={value}")).text(rest)
}

/// Returns the form of the main agent's answer: a value of the schema in the file, printed as JSON.
pub fn output(file: &Path) -> Result<OutputConfig, InputError> {
    let wrong = |why: String| InputError::Schema { file: file.to_owned(), why };
    let text = host_files::read_input(file, MAX_SCHEMA).map_err(|error| wrong(error.to_string()))?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if !schema.is_object() {
        return Err(wrong("it is not a JSON object".to_owned()));
    }
    host_tool::Schema::compile(&schema).map_err(|error| wrong(error.to_string()))?;
    Ok(OutputConfig {
        name: RESULT.to_owned(),
        description: "Your answer, in the form that was asked for.".to_owned(),
        schema,
        // A text is quoted too, so that the answer can always be parsed as JSON.
        transform: Some(|value| format!("{value:#}")),
    })
}

#[cfg(test)]
mod tests {
    use host_settings::error::Failure;
    use serde_json::json;

    use super::*;

    fn declared() -> InputConfig {
        let input = |kind, required| Input { description: "what it is".to_owned(), kind, required };
        let inputs = [
            ("text", input(InputKind::String, true)),
            ("n", input(InputKind::Number, false)),
            ("yes", input(InputKind::Boolean, false)),
            ("i", input(InputKind::Integer, false)),
            ("texts", input(InputKind::Strings, false)),
            ("ns", input(InputKind::Numbers, false)),
        ];
        InputConfig(inputs.map(|(name, input)| (name.to_owned(), input)).into())
    }

    #[test]
    fn task_input_is_read_as_its_declared_type() {
        let given = ["text=a=b", "n=1.5", "yes=true", "i=-3", "texts=x, y", "texts=", "ns=1", "ns=2.5"];
        let got = inputs("a", &declared(), &given.map(str::to_owned)).expect("they are right");
        let want = json!({"text": "a=b", "n": 1.5, "yes": true, "i": -3, "texts": ["x, y", ""], "ns": [1, 2.5]});
        assert_eq!(Value::Object(got.clone()), want);
        assert_eq!(declared().check(&got), Ok(()));
    }

    #[test]
    fn task_invalid_input_is_reported_with_a_valid_one() {
        for (given, told, help) in [
            ("text", "invalid input `text`", "write it as NAME=VALUE"),
            (
                "txt=a",
                "the agent `a` has no input `txt`",
                "did you mean `text`? its inputs are `i`, `n`, `ns`, `text`, `texts`, `yes`",
            ),
            ("n=x", "invalid input `n=x`: `n` is of the type `number`", "add --input n=1.5"),
            ("yes=1", "invalid input `yes=1`: `yes` is of the type `boolean`", "add --input yes=true, or false"),
            ("i=1.5", "invalid input `i=1.5`: `i` is of the type `integer`", "add --input i=3"),
            ("ns=x", "invalid input `ns=x`: `ns` is of the type `number[]`", "add --input ns=1.5, once for each"),
            ("text=again", "the input `text` was given twice", "give it once"),
        ] {
            let given = ["text=a".to_owned(), given.to_owned()];
            let failure = Failure::from(inputs("a", &declared(), &given).expect_err("it is wrong"));
            assert_eq!((failure.message.as_str(), failure.help_text().as_deref()), (told, Some(help)));
        }
        let failure = Failure::from(inputs("a", &declared(), &[]).expect_err("one is missing"));
        assert_eq!(failure.message, "the agent `a` needs the input `text`");
        assert_eq!(
            (failure.causes[0].to_string().as_str(), failure.help_text().as_deref()),
            ("what it is", Some("add --input text=TEXT"))
        );
    }
}
