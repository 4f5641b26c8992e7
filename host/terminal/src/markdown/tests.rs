//! What each element looks like, and that pieces, widths and colours lose nothing.

use proptest::prelude::*;

use super::*;

/// Returns what a text in these pieces looks like, without colours.
fn plain(pieces: &[&str], columns: usize) -> String {
    shown(pieces, columns, false)
}

fn shown(pieces: &[&str], columns: usize, colour: bool) -> String {
    let mut markdown = Markdown::new(colour, Answers::Rendered);
    let mut out = String::new();
    for piece in pieces {
        markdown.push(piece, Voice::Answer, columns);
        out.push_str(&markdown.take_finished());
    }
    markdown.end(columns);
    out + &markdown.take_finished()
}

/// The text without colours and links.
fn without_colours(text: &str) -> String {
    use crate::width::{Piece, pieces};
    let shown = |(_, piece): (usize, Piece<'_>)| match piece {
        Piece::Character(character) => Some(character),
        Piece::Colour(_) => None,
    };
    pieces(text).filter_map(shown).collect()
}

#[track_caller]
fn check(source: &str, columns: usize, rows: &[&str]) {
    let shown = plain(&[source], columns);
    assert_eq!(shown.lines().collect::<Vec<_>>(), rows, "{source:?} in {columns}:\n{shown}");
}

#[test]
fn markdown_paragraphs_wrap_at_words() {
    check("the quick brown fox jumps\n\n\nover it\n", 12, &["the quick", "brown fox", "jumps", "", "over it"]);
    check("line ends\nstay as they are", 40, &["line ends", "stay as they are"]);
    check("  leading blanks go", 40, &["leading blanks go"]);
}

#[test]
fn markdown_headings_have_no_marks_but_without_colour() {
    check("# One\n## Two ##\n#hashtag\nUnder\n=====\n", 40, &["# One", "## Two", "#hashtag", "Under", "====="]);
    check("Under\n=====\ntext", 40, &["# Under", "text"]);
    check("Under\n-----\n\ntext\nmore\n---\n", 40, &["## Under", "", "text", "more", &"─".repeat(39)]);
    let coloured = shown(&["# One\n"], 40, true);
    assert_eq!(without_colours(&coloured), "One\n");
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
}

#[test]
fn markdown_lists_hang_and_nest() {
    check(
        "- one item that is long\n- two\n  - inner that is long too\n    * third\n\n  more of two\n- three\n",
        18,
        &[
            "• one item that",
            "  is long",
            "• two",
            "  • inner that is",
            "    long too",
            "    • third",
            "",
            "  more of two",
            "• three",
        ],
    );
    check("1. a\n1. b\n1. c\n", 20, &["1. a", "2. b", "3. c"]);
    check("9. a\n10. b that wraps here\n", 16, &["9. a", "10. b that", "    wraps here"]);
    check("3) a\n   - b\n4) c\n", 20, &["3) a", "   • b", "4) c"]);
    // By two columns, as models write it.
    check("1. a\n  - b\n  - c\n2. d\n", 20, &["1. a", "   • b", "   • c", "2. d"]);
    check("1. a\n    - b\n\n    text\n2. d\n", 20, &["1. a", "   • b", "", "   text", "2. d"]);
    check("- [ ] open\n- [x] done\n- [y] no\n", 20, &["☐ open", "☑ done", "• [y] no"]);
    check("-\n- a\n", 20, &["•", "• a"]);
    check("- a\nlazy line\n\nnext\n", 20, &["• a", "  lazy line", "", "next"]);
    check("text\n1986. no list\n- list\n", 20, &["text", "1986. no list", "• list"]);
}

#[test]
fn markdown_quotes_have_a_bar() {
    check(
        "> a quote that wraps\n>\n> second\n\nafter\n",
        14,
        &["│ a quote", "│ that wraps", "│", "│ second", "", "after"],
    );
    check("- item\n\n> quote\n\n- item\n", 20, &["• item", "", "│ quote", "", "• item"]);
    check("> - item\n>   > inner\n", 20, &["│ • item", "│   │ inner"]);
    check("> lazy\nline\n", 20, &["│ lazy", "│ line"]);
}

