//! Tests of what becomes of a prompt, and of words that try to be more than words in a shell line.

use super::*;

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

#[test]
fn template_of_markdown_has_words_and_lines() {
    let check =
        |prompt: &str, expected: Vec<Piece>| assert_eq!(Template::markdown(prompt).pieces, expected, "{prompt}");
    check("Fix $ARGUMENTS now", vec![text("Fix "), Piece::All, text(" now")]);
    check("$1 and $12, $0, $x, 5$", vec![Piece::Word(1), text(" and "), Piece::Word(12), text(", $0, $x, 5$")]);
    check("$ARGUMENTS2 $ARGUMENTS.", vec![text("$ARGUMENTS2 "), Piece::All, text(".")]);
    check("is: !`git log $1`.", vec![text("is: "), Piece::Shell(vec![text("git log "), Piece::Word(1)]), text(".")]);
    check("no!`x` !`` !`a\nb` `!x`", vec![text("no!`x` !`` !`a\nb` `!x`")]);
    check("see @docs/a.md", vec![text("see @docs/a.md")]);
}

#[test]
fn template_of_gemini_has_braces_that_are_balanced() {
    let check = |prompt: &str, expected: Vec<Piece>| {
        assert_eq!(Template::gemini(prompt).expect("it is right").pieces, expected, "{prompt}");
    };
    check("a {{args}} b", vec![text("a "), Piece::All, text(" b")]);
    check(
        "!{awk '{print}' {{args}}} @{docs/a b.md}",
        vec![Piece::Shell(vec![text("awk '{print}' "), Piece::All]), text(" "), Piece::File("docs/a b.md".to_owned())],
    );
    check("{args} $ARGUMENTS !x @y", vec![text("{args} $ARGUMENTS !x @y")]);
    for prompt in ["!{ls", "@{a", "!{ {a }"] {
        assert!(Template::gemini(prompt).is_err_and(|open| open.to_string().contains("is not closed")), "{prompt}");
    }
}

#[test]
fn template_without_a_place_gets_the_words_at_its_end() {
    let appended = |template: &Template, words: &str| template.appended("x", Words(words));
    let markdown = Template::markdown("Look");
    assert_eq!(appended(&markdown, "at it"), "\n\nARGUMENTS: at it");
    assert_eq!(appended(&markdown, ""), "");
    assert_eq!(appended(&Template::markdown("!`ls $1`"), "at it"), "");
    assert_eq!(appended(&Template::gemini("Look").expect("right"), "at it"), "\n\n/x at it");
}

/// The arguments that a shell makes of a line, one per line.
fn by_shell(line: &str) -> Vec<String> {
    let line = line.replacen("show", "printf '%s\\n'", 1);
    let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("there is a shell");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

// promise commands.quoted: Words of the user in a shell line of a command are words there and nothing else, or the
//   command is not sent.
#[test]
fn command_words_stay_words_in_a_shell_line() {
    let hostile = [
        "a; echo ran",
        "$(echo ran)",
        "`echo ran`",
        "x' ; echo ran; '",
        "x\" ; echo ran; \"",
        "a\\",
        "*",
        "a b | c",
        "-n ~",
    ];
    for words in hostile {
        for (prompt, whole) in [
            ("show {{args}}", true),
            ("show \"{{args}}\"", true),
            ("show '{{args}}'", true),
            ("show a\\'b {{args}}", false),
        ] {
            let template = Template::gemini(&format!("!{{{prompt}}}")).expect("it is right");
            let [Piece::Shell(pieces)] = template.pieces() else { panic!("{prompt} is one line") };
            let line = template.line(pieces, Words(words)).expect("it can be quoted");
            let seen = by_shell(&line);
            assert_eq!(seen.last().map(String::as_str), Some(words), "{line}");
            assert!(!whole || seen.len() == 1, "{line}: {seen:?}");
        }
        let template = Template::markdown("!`show $ARGUMENTS`");
        let [Piece::Shell(pieces)] = template.pieces() else { panic!("it is one line") };
        let line = template.line(pieces, Words(words)).expect("it can be quoted");
        assert_eq!(by_shell(&line), Words(words).split(), "{line}");
    }
    // Where quotes are not what they seem, only plain words pass.
    for prompt in ["!`show \"$(show \"$1\")\"`", "!`true # it's $1`", "!`show $(show $1)`", "!`(show $1)`"] {
        let template = Template::markdown(prompt);
        let Some(Piece::Shell(pieces)) = template.pieces().first() else { continue };
        assert!(template.line(pieces, Words("\"x; echo ran\"")).is_err(), "{prompt}");
        assert!(template.line(pieces, Words("main..x/y-1.2")).is_ok(), "{prompt}");
    }
    let template = Template::markdown("!`show $1`");
    let [Piece::Shell(pieces)] = template.pieces() else { panic!("it is one line") };
    assert!(template.line(pieces, Words("'a\nb'")).is_err(), "a line break ends a comment");
    assert_eq!(template.line(pieces, Words("")).as_deref(), Ok("show"));
}
