//! What keywords mean, the texts of violations, and that neither side can make a check slow or large.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

/// Far longer than any check takes, however busy the machine is; without a budget these checks would take years.
const SOON: Duration = Duration::from_secs(20);

fn check(schema: Value, valid: &[Value], invalid: &[Value]) {
    let compiled = Schema::compile(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
    for value in valid {
        assert_eq!(compiled.check(value), Ok(()), "{schema} and {value}");
    }
    for value in invalid {
        assert!(compiled.check(value).is_err(), "{schema} and {value}");
    }
}

fn words(schema: Value, value: Value, expected: &str) {
    let answer = Schema::compile(&schema).expect("a good schema").check(&value);
    assert_eq!(answer.expect_err("a violation").to_string(), expected, "{schema} and {value}");
}

fn wrong(schema: Value, at: &str, why: &str) {
    let error = Schema::compile(&schema).expect_err("not a good schema");
    assert_eq!(error.at, at, "{error}");
    assert!(error.why.contains(why), "{error}");
}

#[test]
fn keywords_of_any_value() {
    check(json!(true), &[json!(1), json!({})], &[]);
    check(json!({}), &[json!(1), json!(null)], &[]);
    check(json!(false), &[], &[json!(1), json!(null)]);
    check(json!({"type": "integer"}), &[json!(1), json!(-1.0), json!(1e3)], &[json!(1.5), json!("1"), json!(true)]);
    check(json!({"type": ["string", "null"]}), &[json!(""), json!(null)], &[json!(0), json!([])]);
    check(json!({"type": "object"}), &[json!({})], &[json!([]), json!(null)]);
    check(
        json!({"enum": [1, "a", [1], {"a": 1}]}),
        &[json!(1.0), json!([1.0]), json!({"a": 1.0})],
        &[json!("1"), json!([])],
    );
    check(json!({"const": {"a": [0, false]}}), &[json!({"a": [-0.0, false]})], &[json!({"a": [0, 0]}), json!({})]);
    check(json!({"const": null}), &[json!(null)], &[json!(false)]);
}

#[test]
fn keywords_of_numbers() {
    check(json!({"minimum": 1, "maximum": 2}), &[json!(1), json!(2.0), json!("x")], &[json!(0.9), json!(3)]);
    check(json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}), &[json!(1.5)], &[json!(1), json!(2)]);
    check(json!({"minimum": 1, "exclusiveMinimum": true}), &[json!(2)], &[json!(1)]);
    check(json!({"maximum": 1, "exclusiveMaximum": false}), &[json!(1)], &[json!(2)]);
    check(json!({"multipleOf": 0.01}), &[json!(19.99), json!(0), json!([])], &[json!(0.005)]);
}

#[test]
fn keywords_of_strings() {
    check(
        json!({"minLength": 2, "maxLength": 3.0}),
        &[json!("äö"), json!("𝄞𝄞𝄞"), json!(1)],
        &[json!("ä"), json!("abcd")],
    );
    check(json!({"pattern": "b+"}), &[json!("abc"), json!(1)], &[json!("ac")]);
    check(json!({"format": "date-time", "contentEncoding": "base64"}), &[json!("tomorrow")], &[]);
}

#[test]
fn keywords_of_arrays() {
    check(json!({"minItems": 1, "maxItems": 2}), &[json!([1]), json!({})], &[json!([]), json!([1, 2, 3])]);
    check(json!({"items": {"type": "integer"}}), &[json!([]), json!([1, 2])], &[json!([1, "2"])]);
    check(
        json!({"prefixItems": [{"type": "integer"}], "items": false}),
        &[json!([]), json!([1])],
        &[json!([1, 2]), json!(["a"])],
    );
    check(
        json!({"items": [{"type": "integer"}], "additionalItems": {"type": "string"}}),
        &[json!([1, "a"])],
        &[json!([1, 2])],
    );
    check(json!({"items": {}, "additionalItems": false}), &[json!([1, 2])], &[]);
    check(
        json!({"uniqueItems": true}),
        &[json!([1, "1", [1], true]), json!([{"a": 1, "b": 2}, {"a": 2, "b": 1}])],
        &[json!([1, 1.0])],
    );
    check(
        json!({"uniqueItems": true}),
        &[json!([["a", "b"], ["a\",\"b"]])],
        &[json!([{"a": 1, "b": [2]}, 3, {"b": [2.0], "a": 1}])],
    );
    check(json!({"contains": {"const": 1}}), &[json!([0, 1]), json!(0)], &[json!([]), json!([0])]);
    check(
        json!({"contains": {"const": 1}, "minContains": 2, "maxContains": 3}),
        &[json!([1, 1, 0, 1])],
        &[json!([1]), json!([1, 1, 1, 1])],
    );
    check(json!({"contains": {"const": 1}, "minContains": 0}), &[json!([])], &[]);
}

