//! JSON Schemas of Rust types, as a model is shown them.
//!
//! Draft 2020-12, and no more of it than tells a model something: no `$schema`, no name of the Rust type, no `$defs`
//! (providers know little of references), no formats of numbers, which are Rust's own. Built only for the definition of a
//! tool, never in a call.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of a tool's arguments: an object that takes no other field.
pub(crate) fn of_arguments<A: JsonSchema>() -> String {
    let mut schema = made::<A>(settings().for_deserialize());
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        schema.ensure_object().entry("additionalProperties").or_insert(Value::Bool(false));
    }
    text(&schema)
}

/// The schema of a structured result.
pub(crate) fn of_result<T: JsonSchema>() -> String {
    text(&made::<T>(settings().for_serialize()))
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.transforms.push(Box::new(RecursiveTransform(bare)));
    })
}

fn made<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema
}

/// Takes away the formats of numbers (`uint64`, `double`): JSON Schema knows none of them, and some providers refuse what
/// they do not know.
fn bare(schema: &mut Schema) {
    let a_number =
        |format: &str| matches!(format, "float" | "double") || format.starts_with("int") || format.starts_with("uint");
    if schema.get("format").and_then(Value::as_str).is_some_and(a_number) {
        schema.remove("format");
    }
}

fn text(schema: &Schema) -> String {
    schema.as_value().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn read(schema: &str) -> Value {
        serde_json::from_str(schema).expect("a schema is JSON")
    }

    #[test]
    fn schema_contains_no_more_than_a_model_needs() {
        for (schema, expected) in [
            (of_result::<u64>(), json!({"type": "integer", "minimum": 0})),
            (of_result::<f64>(), json!({"type": "number"})),
            (of_result::<Vec<String>>(), json!({"type": "array", "items": {"type": "string"}})),
            (of_result::<Option<bool>>(), json!({"type": ["boolean", "null"]})),
        ] {
            assert_eq!(read(&schema), expected);
        }
    }

    #[test]
    fn arguments_take_no_other_field_and_a_map_takes_any() {
        let map = read(&of_arguments::<BTreeMap<String, u8>>());
        assert_eq!(map["additionalProperties"]["type"], "integer", "{map}");
        let nothing = read(&of_arguments::<Nothing>());
        assert_eq!((&nothing["type"], &nothing["additionalProperties"]), (&json!("object"), &json!(false)));
    }

    #[test]
    fn schema_of_a_nested_type_is_written_where_it_is_used() {
        let outer = read(&of_arguments::<Outer>());
        assert_eq!(outer["properties"]["inner"]["properties"]["size"]["type"], "integer", "{outer}");
        assert!(outer.get("$defs").is_none(), "{outer}");
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Outer {
        inner: Inner,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        size: u8,
    }

    #[derive(JsonSchema)]
    struct Nothing {}
}
