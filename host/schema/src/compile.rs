//! Compiles JSON to rules, with a queue of subschemas, so that a nested schema causes no nested calls here.
//!
//! A subschema is identified by its address in the document, so it is compiled once, however many references lead to
//! it. Deliberately not here: what each keyword means (`keyword`).

use std::collections::HashMap;

use serde_json::Value;

use crate::SchemaError;
use crate::pattern::Patterns;
use crate::rule::{Node, NodeId, Rule};

mod keyword;
mod place;
mod reference;

use place::{PlaceId, Places};
use reference::{ResourceId, Resources};

/// The most subschemas of a schema. Protects memory: each takes a few hundred bytes.
const SUBSCHEMAS: usize = 20_000;

/// Compiles a schema, and returns whether a keyword needs to know what its neighbours left unevaluated.
pub(crate) fn compile(document: &Value) -> Result<(Vec<Node>, bool), SchemaError> {
    let mut compiler = Compiler {
        ignores_neighbours: ignores_neighbours(document),
        resources: Resources::new(document),
        places: Places::default(),
        patterns: Patterns::default(),
        ids: HashMap::new(),
        queue: Vec::new(),
    };
    compiler.enqueue(document, compiler.places.root(), compiler.resources.root())?;
    let mut nodes: Vec<Node> = Vec::new();
    let mut tracks = false;
    while let Some(&queued) = compiler.queue.get(nodes.len()) {
        let node = keyword::node(&mut compiler, &queued)?;
        tracks |=
            node.rules.iter().any(|rule| matches!(rule, Rule::UnevaluatedItems(_) | Rule::UnevaluatedProperties(_)));
        nodes.push(node);
    }
    if let Some(id) = on_a_circle(&nodes) {
        return Err(compiler.error(compiler.queue[id].place, "it refers to itself without an end"));
    }
    Ok((nodes, tracks))
}

/// The compiled nodes and the queue.
struct Compiler<'s> {
    ignores_neighbours: bool,
    resources: Resources<'s>,
    places: Places<'s>,
    patterns: Patterns,
    ids: HashMap<*const Value, NodeId>,
    queue: Vec<Queued<'s>>,
}

/// A subschema that has an index; its node is compiled later.
#[derive(Clone, Copy)]
struct Queued<'s> {
    schema: &'s Value,
    place: PlaceId,
    resource: ResourceId,
}

impl<'s> Compiler<'s> {
    /// Returns the index of a subschema; its node exists once the queue is empty.
    fn enqueue(&mut self, schema: &'s Value, place: PlaceId, resource: ResourceId) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.ids.get(&std::ptr::from_ref(schema)) {
            return Ok(*id);
        }
        if self.queue.len() == SUBSCHEMAS {
            return Err(self.error(place, format!("it is one of more than {SUBSCHEMAS} subschemas")));
        }
        let id = self.queue.len();
        let resource = self.resources.at(schema).unwrap_or(resource);
        self.queue.push(Queued { schema, place, resource });
        self.ids.insert(std::ptr::from_ref(schema), id);
        Ok(id)
    }

    fn error(&self, place: PlaceId, why: impl Into<String>) -> SchemaError {
        SchemaError { at: self.places.pointer(place), why: crate::words::bounded(&why.into()) }
    }
}

/// Whether `$ref` hides the keywords beside it in this draft.
fn ignores_neighbours(document: &Value) -> bool {
    let draft = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
    ["draft-03", "draft-04", "draft-05", "draft-06", "draft-07"].iter().any(|old| draft.contains(old))
}

/// Returns a node that applies itself to the same value again.
fn on_a_circle(nodes: &[Node]) -> Option<NodeId> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    for start in 0..nodes.len() {
        if states[start] != State::New {
            continue;
        }
        let next = |id: NodeId| nodes[id].rules.iter().flat_map(Rule::in_place).collect::<Vec<_>>();
        states[start] = State::Open;
        let mut path = vec![(start, next(start))];
        while let Some((id, waiting)) = path.last_mut() {
            match waiting.pop() {
                None => {
                    states[*id] = State::Done;
                    path.pop();
                }
                Some(child) => match states[child] {
                    State::Open => return Some(child),
                    State::Done => {}
                    State::New => {
                        states[child] = State::Open;
                        path.push((child, next(child)));
                    }
                },
            }
        }
    }
    None
}
