//! Each rule, by the change it reports between two manifests.

use serde_json::{Value, json};

use super::*;
use crate::manifest::Source;

fn manifest(edit: impl FnOnce(&mut Value)) -> Manifest {
    let mut manifest = json!({
        "manifest": 1, "name": "acme/fetch", "version": "1.2.3", "license": "MIT", "contract": "0.1.0",
        "capabilities": {"http": {"scope": "example.com", "reason": "to fetch"}},
        "tools": [{
            "name": "fetch", "description": "Fetches.", "capabilities": ["http"],
            "input_schema": {
                "type": "object", "additionalProperties": false, "required": ["url"],
                "properties": {"url": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "most": {"type": "integer"}},
            },
            "output_schema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
            "annotations": {"read_only": true, "destructive": false, "idempotent": true, "open_world": true},
        }],
    });
    edit(&mut manifest);
    Manifest::parse(&manifest.to_string(), Source::BuiltIn("test")).expect("it is one")
}

/// Checks the one change that an edit causes.
fn check(edit: impl FnOnce(&mut Value), weight: Weight, what: &str) {
    let changes = Changes::between(&manifest(|_| {}), &manifest(edit));
    let found: Vec<_> = changes.iter().map(|change| (change.weight, change.what.as_str())).collect();
    assert_eq!(found, [(weight, what)]);
}

fn input(edit: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Value) {
    |manifest| edit(&mut manifest["tools"][0]["input_schema"])
}

fn output(edit: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Value) {
    |manifest| edit(&mut manifest["tools"][0]["output_schema"])
}

#[test]
fn changes_of_requests_are_weighed_by_what_they_take_from_the_user() {
    use Weight::{Addition, Breaking, Fix};
    let state = json!({"scope": "*", "reason": "to keep"});
    check(|it| it["capabilities"]["state"] = state, Breaking, "it asks for `state` = `*`: to keep");
    check(
        |it| it["capabilities"]["http"]["scope"] = json!("*"),
        Breaking,
        "it asks for more `http`: `*` instead of `example.com`",
    );
    check(
        |it| it["capabilities"]["http"]["scope"] = json!("GET example.com"),
        Addition,
        "it asks for less `http`: `GET example.com` instead of `example.com`",
    );
    check(
        |it| it["capabilities"]["http"]["scope"] = json!("other.com"),
        Breaking,
        "it asks for more `http`: `other.com` instead of `example.com`",
    );
    check(|it| it["license"] = json!("ISC"), Fix, "its licence is `ISC` instead of `MIT`");
    check(|it| it["contract"] = json!("0.0.9"), Addition, "it needs a host with contract 0.0.9 instead of 0.1.0");
    check(|it| it["name"] = json!("acme/get"), Breaking, "the plugin `acme/fetch` is called `acme/get`");
    let changes = Changes::between(
        &manifest(|_| {}),
        &manifest(|it| {
            it["capabilities"] = json!({});
            it["tools"][0]["capabilities"] = json!([]);
        }),
    );
    assert!(changes.iter().count() == 2 && changes.weight() == Addition, "{changes:?}");
}

#[test]
fn tools_come_and_go() {
    let two = |it: &mut Value| {
        let mut other = it["tools"][0].clone();
        other["name"] = json!("post");
        it["tools"].as_array_mut().expect("a list").push(other);
    };
    check(two, Weight::Addition, "the tool `post` is new");
    let gone = Changes::between(&manifest(two), &manifest(|_| {}));
    assert_eq!(gone.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), ["the tool `post` is gone"]);
    assert_eq!(gone.weight(), Weight::Breaking);
    check(|it| it["tools"][0]["description"] = json!("Gets."), Weight::Fix, "`fetch` is described in other words");
    check(
        |it| it["tools"][0]["annotations"]["read_only"] = json!(false),
        Weight::Breaking,
        "`fetch` does not say any more that it only reads",
    );
    check(
        |it| it["tools"][0]["annotations"]["destructive"] = json!(true),
        Weight::Breaking,
        "`fetch` says that it can lose something",
    );
    check(
        |it| it["tools"][0]["annotations"]["open_world"] = json!(false),
        Weight::Addition,
        "`fetch` does not say any more that it communicates with something outside this machine",
    );
}

