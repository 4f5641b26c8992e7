//! Equality as JSON Schema defines it: numbers by value, objects regardless of order.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;

use super::{Check, steps_of};
use crate::number;

impl Check<'_> {
    /// Whether two values are equal. Takes a step for each part that is compared.
    pub(super) fn equal(&mut self, left: &Value, right: &Value) -> bool {
        if !self.take(1) {
            return false;
        }
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => number::compare(left, right) == Ordering::Equal,
            (Value::String(left), Value::String(right)) => {
                left.len() == right.len() && self.take(steps_of(left)) && left == right
            }
            (Value::Array(left), Value::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| self.equal(left, right))
            }
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| self.equal(left, right)))
            }
            _ => left == right,
        }
    }

    /// Returns a text that only equal values share; `None` without steps left.
    pub(super) fn canonical(&mut self, value: &Value) -> Option<String> {
        let mut text = String::new();
        self.write(value, &mut text).then_some(text)
    }

    fn write(&mut self, value: &Value, text: &mut String) -> bool {
        if !self.take(1) {
            return false;
        }
        match value {
            Value::Number(number) => text.push_str(&number::canonical(number)),
            Value::String(string) => {
                // The length before the string delimits it, whatever the string contains.
                _ = write!(text, "\"{}:{string}", string.len());
                return self.take(steps_of(string));
            }
            Value::Array(items) => {
                text.push('[');
                for item in items {
                    if !self.write(item, text) {
                        return false;
                    }
                    text.push(',');
                }
                text.push(']');
            }
            Value::Object(members) => {
                let mut names: Vec<_> = members.iter().collect();
                names.sort_unstable_by_key(|(name, _)| name.as_str());
                text.push('{');
                for (name, member) in names {
                    _ = write!(text, "{}:{name}", name.len());
                    if !self.take(steps_of(name)) || !self.write(member, text) {
                        return false;
                    }
                    text.push(',');
                }
                text.push('}');
            }
            Value::Null | Value::Bool(_) => _ = write!(text, "{value}"),
        }
        true
    }
}
