//! End-to-end tests: each promise of SECURITY.md and README.md once, with the real binary or the real sandbox.

mod agents;
mod bundles;
mod cache;
mod codes;
mod compat;
mod components;
mod discovered;
mod documents;
mod foreign_text;
mod guide;
mod imports;
mod installed;
mod languages;
mod layers;
mod plugin_check;
mod plugin_dev;
mod plugin_test;
mod policy;
mod reference;
mod run;
mod sandbox;
mod session;
mod settings;
mod tools;
mod trust;
mod words;
