//! Applies rules to a value.
//!
//! Each application takes a step of a budget: `anyOf` within `anyOf` doubles the work at each level, and a schema of a
//! kilobyte must not make a check take hours. Alternatives are tried without a report; only those of a failed `anyOf`
//! or `oneOf` are tried again for the report. Deliberately not here: the texts of the violations (`violation`).

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::Schema;
use crate::rule::{NodeId, Properties, Rule};

mod equal;
mod evaluated;
mod violation;

use evaluated::Evaluated;

/// How many steps a check may take: a fraction of a second.
const STEPS: u32 = 1_000_000;

/// How deep applications nest: of a reference, an alternative, an item or a member. Protects the stack.
const DEPTH: usize = 200;

/// Returns at most this many violations by a value, in the order of the schema.
pub(crate) fn violations(schema: &Schema, value: &Value, most: usize) -> Vec<String> {
    let mut check = Check { schema, steps: STEPS, cut: None };
    let mut report = Report { lines: Vec::new(), most, more: false };
    check.apply(0, value, &At::ROOT, Some(&mut report), &mut Evaluated::default());
    let Report { mut lines, more, .. } = report;
    if more {
        lines.push(format!("and more violations than the first {most}"));
    }
    lines.extend(check.cut.map(|cut| cut.to_string()));
    lines
}

/// Why a check ended without a result.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Cut {
    #[error("the value cannot be checked: its schema takes more than {STEPS} steps for it")]
    Steps,
    #[error("the value cannot be checked: it and its schema nest deeper than {DEPTH} levels")]
    Depth,
}

/// One check of one value.
struct Check<'s> {
    schema: &'s Schema,
    steps: u32,
    cut: Option<Cut>,
}

/// The violations found so far.
struct Report {
    lines: Vec<String>,
    most: usize,
    more: bool,
}

/// The position of a part in the value.
struct At<'a> {
    outer: Option<(&'a At<'a>, Token<'a>)>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Name(&'a str),
    Index(usize),
    /// The same value, reached through a different subschema.
    Same,
}

impl At<'_> {
    const ROOT: At<'static> = At { outer: None, depth: 0 };

    fn inner<'a>(&'a self, token: Token<'a>) -> At<'a> {
        At { outer: Some((self, token)), depth: self.depth + 1 }
    }
}

