//! Plugins out of modules that are written as text, for what no compiler makes.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::repository;

/// A module or component as its text says, and nothing made of it.
pub fn binary(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the text is a module or component")
}

/// The component of a module that exports a plugin's functions and imports nothing, by the same library as in each SDK.
pub fn component(text: &str) -> Vec<u8> {
    let mut module = binary(text);
    let mut resolve = Resolve::default();
    resolve.push_dir(repository().join("wit/tool")).expect("the contract is good WIT");
    let world = "package test:made;\nworld made {\nexport host:tool/tool@0.1.0;\n}\n";
    let package = resolve.push_str("made.wit", world).expect("the world is good WIT");
    let world = resolve.select_world(&[package], Some("made")).expect("it is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("it fits");
    ComponentEncoder::default().module(&module).and_then(|mut encoder| encoder.encode()).expect("it is a component")
}
