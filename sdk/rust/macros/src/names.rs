//! The words that options may be, and the nearest one to a word that is none.

use proc_macro2::Span;

/// The capabilities, as an attribute writes them.
pub(crate) const CAPABILITIES: &[&str] = &["fs_read", "fs_write", "http", "process", "state"];

/// How alike two words must be for one to be offered in the place of the other, of 1.
const ALIKE: f64 = 0.7;

/// An error at `span` about a word that is none of those known: names the nearest, and all.
pub(crate) fn unknown(span: Span, what: &str, word: &str, known: &[&str]) -> syn::Error {
    let likeness = |name: &&str| strsim::jaro_winkler(word, name);
    let nearest = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let meant = match nearest.filter(|name| likeness(name) >= ALIKE) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    };
    let all = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    syn::Error::new(span, format!("there is no {what} `{word}`{meant}\nthere are {all}"))
}
