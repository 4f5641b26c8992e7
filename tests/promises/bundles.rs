//! Bundles: the commands, and another program that reads and makes the same signatures.
//!
//! What is packed and read, and the attacks on both, are tried in `host/bundle/tests`.

mod commands;
mod minisign;
