//! What a plugin may touch, as a lattice: capabilities, their scopes, grants, and the permits that grants give.
//!
//! Owns [`Capability`] (a kind of thing), [`Scope`] (which of them), [`Grants`] (all that a plugin may touch),
//! the permits ([`ReadPermit`], [`WritePermit`], [`ProcessPermit`], [`HttpPermit`], [`StatePermit`]) and
//! [`Denied`], the no that says what would have been a yes.
//!
//! It promises that
//! * nothing is granted by default: [`Grants::none`] permits nothing, and grants grow only by [`Grants::with`]
//!   and [`Grants::join`], which the host calls for a user's words and for nobody else's;
//! * grants shrink by [`Grants::meet`]: `a.meet(&b)` permits exactly what both `a` and `b` permit;
//! * `a.le(&b)` means that whatever `a` permits, `b` permits;
//! * a permit is made by the check alone: its fields are private, and it has no other constructor;
//! * text in a [`Denied`] or a [`ScopeError`] is safe for a terminal and bounded, whoever wrote it.
//!
//! Paths are those of Unix, absolute and resolved lexically. Deliberately not here: touching a file, a process or
//! the network, knowing wasmtime, asking a user, and policy rules, which say whether a permitted call is asked
//! about first.

mod address;
mod antichain;
mod authorities;
mod authority;
mod capability;
mod denied;
mod deny;
mod error;
mod grants;
mod list;
mod paths;
mod permit;
mod plugin;
mod programs;
mod scope;
mod state;
mod visible;

pub use authorities::Authorities;
pub use authority::{Authority, HostError};
pub use capability::{Capability, CapabilitySet, UnknownCapability};
pub use denied::Denied;
pub use deny::escaped;
pub use error::ScopeError;
pub use grants::Grants;
pub use paths::{Paths, Root};
pub use permit::{HttpPermit, ProcessPermit, ReadPermit, StatePermit, WritePermit};
pub use plugin::PluginName;
pub use programs::Programs;
pub use scope::Scope;
pub use state::StateAccess;
