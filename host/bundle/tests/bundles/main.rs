//! Bundles as whoever ships a plugin and whoever takes one meet them: packed, read, signed, and attacked.

mod attacks;
mod never_panics;
mod packing;
mod reading;
mod support;
mod trust;