#[test]
fn markdown_code_stands_between_rules_as_it_was_written() {
    let rule = |info: &str, columns: usize| {
        let begin = if info.is_empty() { String::new() } else { format!("╌╌ {info} ") };
        let length = columns - begin.chars().count();
        format!("{begin}{}", "╌".repeat(length))
    };
    let (top, end) = (rule("rust", 19), rule("", 19));
    let source = "```rust\nfn main() {\n\tlet x = \"**no**\";  // a line that is longer\n\n}\n```\ntext\n";
    let rows =
        [top.as_str(), "fn main() {", "\tlet x = \"**no**\";  // a line that is longer", "", "}", end.as_str(), "text"];
    check(source, 20, &rows);
    check("~~~\n```\n~~~\n", 20, &[&end, "```", &end]);
    check("```\nnot closed\n", 20, &[&end, "not closed", &end]);
    // In a list, and with its end further left, as models write it.
    let (top, end) = (rule("sh", 17), rule("", 17));
    let rows = [
        "• run:".to_owned(),
        format!("  {top}"),
        "  ls".to_owned(),
        "    -l".to_owned(),
        format!("  {end}"),
        "• next".to_owned(),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    check("- run:\n  ```sh\n  ls\n    -l\n  ```\n- next\n", 20, &rows);
    check("- run:\n  ```sh\n  ls\n    -l\n```\n- next\n", 20, &rows);
    check("    indented\n", 20, &["    indented"]);
}

#[test]
fn markdown_tables_are_aligned_or_become_lists() {
    let table = "Tools:\n| a | b |\n|---|--:|\n| one | 1 |\n| two | 20 |\n\nafter\n";
    check(table, 40, &["Tools:", "a   │  b", "────┼───", "one │  1", "two │ 20", "", "after"]);
    check("> | a |\n> |---|\n> | b |\n", 40, &["│ a", "│ ─", "│ b"]);
    check("| no | table |\ntext\n", 40, &["| no | table |", "text"]);
    check("|a|b|\n|-|-|\n|c|d|\nafter\n", 40, &["a │ b", "──┼──", "c │ d", "after"]);
    check("|a|b|\n|-|-|\n|c<br>d|`e\\|f`|\n", 40, &["a │ b", "──┼──────", "c │ `e|f`", "d │"]);
}

#[test]
fn markdown_links_show_their_address() {
    let address = "https://a.example/b";
    check(
        &format!("see [the page]({address}) or {address}\n"),
        80,
        &[&format!("see the page ({address}) or {address}")],
    );
    check(&format!("[{address}]({address})\n"), 80, &[address]);
    check("![logo](logo.png)\n", 80, &["[image: logo] (logo.png)"]);
    check("an image ![logo](logo.png)\n", 80, &["an image [image: logo] (logo.png)"]);
    let coloured = shown(&[&format!("[text]({address})\n")], 80, true);
    assert!(coloured.contains(&format!("\u{1b}]8;;{address}\u{1b}\\")), "{coloured:?}");
    assert!(coloured.contains("\u{1b}]8;;\u{1b}\\"), "{coloured:?}");
}

// promise terminal.links: A link that can be clicked leads to exactly the address that is shown in its place, whole,
//   and is a web address that begins with the name of its server.
#[test]
fn markdown_link_leads_to_exactly_the_address_that_is_shown() {
    let source = "[https://good.example](https://evil.example/x) <https://a.example/b?c=d> https://c.example/ \n\n\
                  | [t](https://in.a/table) |\n|---|\n| https://long.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa |\n";
    for columns in [20, 80] {
        let shown = shown(&[source], columns, true);
        let mut links: Vec<(&str, String)> = Vec::new();
        for link in shown.split("\u{1b}]8;;").skip(1).filter(|link| !link.starts_with('\u{1b}')) {
            let (target, text) = link.split_once("\u{1b}\\").expect("a target");
            let text = without_colours(text);
            match links.last_mut() {
                // The rest of one that is wrapped.
                Some((before, whole)) if *before == target => whole.push_str(&text),
                _ => links.push((target, text)),
            }
        }
        assert_eq!(links.len(), 6, "{shown:?}");
        links.iter().for_each(|(target, text)| assert_eq!(text, target, "{shown:?}"));
    }
}

#[test]
fn markdown_link_to_anything_but_a_plain_web_address_is_only_text() {
    for address in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ssh://x",
        "https://a.example/\u{202e}x",
        "https://a.example/é",
        "https://bank.example@evil.example/",
        "https://a:b@evil.example",
        "https:///x",
    ] {
        let coloured = shown(&[&format!("[text]({address})\n")], 80, true);
        assert!(!coloured.contains("\u{1b}]8;"), "{coloured:?}");
        assert!(without_colours(&coloured).starts_with("text ("), "{coloured:?}");
    }
    // An address that breaks out of its sequence would need a character that never gets there.
    let coloured = shown(&["[t](https://a\u{1b}\\\u{7}b)\n"], 80, true);
    assert!(!coloured.contains("\u{1b}]8;"), "{coloured:?}");
}

