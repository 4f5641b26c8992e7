//! A plugin that answers with whatever memory its caller wrote.

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Each pair of letters from `a` to `p` in a call's arguments is a byte. They are written to the memory from its begin,
/// and its begin is the answer. Letters keep the arguments a text, which they have to be.
const GUEST: &str = r#"(module
  (memory (export "memory") 16)
  (global $free (mut i32) (i32.const 524288))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
    (global.set $free (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $answer (param $from i32) (param $length i32) (result i32)
    (local $at i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $length)))
        (i32.store8 (i32.shr_u (local.get $at) (i32.const 1))
          (i32.or
            (i32.shl (i32.sub (i32.load8_u (i32.add (local.get $from) (local.get $at))) (i32.const 97)) (i32.const 4))
            (i32.sub
              (i32.load8_u (i32.add (local.get $from) (i32.add (local.get $at) (i32.const 1)))) (i32.const 97))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (br $next)))
    (i32.const 0))
  (func (export "host:tool/tool@0.1.0#describe") (result i32) (i32.const 0))
  (func (export "host:tool/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (local.get 4) (local.get 5)))
  (func (export "host:tool/tool@0.1.0#preview") (param i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (local.get 4) (local.get 5)))
  (func (export "host:tool/tool@0.1.0#revise") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (local.get 4) (local.get 5))))"#;

/// Returns the component.
pub(crate) fn component() -> Vec<u8> {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/tool");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(&contract).expect("the contract");
    let world = resolve.select_world(&[package], Some("plugin")).expect("the contract's world");
    let mut module = wat::parse_str(GUEST).expect("a module");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("it fits");
    ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .expect("a component")
}

/// Returns the arguments that make the guest answer with these bytes.
pub(crate) fn arguments(memory: &[u8]) -> String {
    let letter = |half: u8| char::from(b'a' + half);
    memory.iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
}
