//! A plugin that holds every capability and wears out each: it never ends, never stops asking, never lets go, and
//! passes what no honest tool would.
//!
//! Deliberately not here: what a plugin does without a capability (`misbehave`), and what Rust cannot say, such as a
//! table that grows (`tests/e2e/limits/made.rs`).

use std::hint::black_box;
use std::mem;

use host_sdk::bindings::host::cap::fs_read as raw;
use host_sdk::{
    Blob, Confirmation, Content, Failure, InfoConfirmation, Link, Outcome, Tool, context, export_plugin, fs_read,
    fs_write, http, process, state,
};
use serde::Deserialize;

const MIB: usize = 1 << 20;

export_plugin!(
    // What still has to work.
    tool("good", |a| {
        fs_write::write("good.txt", a.text.as_bytes(), &fs_write::Expected::Anything)?;
        let read = fs_read::read_text("good.txt")?;
        state::put("good", read.as_bytes(), &state::Expected::Anything)?;
        let child = process::spawn(&process::Command::new(["printf", "%s", &read]))?;
        let mut printed = Vec::new();
        while let Some(chunk) = child.read() {
            printed.extend(chunk.data);
        }
        Ok(Outcome::text(String::from_utf8_lossy(&printed)))
    }),
    // Never ends.
    tool("loop_in_the_host", |_| loop {
        black_box(context::should_stop());
    }),
    tool("flood_progress", |_| {
        let message = "p".repeat(16 << 10);
        let mut done = 0;
        loop {
            done += 1;
            context::progress(done, None, &message);
        }
    }),
    tool("flood_log", |_| {
        let line = "l".repeat(16 << 10);
        loop {
            context::log(context::Level::Error, &line);
        }
    }),
    tool("flood_live_output", |_| {
        let piece = "o".repeat(16 << 10);
        loop {
            context::emit(&piece);
        }
    }),
    tool("walk_for_ever", |a| loop {
        let walk = fs_read::Walk::open(&everything(&a.path, Vec::new()))?;
        while walk.next_batch()?.is_some() {}
    }),
    tool("read_for_ever", |a| loop {
        black_box(fs_read::read(&a.path, 0, u32::MAX)?);
    }),
    tool("write_for_ever", |_| {
        let content = vec![b'w'; 64 << 10];
        for number in (0..5).cycle() {
            fs_write::write(&format!("written-{number}"), &content, &fs_write::Expected::Anything)?;
        }
        Ok(Outcome::text("never"))
    }),
    tool("run_for_ever", |_| loop {
        process::spawn(&process::Command::new(["true"]))?.wait();
    }),
    tool("fetch_for_ever", |a| loop {
        http::fetch(&http::Request::get(&a.path, 1 << 10))?;
    }),
    tool("keep_for_ever", |_| {
        for number in 0_u64.. {
            state::put("kept", &number.to_le_bytes(), &state::Expected::Anything)?;
        }
        Ok(Outcome::text("never"))
    }),
    // Waits for what never comes.
    tool("wait_for_a_program", |_| {
        let child = process::spawn(&process::Command::new(["sleep", "1000"]))?;
        Ok(Outcome::text(format!("{:?}", child.wait().code)))
    }),
    tool("wait_for_one_that_reads_nothing", |_| {
        let mut command = process::Command::new(["sleep", "1000"]);
        command.stdin = Some(vec![b'i'; 8 * MIB]);
        Ok(Outcome::text(format!("{:?}", process::spawn(&command)?.wait().code)))
    }),
    tool("read_a_program_that_never_stops", |_| {
        let child = process::spawn(&process::Command::new(["sh", "-c", "yes & yes >&2"]))?;
        while child.read().is_some() {}
        Ok(Outcome::text("never"))
    }),
    tool("leave_a_program_unread", |_| {
        let _child = process::spawn(&process::Command::new(["sh", "-c", "yes & yes >&2"]))?;
        loop {
            black_box(context::should_stop());
        }
    }),
    tool("start_what_starts_others", |_| {
        let line = "(setsid sh -c 'sleep 1000 & sleep 1000') & exec sleep 1000";
        Ok(Outcome::text(format!("{:?}", process::spawn(&process::Command::new(["sh", "-c", line]))?.wait().code)))
    }),
    tool("fetch", |a| {
        let answer = http::fetch(&http::Request::get(&a.path, u32::MAX))?;
        Ok(Outcome::text(format!("{} bytes, cut: {}", answer.body.len(), answer.cut)))
    }),
    // Never lets go.
    tool("keep_walks", |a| {
        let mut walks = Vec::new();
        loop {
            walks.push(fs_read::Walk::open(&everything(&a.path, Vec::new()))?);
        }
    }),
    tool("keep_programs", |_| {
        let mut children = Vec::new();
        loop {
            children.push(process::spawn(&process::Command::new(["sh", "-c", "exec yes"]))?);
        }
    }),
    tool("panic_with_all_of_it", |a| {
        let _walk = fs_read::Walk::open(&everything(&a.path, Vec::new()))?;
        let _child = process::spawn(&process::Command::new(["sleep", "1000"]))?;
        panic!("{}", "!".repeat(2 * MIB))
    }),
    tool("use_a_walk_after_its_end", |a| {
        let walk = raw::open_walk(&everything(&a.path, Vec::new()))?;
        // SAFETY: it is not, which is the point: the handle is dropped twice and used in between.
        let again = unsafe { raw::Walk::from_handle(walk.handle()) };
        drop(walk);
        Ok(Outcome::text(format!("{:?}", again.next().map(|batch| batch.is_some()))))
    }),
    tool("use_a_program_that_is_a_walk", |a| {
        let walk = raw::open_walk(&everything(&a.path, Vec::new()))?;
        // SAFETY: it is not, which is the point: the handle is one of another kind.
        let child = unsafe { process::Child::from_handle(walk.take_handle()) };
        Ok(Outcome::text(format!("{:?}", child.wait().code)))
    }),
    // Returns too much.
    tool("return_much_data", |_| {
        Ok(Outcome::of(vec![Content::Blob(Blob { mime_type: "x/y".to_owned(), data: vec![7; 25 * MIB] })]))
    }),
    tool("return_a_long_summary", |_| Ok(Outcome::text("").with_summary("s".repeat(9 * MIB)))),
    tool("return_a_long_title", |_| {
        Ok(Outcome::of(vec![Content::Link(Link { uri: "a:b".to_owned(), title: Some("t".repeat(9 * MIB)) })]))
    }),
    tool("return_a_long_kind", |_| {
        Ok(Outcome::of(vec![Content::Blob(Blob { mime_type: "m".repeat(9 * MIB), data: Vec::new() })]))
    }),
    tool("fail_with_much", |_| Err(Failure::Failed("f".repeat(9 * MIB)))),
    tool("stop_with_much", |_| Err(Failure::Cancelled("c".repeat(9 * MIB)))),
    tool("return_many_parts", |_| Ok(Outcome::of(vec![Content::Text(String::new()); 500_000]))),
    tool("return_many_values", |_| {
        Ok(Outcome::text("").with_structured(format!("[{}{{\"\":0}}]", "{\"\":0},".repeat(MIB))))
    }),
    tool("return_deep_values", |_| {
        Ok(Outcome::text("").with_structured(format!("{}{}", "[".repeat(MIB), "]".repeat(MIB))))
    }),
    tool("return_long_values", |_| {
        let mut json = "v".repeat(9 * MIB);
        json.replace_range(..1, "\"");
        json.replace_range(9 * MIB - 1.., "\"");
        Ok(Outcome::text("").with_structured(json))
    }),
    // Passes what is no text, and what is too long.
    tool("emit_no_text", |_| {
        let bytes = black_box(vec![0xff, 0xfe, 0xc0]);
        // SAFETY: it is not, which is the point.
        context::emit(&unsafe { String::from_utf8_unchecked(bytes) });
        Ok(Outcome::text("never"))
    }),
    tool("run_the_same_words_again_and_again", |_| {
        let word = "w".repeat(MIB);
        // SAFETY: it is not, which is the point: 4,096 strings share one buffer, and none is dropped.
        let argv = (0..4096).map(|_| unsafe { String::from_raw_parts(word.as_ptr().cast_mut(), MIB, MIB) }).collect();
        let command = mem::ManuallyDrop::new(process::Command {
            argv,
            directory: String::new(),
            environment: Vec::new(),
            stdin: None,
            silence_limit: None,
        });
        process::spawn(&command)?;
        Ok(Outcome::text("never"))
    }),
    tool("pass_too_much_to_each_function", |a| Ok(Outcome::text(too_much(&a.path)))),
    tool("send_too_much", |a| {
        http::fetch(&http::Request { body: Some(vec![b'x'; 9 * MIB]), ..http::Request::get(&a.path, 1) })?;
        Ok(Outcome::text("never"))
    }),
    tool("write_too_much", |_| {
        fs_write::write("long.txt", &vec![b'x'; 21 * MIB], &fs_write::Expected::Anything)?;
        Ok(Outcome::text("never"))
    }),
    tool("walk_with_deep_globs", |a| {
        for depth in [100, 10_000, 1_000_000] {
            let globs = vec![format!("{}a{}", "{".repeat(depth), "}".repeat(depth))];
            if let Err(error) = fs_read::Walk::open(&everything(&a.path, globs)) {
                return Ok(Outcome::text(short(error, 400)));
            }
        }
        Ok(Outcome::text("taken"))
    }),
    tool("fill_the_state_with_keys", |_| {
        for number in 0_u64.. {
            state::put(&format!("key-{number}"), b"v", &state::Expected::Anything)?;
        }
        Ok(Outcome::text("never"))
    }),
    tool("fill_the_state_with_values", |_| {
        let value = vec![b'v'; MIB];
        for number in 0_u64.. {
            state::put(&format!("key-{number}"), &value, &state::Expected::Anything)?;
        }
        Ok(Outcome::text("never"))
    }),
    // Misbehaves when it is asked what it would do.
    preview("preview_for_ever", || loop {
        black_box(context::should_stop());
    }),
    preview("preview_with_a_panic", || panic!("no preview")),
    preview("preview_with_much", || Ok(info("t".repeat(25 * MIB), 0))),
    preview("preview_with_many_requests", || Ok(info(String::new(), 100_000))),
);

