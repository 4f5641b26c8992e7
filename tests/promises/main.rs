//! The promises of SECURITY.md and README.md, each tried once against the real thing.

mod documents;
mod layers;
mod sandbox;
