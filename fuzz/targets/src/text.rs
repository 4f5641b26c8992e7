//! Text from anywhere, made safe to show.

use host_text::{
    CUT_MARK, CodeBlocks, Escaper, Indent, LineKind, Newlines, clip, ends, escape, escape_exact, escape_name, excerpt,
    fenced, inline_code, is_plain, nearest_few, one_line,
};

use crate::shown;

/// Whatever is escaped has no unsafe character, is escaped once and for all, and however it came; what is cut is short;
/// what is in a fence does not end it.
pub fn text(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    let most = data.len() % 40;
    for (newlines, check) in [(Newlines::Keep, shown::prose as fn(&str)), (Newlines::Escape, shown::line)] {
        let prose = escape(text, newlines);
        check(&prose);
        assert_eq!(escape(&prose, newlines), prose);
        assert_eq!(in_pieces(text, newlines, most + 1), prose);
        let exact = escape_exact(text, newlines);
        shown::exact(&exact.replace(if newlines == Newlines::Keep { &['\n', '\t'][..] } else { &[] }, ""));
        assert_eq!(escape_exact(&exact, newlines), exact);
    }
    let length = |text: &str| text.chars().count();
    let limit = most + length(CUT_MARK);
    assert!(length(&clip(text, most)) <= limit);
    for cut in [excerpt(text, most), escape_name(text, most), one_line(text, most)] {
        shown::line(&cut);
        assert!(length(&cut) <= limit, "{cut:?} has more than {most} characters");
    }
    assert!(!escape_name(text, most).contains('`'));
    assert_eq!(is_plain(text, most), excerpt(text, most) == text);
    if let Some(ends) = ends(text, most) {
        assert!(text.starts_with(ends.head) && text.ends_with(ends.tail));
        assert_eq!(length(ends.head) + length(ends.tail) + ends.left_out, ends.all);
    }
    check_fences(text);
    let names: Vec<&str> = text.split_whitespace().take(20).collect();
    assert!(nearest_few(text, names.iter().copied(), 3).len() <= 3);
}

fn in_pieces(text: &str, newlines: Newlines, length: usize) -> String {
    let mut escaper = Escaper::new(newlines);
    let mut shown = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        shown.push_str(&escaper.push(&rest[..end]));
        rest = &rest[end..];
    }
    shown + &escaper.finish()
}

fn check_fences(text: &str) {
    for indent in [Indent::Any, Indent::ThreeSpaces] {
        let block = fenced("text", text);
        let mut blocks = CodeBlocks::new(indent);
        let kinds: Vec<LineKind> = block.split('\n').map(|line| blocks.line(line)).collect();
        let (first, rest) = kinds.split_first().expect("a fence");
        let (last, within) = rest.split_last().expect("two fences");
        assert_eq!((*first, *last), (LineKind::Opens, LineKind::Closes), "{block:?}");
        assert!(within.iter().all(|kind| *kind == LineKind::Code), "{block:?}");
    }
    let inline = inline_code(text);
    assert!(!inline.contains(['\n', '\r']));
    let marks = inline.chars().take_while(|c| *c == '`').count();
    let within = inline.get(marks..inline.len() - marks).expect("marks at both ends");
    assert!(within.split(|c| c != '`').all(|run| run.len() < marks), "{inline:?}");
}
