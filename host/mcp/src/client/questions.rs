//! A server's questions to the user (elicitation), from the protocol's shapes and back.
//!
//! Promises: a form has a bounded number of fields and choices; what is not a form of plain fields is an error that the
//! server gets, never a question that the user sees half of.

use host_capability::McpServerName;
use host_plugin::{Elicitation, ElicitationAnswer, ElicitationField, ElicitationForm, ElicitationKind};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;

/// The most fields of a question of an MCP server, and the most choices of one. Protects the user, who reads all of
/// them.
const MAX_FIELDS: usize = 50;
/// See [`MAX_FIELDS`].
const MAX_CHOICES: usize = 200;

/// The longest text of a question of an MCP server, in bytes. Protects the user's screen.
const MAX_TEXT: usize = 8 << 10;

/// Returns the question as the host asks it. The error is for the server.
pub(super) fn question(server: &McpServerName, asked: &ElicitRequestParams) -> Result<Elicitation, String> {
    let (message, form) = match asked {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).map_err(|error| error.to_string())?;
            (message, ElicitationForm::Fields(fields(&schema)?))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let parsed = url::Url::parse(url).map_err(|error| format!("the address is invalid: {error}"))?;
            if !matches!(parsed.scheme(), "http" | "https") || url.len() > MAX_TEXT {
                return Err("the address is neither http nor https, or too long".to_owned());
            }
            (message, ElicitationForm::Visit { url: url.clone() })
        }
        _ => return Err("this kind of question is not supported".to_owned()),
    };
    if message.len() > MAX_TEXT {
        return Err(format!("the message is over {MAX_TEXT} bytes"));
    }
    Ok(Elicitation { server: server.clone(), message: message.clone(), form })
}

/// Reads the fields of a form. The protocol allows plain values, and choices among texts.
fn fields(schema: &Value) -> Result<Vec<ElicitationField>, String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(Vec::new()) };
    if properties.len() > MAX_FIELDS {
        return Err(format!("the form has over {MAX_FIELDS} fields"));
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(name, of): (&String, &Value)| {
        let text = |key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
        let (title, description) = (text("title"), text("description"));
        let size = name.len() + [&title, &description].into_iter().flatten().map(String::len).sum::<usize>();
        if size > MAX_TEXT {
            return Err(format!("the texts of a field are over {MAX_TEXT} bytes"));
        }
        let is_required = required.contains(&name.as_str());
        Ok(ElicitationField { name: name.clone(), title, description, is_required, kind: kind(of)? })
    };
    properties.iter().map(field).collect()
}

fn kind(field: &Value) -> Result<ElicitationKind, String> {
    let choices = |of: &Value| -> Option<Vec<(String, String)>> {
        let titled = of.get("oneOf").or_else(|| of.get("anyOf")).and_then(Value::as_array);
        if let Some(titled) = titled {
            let pair = |one: &Value| {
                let value = one.get("const")?.as_str()?;
                Some((value.to_owned(), one.get("title").and_then(Value::as_str).unwrap_or(value).to_owned()))
            };
            // One choice that cannot be shown makes it none: an incomplete list could lack the harmless one.
            return titled.iter().map(pair).collect();
        }
        let values = of.get("enum")?.as_array()?;
        // Titles as older clients have them, by position.
        let names = of.get("enumNames").and_then(Value::as_array);
        let pair = |(at, value): (usize, &Value)| {
            let value = value.as_str()?;
            let name = names.and_then(|names| names.get(at)?.as_str()).unwrap_or(value);
            Some((value.to_owned(), name.to_owned()))
        };
        values.iter().enumerate().map(pair).collect()
    };
    let bounded = |found: Vec<(String, String)>| {
        let size: usize = found.iter().map(|(value, title)| value.len() + title.len()).sum();
        match found.len() <= MAX_CHOICES && size <= MAX_TEXT {
            true => Ok(found),
            false => Err(format!("a field has over {MAX_CHOICES} choices or {MAX_TEXT} bytes of them")),
        }
    };
    // Before the type: a choice is a string as well.
    if let Some(found) = choices(field) {
        return bounded(found).map(ElicitationKind::Choice);
    }
    match field.get("type").and_then(Value::as_str) {
        Some("string") => Ok(ElicitationKind::Text),
        Some("number") => Ok(ElicitationKind::Number),
        Some("integer") => Ok(ElicitationKind::Integer),
        Some("boolean") => Ok(ElicitationKind::Boolean),
        Some("array") => {
            let found =
                field.get("items").and_then(choices).ok_or("a list of anything but choices is not supported")?;
            bounded(found).map(ElicitationKind::Choices)
        }
        _ => Err("a field is neither a plain value nor a choice".to_owned()),
    }
}

