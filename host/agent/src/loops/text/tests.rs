//! Texts that are a loop and texts that are not, above all those for which users of such a detector were stopped.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;

/// Returns the number of characters after which a loop is found, if the text arrives in pieces of this many characters.
fn found_at(text: &str, piece: usize) -> Option<usize> {
    let mut watch = TextWatch::default();
    let characters: Vec<char> = text.chars().collect();
    for (at, piece) in characters.chunks(piece).enumerate() {
        let found = watch.push(&piece.iter().collect::<String>());
        assert!(watch.places.len() <= REACH + 1 && watch.last.len() <= watch.places.len(), "what is kept is bounded");
        if found.is_some() {
            return Some((at + 1) * piece.len());
        }
    }
    watch.finish().map(|_| characters.len())
}

fn is_loop(text: &str) -> bool {
    let found = [1, 7, 100_000].map(|piece| found_at(text, piece).is_some());
    assert!(found == [true; 3] || found == [false; 3], "the pieces do not matter: {found:?} {text}");
    found[0]
}

/// `times` lines, each made of its number.
fn lines(times: usize, line: impl Fn(usize) -> String) -> String {
    (0..times).map(|at| line(at) + "\n").collect()
}

#[test]
fn loops_text_repeated_over_and_over_is_a_loop() {
    let sentence = "I will now look at the file again to make sure that it is right.";
    let two = ["Let me check the configuration once more.", "Actually, wait, I should check the tests first."];
    for (what, text) in [
        ("one sentence in one line", format!("{sentence} ").repeat(12)),
        ("a sentence a line", format!("{sentence}\n").repeat(12)),
        ("a sentence a paragraph", format!("{sentence}\n\n").repeat(12)),
        ("a short word", "ha ".repeat(400)),
        ("two sentences in turn", lines(30, |at| two[at % 2].to_owned())),
        ("two sentences in no order", lines(40, |at| two[usize::from(at * at % 7 < 3)].to_owned())),
        ("Chinese", "我需要再检查一遍这个文件的内容，确认没有问题。".repeat(30)),
        ("after an answer", lines(30, |at| format!("Point {at} of the answer is new.")) + &sentence.repeat(12)),
        ("after code", format!("```rust\nfn a() {{}}\n```\n{}", sentence.repeat(12))),
        ("with the same list each time", format!("{sentence}\n- look\n- think\n").repeat(12)),
        ("a paragraph as long as the distance", format!("{sentence} {}", "Then there is more. ".repeat(8)).repeat(12)),
    ] {
        assert!(is_loop(&text), "{what}");
        assert!(!is_loop(&text.chars().take(WINDOW * TIMES - 1).collect::<String>()), "{what}, begun");
    }
}

#[test]
fn a_loop_is_found_soon() {
    let sentence = "I will now look at the file again to make sure that it is right. ";
    let found = found_at(&sentence.repeat(1_000), 1).expect("a loop");
    assert!(found <= sentence.len() * TIMES, "{found}");
}