#[test]
fn arguments_may_be_fewer_and_freer() {
    use Weight::{Addition, Breaking, Fix};
    check(input(|it| it["properties"]["more"] = json!({})), Addition, "`fetch`, arguments: `more` is new");
    check(
        input(|it| {
            it["properties"]["more"] = json!({});
            it["required"] = json!(["url", "more"]);
        }),
        Breaking,
        "`fetch`, arguments: `more` is new and required",
    );
    check(input(|it| it["required"] = json!(["url", "most"])), Breaking, "`fetch`, arguments: `most` is required");
    check(input(|it| it["required"] = json!([])), Addition, "`fetch`, arguments: `url` is not required any more");
    check(
        input(|it| drop(it["properties"].as_object_mut().map(|it| it.remove("most")))),
        Breaking,
        "`fetch`, arguments: `most` is gone",
    );
    check(
        input(|it| it["properties"]["most"]["type"] = json!("number")),
        Addition,
        "`fetch`, arguments: `most` is number instead of integer",
    );
    check(
        input(|it| it["properties"]["most"]["type"] = json!("string")),
        Breaking,
        "`fetch`, arguments: `most` is string instead of integer",
    );
    check(
        input(|it| it["properties"]["url"]["type"] = json!(["string", "null"])),
        Addition,
        "`fetch`, arguments: `url` is null or string instead of string",
    );
    check(
        input(|it| it["properties"]["kind"]["enum"] = json!(["a"])),
        Breaking,
        "`fetch`, arguments: `kind` cannot be \"b\" any more",
    );
    check(
        input(|it| it["properties"]["kind"]["enum"] = json!(["a", "b", "c"])),
        Addition,
        "`fetch`, arguments: `kind` can be \"c\"",
    );
    check(
        input(|it| it["properties"]["url"]["pattern"] = json!("^https:")),
        Breaking,
        "`fetch`, arguments: `url` has a different `pattern`",
    );
    check(
        input(|it| it["properties"]["url"]["description"] = json!("Where.")),
        Fix,
        "`fetch`, arguments: `url` has a different `description`",
    );
    check(
        input(|it| it["additionalProperties"] = json!(true)),
        Addition,
        "`fetch`, arguments: all of it can have other properties",
    );
}

#[test]
fn results_may_be_more_and_surer() {
    use Weight::{Addition, Breaking};
    check(output(|it| it["properties"]["more"] = json!({})), Addition, "`fetch`, result: `more` is new");
    check(output(|it| it["required"] = json!([])), Breaking, "`fetch`, result: `text` is not required any more");
    check(
        output(|it| drop(it["properties"].as_object_mut().map(|it| it.remove("text")))),
        Breaking,
        "`fetch`, result: `text` is gone",
    );
    check(
        output(|it| it["properties"]["text"]["type"] = json!(["string", "null"])),
        Breaking,
        "`fetch`, result: `text` is null or string instead of string",
    );
    check(
        output(|it| it["properties"]["text"]["enum"] = json!(["a"])),
        Addition,
        "`fetch`, result: `text` is one of a list",
    );
    check(|it| it["tools"][0]["output_schema"] = Value::Null, Breaking, "`fetch` has no output schema any more");
}

#[test]
fn changes_in_an_endlessly_nested_schema_are_breaking_and_the_search_ends() {
    let deep = |leaf: Value| (0..200).fold(leaf, |inner, _| json!({"type": "array", "items": inner}));
    let changed = schema::taken(&deep(json!({"type": "string"})), &deep(json!({"type": "integer"})));
    assert!(
        matches!(changed.as_slice(), [(Weight::Breaking, what)] if what.contains("has a different schema")),
        "{changed:?}"
    );
}

