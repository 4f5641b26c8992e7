//! The template that a new plugin begins with: its own tests, and that its files agree with each other.

#[path = "../template/src/lib.rs"]
#[allow(unreachable_pub)]
mod template;

const CARGO: &str = include_str!("../template/Cargo.toml");
const MANIFEST: &str = include_str!("../template/plugin.toml");
const SOURCE: &str = include_str!("../template/src/lib.rs");

#[test]
fn its_manifest_asks_for_what_its_tool_needs() {
    let tools = template::tools();
    let [tool] = tools.as_slice() else { panic!("it is one tool") };
    let definition = tool.definition();
    assert_eq!((definition.name.as_str(), definition.title.as_deref()), ("word_count", Some("Count words")));
    let [need] = definition.capabilities.as_slice() else { panic!("it needs one capability") };
    for line in [
        format!("[capabilities.{}]", need.name),
        format!("scope = {:?}", need.scope),
        format!("reason = {:?}", need.reason),
    ] {
        assert!(MANIFEST.lines().any(|written| written == line), "{line}");
    }
    assert_eq!(MANIFEST.matches("[capabilities.").count(), 1);
}

#[test]
fn sdk_template_fills_in_only_its_name_and_where_the_sdk_is() {
    assert!(CARGO.contains("name = \"{{name}}\"\n") && CARGO.contains("host-sdk = {{sdk}}\n"));
    assert!(MANIFEST.starts_with("name = \"{{name}}\"\n"));
    for (file, places) in [(CARGO, 2), (MANIFEST, 1), (SOURCE, 0)] {
        assert_eq!(file.matches("{{").count(), places, "{file}");
    }
    let version = |text: &str| text.lines().find(|line| line.starts_with("version")).map(str::to_owned);
    assert_eq!(version(CARGO), version(MANIFEST));
}