#[test]
fn markdown_without_colour_keeps_the_marks_of_words() {
    check("**a** *b* ~~c~~ `d` __e__\n", 80, &["**a** *b* ~~c~~ `d` **e**"]);
    let coloured = shown(&["**a** *b* ~~c~~ `d`\n"], 80, true);
    assert_eq!(without_colours(&coloured), "a b c d\n");
    for code in ["\u{1b}[1ma\u{1b}[0m", "\u{1b}[3mb\u{1b}[0m", "\u{1b}[9mc\u{1b}[0m", "\u{1b}[36md\u{1b}[0m"] {
        assert!(coloured.contains(code), "{code:?} in {coloured:?}");
    }
}

#[test]
fn markdown_shows_no_control_character() {
    for source in [
        "\u{1b}[2J\u{7}# a\u{1b}]0;x\u{7}\n",
        "&#27;[2J &#x9b;",
        "`\u{1b}[2J`\n```\u{1b}[2J\n\u{1b}[2J\n```\n",
        "|\u{1b}[2J|\u{8}|\n|-|-|\n|\u{9b}|\u{202e}|\n",
        "[a\u{1b}](b\u{1b}c)\r x\ry",
    ] {
        for answers in [Answers::Rendered, Answers::Source] {
            let mut markdown = Markdown::new(false, answers);
            markdown.push(source, Voice::Answer, 40);
            let tail = markdown.unfinished(40).join("\n");
            markdown.end(40);
            let shown = tail + &markdown.take_finished();
            assert!(!shown.chars().any(|c| host_text::is_unsafe(c) && c != '\n'), "{source:?}: {shown:?}");
        }
    }
}

#[test]
fn markdown_line_ends_of_windows_are_line_ends() {
    assert_eq!(plain(&["# a\r", "\n\r\n```\r\nb\r\n```\r\n"], 20), plain(&["# a\n\n```\nb\n```\n"], 20));
}

#[test]
fn markdown_tail_is_what_would_stay() {
    for (source, finished, tail) in [
        ("one tw", "", vec!["one tw"]),
        ("a **bold te", "", vec!["a **bold te"]),
        ("one\n\ntw", "one\n", vec!["", "tw"]),
        ("- a\n- b", "", vec!["• a", "• b"]),
        ("text\n--", "", vec!["text"]),
        ("# He", "", vec!["# He"]),
    ] {
        let mut markdown = Markdown::new(false, Answers::Rendered);
        markdown.push(source, Voice::Answer, 40);
        assert_eq!(markdown.take_finished(), finished, "{source}");
        assert_eq!(markdown.unfinished(40), tail, "{source}");
    }
    let mut markdown = Markdown::new(false, Answers::Rendered);
    markdown.push("| a | b |\n|---|---|\n| one | two |\n| th", Voice::Answer, 40);
    assert_eq!(markdown.take_finished(), "", "a table waits for its end");
    assert_eq!(markdown.unfinished(40), ["a   │ b", "────┼────", "one │ two", "th  │"]);
}

#[test]
fn markdown_of_a_long_paragraph_is_finished_before_its_end() {
    let text = "some words that go on and on ".repeat(100);
    let mut markdown = Markdown::new(false, Answers::Rendered);
    markdown.push(&text, Voice::Answer, 80);
    let rows = markdown.unfinished(80).len();
    assert!(rows <= 16, "{rows} rows are drawn again with each frame");
    assert_eq!(plain(&[&text], 80).lines().collect::<Vec<_>>(), wrap(text.trim_end(), 79));
    let word = "x".repeat(10_000);
    assert_eq!(plain(&[&word], 80).lines().collect::<Vec<_>>(), wrap(&word, 79));
    // A mark that never closes ends up as text.
    let star = format!("**{text}");
    assert_eq!(plain(&[&star], 80).lines().collect::<Vec<_>>(), wrap(star.trim_end(), 79));
}

