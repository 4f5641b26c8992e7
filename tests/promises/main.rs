//! The promises of SECURITY.md and README.md, each tried once against the real thing.

mod agents;
mod cache;
mod codes;
mod components;
mod documents;
mod imports;
mod languages;
mod layers;
mod policy;
mod run;
mod sandbox;
mod session;
mod tools;
mod trust;
