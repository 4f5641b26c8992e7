//! Calls in texts of all kinds, whole and cut anywhere.

use proptest::prelude::*;

use super::*;

/// Returns the elements of the pieces: text joined, calls as `<name arguments>`, `<!>` for one that cannot be read.
fn found<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut reading = Reading::default();
    let mut all: Vec<Found> = pieces.into_iter().flat_map(|piece| reading.push(piece)).collect();
    all.extend(reading.end());
    let shown = all.into_iter().map(|found| match found {
        Found::Text(text) => text,
        Found::Call(call) => format!("<{} {}>", call.name, Value::Object(call.arguments)),
        Found::Malformed(_) => "<!>".to_owned(),
    });
    shown.collect()
}

#[test]
fn calls_are_found_and_nothing_else_is() {
    let check = |text: &str, expected: &str| {
        assert_eq!(found([text]), expected, "{text:?}");
        assert_eq!(found(text.split_inclusive(|_: char| true)), expected, "letter by letter: {text:?}");
    };
    check("", "");
    check("größe 😀\n", "größe 😀\n");
    check("```tool_call\n{\"name\":\"ls\",\"arguments\":{\"path\":\".\"}}\n```\n", "<ls {\"path\":\".\"}>");
    check("```tool_call\n{\"name\":\"ls\"}\n```", "<ls {}>");
    check("```tool_call\n{\"name\":\"ls\",\"arguments\":null}\n```", "<ls {}>");
    check("```tool_call\r\n{\"name\":\"ls\"}\r\n```\r\nx", "<ls {}>x");
    check("I look.\n\n```tool_call\n{\n  \"name\": \"ls\"\n}\n```\nthen\n", "I look.\n\n<ls {}>then\n");
    check("  ```` tool_call \n{\"name\":\"ls\"}\n ````` \n", "<ls {}>");
    check("```tool_call\n{\"name\":\"a\"}\n```\n\n```tool_call\n{\"name\":\"b\"}\n```", "<a {}>\n<b {}>");
    check("```tool_call\n{\"name\":\"a\",\"arguments\":{\"t\":\"\\n```\\n\"}}\n```", "<a {\"t\":\"\\n```\\n\"}>");
    // The block of the last call needs no end.
    check("```tool_call\n{\"name\":\"ls\"}\n", "<ls {}>");
    check("```tool_call\n{\"name\":\"ls\"}", "<ls {}>");
}

#[test]
fn text_mode_what_is_not_quite_a_call_is_text() {
    let check = |text: &str| {
        assert_eq!(found([text]), text, "{text:?}");
        assert_eq!(found(text.split_inclusive(|_: char| true)), text, "letter by letter: {text:?}");
    };
    check("Say ```tool_call\n{\"name\":\"ls\"}\n```\n");
    check("    ```tool_call\n{\"name\":\"ls\"}\n");
    check("``tool_call\n{\"name\":\"ls\"}\n``\n");
    check("~~~tool_call\n{\"name\":\"ls\"}\n~~~\n");
    check("```tool_calls\n{\"name\":\"ls\"}\n```\n");
    check("```json\n{\"name\":\"ls\"}\n```\n");
    check("```tool_call``` is how\n");
    check("````markdown\n```tool_call\n{\"name\":\"ls\"}\n```\n````\n");
    check("~~~\n```tool_call\n{\"name\":\"ls\"}\n```\n~~~\n");
    check("```rust\nfn a() {}\n```tool_call\n{}\n");
    check("> ```tool_call\n> {}\n");
    check("`");
    check("  ``");
    check("```");
    check("```tool");
}

#[test]
fn text_mode_unreadable_call_is_reported_and_not_shown() {
    let check = |body: &str| assert_eq!(found(["a\n```tool_call\n", body, "\n```\nb"]), "a\n<!>b", "{body:?}");
    check("");
    check("ls .");
    check("[]");
    check("{\"arguments\":{}}");
    check("{\"name\":\"\"}");
    check("{\"name\":7}");
    check("{\"name\":\"ls\",\"arguments\":[]}");
    check("{\"name\":\"ls\",\"arguments\":\"{}\"}");
    check("{\"name\":\"ls\",\"parameters\":{}}");
    check("{\"name\":\"ls\"} {\"name\":\"ls\"}");
    assert_eq!(found(["```tool_call"]), "<!>");
    assert_eq!(found(["```tool_call\n{\"name\":\"l"]), "<!>");
}

#[test]
fn text_is_shown_as_soon_as_it_can_be_no_call() {
    let mut reading = Reading::default();
    let mut check = |piece: &str, shown: &str| {
        let expected: Vec<Found> = (!shown.is_empty()).then(|| Found::Text(shown.to_owned())).into_iter().collect();
        assert_eq!(reading.push(piece), expected, "{piece:?}");
    };
    check("I lo", "I lo");
    check("ok.\n", "ok.\n");
    check("``", "");
    check("`", "");
    check("ru", "```ru");
    check("st\n", "st\n");
    check("``", "``");
    check("`\n", "`\n");
    check(" ", "");
    check("x `", " x `");
    check("``tool_call\n", "``tool_call\n");
    check("```tool_call\n", "");
    check("{\"name\"", "");
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_parts(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "```", "````", "~~~", "tool_call", "\n", "\n", "\r\n", " ", "    ", "{\"name\":\"ls\"}", "json", "x", "ü", "`",
                "```tool_call\n", "{\"name\":\"ls\",\"arguments\":{\"a\":1}}\n```\n", "{", "😀",
            ]),
            0..16,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let text = words.concat();
        let mut at: Vec<usize> =
            cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|at| text.is_char_boundary(*at)).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        let pieces: Vec<&str> = at.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        prop_assert_eq!(found(pieces), found([text.as_str()]));
    }

    #[test]
    fn no_text_is_too_strange(pieces in prop::collection::vec(".{0,12}", 0..8)) {
        let whole = pieces.concat();
        prop_assert_eq!(found(pieces.iter().map(String::as_str)), found([whole.as_str()]));
    }
}
