//! The form of a file with rules, before its values are interpreted.

use std::path::PathBuf;

use host_capability::{Capability, Grants};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::super::Decision;
use super::super::rule::USUAL_PRIORITY;
use crate::ApprovalMode;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    #[serde(default)]
    pub(super) rule: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawRule {
    #[serde(default)]
    pub(super) tool: OneOrMore<String>,
    pub(super) plugin: Option<String>,
    #[serde(default)]
    pub(super) digest: OneOrMore<String>,
    pub(super) scope: Option<Grants>,
    pub(super) workspace: Option<PathBuf>,
    pub(super) arguments: Option<String>,
    #[serde(default)]
    pub(super) command: OneOrMore<String>,
    #[serde(default)]
    pub(super) capability: OneOrMore<Capability>,
    #[serde(default)]
    pub(super) agent: OneOrMore<String>,
    #[serde(default)]
    pub(super) mode: OneOrMore<ApprovalMode>,
    #[serde(default)]
    pub(super) net: OneOrMore<String>,
    pub(super) walls: Option<bool>,
    pub(super) decision: Decision,
    #[serde(default = "usual_priority")]
    pub(super) priority: i64,
    pub(super) message: Option<String>,
    #[serde(default, rename = "match")]
    pub(super) matches: OneOrMore<Example>,
    #[serde(default)]
    pub(super) no_match: OneOrMore<Example>,
}

fn usual_priority() -> i64 {
    i64::from(USUAL_PRIORITY)
}

/// A value, or a list of values. Written by hand, since an untagged enum would hide the error of a value.
pub(super) struct OneOrMore<T>(pub(super) Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMore<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value or a list of them")
            }
            // By hand: serde's untagged enums lose the place of an error within the file.
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(|one| OneOrMore(vec![one]))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(|one| OneOrMore(vec![one]))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                match all.is_empty() {
                    // An empty list would look like no criterion.
                    true => Err(serde::de::Error::invalid_length(0, &"at least one value")),
                    false => Ok(OneOrMore(all)),
                }
            }
        }
        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

/// An example: a command line, or a call.
#[derive(Clone)]
pub(super) enum Example {
    Line(String),
    Call { tool: Option<String>, arguments: Map<String, Value> },
}

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Call {
            tool: Option<String>,
            #[serde(default)]
            arguments: Map<String, Value>,
        }
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Example;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a command line, or a table with `tool` and `arguments`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Example, E> {
                Ok(Example::Line(text.to_owned()))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Example, A::Error> {
                let call = Call::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Example::Call { tool: call.tool, arguments: call.arguments })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
