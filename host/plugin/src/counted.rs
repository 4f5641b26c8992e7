//! Reads JSON of limited size once it is read: two characters of text can become hundreds of bytes of values.

use serde_json::Value;

use crate::json_walk::{JsonRule, check_json};

/// Reads JSON with at most so many values at all depths. They are counted before any is kept.
///
/// # Errors
///
/// If it is not JSON, nests deeper than `serde_json` allows, or has more values.
pub(crate) fn read(json: &str, most: usize) -> Result<Value, serde_json::Error> {
    check_json(json.as_bytes(), &mut Counted { left: most, most })?;
    serde_json::from_str(json)
}

/// Fails when there are more values than are left.
struct Counted {
    left: usize,
    most: usize,
}

impl JsonRule for Counted {
    fn value(&mut self) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or_else(|| format!("it has more than {} values", self.most))?;
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
