//! The rule of each keyword, read from its JSON. A keyword of the wrong shape is an error at its place; an unknown
//! keyword is an annotation and has no rule.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::{Compiler, PlaceId, Queued};
use crate::SchemaError;
use crate::pattern::Pattern;
use crate::rule::{Bound, Node, NodeId, Properties, Rule, Size, Type};
use crate::words;

const BOUNDS: &[(&str, &str, Bound, Bound)] = &[
    ("minimum", "exclusiveMinimum", Bound::Minimum, Bound::ExclusiveMinimum),
    ("maximum", "exclusiveMaximum", Bound::Maximum, Bound::ExclusiveMaximum),
];

const SIZES: &[(&str, Size)] = &[
    ("minLength", Size::MinLength),
    ("maxLength", Size::MaxLength),
    ("minItems", Size::MinItems),
    ("maxItems", Size::MaxItems),
    ("minProperties", Size::MinProperties),
    ("maxProperties", Size::MaxProperties),
];

/// Keywords that are resolved at run time and that tools do not need.
const NOT_SUPPORTED: &[&str] = &["$dynamicRef", "$recursiveRef"];

/// Compiles one subschema.
pub(super) fn node<'s>(compiler: &mut Compiler<'s>, queued: &Queued<'s>) -> Result<Node, SchemaError> {
    let members = match queued.schema {
        Value::Bool(true) => return Ok(Node::default()),
        Value::Bool(false) => return Ok(Node { rules: vec![Rule::Nothing] }),
        Value::Object(members) => members,
        other => {
            let why = format!("{} is not a schema, which is an object or a boolean", words::quoted(other));
            return Err(compiler.error(queued.place, why));
        }
    };
    let mut keywords = Keywords { compiler, queued, members };
    let mut rules = Vec::new();
    if let Some(target) = keywords.text("$ref")? {
        let at = keywords.place("$ref");
        rules.push(Rule::Reference(keywords.compiler.refer(queued, at, target)?));
        if keywords.compiler.ignores_neighbours {
            return Ok(Node { rules });
        }
    }
    for name in NOT_SUPPORTED {
        if members.contains_key(*name) {
            return Err(keywords.error(name, format!("not supported: `{name}`. Use `$ref`")));
        }
    }
    keywords.values(&mut rules)?;
    keywords.arrays(&mut rules)?;
    keywords.objects(&mut rules)?;
    keywords.combinations(&mut rules)?;
    // Their rules depend on what the others left.
    rules.extend(keywords.schema("unevaluatedItems")?.map(Rule::UnevaluatedItems));
    rules.extend(keywords.schema("unevaluatedProperties")?.map(Rule::UnevaluatedProperties));
    Ok(Node { rules })
}

/// The keywords of one subschema.
struct Keywords<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    queued: &'c Queued<'s>,
    members: &'s Map<String, Value>,
}

