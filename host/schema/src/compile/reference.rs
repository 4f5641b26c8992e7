//! References: the target of a `$ref` is in the same document or does not exist.
//!
//! A schema with an `$id` is a resource, and a fragment counts from the nearest one. Deliberately not here: any way to
//! read another document, whatever the scheme of its address.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::{Compiler, PlaceId, Queued};
use crate::SchemaError;
use crate::rule::NodeId;

/// The index of a resource.
pub(super) type ResourceId = usize;

/// The schemas of a document that have an `$id`, and the anchors in them. The first resource is the document.
pub(super) struct Resources<'s> {
    list: Vec<(String, &'s Value)>,
    by_address: HashMap<*const Value, ResourceId>,
    anchors: HashMap<(ResourceId, &'s str), &'s Value>,
}

/// Keywords whose values are data, not schemas.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

impl<'s> Resources<'s> {
    pub(super) fn new(document: &'s Value) -> Self {
        let mut resources = Self { list: Vec::new(), by_address: HashMap::new(), anchors: HashMap::new() };
        let name = document.get("$id").and_then(Value::as_str).map_or("", without_fragment).to_owned();
        resources.add(name, document);
        let mut waiting = vec![(document, 0)];
        while let Some((value, mut resource)) = waiting.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(id)) = members.get("$id") {
                        match id.strip_prefix('#') {
                            // The anchors of drafts 6 and 7.
                            Some(anchor) => _ = resources.anchors.insert((resource, anchor), value),
                            None if !std::ptr::eq(value, document) => {
                                let id = joined(&resources.list[resource].0, without_fragment(id));
                                resource = resources.add(id, value);
                            }
                            None => {}
                        }
                    }
                    if let Some(Value::String(anchor)) = members.get("$anchor") {
                        resources.anchors.insert((resource, anchor), value);
                    }
                    let schemas = members.iter().filter(|(key, _)| !DATA.contains(&key.as_str()));
                    waiting.extend(schemas.map(|(_, inner)| (inner, resource)));
                }
                Value::Array(items) => waiting.extend(items.iter().map(|inner| (inner, resource))),
                _ => {}
            }
        }
        resources
    }

    fn add(&mut self, id: String, schema: &'s Value) -> ResourceId {
        self.list.push((id, schema));
        self.by_address.insert(std::ptr::from_ref(schema), self.list.len() - 1);
        self.list.len() - 1
    }

    pub(super) fn root(&self) -> ResourceId {
        0
    }

    /// Returns the resource that begins at this schema.
    pub(super) fn at(&self, schema: &Value) -> Option<ResourceId> {
        self.by_address.get(&std::ptr::from_ref(schema)).copied()
    }
}

impl<'s> Compiler<'s> {
    /// Returns the node that a reference names.
    pub(super) fn refer(&mut self, from: &Queued<'s>, at: PlaceId, target: &'s str) -> Result<NodeId, SchemaError> {
        let (name, fragment) = target.split_once('#').unwrap_or((target, ""));
        let resource = if name.is_empty() {
            from.resource
        } else {
            let name = joined(&self.resources.list[from.resource].0, name);
            let Some(found) = self.resources.list.iter().position(|(id, _)| *id == name) else {
                let target = crate::words::name(target);
                return Err(self.error(
                    at,
                    format!("{target} is in a different document, which is never loaded: put it under `$defs` and refer to it there"),
                ));
            };
            found
        };
        let (mut resource, mut schema, mut place) = (resource, self.resources.list[resource].1, self.places.root());
        if !fragment.is_empty() && !fragment.starts_with('/') {
            match self.resources.anchors.get(&(resource, fragment)) {
                Some(anchored) => schema = anchored,
                None => return Err(self.error(at, nothing_at(target))),
            }
        }
        for token in fragment.strip_prefix('/').into_iter().flat_map(|path| path.split('/')) {
            let token = unescaped(token);
            let inner = match schema {
                Value::Object(members) => members.get(token.as_ref()),
                Value::Array(items) => token.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            schema = inner.ok_or_else(|| self.error(at, nothing_at(target)))?;
            resource = self.resources.at(schema).unwrap_or(resource);
            place = self.places.child(place, token);
        }
        self.enqueue(schema, place, resource)
    }
}

fn nothing_at(target: &str) -> String {
    format!("there is nothing at {}", crate::words::name(target))
}

fn without_fragment(id: &str) -> &str {
    id.split_once('#').map_or(id, |(id, _)| id)
}

/// Decodes a token of a JSON pointer in a fragment: percent signs first, then tildes.
fn unescaped(token: &str) -> Cow<'_, str> {
    if !token.contains(['%', '~']) {
        return Cow::Borrowed(token);
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~"))
}

/// Resolves a reference in the resource with this id. Covers enough of RFC 3986 for names beside each other; a wrong
/// result is not found, and nothing is loaded.
fn joined(base: &str, reference: &str) -> String {
    let absolute = reference.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if absolute || base.is_empty() {
        return reference.to_owned();
    }
    let authority = base.find("://").map_or(0, |at| at + "://".len());
    let folder = match reference.strip_prefix('/') {
        Some(_) => base[authority..].find('/').map_or(base.len(), |at| authority + at),
        None => base[authority..].rfind('/').map_or(base.len(), |at| authority + at + 1),
    };
    format!("{}{reference}", &base[..folder])
}