#[test]
fn keywords_of_objects() {
    check(json!({"minProperties": 1, "maxProperties": 1}), &[json!({"a": 1})], &[json!({}), json!({"a": 1, "b": 2})]);
    check(json!({"required": ["a", "b"]}), &[json!({"a": 1, "b": null}), json!([])], &[json!({"a": 1})]);
    check(
        json!({"properties": {"a": {"type": "integer"}}, "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}),
        &[json!({"a": 1, "xy": "z"}), json!({}), json!(1)],
        &[json!({"a": "1"}), json!({"xy": 1}), json!({"b": 1})],
    );
    check(json!({"additionalProperties": {"type": "integer"}}), &[json!({"a": 1})], &[json!({"a": "1"})]);
    check(
        json!({"properties": {"xa": {"minimum": 5}}, "patternProperties": {"x": {"maximum": 6}}}),
        &[json!({"xa": 5})],
        &[json!({"xa": 7}), json!({"xa": 4})],
    );
    check(json!({"propertyNames": {"maxLength": 2}}), &[json!({"ab": 1})], &[json!({"abc": 1})]);
    check(json!({"dependentRequired": {"a": ["b"]}}), &[json!({"b": 1}), json!({"a": 1, "b": 1})], &[json!({"a": 1})]);
    check(
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        &[json!({}), json!({"a": 1, "b": 1})],
        &[json!({"a": 1})],
    );
    check(
        json!({"dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}),
        &[json!({"c": 1})],
        &[json!({"a": 1}), json!({"b": 1, "c": 1})],
    );
}

#[test]
fn keywords_that_combine() {
    check(json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), &[json!(1)], &[json!(0), json!(3)]);
    check(json!({"anyOf": [{"type": "string"}, {"minimum": 2}]}), &[json!("a"), json!(2)], &[json!(1)]);
    check(json!({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}), &[json!(2), json!(3)], &[json!(1), json!(6)]);
    check(json!({"not": {"type": "string"}}), &[json!(1)], &[json!("a")]);
    check(
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
        &[json!({"a": 1, "b": 1}), json!({"c": 1})],
        &[json!({"a": 1}), json!({"b": 1})],
    );
    check(json!({"then": false}), &[json!(1)], &[]);
}

#[test]
fn keywords_that_take_what_is_left() {
    let schema = json!({
        "properties": {"a": {}},
        "allOf": [{"properties": {"b": {}}}],
        "anyOf": [{"properties": {"c": {"const": 1}}}, {"properties": {"d": {"const": 1}}}],
        "if": {"required": ["e"], "properties": {"e": {"const": 1}}},
        "unevaluatedProperties": false,
    });
    let valid = [json!({"a": 0, "b": 0, "c": 1, "d": 1}), json!({"a": 0, "e": 1}), json!({})];
    check(schema, &valid, &[json!({"e": 2}), json!({"c": 1, "d": 2}), json!({"f": 1})]);
    check(
        json!({"$ref": "#/$defs/a", "unevaluatedProperties": {"type": "integer"}, "$defs": {"a": {"properties": {"a": {}}}}}),
        &[json!({"a": "x", "b": 1})],
        &[json!({"b": "x"})],
    );
    check(
        json!({"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "unevaluatedProperties": false}),
        &[json!({})],
        &[json!({"a": 2})],
    );
    check(
        json!({"prefixItems": [{}], "contains": {"const": 7}, "unevaluatedItems": false}),
        &[json!([1, 7, 7]), json!([7])],
        &[json!([1, 7, 2]), json!([1])],
    );
    check(json!({"allOf": [{"items": {}}], "unevaluatedItems": false}), &[json!([1, 2])], &[]);
}

#[test]
fn references_stay_in_the_document() {
    let tree = json!({
        "$defs": {"node": {"properties": {"children": {"items": {"$ref": "#/$defs/node"}}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/node",
    });
    check(
        tree,
        &[json!({"children": [{"n": 1}, {"children": [{"n": 2}]}]})],
        &[json!({"children": [{"children": [{"n": "2"}]}]})],
    );
    check(
        json!({"definitions": {"a/b ~": {"minimum": 1}}, "$ref": "#/definitions/a~1b%20~0"}),
        &[json!(1)],
        &[json!(0)],
    );
    check(json!({"$defs": {"a": {"$anchor": "here", "minimum": 1}}, "$ref": "#here"}), &[json!(1)], &[json!(0)]);
    check(json!({"anyOf": [{"minimum": 1}, {"$ref": "#/anyOf/0"}]}), &[json!(1)], &[json!(0)]);
    check(
        json!({"properties": {"a": {"$ref": "#"}}, "type": "object"}),
        &[json!({"a": {"a": {}}})],
        &[json!({"a": {"a": 1}})],
    );
    check(
        json!({
            "$id": "https://example.com/root.json",
            "$ref": "part.json#/$defs/x",
            "$defs": {"part": {"$id": "part.json", "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"minimum": 1}}}},
        }),
        &[json!(1)],
        &[json!(0)],
    );
    check(
        json!({"$id": "urn:example:a", "minimum": 1, "properties": {"a": {"$ref": "urn:example:a"}}}),
        &[json!({"a": 1})],
        &[json!({"a": 0})],
    );
    check(
        json!({"properties": {"$ref": {"type": "string"}, "$id": {"type": "integer"}}}),
        &[json!({"$ref": "x"})],
        &[json!({"$ref": 1})],
    );
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"minimum": 1}}, "$ref": "#/definitions/a", "maximum": 0});
    check(old, &[json!(1)], &[json!(0)]);
}

// promise model.schema: A schema cannot fetch, its patterns run in linear time, and no schema makes a check long or
//   deep.
#[test]
fn references_to_other_documents_are_rejected() {
    let passwords = "file:///etc/passwd";
    for target in [
        passwords,
        "http://127.0.0.1:1/x.json",
        "https://example.com/x.json#/a",
        "other.json",
        "/etc/passwd",
        "//example.com/x",
    ] {
        for mut schema in [json!({}), json!({"$id": "https://example.com/root.json"}), json!({"$id": "file:///etc/"})] {
            schema["properties"] = json!({"a": {"$ref": target}});
            wrong(schema, "/properties/a/$ref", "never loaded");
        }
    }
    // A name of a document that does not exist is an annotation, and loads nothing.
    check(json!({"$schema": passwords, "minimum": 1}), &[json!(1)], &[json!(0)]);
    wrong(json!({"$ref": "#/$defs/a"}), "/$ref", "there is nothing at \"#/$defs/a\"");
    wrong(json!({"$ref": "#a"}), "/$ref", "there is nothing at \"#a\"");
    wrong(json!({"$dynamicRef": "#a"}), "/$dynamicRef", "not supported");
}

#[test]
fn references_without_an_end_are_rejected() {
    wrong(json!({"$ref": "#"}), "", "refers to itself");
    wrong(
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
        "/$defs/a",
        "refers to itself",
    );
    wrong(json!({"anyOf": [{"type": "string"}, {"not": {"allOf": [{"$ref": "#"}]}}]}), "", "refers to itself");
    wrong(
        json!({"properties": {"a": {"if": true, "then": {"$ref": "#/properties/a"}}}}),
        "/properties/a",
        "refers to itself",
    );
}

#[test]
fn schema_errors_name_the_place() {
    wrong(json!(1), "", "1 is not a schema");
    wrong(json!({"type": "objekt"}), "/type", "\"objekt\" is not a type: use \"null\", \"boolean\"");
    wrong(json!({"type": []}), "/type", "is not a type");
    wrong(json!({"properties": {"a/b": {"pattern": "(?=x)"}}}), "/properties/a~1b/pattern", "look-around");
    wrong(json!({"patternProperties": {"(": {}}}), "/patternProperties", "unclosed group");
    wrong(json!({"properties": []}), "/properties", "is not an object");
    wrong(json!({"items": [{"minLength": -1}]}), "/items/0/minLength", "-1 is not a whole number from 0");
    wrong(json!({"required": "a"}), "/required", "\"a\" is not a list of names");
    wrong(json!({"required": [1]}), "/required", "is not a list of names");
    wrong(json!({"dependentRequired": {"a": "b"}}), "/dependentRequired/a", "is not a list of names");
    wrong(json!({"anyOf": []}), "/anyOf", "empty");
    wrong(json!({"anyOf": {}}), "/anyOf", "is not an array");
    wrong(json!({"not": "x"}), "/not", "is not a schema");
    wrong(json!({"multipleOf": 0}), "/multipleOf", "is not greater than 0");
    wrong(json!({"minimum": "1"}), "/minimum", "is not a number");
    wrong(json!({"uniqueItems": "yes"}), "/uniqueItems", "is not a boolean");
}

#[test]
fn schema_violations_name_what_was_required() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    words(schema.clone(), json!({}), "\"n\" is a required property");
    words(schema.clone(), json!({"n": "x"}), "at `/n`: \"x\" is not of type \"integer\"");
    words(schema, json!({"n": 1, "m": 2}), "unknown property \"m\"; the properties are \"n\"");
    words(json!({"type": ["string", "null"]}), json!(1), "1 is not of type \"string\" or \"null\"");
    words(json!({"enum": ["a", "b", 3]}), json!("c"), "\"c\" is not one of \"a\", \"b\" or 3");
    words(json!({"const": "a"}), json!("c"), "\"c\" is not \"a\"");
    words(json!({"minimum": 5}), json!(3), "3 is less than the minimum of 5");
    words(json!({"exclusiveMaximum": 5}), json!(5), "5 is not less than 5");
    words(json!({"minLength": 1}), json!(""), "\"\" is shorter than 1 character");
    words(json!({"maxItems": 0}), json!([1]), "[1] has more than 0 items");
    words(json!({"minProperties": 2}), json!({}), "{} has fewer than 2 properties");
    words(json!({"pattern": "^\\d$"}), json!("x"), "\"x\" does not match \"^\\\\d$\"");
    words(json!({"uniqueItems": true}), json!([1, 2, 1]), "the items 0 and 2 are equal, and all have to differ");
    words(json!({"not": {}}), json!(1), "1 is valid under the schema of `not`");
    words(json!({"contains": {"const": 1}}), json!([2]), "0 items match the schema of `contains`, fewer than 1");
    words(
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"a": 1}),
        "\"b\" is a required property if there is \"a\"",
    );
    words(json!({"properties": {"a": false}}), json!({"a": 1}), "at `/a`: no value is allowed here, and this is 1");
    words(
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"ab": 1}),
        "the name of the property \"ab\" is not allowed: \"ab\" is longer than 1 character",
    );
    words(
        json!({"oneOf": [{}, {"type": "integer"}]}),
        json!(1),
        "1 is valid under more than one schema of `oneOf`: numbers 1 and 2",
    );
}

#[test]
fn schema_violations_of_alternatives_name_what_each_lacks() {
    let schema = json!({"properties": {"at": {"anyOf": [{"type": "integer"}, {"properties": {"line": {"type": "integer"}}, "type": "object"}]}}});
    words(
        schema,
        json!({"at": {"line": "3"}}),
        "at `/at`: {\"line\":\"3\"} is not valid under any schema of `anyOf`: (1) at `/at`: {\"line\":\"3\"} is not of type \"integer\"; \
         (2) at `/at/line`: \"3\" is not of type \"integer\"",
    );
}

#[test]
fn violations_are_bounded_in_number_and_length() {
    let schema = json!({"items": {"type": "integer"}});
    let text = Schema::compile(&schema).expect("a good schema").check(&json!(vec!["x".repeat(100_000); 50]));
    let text = text.expect_err("strings are not integers").to_string();
    assert!(text.len() < 3000, "{}", text.len());
    assert!(text.ends_with("and more violations than the first 8"), "{text}");
    let enormous = json!({"enum": vec!["y".repeat(10_000); 1000], "pattern": "z".repeat(10_000)});
    let schema = json!({"anyOf": vec![enormous; 20], "properties": {"x".repeat(10_000): false}});
    let schema = Schema::compile(&schema).expect("a good schema");
    for value in [json!("x".repeat(100_000)), json!({"x".repeat(10_000): 1})] {
        let text = schema.check(&value).expect_err("a violation").to_string();
        assert!(text.len() < 3000, "{}", text.len());
    }
}

// promise model.schema
#[test]
fn check_of_doubling_alternatives_ends_soon() {
    let start = Instant::now();
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let mut schema = json!({"$defs": {"0": {"type": "string"}}, "$ref": "#/$defs/60"});
        for n in 1..=60 {
            let inner = json!({"$ref": format!("#/$defs/{}", n - 1)});
            schema["$defs"][n.to_string()] = json!({keyword: [inner, inner]});
        }
        let text = Schema::compile(&schema).expect("a good schema").check(&json!(1)).expect_err("too much").to_string();
        assert!(text.contains("takes more than 1000000 steps") || keyword == "allOf", "{keyword}: {text}");
    }
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

// promise model.schema
#[test]
fn check_of_large_values_ends_soon() {
    let start = Instant::now();
    let numbers: Vec<Value> = (0..200_000).map(Value::from).collect();
    check(json!({"uniqueItems": true}), &[json!(numbers)], &[]);
    let hostile = json!({"pattern": "(a|b|ab)*[^c]{40}(x|y)+$"});
    _ = Schema::compile(&hostile).expect("a good schema").check(&json!("ab".repeat(1_000_000)));
    let large = json!({"pattern": r"[\p{L}\d]{0,8}[\p{L}x]{0,8}y$"});
    _ = Schema::compile(&large).expect("a good schema").check(&json!("äx".repeat(1_000_000)));
    let list = json!({"items": {"enum": numbers}});
    _ = Schema::compile(&list).expect("a good schema").check(&json!(vec![-1; 200_000]));
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

// promise model.schema
#[test]
fn check_of_deep_values_does_not_overflow_the_stack() {
    let tree = json!({
        "$defs": {"t": {"anyOf": [{"type": "integer"}, {"items": {"allOf": [{"$ref": "#/$defs/t"}]}}]}},
        "$ref": "#/$defs/t",
    });
    let schema = Schema::compile(&tree).expect("a good schema");
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert_eq!(schema.check(&nested(30)), Ok(()));
    // The stack of a worker of the runtime; without optimisation each call takes several times as much of it.
    let worker = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let deep = worker.spawn(move || schema.check(&nested(1000)).expect_err("too deep"));
    let text = deep.expect("a thread").join().expect("no overflow").to_string();
    assert!(text.contains("nest deeper than"), "{text}");
}

// promise model.schema
#[test]
fn schema_of_any_depth_and_size_is_compiled_or_rejected() {
    let member = |name: &str, inner| Value::Object([(name.to_owned(), inner)].into_iter().collect());
    let deep = (0..5000).fold(json!(true), |inner, _| member("not", member("items", inner)));
    let schema = Schema::compile(&deep).expect("a good schema");
    assert!(schema.check(&json!([])).is_err());
    // Dropping a value takes a call for each level.
    std::mem::forget(deep);
    let wide = json!({"anyOf": vec![json!({}); 30_000]});
    wrong(wide, "/anyOf/19999", "more than 20000 subschemas");
    let patterns: serde_json::Map<String, Value> = (0..600).map(|n| (format!("^{n}$"), json!({}))).collect();
    wrong(json!({"patternProperties": patterns}), "/patternProperties", "more than 500 patterns");
    wrong(json!({"pattern": "(((a{100}){100}){100})"}), "/pattern", "too large");
}
