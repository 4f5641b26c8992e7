//! The promises of SECURITY.md and README.md, each tried once against the real thing.

mod agents;
mod bundles;
mod cache;
mod codes;
mod components;
mod discovered;
mod documents;
mod guide;
mod imports;
mod installed;
mod languages;
mod layers;
mod museum;
mod plugin_check;
mod plugin_dev;
mod plugin_test;
mod policy;
mod run;
mod sandbox;
mod session;
mod settings;
mod tools;
mod trust;
