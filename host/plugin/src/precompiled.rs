//! Machine code that is part of the binary, so that the first call of a built-in tool does not wait for the compiler.
//!
//! A release is built in two stages (docs/releasing.md): the first compiles the built-in components for the processors
//! that [`portable`] names, the second puts the code into the binary.
//!
//! Promises: the code is used for the component and the engine that it was made for, if it is what was built, byte for
//! byte; anything else means that the component is compiled as if the code were not there. It comes from the build and
//! from nowhere else: making a [`Precompiled`] is unsafe, takes static bytes, and no function here reads a file.
//!
//! Deliberately not here: which components come with code, which `host-extensions` and its build decide, and keeping it
//! in the user's cache (`runtime`).

mod portable;

use std::fmt;

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

pub use self::portable::{PortableCompiler, PrecompileError};
use crate::digest::Digest;

/// What machine code was made for and what it is, each as a hash of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeIdentity {
    /// The SHA-256 of the component.
    pub component: [u8; 32],
    /// The identity of the compiler: see [`PortableCompiler::identity`].
    pub engine: [u8; 32],
    /// The SHA-256 of the code.
    pub code: [u8; 32],
}

/// The machine code of one component, as a part of the binary.
#[derive(Clone, Copy)]
pub struct Precompiled {
    identity: CodeIdentity,
    code: &'static [u8],
}

/// Why code is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it was made for another component")]
    OtherComponent,
    #[error("it was made for another engine")]
    OtherEngine,
    #[error("it is not what was built")]
    Changed,
    #[error("this machine cannot run it: {0:#}")]
    Incompatible(wasmtime::Error),
}

impl Precompiled {
    /// Takes code that the build of this binary has put into it.
    ///
    /// # Safety
    ///
    /// To load the code is to run it. It must be what [`PortableCompiler::compile`] returned, and it must have become
    /// part of the binary when that was built: bytes that were read at run time are never passed here, whatever vouches
    /// for them. The identity is compared, but it comes from where the code comes from, so it proves nothing about that
    /// place.
    pub const unsafe fn new(identity: CodeIdentity, code: &'static [u8]) -> Self {
        Self { identity, code }
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> &'static [u8] {
        self.code
    }

    /// Loads the code if it is that of this component, made by this build's compiler for releases.
    pub(crate) fn load(&self, engine: &Engine, compiler: &[u8; 32], component: &Digest) -> Result<Component, Unusable> {
        if Digest::from_sha256(&self.identity.component) != *component {
            return Err(Unusable::OtherComponent);
        }
        if self.identity.engine != *compiler {
            return Err(Unusable::OtherEngine);
        }
        if Sha256::digest(self.code) != self.identity.code {
            return Err(Unusable::Changed);
        }
        // SAFETY: loading runs the code. Whoever made this value vouches that it came into the binary with its build,
        // and so it is trusted as the rest of the binary is. It is the whole code of this component, from a compiler of
        // this version with these settings; that this machine has the processor and the system, the engine itself
        // checks.
        unsafe { Component::deserialize(engine, self.code) }.map_err(Unusable::Incompatible)
    }
}

impl fmt::Debug for Precompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Precompiled({} bytes)", self.code.len())
    }
}
