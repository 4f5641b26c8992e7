//! `host acp` as an editor uses it: messages of the protocol on the standard streams of the real binary.

mod buffers;
mod commands;
pub(crate) mod editor;
mod hostile;
mod prompts;
mod questions;
mod sessions;
