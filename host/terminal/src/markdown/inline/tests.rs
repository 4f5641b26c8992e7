//! What a text is, what of it can still change, and that CommonMark's own reader agrees.

use proptest::prelude::*;
use pulldown_cmark::{Event as Oracle, Options, Parser as Reader, Tag, TagEnd};

use super::*;

/// The text with its marks: `*e*`, `**s**`, `~~d~~`, `` `c` ``, `<address>`, `[text](address)`.
fn marked(inline: &Inline) -> String {
    let kind = |kind: &Kind| match kind {
        Kind::Emphasis => "e",
        Kind::Strong => "s",
        Kind::Strike => "d",
    };
    let shown = |event: &Event| match event {
        Event::Text(text) => text.clone(),
        Event::Code(code) => format!("‹c {code}›"),
        Event::Address(address) => format!("‹{address}›"),
        Event::Begin(begin) => format!("‹{} ", kind(begin)),
        Event::End(_) => "›".to_owned(),
        Event::LinkBegins { image: true } => "‹image ".to_owned(),
        Event::LinkBegins { image: false } => "‹link ".to_owned(),
        Event::LinkEnds { address } => format!(" to {address}›"),
        Event::Break => "⏎".to_owned(),
    };
    inline.events.iter().map(shown).collect()
}

#[test]
fn inline_elements_are_what_commonmark_has() {
    for (text, expected) in [
        ("plain", "plain"),
        ("*a* **b** ***c*** _d_ __e__", "‹e a› ‹s b› ‹e ‹s c›› ‹e d› ‹s e›"),
        ("~~gone~~ and ~5 to ~6", "‹d gone› and ~5 to ~6"),
        ("**bold *and* more**", "‹s bold ‹e and› more›"),
        ("2 * 3 * 4, a * b, x__init__.py, snake_case_name", "2 * 3 * 4, a * b, x__init__.py, snake_case_name"),
        ("a**b**c", "a‹s b›c"),
        ("**not closed", "**not closed"),
        ("`a*b*` ``c`d`` `e", "‹c a*b*› ‹c c`d› `e"),
        ("\\*no\\* \\a C:\\dir", "*no* \\a C:\\dir"),
        ("[text](https://a.example) end", "‹link text to https://a.example› end"),
        ("[**b**](<a b> \"title\")", "‹link ‹s b› to a b›"),
        ("[a [b](c) d](e)", "[a ‹link b to c› d](e)"),
        ("![alt](a.png)", "‹image alt to a.png›"),
        ("[![x](y)](z)", "‹link ‹image x to y› to z›"),
        ("[no] (link) [x]", "[no] (link) [x]"),
        ("[a](b(c)d)", "‹link a to b(c)d›"),
        ("*[a*](b)", "*‹link a* to b›"),
        ("<https://a.example/?q=*x*> <a@b.c> <br> <b>", "‹https://a.example/?q=*x*› a@b.c ⏎ <b>"),
        (
            "see https://a.example/b_c_d. And (http://b.example)",
            "see ‹https://a.example/b_c_d›. And (‹http://b.example›)",
        ),
        ("**https://a.example**", "‹s ‹https://a.example››"),
        ("&amp; &lt;x&gt; &#65; &#27; &nosuch; &", "& <x> A &#27; &nosuch; &"),
        ("one\ntwo\\\nthree", "one⏎two⏎three"),
        ("中文**粗体。**后面", "中文‹s 粗体。›后面"),
        ("**「引用」**文字", "‹s 「引用」›文字"),
        ("👍**ok**👍", "👍‹s ok›👍"),
    ] {
        assert_eq!(marked(&parse(text, None, Rest::None)), expected, "{text}");
    }
}

#[test]
fn inline_marks_that_have_begun_are_shown_until_they_end() {
    for (text, expected) in [
        ("a **bold te", "a ‹s bold te"),
        ("a **bold*", "a ‹s bold"),
        ("a **", "a "),
        ("run `cargo te", "run ‹c cargo te›"),
        ("run `", "run "),
        ("2 *3", "2 *3"),
        ("**a** b", "‹s a› b"),
    ] {
        assert_eq!(marked(&parse(text, None, Rest::ShownSoFar)), expected, "{text}");
    }
}

#[test]
fn inline_text_is_cut_where_nothing_can_change() {
    for (text, cut) in [
        ("one two three", Some("one two")),
        ("one", None),
        ("one **two three", Some("one")),
        ("one **two three** four", Some("one **two three**")),
        ("one **two three** fo*", Some("one **two three**")),
        ("one `two three", Some("one")),
        ("one [two three](", Some("one")),
        ("one [two three", Some("one")),
        ("one [two three] four", Some("one [two three]")),
        ("one 2 * 3 four", Some("one 2 * 3")),
        ("one\ntwo", Some("one")),
        ("**a b", None),
    ] {
        let inline = parse(text, None, Rest::Comes);
        assert_eq!(inline.cut.and_then(|cut| text.get(..cut)), cut, "{text}");
    }
}