impl Check<'_> {
    /// Whether a node accepts a value. Without a report, the check stops at the first violation. What was evaluated is
    /// known only for a value that is accepted.
    fn apply<'v>(
        &mut self,
        node: NodeId,
        value: &'v Value,
        at: &At<'_>,
        mut report: Option<&mut Report>,
        evaluated: &mut Evaluated<'v>,
    ) -> bool {
        if at.depth > DEPTH {
            self.cut.get_or_insert(Cut::Depth);
        }
        if !self.take(1) {
            return false;
        }
        let schema = self.schema;
        let mut own = Evaluated::default();
        let mut valid = true;
        for rule in &schema.nodes[node].rules {
            if !valid && matches!(rule, Rule::UnevaluatedItems(_) | Rule::UnevaluatedProperties(_)) {
                continue;
            }
            valid &= self.rule(rule, value, at, report.as_deref_mut(), &mut own);
            let enough = report.as_deref().is_none_or(|report| report.more);
            if self.cut.is_some() || (!valid && enough) {
                return false;
            }
        }
        if valid && schema.tracks {
            evaluated.merge(own);
        }
        valid
    }

    /// Whether a rule accepts a value. Each group has a function of its own, so that no level of a check takes more of
    /// the stack than its group needs.
    fn rule<'v>(
        &mut self,
        rule: &Rule,
        value: &'v Value,
        at: &At<'_>,
        report: Option<&mut Report>,
        evaluated: &mut Evaluated<'v>,
    ) -> bool {
        match (rule, value) {
            (Rule::Reference(node), _) => self.apply(*node, value, &at.inner(Token::Same), report, evaluated),
            (Rule::AllOf(_) | Rule::AnyOf(_) | Rule::OneOf(_) | Rule::Not(_) | Rule::If { .. }, _) => {
                self.combination(rule, value, at, report, evaluated)
            }
            (_, Value::Array(items)) => self.array(rule, value, items, at, report, evaluated),
            (_, Value::Object(members)) => self.object(rule, value, members, at, report, evaluated),
            _ => self.alone(rule, value, at, report),
        }
    }

    fn combination<'v>(
        &mut self,
        rule: &Rule,
        value: &'v Value,
        at: &At<'_>,
        report: Option<&mut Report>,
        evaluated: &mut Evaluated<'v>,
    ) -> bool {
        let same = at.inner(Token::Same);
        match rule {
            Rule::AllOf(nodes) => {
                self.every(nodes, report, |check, node, report| check.apply(*node, value, &same, report, evaluated))
            }
            Rule::AnyOf(nodes) => {
                let mut valid = false;
                for node in nodes {
                    valid |= self.apply(*node, value, &same, None, evaluated);
                    // Every alternative that accepts the value adds to what is evaluated.
                    if (valid && !self.schema.tracks) || self.cut.is_some() {
                        break;
                    }
                }
                valid || self.fail(report, at, |check| violation::no_alternative(check, "anyOf", nodes, value, &same))
            }
            Rule::OneOf(nodes) => match self.accepting(nodes, value, &same, evaluated)[..] {
                [_] => true,
                [] => self.fail(report, at, |check| violation::no_alternative(check, "oneOf", nodes, value, &same)),
                [first, second, ..] => self.fail(report, at, |_| violation::two_alternatives(value, first, second)),
            },
            Rule::Not(node) => {
                !self.apply(*node, value, &same, None, &mut Evaluated::default())
                    || self.fail(report, at, |_| violation::not(value))
            }
            Rule::If { condition, then, otherwise } => {
                let holds = self.apply(*condition, value, &same, None, evaluated);
                let node = if holds { then } else { otherwise };
                node.is_none_or(|node| self.apply(node, value, &same, report, evaluated))
            }
            _ => true,
        }
    }

    /// Returns the positions of the nodes that accept a value, at most two.
    fn accepting<'v>(
        &mut self,
        nodes: &[NodeId],
        value: &'v Value,
        same: &At<'_>,
        evaluated: &mut Evaluated<'v>,
    ) -> Vec<usize> {
        let mut accepting = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if self.apply(*node, value, same, None, evaluated) {
                accepting.push(index);
            }
            if accepting.len() > 1 || self.cut.is_some() {
                break;
            }
        }
        accepting
    }

    fn array(
        &mut self,
        rule: &Rule,
        value: &Value,
        items: &[Value],
        at: &At<'_>,
        report: Option<&mut Report>,
        evaluated: &mut Evaluated<'_>,
    ) -> bool {
        match rule {
            Rule::Items { prefix, rest } => {
                let applied = if rest.is_some() { items.len() } else { prefix.len().min(items.len()) };
                evaluated.items_before(applied);
                let indices: Vec<usize> = (0..applied).collect();
                self.every(&indices, report, |check, index, report| {
                    let node = prefix.get(*index).copied().or(*rest);
                    node.is_none_or(|node| check.part(node, &items[*index], &at.inner(Token::Index(*index)), report))
                })
            }
            Rule::UnevaluatedItems(node) => {
                let left: Vec<usize> = (0..items.len()).filter(|index| !evaluated.has_item(*index)).collect();
                evaluated.items_before(items.len());
                self.every(&left, report, |check, index, report| {
                    check.part(*node, &items[*index], &at.inner(Token::Index(*index)), report)
                })
            }
            Rule::Contains { node, least, most } => {
                let mut count = 0;
                for (index, item) in items.iter().enumerate() {
                    if self.part(*node, item, &at.inner(Token::Index(index)), None) {
                        count += 1;
                        evaluated.item(index);
                    }
                }
                let fits = count >= *least && most.is_none_or(|most| count <= most);
                fits || self.fail(report, at, |_| violation::contains(count, *least, *most))
            }
            Rule::UniqueItems => {
                let pair = self.equal_items(items);
                pair.is_none_or(|pair| self.fail(report, at, |_| violation::equal_items(pair)))
            }
            _ => self.alone(rule, value, at, report),
        }
    }

    fn object<'v>(
        &mut self,
        rule: &Rule,
        value: &'v Value,
        members: &'v Map<String, Value>,
        at: &At<'_>,
        report: Option<&mut Report>,
        evaluated: &mut Evaluated<'v>,
    ) -> bool {
        match rule {
            Rule::Properties(properties) => {
                let members: Vec<(&'v String, &'v Value)> = members.iter().collect();
                self.every(&members, report, |check, (name, member), report| {
                    check.member(properties, name, member, at, report, evaluated)
                })
            }
            Rule::UnevaluatedProperties(node) => {
                let left: Vec<_> = members.iter().filter(|(name, _)| !evaluated.has_property(name)).collect();
                evaluated.every_property();
                self.every(&left, report, |check, (name, member), report| {
                    check.part(*node, member, &at.inner(Token::Name(name)), report)
                })
            }
            Rule::PropertyNames(node) => {
                let same = at.inner(Token::Same);
                let names: Vec<&String> = members.keys().collect();
                self.every(&names, report, |check, name, report| {
                    let valid = check.part(*node, &Value::String((*name).clone()), &same, None);
                    valid || check.fail(report, at, |check| violation::name(check, *node, name, &same))
                })
            }
            Rule::Required(names) => self.every(names, report, |check, name, report| {
                check.take(1) && (members.contains_key(name) || check.fail(report, at, |_| violation::required(name)))
            }),
            Rule::DependentRequired(needs) => {
                let given = needs.iter().filter(|(name, _)| members.contains_key(*name));
                let pairs: Vec<_> =
                    given.flat_map(|(name, needed)| needed.iter().map(move |needed| (name, needed))).collect();
                self.every(&pairs, report, |check, (name, needed), report| {
                    check.take(1)
                        && (members.contains_key(*needed)
                            || check.fail(report, at, |_| violation::required_by(needed, name)))
                })
            }
            Rule::DependentSchemas(nodes) => {
                let same = at.inner(Token::Same);
                let given: Vec<NodeId> =
                    nodes.iter().filter(|(name, _)| members.contains_key(*name)).map(|(_, node)| *node).collect();
                self.every(&given, report, |check, node, report| check.apply(*node, value, &same, report, evaluated))
            }
            _ => self.alone(rule, value, at, report),
        }
    }

    /// Applies a rule that depends on no other node.
    fn alone(&mut self, rule: &Rule, value: &Value, at: &At<'_>, report: Option<&mut Report>) -> bool {
        self.accepts(rule, value) || self.fail(report, at, |_| violation::describe(rule, value))
    }

    /// Whether such a rule accepts a value. A keyword accepts values of types that it does not concern.
    fn accepts(&mut self, rule: &Rule, value: &Value) -> bool {
        match (rule, value) {
            (Rule::Nothing, _) => false,
            (Rule::Types(types), _) => types.iter().any(|kind| kind.has(value)),
            (Rule::Enum(values), _) => values.iter().any(|one| self.equal(one, value)),
            (Rule::Const(one), _) => self.equal(one, value),
            (Rule::Bound(bound, limit), Value::Number(number)) => bound.accepts(number, limit),
            (Rule::MultipleOf(divisor), Value::Number(number)) => crate::number::is_multiple(number, divisor),
            (Rule::Size(size, limit), _) => {
                self.take(if let Value::String(text) = value { steps_of(text) } else { 0 });
                size.measure(value).is_none_or(|actual| size.accepts(actual, *limit))
            }
            (Rule::Pattern(pattern), Value::String(text)) => {
                // Without steps left nothing is matched, and the check has no result.
                self.take(pattern.steps(text)) && pattern.matches(text)
            }
            _ => true,
        }
    }

    /// Whether the schemas of its object accept a member.
    fn member<'v>(
        &mut self,
        properties: &Properties,
        name: &'v str,
        member: &Value,
        at: &At<'_>,
        mut report: Option<&mut Report>,
        evaluated: &mut Evaluated<'v>,
    ) -> bool {
        let inner = at.inner(Token::Name(name));
        let mut known = false;
        let mut valid = true;
        if let Some(node) = properties.named.get(name) {
            known = true;
            valid &= self.part(*node, member, &inner, report.as_deref_mut());
        }
        for (pattern, node) in &properties.patterns {
            if self.take(pattern.steps(name)) && pattern.matches(name) {
                known = true;
                valid &= self.part(*node, member, &inner, report.as_deref_mut());
            }
        }
        match properties.rest {
            Some(_) if !known && properties.closed => {
                return self.fail(report, at, |_| violation::additional(name, properties));
            }
            Some(node) if !known => valid &= self.part(node, member, &inner, report),
            _ => {}
        }
        if (known || properties.rest.is_some()) && self.schema.tracks {
            evaluated.property(name);
        }
        valid
    }

    /// Whether a node accepts a part of the value.
    fn part(&mut self, node: NodeId, part: &Value, at: &At<'_>, report: Option<&mut Report>) -> bool {
        self.apply(node, part, at, report, &mut Evaluated::default())
    }

    /// Whether each of these is accepted. With a report, all are tried; without one, the first violation ends it.
    fn every<T>(
        &mut self,
        all: &[T],
        mut report: Option<&mut Report>,
        mut accepts: impl FnMut(&mut Self, &T, Option<&mut Report>) -> bool,
    ) -> bool {
        let mut valid = true;
        for one in all {
            valid &= accepts(self, one, report.as_deref_mut());
            let enough = report.as_deref().is_none_or(|report| report.more);
            if self.cut.is_some() || (!valid && enough) {
                return false;
            }
        }
        valid
    }

    /// Adds a violation if there is a report and the check has a result. Returns false.
    fn fail(&mut self, report: Option<&mut Report>, at: &At<'_>, words: impl FnOnce(&mut Self) -> String) -> bool {
        let Some(report) = report else { return false };
        if self.cut.is_some() {
            return false;
        }
        if report.lines.len() == report.most {
            report.more = true;
            return false;
        }
        let words = crate::words::bounded(&words(self));
        report.lines.push(match violation::place(at) {
            place if place.is_empty() => words,
            place => format!("at `{place}`: {words}"),
        });
        false
    }

    /// Takes steps from the budget; returns false once none are left or the check was cut.
    fn take(&mut self, steps: u32) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) => self.steps = left,
            None => _ = self.cut.get_or_insert(Cut::Steps),
        }
        self.cut.is_none()
    }

    /// Returns the positions of two equal items.
    fn equal_items(&mut self, items: &[Value]) -> Option<(usize, usize)> {
        let mut seen: HashSet<String> = HashSet::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = self.canonical(item)?;
            if !seen.insert(key) {
                let first = items[..index].iter().position(|other| self.equal(other, item));
                return first.map(|first| (first, index));
            }
        }
        None
    }
}

/// Returns the steps that reading a text takes.
fn steps_of(text: &str) -> u32 {
    u32::try_from(text.len() / 64).unwrap_or(u32::MAX)
}