/// Returns the answer as the server gets it.
pub(super) fn answer(answer: ElicitationAnswer, asked: &ElicitRequestParams) -> ElicitResult {
    match answer {
        ElicitationAnswer::Accepted(values) => {
            let accepted = ElicitResult::new(ElicitationAction::Accept);
            match asked {
                ElicitRequestParams::FormElicitationParams { .. } => {
                    accepted.with_content(Value::Object(with_defaults(values, asked)))
                }
                _ => accepted,
            }
        }
        ElicitationAnswer::Declined => ElicitResult::new(ElicitationAction::Decline),
        ElicitationAnswer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// Puts the form's own values where the user gave none.
fn with_defaults(
    mut values: serde_json::Map<String, Value>,
    asked: &ElicitRequestParams,
) -> serde_json::Map<String, Value> {
    let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = asked else { return values };
    let schema = serde_json::to_value(requested_schema).unwrap_or_default();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let (false, Some(value)) = (values.contains_key(name), field.get("default")) {
            values.insert(name.clone(), value.clone());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(properties: Value) -> Result<Elicitation, String> {
        let asked = json!({
            "mode": "form", "message": "Which?",
            "requestedSchema": {"type": "object", "properties": properties, "required": ["a"]},
        });
        let asked: ElicitRequestParams = serde_json::from_value(asked).map_err(|error| error.to_string())?;
        question(&McpServerName::parse("x").expect("a name"), &asked)
    }

    #[test]
    fn fields_of_a_form_are_read() {
        let check = |field: Value, expected: ElicitationKind| {
            let found = asked(json!({"a": field})).expect("a form");
            let ElicitationForm::Fields(fields) = found.form else { panic!("no form") };
            assert_eq!((fields.len(), fields[0].is_required, &fields[0].kind), (1, true, &expected), "{field}");
        };
        let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        check(json!({"type": "string", "format": "email"}), ElicitationKind::Text);
        check(json!({"type": "number"}), ElicitationKind::Number);
        check(json!({"type": "integer", "minimum": 1}), ElicitationKind::Integer);
        check(json!({"type": "boolean"}), ElicitationKind::Boolean);
        check(json!({"type": "string", "enum": ["r", "g"]}), ElicitationKind::Choice(pairs(&[("r", "r"), ("g", "g")])));
        check(
            json!({"type": "string", "enum": ["r"], "enumNames": ["Red"]}),
            ElicitationKind::Choice(pairs(&[("r", "Red")])),
        );
        check(
            json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}),
            ElicitationKind::Choice(pairs(&[("r", "Red")])),
        );
        check(
            json!({"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}]}}),
            ElicitationKind::Choices(pairs(&[("r", "Red")])),
        );
    }

    #[test]
    fn form_that_is_too_large_is_an_error() {
        let many: serde_json::Map<String, Value> =
            (0..=MAX_FIELDS).map(|at| (format!("f{at}"), json!({"type": "string"}))).collect();
        asked(Value::Object(many)).expect_err("too many fields");
        let values: Vec<String> = (0..=MAX_CHOICES).map(|at| at.to_string()).collect();
        asked(json!({"a": {"type": "string", "enum": values}})).expect_err("too many choices");
        asked(json!({"a": {"type": "string", "title": "x".repeat(MAX_TEXT)}})).expect_err("too long");
        let address = |url: &str| {
            let asked = json!({"mode": "url", "message": "m", "url": url, "elicitationId": "1"});
            let asked: ElicitRequestParams = serde_json::from_value(asked).expect("a question");
            question(&McpServerName::parse("x").expect("a name"), &asked)
        };
        address("https://example.com/x").expect("an address");
        for url in ["javascript:alert(1)", "file:///etc/passwd", "no address"] {
            address(url).expect_err(url);
        }
    }
}