#[test]
fn loops_text_that_is_structured_or_makes_progress_is_not_a_loop() {
    let long = "is a file that has nothing to do with what you asked for, so I leave it alone.";
    let lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et \
                 dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip \
                 ex ea commodo consequat. Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu \
                 fugiat nulla pariatur. Excepteur sint occaecat cupidatat non proident, sunt in culpa.\n\n";
    let owl = "     ,___,      ,___,      ,___,   \n     (o,o)      (o,o)      (o,o)   \n";
    for (what, text) in [
        ("a long table", lines(300, |_| "| yes | the same cell in each row of it | and one more |".to_owned())),
        ("a table without edges", lines(300, |_| "yes | the same cell in each row of this table | no".to_owned())),
        ("columns", lines(300, |_| "-rw-r--r--\t1 root root 4096 Jan  1 00:00\tthe same name".to_owned())),
        ("fenced code", format!("```python\n{}```\n", "print('the same line of this program, again')\n".repeat(300))),
        ("code that is not fenced", "result = result.append(first_of_all_the_values, second);\n".repeat(300)),
        ("calls that are not fenced", "print(\"the same line of this program, once again\")\n".repeat(300)),
        ("indented code", "    result = the_same_line_of_this_program + once_again\n".repeat(300)),
        ("separators", format!("{}\n", "=".repeat(80)).repeat(300)),
        ("a run of one letter", "x".repeat(5_000)),
        ("one long separator", "-".repeat(5_000)),
        ("dots in a line of words", lines(60, |at| format!("Chapter {at} {}", ".".repeat(60)))),
        ("drawings", owl.repeat(100)),
        ("drawings of letters", format!("{}:{}\n", "M".repeat(50), "M".repeat(20)).repeat(60)),
        ("an array of alike objects", "  {\n    \"type\": \"string\",\n    \"required\": true\n  },\n".repeat(100)),
        (
            "an array in a line",
            format!("[{}]", "{\"type\": \"string\", \"required\": true, \"secret\": false}, ".repeat(99)),
        ),
        (
            "folders, listed",
            lines(200, |at| format!("packages/component-{at}/src/index.ts and its styles, tests, docs")),
        ),
        ("a list of alike lines", lines(100, |at| format!("src/module_{at}.rs {long}"))),
        ("alike sentences", (0..100).map(|at| format!("File {at} {long} ")).collect()),
        ("a bulleted list", "- [ ] The same thing is still to be done here, later on\n".repeat(100)),
        ("a numbered list", lines(100, |at| format!("{at}. The same thing is still to be done here, later on"))),
        ("headings", "## The same heading over and over, however long it may be\n".repeat(100)),
        ("quotes", "> The same quote over and over, however long it may be, again\n".repeat(100)),
        ("lorem ipsum", lorem.repeat(20)),
        ("markup", "<li class=\"item item-wide\"><a href=\"#\">the same</a></li>\n".repeat(100)),
        (
            "the same words about other code",
            (0..30).fold(String::new(), |mut text, at| {
                _ = write!(
                    text,
                    "This is the function that has to be changed next in the file:\n```\nfn f{at}() {{}}\n```\n"
                );
                text
            }),
        ),
    ] {
        assert!(!is_loop(&text), "{what}");
    }
}

#[test]
fn loops_cost_grows_no_faster_than_the_text() {
    let texts: [fn(usize) -> String; 3] = [
        |size| (0..size).map(|at| char::from(b'a' + (at * at % 251 % 26) as u8)).collect(),
        |size| (0..size / 8).map(|at| format!("{at:07} ")).collect(),
        |size| "x = the_same_thing_again(1, 2);\n".repeat(size / 32),
    ];
    for text in texts {
        for size in [1_000, 10_000, 100_000] {
            let mut watch = TextWatch::default();
            let found = watch.push(&text(size));
            assert!(found.is_none() || watch.at < size);
            assert!(watch.steps <= 2 * size, "{} steps for {size} characters", watch.steps);
        }
    }
}

proptest! {
    #[test]
    fn no_text_under_500_characters_is_a_loop(unit in ".{1,60}", separator in "[ \n.]{0,2}") {
        let text: String = format!("{unit}{separator}").chars().cycle().take(WINDOW * TIMES - 1).collect();
        prop_assert_eq!(found_at(&text, 13), None);
    }

    #[test]
    fn loops_repeated_prose_is_found_whatever_its_words(words in proptest::collection::vec("[a-z]{2,9}", 8..25)) {
        let sentence = words.join(" ") + ". ";
        prop_assert!(found_at(&sentence.repeat(40), 17).is_some());
    }

    #[test]
    fn hashes_of_windows_roll(text in "[a-c ]{60,200}") {
        let mut watch = TextWatch::default();
        for c in text.chars() {
            watch.take(c, Kind::Prose);
        }
        let tail: Vec<char> = text.chars().rev().take(WINDOW).collect();
        let fresh = tail.iter().rev().fold(0, |hash, c| appended(hash, *c));
        prop_assert_eq!(watch.window_hash(), fresh);
    }
}

#[test]
fn sums_and_products_are_those_of_the_prime() {
    let numbers = [0, 1, 2, BASE, PRIME - 1, 1 << 60, 0x0123_4567_89ab_cdef];
    for a in numbers {
        for b in numbers {
            let wide = u128::from(a) * u128::from(b) % u128::from(PRIME);
            assert_eq!(u128::from(product(a, b)), wide);
            assert_eq!(
                difference(a, b),
                ((u128::from(a) + u128::from(PRIME) - u128::from(b)) % u128::from(PRIME)) as u64
            );
        }
    }
    assert_eq!(power(3), product(BASE, product(BASE, BASE)));
}
