//! JSON in which no object has a key twice.
//!
//! Of two values under one key a parser takes the first or the last one, and another parser the other: what one program
//! showed and what another one used would differ, in bytes that were signed. Promises: the error names the key with the
//! objects that it is in.
//!
//! Deliberately not here: what the keys mean.

use std::collections::BTreeSet;

use host_plugin::{JsonRule, check_json};

use crate::shown::cut;

/// Checks that no object of a JSON text has a key twice.
///
/// # Errors
///
/// If one has, with the key and its line; or if it is not JSON, or nests deeper than `serde_json` allows.
pub fn check_unique_keys(json: &[u8]) -> Result<(), serde_json::Error> {
    check_json(json, &mut UniqueKeys::default())
}

/// The objects that are being read, the innermost last.
#[derive(Default)]
struct UniqueKeys {
    objects: Vec<Object>,
}

/// An object, as far as it was read.
#[derive(Default)]
struct Object {
    keys: BTreeSet<String>,
    /// The key whose value is being read.
    last: String,
}

impl JsonRule for UniqueKeys {
    fn object_begins(&mut self) {
        self.objects.push(Object::default());
    }

    fn key(&mut self, key: &str) -> Result<(), String> {
        let Some((object, above)) = self.objects.split_last_mut() else { return Ok(()) };
        if !object.keys.insert(key.to_owned()) {
            let place: String = above.iter().map(|above| format!("{}.", cut(&above.last))).collect();
            return Err(format!("duplicate key `{}`", cut(&format!("{place}{key}"))));
        }
        key.clone_into(&mut object.last);
        Ok(())
    }

    fn object_ends(&mut self) {
        self.objects.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_json_with_a_key_twice_is_rejected_by_name() {
        for (json, key) in [
            (r#"{"a": 1, "b": 2, "a": 3}"#, "a"),
            (r#"{"a": {"b": [{"c": null, "d": true, "c": "x"}]}}"#, "a.b.c"),
            (r#"[1, {"a": 1.5}, {"x": 1, "\u0078": 2}]"#, "x"),
            (r#"{"a": {"b": 1}, "c": {"b": 1, "b": 1}}"#, "c.b"),
        ] {
            let error = check_unique_keys(json.as_bytes()).expect_err(json).to_string();
            assert!(error.contains(&format!("duplicate key `{key}` at line 1")), "{json}: {error}");
        }
        for json in [r#"{"a": {"a": {"a": []}}, "b": [{"a": 1}, {"a": 1}], "": -1}"#, "null", "[]"] {
            check_unique_keys(json.as_bytes()).expect(json);
        }
        let forged = check_unique_keys(b"{\"x\\nSigned\": 1, \"x\\nSigned\": 2}").expect_err("twice").to_string();
        assert!(!forged.contains('\n') && forged.contains("`x\\nSigned`"), "{forged}");
        for json in ["", "{", "{}{}", &"[".repeat(1_000)] {
            assert!(check_unique_keys(json.as_bytes()).is_err(), "{json}");
        }
    }
}
