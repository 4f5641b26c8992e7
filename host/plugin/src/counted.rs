//! Reads JSON of limited size once it is read: two characters of text can become hundreds of bytes of values.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Reads JSON with at most so many values at all depths. They are counted before any is kept.
///
/// # Errors
///
/// If it is not JSON, nests deeper than `serde_json` allows, or has more values.
pub(crate) fn read(json: &str, most: usize) -> Result<Value, serde_json::Error> {
    let mut left = most;
    let mut reader = serde_json::Deserializer::from_str(json);
    Counted { left: &mut left, most }.deserialize(&mut reader)?;
    serde_json::from_str(json)
}

/// Reads a value, keeps nothing of it, and fails when there are more values in it than are left.
struct Counted<'c> {
    left: &'c mut usize,
    most: usize,
}

impl Counted<'_> {
    fn count<E: Error>(&mut self) -> Result<(), E> {
        let most = self.most;
        *self.left = self.left.checked_sub(1).ok_or_else(|| E::custom(format!("it has more than {most} values")))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
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
        while items.next_element_seed(Counted { left: self.left, most: self.most })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(Counted { left: self.left, most: self.most })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_values_are_limited_at_every_depth() {
        for (json, values) in [
            ("null", 1),
            ("[]", 1),
            ("[1, -2, 3.5, true, \"a, b: {[\"]", 6),
            (r#"{"a": {"b": [null]}, "a": 1}"#, 5),
            ("[[[[0]]]]", 5),
        ] {
            assert_eq!(
                read(json, values).expect("as many"),
                serde_json::from_str::<Value>(json).expect("JSON"),
                "{json}"
            );
            let error = read(json, values - 1).expect_err(json).to_string();
            assert!(error.contains(&format!("more than {} values", values - 1)), "{json}: {error}");
        }
        for json in ["", "{", "[1,]", "1 2", "{\"a\"}", &"[".repeat(100_000)] {
            assert!(read(json, 1_000).is_err(), "{json:.20}");
        }
    }
}
