//! What the bytes of a file are, and how they are put before a model.
//!
//! Owns telling text from binary and from media that a model can take, lines and the cutting of long ones, and
//! making names safe to print on a line.
//!
//! Deliberately not here: reading anything. Every function is from bytes to text, so all of it is tested
//! natively.

mod lines;
mod media;
mod name;
mod window;

pub use lines::{Line, MAX_LINE_CHARACTERS, cut_line, lines};
pub use media::{Kind, kind_of, media_type};
pub use name::printable;
pub use window::{Shown, Window};
