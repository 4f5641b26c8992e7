//! Bundles from the point of view of publishers and users of a plugin: packed, read, signed, and attacked.

mod attacks;
mod layouts;
mod never_panics;
mod packing;
mod reading;
mod stored;
mod support;
mod trust;
