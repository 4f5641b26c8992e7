//! Splits the text of a scope into items and words, and writes words so that they can be read back.
//!
//! Owns the part of the grammar that all scopes share:
//! * `,` separates items, and `;` separates lists of items; white space around an item is dropped;
//! * within an item, white space separates words;
//! * `'…'` takes everything literally up to the next `'`, and `"…"` everything up to the next `"`, where `\"` and `\\`
//!   mean `"` and `\`; a quoted part joins the text that touches it;
//! * anywhere else a backslash is a character like any other, and there are no variables, no `~`, no patterns;
//! * in an item that starts with `!`, a comma between braces does not separate: `!*.{pem,key}` is one item.
//!
//! Each scope defines the meaning of its items.

use std::borrow::Cow;
use std::path::Path;
use std::str::Chars;

use crate::error::ScopeError;
use crate::visible::visible;

/// The longest text of a scope that a user or a manifest wrote, in bytes: bounds what a manifest can make the host
/// parse, and the size of a glob's automaton.
const WRITTEN_TEXT_LIMIT: usize = 4 << 10;

/// The most items in the text of a scope that a user or a manifest wrote: a meet compares each with each.
const WRITTEN_ITEM_LIMIT: usize = 64;

/// The longest text of a scope that the host stored, in bytes. Larger, so that a scope within the limit for written
/// text can be read back after relative paths became absolute and several scopes were joined.
const STORED_TEXT_LIMIT: usize = 256 << 10;

/// The most items in the text of a scope that the host stored.
const STORED_ITEM_LIMIT: usize = 4 << 10;

/// The origin of the text of a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    /// A user or a manifest wrote it; relative paths are resolved against this workspace.
    Written(&'a Path),
    /// `Display` wrote it; nothing in it is relative.
    Stored,
}

/// One word of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its text, without the quotes.
    pub(crate) text: String,
    /// Whether any of it was quoted, so that it is literal even if it looks like a pattern.
    pub(crate) quoted: bool,
    /// How many bytes of the text come before the first quote; all of them if nothing was quoted.
    pub(crate) bare: usize,
}

/// One item of a list. It has at least one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    /// The whole item with its inner white space, without the quotes and without the `!` that it starts with.
    pub(crate) whole: Word,
    /// Whether it starts with an unquoted `!`.
    pub(crate) deny: bool,
    /// Its words; a `!` at the start is part of the first one.
    pub(crate) words: Vec<Word>,
    /// White space after the last word, not part of `whole` unless another word follows.
    gap: String,
    /// Number of open braces; counted in denies only.
    braces: usize,
    /// Whether a word is being read.
    in_word: bool,
}

/// Cuts the text into lists of items.
///
/// # Errors
///
/// When it is too long, has too many items, an empty one, an open quote, or a character that no message could
/// show as it is.
pub(crate) fn lists(text: &str, form: Form<'_>) -> Result<Vec<Vec<Item>>, ScopeError> {
    let (text_limit, item_limit) = match form {
        Form::Written(_) => (WRITTEN_TEXT_LIMIT, WRITTEN_ITEM_LIMIT),
        Form::Stored => (STORED_TEXT_LIMIT, STORED_ITEM_LIMIT),
    };
    // Before any of it is looked at: a manifest of a stranger has such texts.
    if text.len() > text_limit {
        return Err(ScopeError::TooLong { length: text.len(), limit: text_limit });
    }
    // Rejected and not escaped: what a user agrees to must be what is compared later.
    if text.chars().any(host_text::is_unsafe) {
        return Err(ScopeError::Character { text: visible(text) });
    }
    let finished = |item: Item| match item.words.is_empty() {
        true => Err(ScopeError::Empty { text: visible(text) }),
        false => Ok(item),
    };
    let (mut lists, mut list, mut item) = (Vec::new(), Vec::new(), Item::default());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' => {
                item.open_quote();
                quoted(c, &mut rest, &mut item).ok_or_else(|| ScopeError::Quote { text: visible(text) })?;
            }
            ',' if item.braces == 0 => list.push(finished(std::mem::take(&mut item))?),
            // A list ends here, since resources and denies hold for the list in front of them.
            ';' if item.braces == 0 => {
                list.push(finished(std::mem::take(&mut item))?);
                lists.push(std::mem::take(&mut list));
            }
            c if c.is_whitespace() => item.space(c),
            '!' if item.words.is_empty() => item.open_deny(),
            c => {
                if item.deny {
                    match c {
                        '{' => item.braces += 1,
                        '}' => item.braces = item.braces.saturating_sub(1),
                        _ => {}
                    }
                }
                item.push(c);
            }
        }
    }
    list.push(finished(item)?);
    lists.push(list);
    match lists.iter().map(Vec::len).sum::<usize>() > item_limit {
        true => Err(ScopeError::TooMany { limit: item_limit }),
        false => Ok(lists),
    }
}

