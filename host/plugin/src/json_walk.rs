//! Reads JSON without keeping it, for checks of a whole text: how many values it has, or which keys.
//!
//! Promises: each value and each key is reported once, in the order of the text and before anything behind it is read,
//! and nothing of it is kept. Deliberately not here: the rules, which belong to the callers.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// The rule of a check. An error is the reason why the text is rejected, and ends the reading.
pub trait JsonRule {
    /// A value begins, at any depth.
    ///
    /// # Errors
    ///
    /// If there may not be another one.
    fn value(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// The value that has begun is an object.
    fn object_begins(&mut self) {}

    /// A key of the innermost object; its value comes next.
    ///
    /// # Errors
    ///
    /// If the object may not have it.
    fn key(&mut self, _key: &str) -> Result<(), String> {
        Ok(())
    }

    /// The innermost object ends.
    fn object_ends(&mut self) {}
}

/// Checks a JSON text by this rule.
///
/// # Errors
///
/// If the rule rejects it, with the line; or if it is not JSON, or nests deeper than `serde_json` allows.
pub fn check_json(json: &[u8], rule: &mut impl JsonRule) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Value(rule).deserialize(&mut reader)?;
    reader.end()
}

/// A value that is read and not kept.
struct Value<'r, R>(&'r mut R);

impl<'de, R: JsonRule> DeserializeSeed<'de> for Value<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.value().map_err(D::Error::custom)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: JsonRule> Visitor<'de> for Value<'_, R> {
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
        while items.next_element_seed(Value(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.object_begins();
        while members.next_key_seed(Key(self.0))?.is_some() {
            members.next_value_seed(Value(self.0))?;
        }
        self.0.object_ends();
        Ok(())
    }
}

/// A key of an object.
struct Key<'r, R>(&'r mut R);

impl<'de, R: JsonRule> DeserializeSeed<'de> for Key<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<R: JsonRule> Visitor<'_> for Key<'_, R> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        self.0.key(key).map_err(E::custom)
    }
}