/// The rules of a group of keywords.
impl<'s> Keywords<'_, 's> {
    fn values(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        if let Some(types) = self.types()? {
            rules.push(Rule::Types(types));
        }
        if let Some(values) = self.array("enum")? {
            rules.push(Rule::Enum(values.clone()));
        }
        rules.extend(self.members.get("const").cloned().map(Rule::Const));
        for (inclusive, exclusive, bound, exclusive_bound) in BOUNDS {
            // Draft 4 has a boolean that changes the meaning of the other keyword.
            let is_exclusive = self.members.get(*exclusive).and_then(Value::as_bool);
            if let Some(limit) = self.number(inclusive)? {
                rules.push(Rule::Bound(if is_exclusive == Some(true) { *exclusive_bound } else { *bound }, limit));
            }
            if is_exclusive.is_none()
                && let Some(limit) = self.number(exclusive)?
            {
                rules.push(Rule::Bound(*exclusive_bound, limit));
            }
        }
        if let Some(divisor) = self.number("multipleOf")? {
            if divisor.as_f64().is_none_or(|divisor| divisor <= 0.0) {
                return Err(self.error("multipleOf", format!("{divisor} is not greater than 0")));
            }
            rules.push(Rule::MultipleOf(divisor));
        }
        for (name, size) in SIZES {
            rules.extend(self.count(name)?.map(|limit| Rule::Size(*size, limit)));
        }
        if let Some(source) = self.text("pattern")? {
            let at = self.place("pattern");
            rules.push(Rule::Pattern(self.pattern(source, at)?));
        }
        Ok(())
    }

    fn arrays(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        if self.flag("uniqueItems")? {
            rules.push(Rule::UniqueItems);
        }
        // Before draft 2020-12 a list in `items` was what `prefixItems` is.
        let listed = matches!(self.members.get("items"), Some(Value::Array(_)));
        let (prefix, rest) = if listed { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let (prefix, rest) = (self.schemas(prefix)?, self.schema(rest)?);
        if !prefix.is_empty() || rest.is_some() {
            rules.push(Rule::Items { prefix, rest });
        }
        let (least, most) = (self.count("minContains")?.unwrap_or(1), self.count("maxContains")?);
        rules.extend(self.schema("contains")?.map(|node| Rule::Contains { node, least, most }));
        Ok(())
    }

    fn objects(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        // Draft 3 has a boolean in each property.
        if !matches!(self.members.get("required"), Some(Value::Bool(_)))
            && let Some(names) = self.names("required")?
        {
            rules.push(Rule::Required(names));
        }
        let mut properties = Properties { named: self.schema_map("properties")?, ..Properties::default() };
        for (source, node) in self.schema_map("patternProperties")? {
            let at = self.place("patternProperties");
            properties.patterns.push((self.pattern(&source, at)?, node));
        }
        properties.rest = self.schema("additionalProperties")?;
        properties.closed = self.members.get("additionalProperties") == Some(&Value::Bool(false));
        if !properties.named.is_empty() || !properties.patterns.is_empty() || properties.rest.is_some() {
            rules.push(Rule::Properties(properties));
        }
        rules.extend(self.schema("propertyNames")?.map(Rule::PropertyNames));
        let mut names = BTreeMap::new();
        let mut schemas = self.schema_map("dependentSchemas")?;
        for keyword in ["dependentRequired", "dependencies"] {
            for (name, value) in self.object(keyword)?.into_iter().flatten() {
                let at = self.place(keyword);
                let at = self.compiler.places.child(at, name.as_str());
                if keyword == "dependentRequired" || value.is_array() {
                    names.insert(name.clone(), self.strings(value, at)?);
                } else {
                    schemas.insert(name.clone(), self.compiler.enqueue(value, at, self.queued.resource)?);
                }
            }
        }
        if !names.is_empty() {
            rules.push(Rule::DependentRequired(names));
        }
        if !schemas.is_empty() {
            rules.push(Rule::DependentSchemas(schemas));
        }
        Ok(())
    }

    fn combinations(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        for (name, rule) in
            [("allOf", Rule::AllOf as fn(Vec<NodeId>) -> Rule), ("anyOf", Rule::AnyOf), ("oneOf", Rule::OneOf)]
        {
            if self.members.get(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                return Err(self.error(name, "the list is empty"));
            }
            if self.members.contains_key(name) {
                rules.push(rule(self.schemas(name)?));
            }
        }
        rules.extend(self.schema("not")?.map(Rule::Not));
        let (condition, then, otherwise) = (self.schema("if")?, self.schema("then")?, self.schema("else")?);
        if let Some(condition) = condition {
            rules.push(Rule::If { condition, then, otherwise });
        }
        Ok(())
    }
}

