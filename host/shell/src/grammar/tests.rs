//! What is found in a line, what is doubted, and that reading it ends.

use std::time::{Duration, Instant};

use super::*;
use crate::quote;

/// The commands of a line, `;` between them, with `…` for what is not known; and whether it is understood.
fn found(line: &str) -> (String, bool) {
    let read = read(line);
    let command = |command: &SimpleCommand| {
        let words = command.assignments.iter().chain(&command.words).map(ToString::to_string);
        let redirects =
            command.redirects.iter().map(|to| format!("{}{}", if to.writes { ">" } else { "<" }, to.target));
        words.chain(redirects).collect::<Vec<_>>().join(" ")
    };
    (read.commands.iter().map(command).collect::<Vec<_>>().join("; "), read.unclear.is_empty())
}

fn check(line: &str, commands: &str) {
    assert_eq!(found(line), (commands.to_owned(), true), "{line}: {:?}", read(line).unclear);
}

#[test]
fn commands_are_found_in_the_order_of_their_beginnings() {
    check("a b; c | d && e || f & g", "a b; c; d; e; f; g");
    check("if a; then b; elif c; then d; else e; fi", "a; b; c; d; e");
    check("while a; do b; done; until c; do d; done", "a; b; c; d");
    check("for x in 1 $(a); do b $x; done", "a; b …");
    check("for x do a; done; for y; do b; done", "a; b");
    check("case a in b|c) d;; (e) f ;; esac", "d; f");
    check("(a; (b)); { c; }", "a; b; c");
    check("a $(b `c`) \"${d:-$(e)}\"", "a … …; b …; c; e");
    check("! a | b", "a; b");
    check("a\n\n# b\nc #d\n", "a; c");
    check("{ a; } > b 2>&1", "a; >b");
    check("A=b C=\"$d\" e F=g", "'A=b' C=… e 'F=g'");
}

