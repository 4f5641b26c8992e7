//! Numbers of the configuration that have a range: one outside of it is an error that names the number and the range.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A whole number from 1 on: a limit of 0 would let nothing happen at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "i64", bound(deserialize = "T: TryFrom<i64>"))]
pub struct AtLeastOne<T>(T);

/// A share between 0 and 1, both excluded.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct InnerShare(f64);

impl<T> JsonSchema for AtLeastOne<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AtLeastOne".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

impl JsonSchema for InnerShare {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "InnerShare".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })
    }
}

/// A number outside of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutOfRange {
    /// A whole number below 1.
    Low(i64),
    /// A whole number that is too large.
    High(i64),
    /// A share that is not between 0 and 1.
    Share(f64),
}

impl<T: From<u8> + PartialOrd> AtLeastOne<T> {
    /// A default; `None` if it is 0.
    pub(super) fn usual(number: T) -> Option<Self> {
        (number >= T::from(1)).then_some(Self(number))
    }
}

impl<T> AtLeastOne<T> {
    /// The number.
    pub fn get(self) -> T {
        self.0
    }
}

impl InnerShare {
    /// The share.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<T: TryFrom<i64>> TryFrom<i64> for AtLeastOne<T> {
    type Error = OutOfRange;

    fn try_from(number: i64) -> Result<Self, OutOfRange> {
        if number < 1 {
            return Err(OutOfRange::Low(number));
        }
        T::try_from(number).map(Self).map_err(|_| OutOfRange::High(number))
    }
}

impl TryFrom<f64> for InnerShare {
    type Error = OutOfRange;

    fn try_from(share: f64) -> Result<Self, OutOfRange> {
        if share > 0.0 && share < 1.0 { Ok(Self(share)) } else { Err(OutOfRange::Share(share)) }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Low(number) => write!(f, "`{number}` is out of range: the smallest value is 1"),
            Self::High(number) => write!(f, "`{number}` is out of range: the largest value is {}", u32::MAX),
            Self::Share(share) => write!(f, "`{share}` is out of range: it must be more than 0 and less than 1"),
        }
    }
}
