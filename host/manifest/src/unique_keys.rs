//! JSON in which no object has a key twice.
//!
//! Of two values under one key a parser takes the first or the last one, and another parser the other: what one program
//! showed and what another one used would differ, in bytes that were signed. Promises: the error names the key with the
//! objects that it is in.
//!
//! Deliberately not here: what the keys mean.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

use crate::shown::cut;

/// Checks that no object of a JSON text has a key twice.
///
/// # Errors
///
/// If one has, with the key and its line; or if it is not JSON, or nests deeper than `serde_json` allows.
pub fn check_unique_keys(json: &[u8]) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Value { path: &mut Vec::new() }.deserialize(&mut reader)?;
    reader.end()
}

/// A value whose keys are checked, and of which nothing is kept.
struct Value<'p> {
    /// The keys that lead to it.
    path: &'p mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Value { path: self.path })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                let place: String = self.path.iter().map(|above| format!("{}.", cut(above))).collect();
                return Err(A::Error::custom(format!("the key `{}` is there twice", cut(&format!("{place}{key}")))));
            }
            keys.insert(key.clone());
            self.path.push(key);
            map.next_value_seed(Value { path: self.path })?;
            self.path.pop();
        }
        Ok(())
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
            assert!(error.contains(&format!("the key `{key}` is there twice at line 1")), "{json}: {error}");
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
