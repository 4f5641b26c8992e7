//! Plugins that no language's compiler makes: they trap where they start, describe themselves without end, grow a
//! table, and return what is not a value. Written as text, and wrapped by the same library as those of the SDKs.

use host_capability::{Grants, PluginName};
use host_plugin::Plugin;
use host_tests::text_module::component;

/// The parts of a plugin that misbehave; what is not named traps.
#[derive(Clone, Copy, Default)]
pub(super) struct Made {
    /// What runs where it starts.
    pub(super) start: &'static str,
    pub(super) describe: Option<&'static str>,
    pub(super) call: Option<&'static str>,
    pub(super) realloc: Option<&'static str>,
    /// Pages of its memory.
    pub(super) pages: Option<u32>,
}

/// Never ends.
pub(super) const LOOP: &str = "(loop $again br $again) unreachable";

/// The address of eight bytes that say: a list of 2³¹ - 1 entries from address 0.
pub(super) const ENDLESS_LIST: &str = "(i32.store (i32.const 20) (i32.const 0x7fffffff)) i32.const 16";

/// The address of a result that is neither of the two.
pub(super) const NEITHER: &str = "(i32.store8 (i32.const 16) (i32.const 7)) i32.const 16";

/// Grows its table until it gets no more.
pub(super) const GROW_TABLE: &str =
    "(loop $more (br_if $more (i32.ne (table.grow (ref.null func) (i32.const 1000)) (i32.const -1)))) unreachable";

impl Made {
    /// The plugin, which declares nothing.
    pub(super) fn plugin(self, name: &str) -> Plugin {
        Plugin::new(PluginName::new(name), self.component(""), Grants::none())
    }

    /// Its component, with more functions.
    pub(super) fn component(self, functions: &str) -> Vec<u8> {
        let start =
            if self.start.is_empty() { String::new() } else { format!("(func $start {}) (start $start)", self.start) };
        let (describe, call) = (self.describe.unwrap_or("unreachable"), self.call.unwrap_or("unreachable"));
        // There is room for arguments behind what the results use, and nobody gives any back.
        let realloc = self.realloc.unwrap_or("i32.const 1024");
        let pages = self.pages.unwrap_or(1);
        let text = format!(
            r#"(module
                (memory (export "memory") {pages})
                (table 1 funcref)
                {start}
                {functions}
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
                (func (export "host:tool/tool@0.1.0#describe") (result i32) {describe})
                (func (export "host:tool/tool@0.1.0#preview") (param i32 i32 i32 i32 i32 i32) (result i32) unreachable)
                (func (export "host:tool/tool@0.1.0#revise") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                    unreachable)
                (func $call (export "host:tool/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32) {call}))"#
        );
        component(&text)
    }
}
