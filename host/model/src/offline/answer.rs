//! Builds the arguments of the call that returns the result, in the shape that its schema requires.

use serde_json::{Map, Value};

use super::findings::Findings;

/// How deep a schema is followed; a recursive schema ends here.
const MAX_DEPTH: usize = 5;

/// The most items of a list.
const MAX_ITEMS: usize = 20;

/// Returns a value for each property of the schema.
pub(super) fn arguments(schema: &Value, report: &str, findings: &Findings) -> Map<String, Value> {
    match (Fill { root: schema, report, findings }).value(schema, "", 0) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// The sources of the values.
struct Fill<'a> {
    /// The schema in which references are resolved.
    root: &'a Value,
    report: &'a str,
    findings: &'a Findings,
}

/// A place in the files that the report mentions.
struct Place {
    path: String,
    why: String,
    words: Vec<String>,
}

impl Fill<'_> {
    /// Returns a value of this schema for the property of this name.
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if let Some(one) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
            return one.clone();
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first(),
            kind => kind,
        };
        let inner = if schema.get("properties").is_some() { "object" } else { "string" };
        match kind.and_then(Value::as_str).unwrap_or(inner) {
            _ if depth > MAX_DEPTH => Value::Null,
            "object" => self.object(schema, |schema, name| self.value(schema, name, depth + 1)),
            "array" => self.list(schema.get("items").unwrap_or(&Value::Null), depth),
            "integer" | "number" => self.findings.known.tree.as_ref().map_or(0, |tree| tree.total).into(),
            // Whether there is anything to report.
            "boolean" => (!self.findings.trace.is_empty()).into(),
            "null" => Value::Null,
            _ if is_about_paths(name) => self.places().next().map_or_else(|| ".".to_owned(), |place| place.path).into(),
            _ => self.report.into(),
        }
    }

    /// Returns the target of a schema's reference, or the schema itself.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn object(&self, schema: &Value, value: impl Fn(&Value, &str) -> Value) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.map(|(name, schema)| (name.clone(), value(schema, name))).collect::<Map<_, _>>().into()
    }

    /// Returns places if the items are objects, else the calls that were made.
    fn list(&self, items: &Value, depth: usize) -> Value {
        let items = self.resolved(items);
        if items.get("properties").is_none() {
            return match items.get("type").and_then(Value::as_str) {
                Some("string") | None => self.findings.trace.iter().take(MAX_ITEMS).cloned().collect(),
                Some(_) => Value::Array(Vec::new()),
            };
        }
        let item = |place: Place| {
            self.object(items, |schema, name| match schema.get("type").and_then(Value::as_str) {
                Some("string") if is_about_paths(name) => place.path.as_str().into(),
                Some("string") => place.why.as_str().into(),
                Some("array") => place.words.iter().cloned().collect(),
                _ => self.value(schema, name, depth + 1),
            })
        };
        self.places().take(MAX_ITEMS).map(item).collect()
    }

    /// Returns the files that the report mentions, each once.
    fn places(&self) -> impl Iterator<Item = Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut add = |path: &str, why: String, word: Option<&String>| {
            // Each file once, with the first reason: hits come before files that were only named.
            let known = places.iter().position(|place| place.path == path);
            let at = known.unwrap_or(places.len());
            if known.is_none() {
                places.push(Place { path: path.to_owned(), why, words: Vec::new() });
            }
            let words = &mut places[at].words;
            if let Some(word) = word.filter(|word| !words.contains(word)) {
                words.push(word.clone());
            }
        };
        for search in &self.findings.searches {
            for hit in &search.hits {
                let why = format!("line {} has `{}`: {}", hit.line, search.word, hit.text);
                add(&hit.path, why, Some(&search.word));
            }
        }
        for (path, _) in &self.findings.looked_at {
            add(path, "the task names it".to_owned(), None);
        }
        if let Some((path, _)) = &self.findings.readme {
            add(path, "it says what the project is".to_owned(), None);
        }
        for (path, manifest) in &self.findings.manifests {
            add(path, "it is the project's manifest".to_owned(), manifest.name.as_ref());
        }
        places.into_iter()
    }
}

fn is_about_paths(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("path") || name.contains("file")
}