/// The value of a keyword, in the required shape.
impl<'s> Keywords<'_, 's> {
    fn types(&mut self) -> Result<Option<Vec<Type>>, SchemaError> {
        let Some(value) = self.members.get("type") else { return Ok(None) };
        let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let types: Option<Vec<Type>> = names.iter().map(|name| name.as_str().and_then(Type::parse)).collect();
        types.filter(|types| !types.is_empty()).map(Some).ok_or_else(|| {
            let types = words::list(Type::ALL.iter().map(Type::to_string), "or");
            self.error("type", format!("{} is not a type: use {types}", words::quoted(value)))
        })
    }

    fn number(&mut self, name: &'s str) -> Result<Option<Number>, SchemaError> {
        self.shaped(name, "a number", |value| value.as_number().cloned())
    }

    /// Reads a count, which may be written as `2.0`.
    fn count(&mut self, name: &'s str) -> Result<Option<u64>, SchemaError> {
        self.shaped(name, "a whole number from 0", |value| {
            let float =
                || value.as_f64().filter(|count| count.fract() == 0.0 && *count >= 0.0).map(|count| count as u64);
            value.as_u64().or_else(float)
        })
    }

    fn flag(&mut self, name: &'s str) -> Result<bool, SchemaError> {
        Ok(self.shaped(name, "a boolean", Value::as_bool)?.unwrap_or(false))
    }

    fn text(&mut self, name: &'s str) -> Result<Option<&'s str>, SchemaError> {
        self.shaped(name, "a string", Value::as_str)
    }

    fn array(&mut self, name: &'s str) -> Result<Option<&'s Vec<Value>>, SchemaError> {
        self.shaped(name, "an array", Value::as_array)
    }

    fn object(&mut self, name: &'s str) -> Result<Option<&'s Map<String, Value>>, SchemaError> {
        self.shaped(name, "an object", Value::as_object)
    }

    fn names(&mut self, name: &'s str) -> Result<Option<Vec<String>>, SchemaError> {
        let Some(value) = self.members.get(name) else { return Ok(None) };
        let at = self.place(name);
        self.strings(value, at).map(Some)
    }

    fn strings(&self, value: &Value, at: PlaceId) -> Result<Vec<String>, SchemaError> {
        let names =
            value.as_array().and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        names.ok_or_else(|| self.compiler.error(at, format!("{} is not a list of names", words::quoted(value))))
    }

    fn schema(&mut self, name: &'s str) -> Result<Option<NodeId>, SchemaError> {
        let Some(schema) = self.members.get(name) else { return Ok(None) };
        let at = self.place(name);
        self.compiler.enqueue(schema, at, self.queued.resource).map(Some)
    }

    fn schemas(&mut self, name: &'s str) -> Result<Vec<NodeId>, SchemaError> {
        let Some(schemas) = self.array(name)? else { return Ok(Vec::new()) };
        let at = self.place(name);
        schemas.iter().enumerate().map(|(index, schema)| self.inner(schema, at, index.to_string())).collect()
    }

    fn schema_map(&mut self, name: &'s str) -> Result<BTreeMap<String, NodeId>, SchemaError> {
        let Some(schemas) = self.object(name)? else { return Ok(BTreeMap::new()) };
        let at = self.place(name);
        schemas.iter().map(|(key, schema)| Ok((key.clone(), self.inner(schema, at, key.as_str())?))).collect()
    }

    fn inner(&mut self, schema: &'s Value, at: PlaceId, token: impl Into<Cow<'s, str>>) -> Result<NodeId, SchemaError> {
        let at = self.compiler.places.child(at, token);
        self.compiler.enqueue(schema, at, self.queued.resource)
    }

    fn pattern(&mut self, source: &str, at: PlaceId) -> Result<Pattern, SchemaError> {
        self.compiler.patterns.compile(source).map_err(|why| self.compiler.error(at, why))
    }

    fn shaped<T>(
        &mut self,
        name: &'s str,
        shape: &str,
        read: impl FnOnce(&'s Value) -> Option<T>,
    ) -> Result<Option<T>, SchemaError> {
        let Some(value) = self.members.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.error(name, format!("{} is not {shape}", words::quoted(value))))
    }

    fn place(&mut self, keyword: &'s str) -> PlaceId {
        self.compiler.places.child(self.queued.place, keyword)
    }

    fn error(&mut self, keyword: &'s str, why: impl Into<String>) -> SchemaError {
        let at = self.place(keyword);
        self.compiler.error(at, why)
    }
}
