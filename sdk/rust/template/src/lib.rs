//! The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use host_sdk::{Failure, data, export_plugin, fs_read, tool};

export_plugin!(word_count::tool());

/// What was counted in a file.
#[data]
struct Counts {
    /// Lines, the last one also where it has no end.
    lines: usize,
    /// Words: runs of the letters a to z.
    words: usize,
    /// Bytes.
    bytes: usize,
    /// The most frequent words in lower case, the most frequent first.
    top: Vec<Frequency>,
}

/// How often one word occurs.
#[data]
struct Frequency {
    /// The word.
    word: String,
    /// How often.
    count: usize,
}

/// Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.
#[tool(
    title = "Count words",
    read_only,
    needs(fs_read = "*", reason = "count the words of the file that the model names"),
    text = in_words
)]
fn word_count(
    /// The text file, relative to the workspace or absolute.
    path: String,
    /// How many of the most frequent words to list.
    #[default = 10]
    top: usize,
) -> Result<Counts, Failure> {
    let text = fs_read::read_text(&path)?;
    let words = || text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let mut frequencies = BTreeMap::<String, usize>::new();
    for word in words() {
        *frequencies.entry(word.to_ascii_lowercase()).or_default() += 1;
    }
    let mut frequencies: Vec<_> = frequencies.into_iter().map(|(word, count)| Frequency { word, count }).collect();
    // The map was in the order of the words, which this keeps among equals.
    frequencies.sort_by_key(|frequency| Reverse(frequency.count));
    frequencies.truncate(top);
    Ok(Counts { lines: text.lines().count(), words: words().count(), bytes: text.len(), top: frequencies })
}

/// What the model reads.
fn in_words(counts: &Counts) -> String {
    let mut text = format!("{} lines, {} words, {} bytes", counts.lines, counts.words, counts.bytes);
    for Frequency { word, count } in &counts.top {
        // A `String` takes all that is written to it.
        let _ = write!(text, "\n{count} {word}");
    }
    text
}

#[cfg(test)]
mod tests {
    use host_sdk::Content;
    use host_sdk::fake::FakeHost;
    use host_sdk::serde_json::{Value, json};

    use super::*;

    fn host() -> FakeHost {
        FakeHost::new().file("poem.txt", "The cat, the dog;\nthe end: a cat").file("image.png", [0x89, 0xff])
    }

    fn called(arguments: Value) -> Result<(String, Value), Failure> {
        let outcome = host().call(&word_count::tool(), arguments)?;
        let [Content::Text(text)] = outcome.content.as_slice() else { panic!("it is one text") };
        let structured = outcome.structured.as_deref().expect("it is structured");
        Ok((text.clone(), structured.parse().expect("it is JSON")))
    }

    #[test]
    fn words_are_counted_and_the_most_frequent_come_first() {
        let (text, counts) = called(json!({"path": "poem.txt", "top": 3})).expect("there is such a file");
        assert_eq!(text, "2 lines, 8 words, 32 bytes\n3 the\n2 cat\n1 a");
        let top = json!([{"word": "the", "count": 3}, {"word": "cat", "count": 2}, {"word": "a", "count": 1}]);
        assert_eq!(counts, json!({"lines": 2, "words": 8, "bytes": 32, "top": top}));
    }

    #[test]
    fn ten_words_are_listed_when_nothing_else_is_said() {
        let (_, counts) = called(json!({"path": "poem.txt"})).expect("there is such a file");
        assert_eq!(counts["top"].as_array().map(Vec::len), Some(5), "it has no more");
        let (_, none) = called(json!({"path": "poem.txt", "top": 0})).expect("there is such a file");
        assert_eq!(none["top"], json!([]));
    }

    #[test]
    fn word_count_that_fails_names_the_reason() {
        assert!(matches!(called(json!({"path": "none.txt"})), Err(Failure::NotFound(_))));
        assert!(matches!(called(json!({"path": "image.png"})), Err(Failure::InvalidArguments(_))));
        assert!(matches!(called(json!({"path": "/etc/passwd"})), Err(Failure::Denied(_))));
    }
}
