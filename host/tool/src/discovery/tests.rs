use super::*;

fn nothing_taken(_: &str) -> bool {
    false
}

fn read_with(printed: &str, is_taken: &dyn Fn(&str) -> bool) -> Result<Vec<Discovered>, DiscoveryError> {
    discovered(printed.as_bytes(), Surroundings { listed_by: "tools list", called_by: "tools call", is_taken })
}

fn names(printed: &Value, is_taken: &dyn Fn(&str) -> bool) -> Result<Vec<(String, String)>, String> {
    let read = read_with(&printed.to_string(), is_taken).map_err(|error| error.to_string())?;
    Ok(read.into_iter().map(|tool| (tool.original, tool.spec.name.to_string())).collect())
}

fn invalid(printed: &Value, words: &str) {
    let error = names(printed, &nothing_taken).expect_err(words);
    assert!(error.contains(words), "{error}");
}

#[test]
fn declarations_stand_bare_or_in_either_wrapper() {
    let one = |name: &str| json!({"name": name});
    let same = |name: &str| (name.to_owned(), name.to_owned());
    for (printed, expected) in [
        (json!([]), vec![]),
        (json!([one("a"), one("b")]), vec![same("a"), same("b")]),
        (json!([{"function_declarations": [one("a"), one("b")]}]), vec![same("a"), same("b")]),
        (
            json!([{"functionDeclarations": [one("a")]}, one("c"), {"functionDeclarations": []}]),
            vec![same("a"), same("c")],
        ),
    ] {
        assert_eq!(names(&printed, &nothing_taken), Ok(expected), "{printed}");
    }
}