#[test]
fn words_lose_their_quotes_and_keep_what_is_not_known() {
    check(r#"'a b' "c d" e\ f g"h"'i'"#, "'a b' 'c d' 'e f' ghi");
    check(r#""a\"b\$c\d" 'e\f'"#, r#"'a"b$c\d' 'e\f'"#);
    check("a$b \"$b\" $b* ~ ~/c d~", "a… … …* ~ ~/c 'd~'");
    check("a$ $% \"$\" b", "'a$' '$%' '$' b");
    check("'' \"\"", "'' ''");
    check("a \\\n  b \"c\\\nd\"", "a b cd");
    check("$1 $@ ${10} ${#a} $? ${a%b} ${a##*c}", "… … … … … … …");
    check("echo $((1 + (2 * 3)))", "echo …");
    let word = |line: &str| read(line).commands[0].words[0].clone();
    assert!(word("\"$a\"").dynamic && !word("\"$a\"").split && word("$a").split && word("\"$@\"").split);
    assert!(word("a*").glob && !word("'a*'").glob && !word("[").glob && word("[a]").glob);
    assert!(
        word("{a,b}").brace && word("{1..2}").brace && !word("{}").brace && !word("{a}").brace && !word("a,b").brace
    );
}

#[test]
fn redirections_are_kept_and_descriptors_are_none() {
    check("a >b 2>>c <d >|e <>f", "a >b >>c <d >e >f".replace(">>", ">").as_str());
    check("a 2>&1 >&- <&3", "a");
    check("2> a b", "b >a");
    check("a 2 >b", "a 2 >b");
}

#[test]
fn here_documents_end_where_they_say() {
    check("a <<E\n$(b)\nE\nc", "a; b; c");
    check("a <<'E'\n$(b)\nE\nc", "a; c");
    check("a <<E <<F\nE\n$(b)\nF\nc", "a; b; c");
    check("a <<-E | d\n\t$(b)\n\tE\nc", "a; d; b; c");
    check("a <<E\n\"'\nE\nc", "a; c");
    check("a <<E && b\nx\nE\n", "a; b");
    for line in ["a <<E", "a <<E\nE ", "a <<E\n\tE", "a <<E $(b\nc)\nE", "a <<E \"\n\"\nE"] {
        assert!(!found(line).1, "{line}");
    }
}

#[test]
fn what_breaks_off_is_still_told() {
    for (line, commands) in [
        ("a b; c (", "a b; c"),
        ("a $(b; c", "a; b; c"),
        ("a; if b; then c", "a; b; c"),
        ("a | ", "a"),
        ("a && rm x )", "a; rm x"),
        ("a 'b", "a"),
    ] {
        assert_eq!(found(line), (commands.to_owned(), false), "{line}");
    }
}

#[test]
fn any_nesting_ends_soon() {
    const MANY: usize = 8000;
    let (open, close) = (|text: &str| text.repeat(MANY), |text: &str| text.repeat(MANY));
    let lines = [
        open("$("),
        open("`"),
        open("("),
        open("{ "),
        open("\"${a:-"),
        open("${a:-"),
        open("$(("),
        open("((("),
        open("\"$("),
        open("if a; then "),
        open("while "),
        open("! "),
        open("<("),
        open("a <<E\n"),
        open("a<<E "),
        open("f() "),
        open("\\`"),
        open("$("),
        open("case a in a) "),
        open("for a in "),
        open("eval "),
        open("\\\n"),
        open("\\"),
        open("'"),
        open("\""),
        open("a|"),
        open("a;"),
        open("a\n"),
        open("#"),
        open("[["),
        open("1"),
        open("$"),
        open("${"),
        open("{"),
        open("a="),
        format!("{}a{}", open("$("), close(")")),
        format!("{}a{}", open("( "), close(")")),
        format!("a {}\nE\n", open("<<E ")),
        "x".repeat(LINE_BYTES),
        "x".repeat(LINE_BYTES + 1),
        "é".repeat(LINE_BYTES),
    ];
    for line in lines {
        let began = Instant::now();
        drop(read(&line));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?} for {}", &line[..20]);
    }
}

#[test]
fn what_is_too_deep_is_not_understood() {
    let line = |depth: usize| format!("{}a{}", "$(".repeat(depth), ")".repeat(depth));
    assert!(read(&line(5)).unclear.is_empty());
    assert!(!read(&line(500)).unclear.is_empty());
    assert!(!read(&"a;".repeat(COMMANDS + 1)).unclear.is_empty());
}

#[test]
fn a_quoted_word_is_read_back() {
    for text in
        ["a", "", "it's", "a b", "$x", "`", "#a", "~", "*", "[a]", "{a,b}", "if", "A=b", "é", "\\", "\n", "-x=y", "!"]
    {
        assert_eq!(read(&format!("a {}", quote(text))).commands[0].words[1].literal(), Some(text));
        assert_eq!(read(&quote(text)).commands.first().and_then(|one| one.words[0].literal()), Some(text));
    }
}

// promise policy.hidden
#[test]
fn what_one_reader_missed_the_other_finds() {
    for line in [
        "a x; b 'y z' && c | d & e",
        "if a; then b $x; elif c; then d; else e; fi",
        "while a; do b; done; until c; do d; done; for x in $(e); do f \"$x\"; done",
        "case $(a) in b) c;; $(d)) e;; esac",
        "(a; b); { c; } >f",
        "A=$(a) b=\"`c \\`d\\``\" e ${f:-$(g)} ${h%$(i)} $((1 + 2))",
        "a <<E\n$(b) `c` ${d:-$(e)}\nE\nf",
        "time a x",
        "a >b 2>>c; d >|e <>f 2>&1",
    ] {
        let first = read(line);
        assert_eq!(first.unclear, Vec::<String>::new(), "{line}");
        for missed in 0..first.commands.len() {
            let mut less = first.clone();
            let missed = less.commands.remove(missed);
            if missed.words.is_empty() && !missed.redirects.iter().any(|redirect| redirect.writes) {
                continue;
            }
            let doubt = second::doubt(line, &less).unwrap_or_else(|| panic!("`{line}` without `{}`", missed.source));
            assert!(doubt.contains("a second reader of shell lines finds"), "{doubt}");
        }
        for command in 0..first.commands.len() {
            for word in 0..first.commands[command].words.len() {
                let mut other = first.clone();
                other.commands[command].words[word] = Word::literal_of("another");
                assert!(second::doubt(line, &other).is_some(), "`{line}` with another word {word} of {command}");
            }
        }
    }
}

#[test]
fn a_line_that_only_one_reader_reads_is_doubted() {
    for (line, why) in [
        ("f() { a; }", "a function"),
        ("[[ a ]]", "`[[ … ]]`"),
        ("a <(b)", "a process substitution"),
        ("a ${b/c/d}", "bash alone"),
        ("a &>b", "`&>`"),
        ("a 'b", "does not read it"),
    ] {
        let doubt = second::doubt(line, &Line::default()).expect("it is not read");
        assert!(doubt.contains(why), "{line:.20}: {doubt}");
    }
}
