//! Tests of what all built-in tools have in common; there is nothing to build.