#[test]
fn discovery_invalid_list_is_an_error_that_names_the_invalid_entry() {
    for (text, words) in [
        ("", "not JSON"),
        ("[{]", "line 1 column 3"),
        ("{}", "not an array"),
        ("\"[]\"", "not an array"),
        ("[] []", "not JSON"),
        ("[1]", "entry 1"),
        (r#"[{"name":"a"},{"nam":"b"}]"#, "entry 2"),
        (r#"[{"function_declarations":{}}]"#, "entry 1"),
        (r#"[{"name":"a"},{"functionDeclarations":[{"x":1}]}]"#, "entry 2"),
        (r#"[{"functionDeclarations":[{"functionDeclarations":[{"name":"a"}]}]}]"#, "entry 1"),
        (r#"[{"functionDeclarations":[null]}]"#, "entry 1"),
    ] {
        let error = read_with(text, &nothing_taken).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    assert_eq!(read_with("\n[]\n", &nothing_taken), Ok(Vec::new()));
}

#[test]
fn a_name_is_made_to_fit_or_is_an_error() {
    let fits = |name: &str, expected: &str| {
        let read = names(&json!([{"name": name}]), &nothing_taken);
        assert_eq!(read, Ok(vec![(name.to_owned(), expected.to_owned())]));
    };
    fits("get_time", "get_time");
    fits("Get-Time2", "Get-Time2");
    fits("fs.read file", "fs_read_file");
    fits("prüfe", "pr_fe");
    fits("2fa", "discovered_2fa");
    fits("--help", "discovered_--help");
    fits("_x", "discovered__x");
    fits(&"x".repeat(64), &"x".repeat(64));
    for (name, words) in [
        (json!(""), "it is empty"),
        (json!(null), "`null` is not a valid tool name: it is not text"),
        (json!(7), "`7` is not a valid tool name"),
        (json!("a\nb"), "`a\\nb` is not a valid tool name: it has control characters"),
        (json!("a\0b"), "control characters"),
        (json!("x".repeat(65)), "over 64 bytes"),
        (json!("1".repeat(60)), "with `discovered_` before it"),
    ] {
        invalid(&json!([{"name": name}]), words);
    }
}

#[test]
fn a_name_that_is_taken_gets_a_prefix_and_two_of_one_name_are_an_error() {
    let taken = |name: &str| ["ls", "shell", "discovered_shell"].contains(&name);
    let read = names(&json!([{"name": "ls"}, {"name": "l.s"}]), &taken);
    let pair = |original: &str, name: &str| (original.to_owned(), name.to_owned());
    assert_eq!(read, Ok(vec![pair("ls", "discovered_ls"), pair("l.s", "l_s")]));
    assert_eq!(
        names(&json!([{"name": "shell"}]), &taken),
        Err("the names `shell` and `discovered_shell` are both taken by other tools".to_owned())
    );
    invalid(&json!([{"name": "a"}, {"functionDeclarations": [{"name": "a"}]}]), "two tools `a`");
    invalid(&json!([{"name": "a.b"}, {"name": "a_b"}]), "`a.b` and `a_b` would both get the name `a_b`");
    // One tool's own name equals the prefixed name of the other.
    let error = names(&json!([{"name": "discovered_ls"}, {"name": "ls"}]), &taken).expect_err("they are alike");
    assert!(error.contains("would both get the name `discovered_ls`"), "{error}");
}

#[test]
fn discovery_description_explains_the_tool_and_how_it_is_called() {
    let described = |declaration: Value| {
        let tools = read_with(&json!([declaration]).to_string(), &nothing_taken).expect("it is right");
        tools[0].spec.description.clone()
    };
    let text = described(json!({"name": "get.time", "description": "  Tells the time.\n"}));
    assert!(text.starts_with("Tells the time.\n\nThis is a tool of the user's"), "{text}");
    for words in
        ["`tools list`", "`tools call get.time`", "`Stdout:`", "`Stderr:`", "`Error:`", "`Exit Code:`", "`Signal:`"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    for without in
        [json!({"name": "a"}), json!({"name": "a", "description": null}), json!({"name": "a", "description": " "})]
    {
        assert!(described(without).starts_with("The user's own tool `a`."));
    }
    invalid(&json!([{"name": "a", "description": 5}]), "the description of `a`");
    invalid(&json!([{"name": "a", "description": "x".repeat(MAX_DESCRIPTION)}]), "the description of `a`");
}

#[test]
fn parameters_are_a_json_schema_or_one_of_geminis() {
    let schema = |declaration: Value| {
        let tools = read_with(&json!([declaration]).to_string(), &nothing_taken).expect("it is right");
        Value::clone(&tools[0].spec.input_schema)
    };
    let plain = json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    for key in ["parameters", "parametersJsonSchema", "parameters_json_schema"] {
        assert_eq!(schema(json!({"name": "a", key: plain})), plain);
    }
    let large = json!({
        "type": "OBJECT",
        "properties": {"list": {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}}},
        "default": {"type": "OBJECT"},
    });
    let small = json!({
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
        "default": {"type": "OBJECT"},
    });
    assert_eq!(schema(json!({"name": "a", "parameters": large})), small);
    assert_eq!(schema(json!({"name": "a"})), json!({"type": "object"}));
    assert_eq!(schema(json!({"name": "a", "parameters": null})), json!({"type": "object"}));
    assert_eq!(schema(json!({"name": "a", "parameters": {}})), json!({"type": "object"}));
}

#[test]
fn parameters_that_are_no_schema_are_an_error_with_the_tools_name() {
    for (parameters, words) in [
        (json!([]), "the parameters of `a` are not a JSON Schema of an object"),
        (json!("object"), "the parameters of `a`"),
        (json!(true), "the parameters of `a`"),
        (json!({"type": "array"}), "the parameters of `a`"),
        (json!({"type": ["object", "null"]}), "the parameters of `a`"),
        (json!({"properties": {"x": {"type": "strnig"}}}), "invalid parameters of `a`"),
        (json!({"$ref": "https://example.com/x.json"}), "invalid parameters of `a`"),
        (json!({"description": "x".repeat(MAX_SCHEMA)}), "the parameters of `a`"),
    ] {
        invalid(&json!([{"name": "a", "parameters": parameters}]), words);
    }
}

#[test]
fn a_list_is_bounded_in_size_and_number() {
    let many = |count: usize| json!((0..count).map(|number| json!({"name": format!("t{number}")})).collect::<Vec<_>>());
    assert_eq!(names(&many(MAX_TOOLS), &nothing_taken).map(|names| names.len()), Ok(MAX_TOOLS));
    invalid(&many(MAX_TOOLS + 1), "over 128 tools");
    invalid(&json!([{"function_declarations": many(MAX_TOOLS)}, {"name": "x"}]), "over 128 tools");
    let long = " ".repeat(MAX_LIST + 1);
    assert_eq!(read_with(&long, &nothing_taken), Err(DiscoveryError::TooLong { size: MAX_LIST + 1 }));
}

// promise command-tools.list
#[test]
fn no_list_makes_the_reader_panic() {
    let whole = json!([
        {"name": "get.time", "description": "é€🦀", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}},
        {"functionDeclarations": [{"name": "2", "parametersJsonSchema": {"items": [1, {"not": {"type": "NULL"}}]}}]},
    ])
    .to_string();
    let taken = |name: &str| name.len().is_multiple_of(2);
    // Every prefix, every byte left out, and every byte replaced: each is a list, or rejected with an error.
    let bytes = whole.as_bytes();
    let surroundings = Surroundings { listed_by: "l", called_by: "c", is_taken: &taken };
    let mut refused = 0;
    for at in 0..bytes.len() {
        let (before, after) = (&bytes[..at], &bytes[at + 1..]);
        for changed in [
            before.to_vec(),
            [before, after].concat(),
            [before, b"\xff", after].concat(),
            [before, b"[", after].concat(),
            [before, b"\"", after].concat(),
        ] {
            refused +=
                usize::from(discovered(&changed, surroundings).is_err_and(|error| !error.to_string().is_empty()));
        }
    }
    assert!(refused > bytes.len(), "{refused}");
    for deep in ["[", "{\"a\":", "[{\"functionDeclarations\":", "[{\"name\":\"a\",\"parameters\":{\"items\":"] {
        assert!(discovered(deep.repeat(100_000).as_bytes(), surroundings).is_err());
    }
    let nested = "{\"items\":".repeat(120) + "{}" + &"}".repeat(120);
    let list = format!("[{{\"name\":\"a\",\"parameters\":{nested}}}]");
    assert!(discovered(list.as_bytes(), surroundings).is_ok());
}
