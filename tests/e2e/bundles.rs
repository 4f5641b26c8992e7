//! Bundles, against other people's programs: one that reads and makes the same signatures, and a registry.
//!
//! What is packed and read, and the attacks on both, are tried in `host/bundle/tests`.

mod clients;
mod commands;
mod minisign;
mod progress;
mod registry;