/// Every argument of every function, too long; how each was answered.
fn too_much(path: &str) -> String {
    let long = "x".repeat(MIB + 1);
    let fields = |count: usize| vec![("name".to_owned(), "x".repeat(MIB / 8)); count];
    let request = || http::Request::get(path, u32::MAX);
    let command = || process::Command::new(["true"]);
    let spans = vec![fs_write::Span { start: u64::MAX, end: 0, replacement: Vec::new() }; 100_000];
    let digest = "0".repeat(64);
    let globs = vec!["*.rs".to_owned(); 2_000];
    let texts = vec![b"x".to_vec(); 100_000];
    context::log(context::Level::Info, &long);
    context::emit(&long);
    context::progress(u64::MAX, Some(0), &long);
    let answers = vec![
        format!("config: {}", context::config(&long).is_none()),
        answer("stat", fs_read::stat(&long)),
        answer("list", fs_read::list(&long)),
        answer("read", fs_read::read(&long, u64::MAX, u32::MAX)),
        answer("read_whole", fs_read::read_whole(&long)),
        answer("walk", fs_read::Walk::open(&everything(&long, Vec::new())).map(drop)),
        answer("globs", fs_read::Walk::open(&everything(".", globs)).map(drop)),
        answer("long glob", fs_read::Walk::open(&everything(".", vec![long.clone()])).map(drop)),
        answer("texts", fs_read::Walk::open_search(&everything(".", Vec::new()), &texts, true).map(drop)),
        answer("no texts", fs_read::Walk::open_search(&everything(".", Vec::new()), &[], true).map(drop)),
        answer(
            "long text",
            fs_read::Walk::open_search(&everything(".", Vec::new()), &[long.clone().into()], true).map(drop),
        ),
        answer("write", fs_write::write(&long, b"", &fs_write::Expected::Anything)),
        answer("expected", fs_write::write("good.txt", b"", &fs_write::Expected::Digest(long.clone()))),
        answer("edit", fs_write::edit(&long, &digest, &[])),
        answer("digest", fs_write::edit("good.txt", &long, &[])),
        answer("spans", fs_write::edit("good.txt", &digest, &spans)),
        answer("rename", fs_write::rename("good.txt", &long)),
        answer("remove", fs_write::remove(&long)),
        answer("make_directory", fs_write::make_directory(&long)),
        answer("word", process::spawn(&process::Command::new([long.as_str()])).map(drop)),
        answer("words", process::spawn(&process::Command::new(vec![""; 100_000])).map(drop)),
        answer("directory", process::spawn(&process::Command { directory: long.clone(), ..command() }).map(drop)),
        answer("variables", process::spawn(&process::Command { environment: fields(8), ..command() }).map(drop)),
        answer("address", http::fetch(&http::Request::get(format!("{path}{long}"), 1)).map(drop)),
        answer("method", http::fetch(&http::Request { method: long.clone(), ..request() }).map(drop)),
        answer("headers", http::fetch(&http::Request { headers: fields(8), ..request() }).map(drop)),
        answer("many headers", {
            let headers = vec![("n".to_owned(), String::new()); 1_000];
            http::fetch(&http::Request { headers, ..request() }).map(drop)
        }),
        answer("secret", http::fetch_with_secrets(&request(), &[long.clone()]).map(drop)),
        answer("key", state::put(&long, b"", &state::Expected::Anything)),
        answer("version", state::put("good", b"", &state::Expected::Version(long.clone()))),
        answer("value", state::put("good", long.as_bytes(), &state::Expected::Anything)),
    ];
    answers.join("\n")
}