#[test]
fn changes_need_a_version_number_that_reflects_them() {
    use Weight::{Addition, Breaking, Fix};
    for (old, weight, lowest) in [
        ("1.2.3", Fix, "1.2.4"),
        ("1.2.3", Addition, "1.3.0"),
        ("1.2.3", Breaking, "2.0.0"),
        ("0.2.3", Fix, "0.2.4"),
        ("0.2.3", Addition, "0.2.4"),
        ("0.2.3", Breaking, "0.3.0"),
        ("0.0.3", Breaking, "0.0.4"),
        ("2.0.0-rc.1", Breaking, "2.0.0"),
    ] {
        let version = |text: &str| text.parse::<Version>().expect("a version");
        let changes = Changes(vec![Change { weight, what: String::new() }]);
        assert_eq!(next(&version(old), weight), version(lowest), "{old} {weight}");
        assert_eq!(changes.verdict(&version(old), &version(lowest)), VersionVerdict::Enough);
        let same = changes.verdict(&version(old), &version(old));
        assert_eq!(same, VersionVerdict::TooLow { needed: version(lowest) });
    }
}

#[test]
fn changes_of_settings_are_weighed_by_what_they_take_from_the_user() {
    use Weight::{Addition, Breaking, Fix};
    let with = |edit: &dyn Fn(&mut Value)| {
        manifest(|it| {
            it["capabilities"]["http"]["scope"] = json!("*");
            it["config"] = json!({"region": {"description": "Which.", "default": "eu"}});
            it["secrets"] = json!({"token": {"description": "A token.", "servers": ["a.example", "b.example"]}});
            edit(it);
        })
    };
    let check = |edit: &dyn Fn(&mut Value), weight: Weight, what: &str| {
        let changes = Changes::between(&with(&|_| {}), &with(edit));
        let found: Vec<_> = changes.iter().map(|change| (change.weight, change.what.as_str())).collect();
        assert_eq!(found, [(weight, what)]);
    };
    let key = |required: bool| json!({"description": "Another.", "required": required});
    check(&|it| it["config"]["most"] = key(false), Addition, "`most` can be set in its configuration");
    check(&|it| it["config"]["most"] = key(true), Breaking, "`most` has to be set in its configuration");
    check(&|it| it["config"] = json!({}), Breaking, "`region` cannot be set in its configuration any more");
    check(
        &|it| it["config"]["region"]["default"] = json!("us"),
        Breaking,
        "`region` of its configuration has a different default",
    );
    check(
        &|it| it["config"]["region"]["description"] = json!("Where."),
        Fix,
        "`region` of its configuration is described in other words",
    );
    let servers = |servers: &[&str]| json!(servers);
    check(
        &|it| it["secrets"]["token"]["servers"] = servers(&["a.example", "b.example", "c.example"]),
        Breaking,
        "it sends the secret `token` to a.example, b.example, c.example instead of a.example, b.example",
    );
    check(
        &|it| it["secrets"]["token"]["servers"] = servers(&["a.example"]),
        Addition,
        "it sends the secret `token` to a.example alone",
    );
    check(
        &|it| it["secrets"]["token"]["format"] = json!("token {}"),
        Breaking,
        "it sends the secret `token` as `authorization: token {}`",
    );
    check(
        &|it| it["secrets"]["token"]["optional"] = json!(true),
        Addition,
        "the secret `token` need not be given any more",
    );
    check(&|it| it["secrets"] = json!({}), Breaking, "the secret `token` is not taken any more");
    let other = json!({"description": "Another.", "servers": ["a.example"], "optional": true});
    check(
        &|it| it["secrets"]["other"] = other.clone(),
        Addition,
        "the secret `other` can be given, which it sends to a.example",
    );
}