#[test]
fn markdown_long_table_goes_on_with_its_widths() {
    let mut source = "| a | b |\n|---|---|\n".to_owned();
    (0..500).for_each(|number| source.push_str(&format!("| row {number} | x |\n")));
    let mut markdown = Markdown::new(false, Answers::Rendered);
    markdown.push(&source, Voice::Answer, 80);
    let finished = markdown.take_finished();
    assert_eq!(finished.lines().count(), 502);
    assert!(finished.ends_with("row 499 │ x\n"), "{finished}");
}

#[test]
fn markdown_deep_lists_leave_room_for_words() {
    let source: String = (0..30).map(|depth| format!("{}- level {depth}\n", "  ".repeat(depth))).collect();
    for columns in [8, 20, 40] {
        let shown = plain(&[&source], columns);
        assert!(shown.lines().all(|row| width(row) < columns), "{shown}");
        assert!((0..30).all(|depth| shown.split_whitespace().any(|word| word == depth.to_string())), "{shown}");
    }
}

#[test]
fn markdown_source_is_shown_as_it_came() {
    let mut markdown = Markdown::new(true, Answers::Source);
    for (piece, shown) in [("# A **b", "# A **b"), ("**\u{1b}[2J\n-", "**\\u{1b}[2J\n-")] {
        markdown.push(piece, Voice::Answer, 10);
        assert_eq!(markdown.take_finished(), shown);
        assert!(markdown.unfinished(10).is_empty());
    }
}

/// Markdown of every kind, valid and not.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-e]{1,6}( [a-e]{1,6}){0,12}",
        "(#{1,3} |> |- |  - |    |1\\. |10\\) |> > |- > |```[a-z]{0,4}|~~~|\\| ?){0,2}[a-e]{0,5}",
        "(\\||[a-e]{1,5}|-|:| |`|\\*){0,16}",
        "([a-e]{1,4}|\\*|\\*\\*|_|`|~~|\\[|\\]\\(|\\)|<br>|&amp;|\\\\|日本|👩\u{200d}👧|⚠\u{fe0f}| |\t|\r|\u{1b}){0,20}",
        "-{1,4}|={1,3}|\\*{3}|\\|-\\|-\\||```",
        "",
    ];
    proptest::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn markdown_in_pieces_is_the_same_as_at_once(
        source in markdown(), repeat in 1_usize..4, cuts in proptest::collection::vec(0_usize..4000, 0..12), columns in 8_usize..100, colour: bool,
    ) {
        let source = vec![source; repeat].join("\n");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| boundary(&source, cut % (source.len() + 1))).collect();
        cuts.extend([0, source.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|ends| &source[ends[0]..ends[1]]).collect();
        prop_assert_eq!(shown(&pieces, columns, colour), shown(&[&source], columns, colour));
    }

    #[test]
    fn markdown_loses_no_word_and_no_row_is_too_wide(source in markdown(), columns in 8_usize..100) {
        let rows = plain(&[&source], columns);
        let letters = |text: &str| text.chars().filter(|c| ('a'..='e').contains(c) || *c == '日').collect::<String>();
        // A header names each entry of a table that is a list: then a letter may come again, and none goes.
        let (written, seen) = (letters(&source.replace("&amp;", "").replace("<br>", "").replace('\u{1b}', "")), letters(&rows.replace("\\u{1b}", "").replace("image", "")));
        // The rows of a table stand side by side, so that a word that is longer than its column is broken among others.
        let is_there = if source.contains('|') { has_as_many(&written, &seen) } else { is_within(&written, &seen) };
        prop_assert!(is_there, "{:?} lost something:\n{}", source, rows);
    }

    #[test]
    // In fewer columns there is no room for an indentation and a character that is four columns wide.
    fn markdown_tail_never_leaves_the_screen(source in markdown(), columns in 12_usize..60) {
        let mut markdown = Markdown::new(true, Answers::Rendered);
        for character in source.chars() {
            markdown.push(character.encode_utf8(&mut [0; 4]), Voice::Answer, columns);
            for row in markdown.unfinished(columns) {
                prop_assert!(width(&row) < columns, "{:?} in {}", row, columns);
            }
        }
    }
}

/// Whether each character comes at least as often in the other text.
fn has_as_many(written: &str, seen: &str) -> bool {
    written.chars().all(|character| {
        let count = |text: &str| text.chars().filter(|c| *c == character).count();
        count(written) <= count(seen)
    })
}

/// Whether all characters come in this order in the other text.
fn is_within(written: &str, seen: &str) -> bool {
    let mut seen = seen.chars();
    written.chars().all(|character| seen.any(|c| c == character))
}
