//! JSON Schemas and values.

use host_schema::Schema;
use serde_json::Value;

/// The most bytes that an answer about one value may have.
const LONGEST_ANSWER: usize = 64 << 10;

/// The first JSON value is a schema, the others are checked with it. Compiling and checking end, the same each time,
/// with an answer of bounded length. Without a bound on the work, libFuzzer's own limit on time ends the run.
pub fn schema(data: &[u8]) {
    let mut values = serde_json::Deserializer::from_slice(data).into_iter::<Value>().map_while(Result::ok);
    let Some(first) = values.next() else { return };
    let schema = match Schema::compile(&first) {
        Ok(schema) => schema,
        Err(error) => {
            assert!(error.to_string().len() <= LONGEST_ANSWER + data.len(), "{error}");
            return;
        }
    };
    for value in values.take(8) {
        let answer = schema.check(&value);
        assert_eq!(answer, schema.check(&value), "{first} and {value}");
        if let Err(violations) = answer {
            let words = violations.to_string();
            assert!(!words.is_empty() && words.len() <= LONGEST_ANSWER, "{first} and {value}: {words}");
        }
    }
}
