//! Compares two versions of a JSON Schema: whether the newer one accepts the old arguments and returns the old results.
//!
//! Promises: a change that is not understood is breaking. This covers objects with properties, types, and lists of
//! values, which is what tools are described with; any other keyword that changed is reported by its name.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Weight;

/// How deep nested schemas are followed. Protects the stack.
const DEPTH: usize = 32;

/// Keywords with text for a reader.
const WORDS: &[&str] = &["title", "description", "examples", "default", "$comment", "$schema", "$id", "deprecated"];

/// Keywords that are compared by their meaning.
const KNOWN: &[&str] = &["type", "properties", "required", "enum", "additionalProperties", "items", "$defs"];

type Found = Vec<(Weight, String)>;

/// Compares the schemas of arguments.
pub(super) fn taken(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    compare(old, new, Side::Taken, "", 0, &mut found);
    found
}

/// Compares the schemas of results.
pub(super) fn given(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    compare(old, new, Side::Given, "", 0, &mut found);
    found
}

/// Whether an addition to a schema requires more or offers more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Taken,
    Given,
}

impl Side {
    /// Returns the weight of allowing additional values.
    fn wider(self) -> Weight {
        if self == Self::Taken { Weight::Addition } else { Weight::Breaking }
    }

    /// Returns the weight of no longer allowing values.
    fn narrower(self) -> Weight {
        if self == Self::Taken { Weight::Breaking } else { Weight::Addition }
    }
}

fn compare(old: &Value, new: &Value, side: Side, at: &str, depth: usize, found: &mut Found) {
    if old == new {
        return;
    }
    let place = if at.is_empty() { "all of it".to_owned() } else { format!("`{at}`") };
    let (Value::Object(old), Value::Object(new), true) = (old, new, depth < DEPTH) else {
        return found.push((Weight::Breaking, format!("{place} has a different schema")));
    };
    types(old, new, side, &place, found);
    values(old, new, side, &place, found);
    properties(old, new, side, at, depth, found);
    match (open(old), open(new)) {
        (true, false) => found.push((side.narrower(), format!("{place} has no other properties any more"))),
        (false, true) => found.push((side.wider(), format!("{place} can have other properties"))),
        (false, false) | (true, true) => {}
    }
    match (old.get("items"), new.get("items")) {
        (Some(old), Some(new)) => compare(old, new, side, &format!("{at}[]"), depth + 1, found),
        (None, None) => {}
        (Some(_), None) => found.push((side.wider(), format!("the items of {place} can be anything"))),
        (None, Some(_)) => found.push((side.narrower(), format!("the items of {place} have a schema"))),
    }
    if old.get("$defs") != new.get("$defs") {
        definitions(old, new, side, at, depth, found);
    }
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys.into_iter().filter(|key| !KNOWN.contains(&key.as_str())) {
        if old.get(key) != new.get(key) {
            match WORDS.contains(&key.as_str()) {
                true => found.push((Weight::Fix, format!("{place} has a different `{key}`"))),
                false => found.push((Weight::Breaking, format!("{place} has a different `{key}`"))),
            }
        }
    }
}

fn definitions(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    side: Side,
    at: &str,
    depth: usize,
    found: &mut Found,
) {
    let of = |schema| schemas(schema, "$defs");
    let (old, new) = (of(old), of(new));
    // A definition that is new or gone is reported where it is referred to.
    for (name, definition) in &old {
        if let Some(other) = new.get(name) {
            compare(definition, other, side, &format!("{at}#{name}"), depth + 1, found);
        }
    }
}

/// Returns the schemas under a keyword, by name; empty if there are none.
fn schemas(schema: &Map<String, Value>, keyword: &str) -> Map<String, Value> {
    match schema.get(keyword) {
        Some(Value::Object(schemas)) => schemas.clone(),
        Some(_) | None => Map::new(),
    }
}

/// Whether an object of this schema can have properties that the schema does not name.
fn open(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") != Some(&Value::Bool(false))
}

fn types(old: &Map<String, Value>, new: &Map<String, Value>, side: Side, place: &str, found: &mut Found) {
    let names = |schema: &Map<String, Value>| -> Option<BTreeSet<String>> {
        match schema.get("type")? {
            Value::String(name) => Some(BTreeSet::from([name.clone()])),
            Value::Array(names) => Some(names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()),
            _ => None,
        }
    };
    let (old, new) = (names(old), names(new));
    if old == new {
        return;
    }
    // Every integer is a number.
    let has =
        |types: &BTreeSet<String>, name: &str| types.contains(name) || name == "integer" && types.contains("number");
    let within = |inner: &Option<BTreeSet<String>>, outer: &Option<BTreeSet<String>>| match (inner, outer) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(inner), Some(outer)) => inner.iter().all(|name| has(outer, name)),
    };
    let words = |types: &Option<BTreeSet<String>>| match types {
        None => "anything".to_owned(),
        Some(types) => types.iter().cloned().collect::<Vec<_>>().join(" or "),
    };
    let weight = if within(&old, &new) {
        side.wider()
    } else if within(&new, &old) {
        side.narrower()
    } else {
        Weight::Breaking
    };
    found.push((weight, format!("{place} is {} instead of {}", words(&new), words(&old))));
}

fn values(old: &Map<String, Value>, new: &Map<String, Value>, side: Side, place: &str, found: &mut Found) {
    let list = |schema: &Map<String, Value>| match schema.get("enum") {
        Some(Value::Array(values)) => Some(values.clone()),
        Some(_) | None => None,
    };
    match (list(old), list(new)) {
        (None, None) => {}
        (None, Some(_)) => found.push((side.narrower(), format!("{place} is one of a list"))),
        (Some(_), None) => found.push((side.wider(), format!("{place} can be any value"))),
        (Some(old), Some(new)) => {
            for value in old.iter().filter(|value| !new.contains(value)) {
                found.push((side.narrower(), format!("{place} cannot be {value} any more")));
            }
            for value in new.iter().filter(|value| !old.contains(value)) {
                found.push((side.wider(), format!("{place} can be {value}")));
            }
        }
    }
}

fn properties(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    side: Side,
    at: &str,
    depth: usize,
    found: &mut Found,
) {
    let of = |schema| schemas(schema, "properties");
    let required = |schema: &Map<String, Value>| -> BTreeSet<String> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let (old_required, new_required) = (required(old), required(new));
    let (old, new) = (of(old), of(new));
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    for (name, schema) in &old {
        match new.get(name) {
            None => found.push((Weight::Breaking, format!("`{}` is gone", path(name)))),
            Some(other) => compare(schema, other, side, &path(name), depth + 1, found),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        match (side, new_required.contains(name)) {
            (Side::Taken, true) => found.push((Weight::Breaking, format!("`{}` is new and required", path(name)))),
            (Side::Taken | Side::Given, _) => found.push((Weight::Addition, format!("`{}` is new", path(name)))),
        }
    }
    for name in new_required.difference(&old_required).filter(|name| old.contains_key(*name)) {
        found.push((side.narrower(), format!("`{}` is required", path(name))));
    }
    for name in old_required.difference(&new_required).filter(|name| new.contains_key(*name)) {
        found.push((side.wider(), format!("`{}` is not required any more", path(name))));
    }
}
