//! The Agent Client Protocol: a frontend for editors.
//!
//! Owns the protocol on a pair of streams: sessions, prompts, updates and questions. No other crate knows the protocol's
//! types.
//!
//! Deliberately not here: what a session is and may do (`host-app`), printing, and reading the environment.