/// A character and what it looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    character: char,
    emphasis: bool,
    strong: bool,
    strike: bool,
    code: bool,
    link: bool,
}

fn ours(text: &str) -> Vec<Seen> {
    let (mut now, mut seen) = (Seen::default(), Vec::new());
    let mut depths = [0_usize; 3];
    let add = |text: &str, now: &Seen, seen: &mut Vec<Seen>| {
        seen.extend(text.chars().filter(|c| !c.is_whitespace()).map(|character| Seen { character, ..now.clone() }));
    };
    for event in parse(text, None, Rest::None).events {
        match &event {
            Event::Text(text) => add(text, &now, &mut seen),
            Event::Code(text) => add(text, &Seen { code: true, ..now.clone() }, &mut seen),
            Event::Address(text) => add(text, &now, &mut seen),
            Event::Begin(kind) => depths[*kind as usize] += 1,
            Event::End(kind) => depths[*kind as usize] -= 1,
            Event::LinkBegins { .. } => now.link = true,
            Event::LinkEnds { .. } => now.link = false,
            Event::Break => {}
        }
        (now.emphasis, now.strong, now.strike) = (depths[0] > 0, depths[1] > 0, depths[2] > 0);
    }
    seen
}

fn theirs(text: &str) -> Vec<Seen> {
    let (mut now, mut seen) = (Seen::default(), Vec::new());
    let mut depths = [0_usize; 3];
    let add = |text: &str, now: &Seen, seen: &mut Vec<Seen>| {
        seen.extend(text.chars().filter(|c| !c.is_whitespace()).map(|character| Seen { character, ..now.clone() }));
    };
    for event in Reader::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Oracle::Text(text) | Oracle::InlineHtml(text) => add(&text, &now, &mut seen),
            Oracle::Code(text) => add(&text, &Seen { code: true, ..now.clone() }, &mut seen),
            Oracle::Start(Tag::Emphasis) => depths[0] += 1,
            Oracle::End(TagEnd::Emphasis) => depths[0] -= 1,
            Oracle::Start(Tag::Strong) => depths[1] += 1,
            Oracle::End(TagEnd::Strong) => depths[1] -= 1,
            Oracle::Start(Tag::Strikethrough) => depths[2] += 1,
            Oracle::End(TagEnd::Strikethrough) => depths[2] -= 1,
            Oracle::Start(Tag::Link { .. }) => now.link = true,
            Oracle::End(TagEnd::Link) => now.link = false,
            _ => {}
        }
        (now.emphasis, now.strong, now.strike) = (depths[0] > 0, depths[1] > 0, depths[2] > 0);
    }
    seen
}

/// What is drawn of a text is the same if it is cut where `part` of it allows.
fn check_cut(part: &str, whole: &str) -> Result<(), TestCaseError> {
    let Some(cut) = parse(part, None, Rest::Comes).cut else { return Ok(()) };
    let (first, second) = whole.split_at(cut);
    let first_part = marked(&parse(first, None, Rest::None));
    let second_part = marked(&parse(second, first.chars().next_back(), Rest::None));
    prop_assert_eq!(first_part + &second_part, marked(&parse(whole, None, Rest::None)), "{:?} cut at {}", whole, cut);
    Ok(())
}

#[test]
fn inline_text_is_not_cut_between_a_mark_and_a_backslash() {
    let whole = "**`[b](u)`*a]**\\\n**";
    for end in 0..=whole.len() {
        check_cut(&whole[..end], whole).expect("it is the same text");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// An `x` begins the text, so that it is a paragraph; there is no empty address and no definition of a link.
    #[test]
    fn inline_reads_as_commonmark_does(text in "([a-c]|[.,]| |\\*|\\*\\*|\\*\\*\\*|_|__|`|``|\\\\\\*|\\[b\\]\\(u\\)|\\]\\(v\\)|\\[|\\]|~~a~~|&amp;){0,16}") {
        let text = format!("x{text}");
        prop_assert_eq!(ours(&text), theirs(&text), "{}", text);
    }

    #[test]
    fn inline_text_that_is_cut_is_the_same_text(text in "([a-c]| |\\*|\\*\\*|_|`|\\[b\\]\\(u\\)|\\[|\\]|\\(|\\)|~~|\n|<|>|http://a|&amp;|\\\\){0,24}", more in "([a-c]| |\\*|\\*\\*|_|`|\\[|\\]|\\(|\\)){0,12}") {
        check_cut(&text, &format!("{text}{more}"))?;
    }
}
