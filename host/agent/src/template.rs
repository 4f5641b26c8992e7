//! `${name}` in a prompt.
//!
//! One pass: what is filled in is not looked at again, so an input cannot reach for another. A `${` that no name
//! and `}` follow, as in a shell script that a prompt quotes, stays as it is.

use serde_json::{Map, Value};

/// A template names an unknown input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prompt names {}, which {} not declared; {}", listed(missing), if missing.len() == 1 { "is" } else { "are" }, choice(available))]
pub struct TemplateError {
    /// The names without an input, in the order of their first use.
    pub missing: Vec<String>,
    /// The declared inputs.
    pub available: Vec<String>,
}

/// Fills in `${name}` for every name. A text goes in as it is, anything else as JSON.
///
/// # Errors
///
/// When names have no input.
pub fn fill(template: &str, inputs: &Map<String, Value>) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(template.len());
    let mut missing: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        match placeholder(from) {
            // What is filled in is not looked at again, so that an input cannot reach for another.
            Some((name, after)) => {
                match inputs.get(name) {
                    Some(Value::String(text)) => filled.push_str(text),
                    Some(value) => filled.push_str(&value.to_string()),
                    None if missing.iter().any(|known| known == name) => {}
                    None => missing.push(name.to_owned()),
                }
                rest = after;
            }
            None => {
                // A shell script that a prompt quotes has these.
                filled.push_str("${");
                rest = &from["${".len()..];
            }
        }
    }
    filled.push_str(rest);
    if missing.is_empty() {
        Ok(filled)
    } else {
        Err(TemplateError { missing, available: inputs.keys().cloned().collect() })
    }
}

/// Returns the names of a template's placeholders, each with the byte position of its `${`.
pub(crate) fn names(template: &str) -> impl Iterator<Item = (usize, &str)> {
    template.match_indices("${").filter_map(|(at, _)| Some((at, placeholder(template.get(at..)?)?.0)))
}

/// Returns whether a placeholder can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// The name in a text that begins with `${name}`, and what comes after it.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("${")?;
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))?;
    let (name, after) = text.split_at(end);
    let after = after.strip_prefix('}')?;
    is_name(name).then_some((name, after))
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn choice(names: &[String]) -> String {
    if names.is_empty() { "there are no inputs".to_owned() } else { format!("the inputs are {}", listed(names)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(template: &str, want: Result<&str, &str>) {
        let Value::Object(inputs) = json!({"a": "1", "b_2": [1, "x"], "loop": "${a}"}) else { unreachable!() };
        let got = fill(template, &inputs).map_err(|error| error.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), want, "{template}");
    }

    #[test]
    fn names_are_filled_in_once() {
        check("", Ok(""));
        check("${a}-${a} ${b_2}", Ok("1-1 [1,\"x\"]"));
        check("ä${loop}ö", Ok("ä${a}ö"));
    }

    #[test]
    fn template_text_that_is_not_a_name_is_unchanged() {
        for same in ["$a", "${", "${}", "${a", "${a b}", "${1}", "${HOME:-x}", "$${", "cost: 5$"] {
            check(same, Ok(same));
        }
        check("${ ${a}", Ok("${ 1"));
    }

    #[test]
    fn template_missing_names_are_all_reported_with_the_declared_inputs() {
        let inputs = "which are not declared; the inputs are `a`, `b_2`, `loop`";
        check("${x} ${a} ${y} ${x}", Err(&format!("the prompt names `x`, `y`, {inputs}")));
        let error = fill("${x}", &Map::new()).expect_err("there are none").to_string();
        assert_eq!(error, "the prompt names `x`, which is not declared; there are no inputs");
    }
}
