//! A plugin without a capability that loops, grows, traps and lies.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use host_sdk::{Annotations, Content, Failure, Outcome, Tool, context, export_plugin};
use serde::Deserialize;

export_plugin!(
    tool("echo", |arguments| Ok(Outcome::text(arguments.text))),
    tool("count", |_| {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        Ok(Outcome::text(format!("{}", CALLS.fetch_add(1, Ordering::Relaxed) + 1)))
    }),
    tool("loop_for_ever", |_| {
        let mut number = 0u64;
        loop {
            number = black_box(number.wrapping_add(1));
        }
    }),
    tool("loop_until_told", |arguments| {
        context::emit(&arguments.text);
        while !context::should_stop() {}
        Err(Failure::Cancelled("what I had".to_owned()))
    }),
    tool("grow", |_| {
        let mut all: Vec<Vec<u8>> = Vec::new();
        loop {
            all.push(black_box(vec![1; 1 << 20]));
        }
    }),
    tool("recurse", |_| Ok(Outcome::text(format!("{}", deeper(1))))),
    tool("panic", |arguments| panic!("{}", arguments.text)),
    tool("flood", |_| Ok(Outcome::text("x".repeat(9 << 20)))),
    tool("flood_pieces", |_| Ok(Outcome::of(vec![Content::Text("x".repeat(1 << 20)); 9]))),
    tool("no_json", |_| Ok(Outcome::text("").with_structured("{\"torn\": "))),
    tool("shout", |_| {
        for _ in 0..300 {
            context::emit(&"y".repeat(60_000));
        }
        Ok(Outcome::text("done"))
    }),
    tool("leave", |arguments| {
        let size = arguments.text.parse().map_err(|_| Failure::InvalidArguments("no size".to_owned()))?;
        let left = black_box(vec![LEFT; size]);
        let found = found();
        drop(left);
        Ok(Outcome::text(found.to_string()))
    }),
    tool("find", |_| {
        // What another call grew is its own to search, too.
        core::arch::wasm32::memory_grow(0, 1 << 7);
        Ok(Outcome::text(found().to_string()))
    }),
);

/// What is left in memory.
const LEFT: u8 = 0xa5;

/// How much of the memory has what was left in it, in blocks of 256 bytes.
fn found() -> usize {
    const BLOCK: usize = 256;
    let blocks = (core::arch::wasm32::memory_size(0) << 16) / BLOCK;
    // Address 0 is left out: a pointer to it is none.
    let is_left = |block: &usize| {
        // SAFETY: all of this is memory, and nothing writes to it meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts((block * BLOCK) as *const u8, BLOCK) };
        black_box(bytes).iter().all(|byte| *byte == LEFT)
    };
    (1..blocks).filter(is_left).count()
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    text: String,
}

fn tool(name: &str, call: fn(Arguments) -> Result<Outcome, Failure>) -> Tool {
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}"#;
    Tool::new(name, "Misbehaves.", schema, call).annotations(Annotations::READ_ONLY)
}

fn deeper(depth: u64) -> u64 {
    // The compiler cannot see what is called, so it cannot turn this into a loop.
    let next: fn(u64) -> u64 = black_box(deeper);
    next(depth + 1) + 1
}
