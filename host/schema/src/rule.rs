//! A compiled schema: the rule of each keyword, with every reference resolved.
//!
//! Keywords that depend on each other (`properties` and `additionalProperties`) are one rule. Deliberately not here:
//! how a rule is read from JSON (`compile`) and how it is applied (`check`).

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Number, Value};

use crate::pattern::Pattern;

/// The index of a node in its schema.
pub(crate) type NodeId = usize;

/// A schema or subschema: a value is valid if every rule accepts it.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) rules: Vec<Rule>,
}

/// The rule of one keyword, or of several that depend on each other.
#[derive(Debug)]
pub(crate) enum Rule {
    /// The schema `false`.
    Nothing,
    Types(Vec<Type>),
    Enum(Vec<Value>),
    Const(Value),
    Bound(Bound, Number),
    MultipleOf(Number),
    Size(Size, u64),
    Pattern(Pattern),
    UniqueItems,
    Items {
        prefix: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    Contains {
        node: NodeId,
        least: u64,
        most: Option<u64>,
    },
    Required(Vec<String>),
    Properties(Properties),
    PropertyNames(NodeId),
    DependentRequired(BTreeMap<String, Vec<String>>),
    DependentSchemas(BTreeMap<String, NodeId>),
    Reference(NodeId),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// The schemas of an object's members.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) named: BTreeMap<String, NodeId>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    /// `additionalProperties`.
    pub(crate) rest: Option<NodeId>,
    /// Whether `rest` is the schema `false`.
    pub(crate) closed: bool,
}

/// A JSON type by its name in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// A limit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// A limit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

impl Rule {
    /// Returns the nodes that are applied to the same value, not to a part of it.
    pub(crate) fn in_place(&self) -> Vec<NodeId> {
        match self {
            Self::Reference(node) | Self::Not(node) => vec![*node],
            Self::AllOf(nodes) | Self::AnyOf(nodes) | Self::OneOf(nodes) => nodes.clone(),
            Self::If { condition, then, otherwise } => {
                [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
            }
            Self::DependentSchemas(nodes) => nodes.values().copied().collect(),
            Self::Nothing
            | Self::Types(_)
            | Self::Enum(_)
            | Self::Const(_)
            | Self::Bound(..)
            | Self::MultipleOf(_)
            | Self::Size(..)
            | Self::Pattern(_)
            | Self::UniqueItems
            | Self::Items { .. }
            | Self::Contains { .. }
            | Self::Required(_)
            | Self::Properties(_)
            | Self::PropertyNames(_)
            | Self::DependentRequired(_)
            | Self::UnevaluatedItems(_)
            | Self::UnevaluatedProperties(_) => Vec::new(),
        }
    }
}

impl Bound {
    pub(crate) fn accepts(self, number: &Number, limit: &Number) -> bool {
        let order = crate::number::compare(number, limit);
        match self {
            Self::Minimum => order.is_ge(),
            Self::Maximum => order.is_le(),
            Self::ExclusiveMinimum => order.is_gt(),
            Self::ExclusiveMaximum => order.is_lt(),
        }
    }
}

impl Size {
    /// Returns the size of a value that has one: characters, items or properties.
    pub(crate) fn measure(self, value: &Value) -> Option<u64> {
        let size = match (self, value) {
            (Self::MinLength | Self::MaxLength, Value::String(text)) => text.chars().count(),
            (Self::MinItems | Self::MaxItems, Value::Array(items)) => items.len(),
            (Self::MinProperties | Self::MaxProperties, Value::Object(members)) => members.len(),
            _ => return None,
        };
        u64::try_from(size).ok()
    }

    pub(crate) fn accepts(self, size: u64, limit: u64) -> bool {
        match self {
            Self::MinLength | Self::MinItems | Self::MinProperties => size >= limit,
            Self::MaxLength | Self::MaxItems | Self::MaxProperties => size <= limit,
        }
    }
}

impl Type {
    pub(crate) const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether a value has this type. A number without a fraction is an integer, however it is written.
    pub(crate) fn has(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_))
            | (Self::Array, Value::Array(_))
            | (Self::Object, Value::Object(_)) => true,
            (Self::Integer, Value::Number(number)) => crate::number::is_integer(number),
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.name())
    }
}
