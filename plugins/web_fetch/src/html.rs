//! HTML as Markdown.
//!
//! `htmd` on `html5ever`: of the crates tried the one whose tables, nested lists and code blocks come out as a
//! model would write them. It walks the tree by recursion, so how deep the tree is is looked at first.

use std::fmt;

use htmd::HtmlToMarkdown;

use crate::attributes;

/// How deep elements may nest. A page has some dozens; thousands are an attack, and would overrun the stack.
const MAX_DEPTH: usize = 256;

/// How many tags may be open by a rough count, before the page is parsed at all: what a parser does for each tag
/// takes as long as the page is deep. Far higher, since the count takes scripts for tags too.
const MAX_OPEN_TAGS: usize = 20_000;

/// Elements that hold nothing to read.
const SKIPPED: [&str; 9] = ["script", "style", "noscript", "template", "svg", "iframe", "canvas", "object", "head"];

/// Elements without an end tag, which cannot nest, and those whose end tag is mostly left out and which a parser
/// closes by itself.
const FLAT: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "html", "body",
];

/// Why a page is not made into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its elements nest too deeply.
    Nested,
    /// Its tags have too many attributes.
    Attributes,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nested => "nests too deeply to be read",
            Self::Attributes => "has tags with too many attributes to be read",
        })
    }
}

/// A page's title, where it has one, and its text as Markdown.
pub(crate) fn markdown(html: &str) -> Result<(Option<String>, String), Unreadable> {
    if open_tags(html) > MAX_OPEN_TAGS {
        return Err(Unreadable::Nested);
    }
    if attributes::are_too_many(html) {
        return Err(Unreadable::Attributes);
    }
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let tree = converter.html_to_tree(html).map_err(|_| Unreadable::Nested)?;
    let mut level = tree.children.borrow().clone();
    for _ in 0..MAX_DEPTH {
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
    }
    if !level.is_empty() {
        return Err(Unreadable::Nested);
    }
    let text = converter.tree_to_markdown(&tree);
    // An image that stands in the address itself is of no use as text.
    let lines = text.lines().map(str::trim_end).filter(|line| !line.contains("](data:"));
    let mut tidy = String::with_capacity(text.len());
    let mut blank = true;
    for line in lines {
        if !(blank && line.is_empty()) {
            tidy.push_str(line);
            tidy.push('\n');
        }
        blank = line.is_empty();
    }
    Ok((title(html), tidy))
}

fn title(html: &str) -> Option<String> {
    let start = find(html, "<title")?;
    let rest = html.get(start..)?;
    let rest = rest.get(rest.find('>')? + 1..)?;
    let text = rest.get(..find(rest, "</title")?)?;
    // Entities are the converter's business, so it gets the text as a page of its own.
    let text = htmd::convert(&format!("<p>{}</p>", text.replace('<', "&lt;"))).ok()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

fn find(html: &str, tag: &str) -> Option<usize> {
    html.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))
}

/// The most elements that are open at once, roughly: each end tag is taken to end one.
fn open_tags(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (closes, name) = match tag.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, tag),
        };
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if name.is_empty() || FLAT.iter().any(|flat| name.eq_ignore_ascii_case(flat)) {
            continue;
        }
        depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        let (_, text) = markdown(html).expect("a shallow page");
        assert_eq!(text, expected, "{html}");
    }

    #[test]
    fn a_page_becomes_markdown() {
        check(
            "<html><head><title>T</title><style>a{}</style></head><body><h1>Hi</h1><p>A <b>bold</b> \
             <a href=/x>link</a>.<script>evil()</script><ul><li>one<li>two</ul></body></html>",
            "# Hi\n\nA **bold** [link](/x).\n\n*   one\n*   two\n",
        );
        check("<pre><code class=language-rust>fn f() {\n    1\n}</code></pre>", "```rust\nfn f() {\n    1\n}\n```\n");
        check(
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| a | b |\n| - | - |\n| 1 | 2 |\n",
        );
        check("", "");
        check("a &amp; b<br>", "a & b\n");
        check("<p>a</p><img src='data:image/png;base64,AAAA'><p>b</p>", "a\n\nb\n");
    }

    #[test]
    fn a_title_is_found_wherever_it_is() {
        let title = |html: &str| markdown(html).ok().and_then(|(title, _)| title);
        assert_eq!(title("<TITLE lang=en>\n A &amp; B </TITLE>x").as_deref(), Some("A & B"));
        assert_eq!(title("<p>none"), None);
        assert_eq!(title("<title>never closed"), None);
        assert_eq!(title("<title></title>"), None);
    }

    #[test]
    fn web_fetch_endlessly_nested_page_does_not_overflow_the_stack() {
        assert_eq!(markdown(&"<div>".repeat(100_000)), Err(Unreadable::Nested));
        assert_eq!(markdown(&"<b><i>".repeat(100_000)), Err(Unreadable::Nested));
        // Paragraphs that are never closed are no nesting.
        assert!(markdown(&"<p>a<br>".repeat(10_000)).is_ok());
        assert!(markdown(&"<div><p>a</div>".repeat(10_000)).is_ok());
        // An end tag of nothing ends nothing.
        assert_eq!(markdown(&"<div></q>".repeat(5_000)), Err(Unreadable::Nested));
        let nested = |levels: usize| format!("{}x{}", "<div>".repeat(levels), "</div>".repeat(levels));
        assert!(markdown(&nested(200)).is_ok());
        assert_eq!(markdown(&nested(300)), Err(Unreadable::Nested));
    }
}
