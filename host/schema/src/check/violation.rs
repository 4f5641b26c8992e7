//! The texts of violations, for a model that has to repair its arguments: the value, the rule, and what would be valid.

use host_text::{counted, counted_of};
use serde_json::Value;

use super::{At, Check, Evaluated, Report, Token};
use crate::rule::{Bound, NodeId, Properties, Rule, Size};
use crate::words::{self, quoted};

/// How many alternatives are explained.
const EXPLAINED: usize = 4;

/// Returns the place as a JSON pointer.
pub(super) fn place(at: &At<'_>) -> String {
    let mut tokens = Vec::new();
    let mut next = at.outer;
    while let Some((outer, token)) = next {
        match token {
            Token::Name(name) => tokens.push(name.to_owned()),
            Token::Index(index) => tokens.push(index.to_string()),
            Token::Same => {}
        }
        next = outer.outer;
    }
    words::pointer(tokens.into_iter().rev())
}

/// Describes a violation of a rule that depends on no other node.
pub(super) fn describe(rule: &Rule, value: &Value) -> String {
    let short = quoted(value);
    match rule {
        Rule::Types(types) => match &types[..] {
            [one] => format!("{short} is not of type {one}"),
            several => {
                format!("{short} is not of type {}", words::list(several.iter().map(|kind| kind.to_string()), "or"))
            }
        },
        Rule::Enum(values) => format!("{short} is not one of {}", words::list(values.iter().map(quoted), "or")),
        Rule::Const(one) => format!("{short} is not {}", quoted(one)),
        Rule::Bound(bound, limit) => match bound {
            Bound::Minimum => format!("{short} is less than the minimum of {limit}"),
            Bound::Maximum => format!("{short} is greater than the maximum of {limit}"),
            Bound::ExclusiveMinimum => format!("{short} is not greater than {limit}"),
            Bound::ExclusiveMaximum => format!("{short} is not less than {limit}"),
        },
        Rule::MultipleOf(divisor) => format!("{short} is not a multiple of {divisor}"),
        Rule::Size(size, limit) => {
            let (properties, items) = (counted_of(limit, "property", "properties"), counted(limit, "item"));
            match size {
                Size::MinLength => format!("{short} is shorter than {}", counted(limit, "character")),
                Size::MaxLength => format!("{short} is longer than {}", counted(limit, "character")),
                Size::MinItems => format!("{short} has fewer than {items}"),
                Size::MaxItems => format!("{short} has more than {items}"),
                Size::MinProperties => format!("{short} has fewer than {properties}"),
                Size::MaxProperties => format!("{short} has more than {properties}"),
            }
        }
        Rule::Pattern(pattern) => format!("{short} does not match {}", words::name(pattern.source())),
        _ => format!("no value is allowed here, and this is {short}"),
    }
}

pub(super) fn required(name: &str) -> String {
    format!("{} is a required property", words::name(name))
}

pub(super) fn required_by(needed: &str, name: &str) -> String {
    format!("{} is a required property if there is {}", words::name(needed), words::name(name))
}

/// Describes a member that the object's schema does not know.
pub(super) fn additional(name: &str, properties: &Properties) -> String {
    let known = words::list(properties.named.keys().map(|name| words::name(name)), "and");
    let known = if known.is_empty() { String::new() } else { format!("; the properties are {known}") };
    format!("unknown property {}{known}", words::name(name))
}

pub(super) fn contains(matching: u64, least: u64, most: Option<u64>) -> String {
    let matching_items = counted_of(matching, "item matches", "items match");
    match most {
        Some(most) if matching > most => format!("{matching_items} the schema of `contains`, more than {most}"),
        _ => format!("{matching_items} the schema of `contains`, fewer than {least}"),
    }
}

pub(super) fn equal_items((first, second): (usize, usize)) -> String {
    format!("the items {first} and {second} are equal, and all have to differ")
}

pub(super) fn not(value: &Value) -> String {
    format!("{} is valid under the schema of `not`", quoted(value))
}

pub(super) fn two_alternatives(value: &Value, first: usize, second: usize) -> String {
    format!(
        "{} is valid under more than one schema of `oneOf`: numbers {} and {}",
        quoted(value),
        first + 1,
        second + 1
    )
}

/// Describes why no alternative accepts a value: the first violation of each.
pub(super) fn no_alternative(
    check: &mut Check<'_>,
    keyword: &str,
    nodes: &[NodeId],
    value: &Value,
    at: &At<'_>,
) -> String {
    let mut text = format!("{} is not valid under any schema of `{keyword}`", quoted(value));
    for (index, node) in nodes.iter().take(EXPLAINED).enumerate() {
        if let Some(why) = first(check, *node, value, at) {
            text.push_str(&format!("{} ({}) {why}", if index == 0 { ":" } else { ";" }, index + 1));
        }
    }
    if nodes.len() > EXPLAINED {
        text.push_str(&format!("; and {} more", nodes.len() - EXPLAINED));
    }
    text
}

/// Describes why the name of a member is not accepted.
pub(super) fn name(check: &mut Check<'_>, node: NodeId, name: &str, at: &At<'_>) -> String {
    let value = Value::String(name.to_owned());
    let why = first(check, node, &value, at).unwrap_or_default();
    format!("the name of the property {} is not allowed: {why}", words::name(name))
}

fn first(check: &mut Check<'_>, node: NodeId, value: &Value, at: &At<'_>) -> Option<String> {
    let mut report = Report { lines: Vec::new(), most: 1, more: false };
    check.apply(node, value, at, Some(&mut report), &mut Evaluated::default());
    report.lines.pop()
}