fn answer<T, E: Into<Failure>>(what: &str, result: Result<T, E>) -> String {
    match result {
        Ok(_) => format!("{what}: taken"),
        Err(error) => format!("{what}: {}", short(error, 100)),
    }
}

/// The first words of an error.
fn short(error: impl Into<Failure>, most: usize) -> String {
    let words = match error.into() {
        Failure::InvalidArguments(words)
        | Failure::NotFound(words)
        | Failure::Conflict(words)
        | Failure::Unavailable(words)
        | Failure::Cancelled(words)
        | Failure::Failed(words) => words,
        Failure::Denied(denial) => denial.help,
    };
    words.chars().take(most).collect()
}

fn everything(path: &str, globs: Vec<String>) -> fs_read::WalkOptions {
    fs_read::WalkOptions { root: path.to_owned(), contents: true, hidden: true, globs, ..Default::default() }
}

fn info(text: String, requests: usize) -> Option<Confirmation> {
    let request = host_sdk::HttpRequest { method: "GET".to_owned(), url: "http://example.com/".to_owned() };
    Some(Confirmation::Info(InfoConfirmation { text, requests: vec![request; requests], writes: Vec::new() }))
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    path: String,
    #[serde(default)]
    text: String,
}

fn tool(name: &str, call: fn(Arguments) -> Result<Outcome, Failure>) -> Tool {
    Tool::new(name, "Wears the host out.", r#"{"type":"object"}"#, call)
}

fn preview(name: &str, preview: fn() -> Result<Option<Confirmation>, Failure>) -> Tool {
    tool(name, |_| Ok(Outcome::text("called"))).preview(move |_: Arguments| preview())
}
