//! `host-schema` and the crate `jsonschema` agree on which values are valid.
//!
//! Run it after a change of `host/schema`: `cargo test --manifest-path tests/oracle/Cargo.toml`. `PROPTEST_CASES` sets
//! how many schemas are tried. Deliberately not here: words, limits, `format`, and references to other documents, in
//! which the two differ on purpose.

use host_schema::Schema;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// How many values each schema is tried with.
const VALUES: usize = 12;

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&["a", "b", "ab", "c"][..]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..6i64).prop_map(Value::from),
        prop::sample::select(&[0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 3.75, 1e3][..]).prop_map(Value::from),
        prop::sample::select(&["", "a", "ab", "ä", "1", "a b", "𝄞", "A-1"][..]).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(name(), inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Keywords that hold no schema.
fn assertion() -> BoxedStrategy<(String, Value)> {
    let kind = || prop::sample::select(&["null", "boolean", "integer", "number", "string", "array", "object"][..]);
    let count = |names: &'static [&'static str]| (prop::sample::select(names), 0..4u64);
    let names = || vec(name(), 0..3).prop_map(|mut names| {
        names.sort();
        names.dedup();
        names
    });
    prop_oneof![
        4 => kind().prop_map(|kind| ("type".to_owned(), json!(kind))),
        2 => btree_map(kind(), Just(()), 1..4).prop_map(|kinds| ("type".to_owned(), json!(kinds.into_keys().collect::<Vec<_>>()))),
        1 => vec(value(), 1..4).prop_map(|values| ("enum".to_owned(), Value::from(values))),
        1 => value().prop_map(|value| ("const".to_owned(), value)),
        2 => (prop::sample::select(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"][..]),
              prop::sample::select(&[-1.0, 0.0, 1.0, 1.5, 2.0, 3.0][..])).prop_map(|(name, limit)| (name.to_owned(), json!(limit))),
        1 => prop::sample::select(&[0.5, 1.0, 2.0, 3.0, 0.75][..]).prop_map(|divisor| ("multipleOf".to_owned(), json!(divisor))),
        2 => count(&["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"])
            .prop_map(|(name, count)| (name.to_owned(), json!(count))),
        1 => prop::sample::select(&["^a", "b$", r"^\w$", r"\d", r"^[^\s]+$", ".", r"^[\w-]{2,}$", r"\bb", "^(a|b)*$", r"^\S \S$", r"\p{L}"][..])
            .prop_map(|pattern| ("pattern".to_owned(), json!(pattern))),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems".to_owned(), json!(unique))),
        2 => names().prop_map(|names| ("required".to_owned(), json!(names))),
        1 => btree_map(name(), names(), 0..3).prop_map(|needs| ("dependentRequired".to_owned(), json!(needs))),
        1 => prop::sample::select(&["#/$defs/a", "#/$defs/b", "#tail"][..]).prop_map(|target| ("$ref".to_owned(), json!(target))),
    ]
    .boxed()
}

fn object(keywords: Vec<(String, Value)>) -> Value {
    Value::Object(keywords.into_iter().collect())
}

fn subschema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        6 => vec(assertion(), 0..3).prop_map(object),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let one = prop::sample::select(
            &["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
              "unevaluatedItems", "unevaluatedProperties"][..],
        );
        let several = prop::sample::select(&["allOf", "anyOf", "oneOf", "prefixItems"][..]);
        let applicator = prop_oneof![
            4 => (one, inner.clone()).prop_map(|(keyword, schema)| (keyword.to_owned(), schema)),
            3 => (several, vec(inner.clone(), 1..4)).prop_map(|(keyword, schemas)| (keyword.to_owned(), Value::from(schemas))),
            3 => btree_map(name(), inner.clone(), 0..3).prop_map(|schemas| ("properties".to_owned(), json!(schemas))),
            1 => btree_map(prop::sample::select(&["^a", "b", "c$"][..]), inner.clone(), 0..3)
                .prop_map(|schemas| ("patternProperties".to_owned(), json!(schemas))),
            1 => btree_map(name(), inner, 0..3).prop_map(|schemas| ("dependentSchemas".to_owned(), json!(schemas))),
        ];
        (vec(applicator, 0..4), vec(assertion(), 0..3))
            .prop_map(|(mut keywords, assertions)| {
                keywords.extend(assertions);
                object(keywords)
            })
    })
    .boxed()
}

fn document() -> impl Strategy<Value = Value> {
    (subschema(), subschema(), subschema(), subschema()).prop_map(|(root, a, b, tail)| {
        let mut document = match root {
            Value::Object(members) => members,
            other => Map::from_iter([("not".to_owned(), json!({"not": other}))]),
        };
        let mut tail = match tail {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        tail.insert("$anchor".to_owned(), json!("tail"));
        document.insert("$defs".to_owned(), json!({"a": a, "b": b, "c": tail}));
        Value::Object(document)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_find_the_same_values_valid(schema in document(), values in vec(value(), VALUES)) {
        let ours = match Schema::compile(&schema) {
            Ok(ours) => ours,
            Err(error) => {
                prop_assert!(error.why.contains("refers to itself"), "{}: {}", schema, error);
                return Ok(());
            }
        };
        let theirs = jsonschema::draft202012::options().build(&schema).expect("it is a schema");
        for value in values {
            let answer = ours.check(&value);
            prop_assert_eq!(answer.is_ok(), theirs.is_valid(&value), "{} and {}: {:?}", schema, value, answer);
        }
    }
}
