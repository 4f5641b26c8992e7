//! Untrusted text: which characters are unsafe to show, how they are escaped, and how a text is cut.
//!
//! Owns the one set of unsafe characters, the escape functions, lines of programs as a terminal shows them, quotation
//! marks around foreign words, clipping with its mark, the nearest name of a misspelled one, names that look alike,
//! Markdown's code fences, counted nouns, errors with their causes, the help on them, the templates of titles, and
//! secrets, which are not shown at all. Everything that a guest, a model, a server, a manifest or someone else's file
//! contains passes an escape function of this crate before a user reads it.
//!
//! Deliberately not here: I/O, the width of a text on a terminal, colours, and which text deserves trust.

mod causes;
mod characters;
mod clip;
mod counted;
mod escape;
mod fence;
mod help;
mod lookalike;
mod nearest;
mod printed;
mod quote;
mod secret;
mod title;

pub use causes::{append_causes, with_causes};
pub use characters::is_unsafe;
pub use clip::{CUT_MARK, Ends, clip, ends};
pub use counted::{counted, counted_of};
pub use escape::{
    Escaper, Newlines, escape, escape_exact, escape_json, escape_name, exact, excerpt, first_escaped, is_plain,
    one_line, visible, visible_line,
};
pub use fence::{CodeBlocks, Fence, Indent, LineKind, could_be_fence, could_open_with, fence_for, fenced, inline_code};
pub use help::{Advice, Flag, Help, HelpCommand, HelpFlag, Notice, Wording};
pub use lookalike::skeleton;
pub use nearest::{
    did_you_mean, distance, expected_instead, name_help, nearest, nearest_few, suggestion, with_plain_types,
};
pub use printed::as_printed;
pub use quote::{quoted, quoted_excerpt};
pub use secret::Secret;
pub use title::{TemplateError, TitleTemplate, title_line};