/// Reads to the end of a quote; `None` if it has none.
fn quoted(quote: char, rest: &mut Chars<'_>, item: &mut Item) -> Option<()> {
    loop {
        match rest.next()? {
            close if close == quote => return Some(()),
            // Elsewhere a backslash is a character, as a path may have one.
            '\\' if quote == '"' && rest.as_str().starts_with(['"', '\\']) => item.push(rest.next()?),
            literal => item.push(literal),
        }
    }
}

/// Returns the items of all lists, for a scope in which `;` means the same as `,`.
///
/// # Errors
///
/// As [`lists`].
pub(crate) fn items(text: &str, form: Form<'_>) -> Result<Vec<Item>, ScopeError> {
    Ok(lists(text, form)?.into_iter().flatten().collect())
}

/// Quotes the text so that it is read back as one word, or as one whole item, with its literal meaning.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+^[]".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        Cow::Borrowed(text)
    } else if !text.contains('\'') {
        Cow::Owned(format!("'{text}'"))
    } else {
        Cow::Owned(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
    }
}

impl Item {
    fn word(&mut self) -> &mut Word {
        if !self.in_word {
            self.in_word = true;
            self.whole.text.push_str(&std::mem::take(&mut self.gap));
            self.words.push(Word::default());
        }
        let last = self.words.len().saturating_sub(1);
        &mut self.words[last]
    }

    fn push(&mut self, c: char) {
        let word = self.word();
        word.text.push(c);
        if !word.quoted {
            word.bare = word.text.len();
        }
        self.whole.text.push(c);
    }

    fn open_quote(&mut self) {
        self.word().quoted = true;
        self.whole.quoted = true;
    }

    fn open_deny(&mut self) {
        self.word().text.push('!');
        self.deny = true;
    }

    fn space(&mut self, c: char) {
        if !self.words.is_empty() {
            self.gap.push(c);
            self.in_word = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form<'static> = Form::Stored;

    /// Each item as its words, joined by `|`.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = items(text, FORM)
            .unwrap()
            .iter()
            .map(|item| item.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("|"))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn commas_separate_items_and_spaces_words() {
        check("a", &["a"]);
        check(" a , b  c ", &["a", "b|c"]);
        check("a;b", &["a", "b"]);
        check("'a b' \"c,d\"e", &["a b|c,de"]);
        check(r#""a\"b\\c\d" 'e\f' g\h"#, &[r#"a"b\c\d|e\f|g\h"#]);
        check("''", &[""]);
        check("!*.{a,b},c", &["!*.{a,b}", "c"]);
        check("{a,b}", &["{a", "b}"]);
        check("!{a},{b", &["!{a}", "{b"]);
    }

    #[test]
    fn a_whole_item_keeps_its_inner_space_and_loses_its_quotes() {
        let all = items(" my  notes ,!'a b', 'x'", FORM).unwrap();
        let whole: Vec<_> = all.iter().map(|item| (item.deny, item.whole.text.as_str(), item.whole.quoted)).collect();
        assert_eq!(whole, [(false, "my  notes", false), (true, "a b", true), (false, "x", true)]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", " ", "a,", ",a", "a,,b", "a;", "'a", "\"a", "\"a\\\"", "a\nb", "a\u{1b}[2J", "a\u{202e}b"] {
            assert!(lists(text, FORM).is_err(), "{text:?}");
        }
    }

    #[test]
    fn text_and_items_are_limited() {
        let written = Form::Written(Path::new("/w"));
        for (form, text, items) in
            [(written, WRITTEN_TEXT_LIMIT, WRITTEN_ITEM_LIMIT), (Form::Stored, STORED_TEXT_LIMIT, STORED_ITEM_LIMIT)]
        {
            let many = |count: usize| lists(&vec!["a"; count].join(","), form);
            assert!(many(items).is_ok());
            assert_eq!(many(items + 1), Err(ScopeError::TooMany { limit: items }));
            let long = |length: usize| lists(&"a".repeat(length), form);
            assert!(long(text).is_ok());
            assert_eq!(long(text + 1), Err(ScopeError::TooLong { length: text + 1, limit: text }));
        }
    }

    #[test]
    fn a_quoted_word_comes_back() {
        for word in ["", "a", "a b", "a,b", "a;b", "it's", r#"it's "\" here"#, "*", "!x", "{", "'", "\\", "ä ö", "~"]
        {
            let text = format!("{},{}", quote(word), quote(word));
            check(&text, &[word, word]);
        }
    }
}
