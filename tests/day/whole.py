"""The whole day: the calls of `tests/e2e/run/approvals/day.txt` in a repository where each line has something to do.

Usage: whole.py files WORK        writes the files of the repository
       whole.py calls OUT         writes the calls, for client.py
       whole.py plain WORK OUT    runs the lines by `sh`, with nothing around them, and writes how each ended
       whole.py judge RESULT PLAIN "QUESTIONS"
                                  prints the cell of the table; ends with 1 if there were fewer or more questions, or if
                                  a line ended otherwise behind the walls than without them
"""

import json, os, signal, subprocess, sys, tempfile

DAY = os.path.join(os.path.dirname(__file__), "../e2e/run/approvals/day.txt")

# What a script of npm and a test of it need, and no more.
PACKAGE = """{
  "name": "web",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test",
    "lint": "prettier --log-level warn --check src/index.ts",
    "build": "tsc --noEmit",
    "dev": "node serve.js"
  },
  "devDependencies": { "prettier": "3.6.2", "typescript": "5.9.3" }
}
"""

FILES = {
    "Cargo.toml": """[package]
name = "app"
version = "0.2.0"
edition = "2021"
license = "MIT"
description = "Parses words"

[dependencies]
serde = "1.0.228"

[[bench]]
name = "parse"
harness = false
""",
    "src/lib.rs": """//! Parses words.

pub mod cache;
pub mod errors;
pub mod model;
pub mod parser;
pub mod table;
""",
    "src/main.rs": """use app::{errors::Error, parser::parse};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--version"] => println!("app {}", env!("CARGO_PKG_VERSION")),
        ["parse", .., path] => match std::fs::read_to_string(path) {
            Ok(text) => println!("{{\\"spans\\": [{}]}}", parse(&text).len()),
            Err(cause) => {
                eprintln!("{}", Error { file: path.to_string(), cause });
                std::process::exit(2);
            }
        },
        _ => println!("app parse [--json] FILE"),
    }
}
""",
    "src/parser.rs": """/// A word and the place where it begins.
pub fn parse(text: &str) -> Vec<(usize, &str)> {
    let start = text.as_ptr() as usize;
    let words = text.split_whitespace();
    words.map(|word| (word.as_ptr() as usize - start, word)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_have_places() {
        assert_eq!(super::parse("a  b"), [(0, "a"), (3, "b")]);
    }
}
""",
    "src/model.rs": """/// The year of a date.
pub fn year(date: &str) -> Option<u32> {
    date.split('-').next()?.parse().ok()
}
""",
    "src/errors.rs": """/// A file that cannot be read.
pub struct Error {
    pub file: String,
    pub cause: std::io::Error,
}

impl std::fmt::Display for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(to, "cannot read {}: {}", self.file, self.cause)
    }
}
""",
    "src/cache.rs": """use std::collections::HashMap;

/// What was parsed before.
#[derive(Default)]
pub struct Cache(pub HashMap<String, usize>);

#[cfg(test)]
mod tests {
    #[test]
    fn cache_begins_empty() {
        assert!(super::Cache::default().0.is_empty());
    }
}
""",
    "src/table.rs": """/// The fields of a row.
pub fn fields(row: &str) -> Vec<&str> {
    row.split(',').collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn table_has_fields() {
        assert_eq!(super::fields("a,b"), ["a", "b"]);
    }
}
""",
    "tests/model.rs": """#[test]
fn model_reads_years() {
    assert_eq!(app::model::year("2026-11-27"), Some(2026));
}
""",
    "tests/errors.rs": """#[test]
fn errors_name_the_file() {
    let cause = std::io::Error::other("gone");
    let error = app::errors::Error { file: "a.txt".to_owned(), cause };
    assert!(error.to_string().contains("a.txt"));
}
""",
    "tests/lib.rs": """#[test]
fn everything_parses() {
    assert!(app::parser::parse("").is_empty());
}
""",
    "benches/parse.rs": """fn main() {
    let text = "one two ".repeat(1_000);
    let start = std::time::Instant::now();
    let words = app::parser::parse(&text).len();
    println!("time: {words} words, {:?}", start.elapsed());
}
""",
    "Makefile": """test:
	cargo test --quiet
lint:
	cargo clippy --quiet
release:
	cargo build --release
""",
    "scripts/check.sh": """#!/bin/sh
cargo check --quiet
""",
    "web/package.json": PACKAGE,
    "web/tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext", "target": "es2022"}, "include": ["src"]}\n',
    "web/serve.js": """import { createServer } from "node:http";
createServer((request, response) => response.end("served\\n")).listen(5173, "127.0.0.1");
""",
    "web/format.test.js": """import test from "node:test";
test("format", () => new Intl.DateTimeFormat("de").format(new Date(0)));
""",
    "web/src/index.ts": "export const version = 1;\n",
    "web/src/format.ts": 'export const colour = "red";\n',
    "web/src/format.test.ts": 'export const cases = ["red"];\n',
    "web/src/table.ts": "export const rows: string[] = [];\n",
    ".github/workflows/ci.yml": "on: push\njobs: {}\n",
    ".gitignore": "target\nnode_modules\n*.log\nbig.txt\nbig.bin\n",
    "README.md": "# app\n",
    "CHANGELOG.md": "# Changes\n",
    "docs/usage.md": "`app parse FILE` counts words.\n",
    "config/default.toml": "size = 1\n",
    "config/test.toml": "size = 2\n",
    "words.txt": "one\ntwo\none\n",
    "a.txt": "1\n2\n",
    "b.txt": "2\n3\n",
    "numbers.txt": "1\n2\n3\n",
    "table.csv": "a,b\nc,d\n",
    "dos.txt": "one\r\ntwo\r\n",
    "data.json": '[{"name": "one"}]\n',
    "sample.txt": "some words\n",
    "notes.txt": "a note\n",
    "build.log": "warning: none\n",
    "big.txt": "word word word\n" * 50_000,
    "big.bin": "\x00\x01" * 500,
}

COMMENTS = {".rs": "//", ".ts": "//", ".md": "", ".toml": "#", ".yml": "#", ".sh": "#", "Makefile": "#"}


def written(path, at):
    """What a call writes to a file: what it had, and a line that makes a difference."""
    comment = next(mark for end, mark in COMMENTS.items() if path.endswith(end))
    return f"{FILES[path]}{comment} {at}\n"


def calls():
    found = []
    lines = [line.rstrip("\n") for line in open(DAY) if not line.startswith("#")]
    for at, line in enumerate(lines):
        kind, rest = line.split(" ", 1)
        name, arguments = {
            "$": ("shell", {"command": rest}),
            "w": ("write_file", {"path": rest, "content": written(rest, at) if kind == "w" else ""}),
            "r": ("read_file", {"path": rest}),
            "f": ("web_fetch", {"url": rest}),
        }[kind]
        found.append({"name": name, "arguments": arguments})
    return found


def write(folder, path, content):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)


def plain(work):
    ended = []
    for call in calls():
        arguments = call["arguments"]
        if call["name"] == "write_file":
            write(work, arguments["path"], arguments["content"])
        if call["name"] != "shell":
            ended.append(None)
            continue
        with tempfile.TemporaryFile() as said:
            # A file and not a pipe: what a line leaves in the background would keep a pipe open.
            line = subprocess.Popen(
                ["sh", "-c", arguments["command"]], cwd=work, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
            code = line.wait()
            try:
                os.killpg(line.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            said.seek(0)
            ended.append({"code": code, "said": said.read().decode(errors="replace")[-400:]})
    return ended


def judge(found, plain, questions):
    fewest, _, most = questions.partition("-")
    asked, wrong, failed = len(found["questions"]), [], 0
    if not int(fewest) <= asked <= int(most or fewest):
        wrong.append(f"{asked} questions, not {questions}")
    if found["again"]:
        wrong.append(f"asked again after a yes: {found['again']}")
    if found["stopped"] != "end_turn":
        wrong.append(f"the run stopped: {found['stopped']}")
    if len(found["calls"]) != len(plain):
        wrong.append(f"{len(found['calls'])} calls, not {len(plain)}")
    for call, here, without in zip(calls(), found["calls"], plain):
        if without is None:
            continue
        failed += without["code"] != 0
        if here["code"] != without["code"]:
            line = call["arguments"]["command"]
            wrong.append(f"`{line}` ended with {here['code']}, without walls with {without['code']}:\n"
                         f"{here['said'][-600:]}\n--- without:\n{without['said']}")
    print(f"{asked} asked, {'as without' if not wrong else 'otherwise'}")
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    print(f"{failed} lines fail without walls as well", file=sys.stderr)
    for question in found["questions"]:
        print(f"? {question['asked'].splitlines()[0]}\n  > {question['answer']}", file=sys.stderr)
    return bool(wrong)


def main():
    what, *rest = sys.argv[1:]
    if what == "files":
        for path, content in FILES.items():
            write(rest[0], path, content)
        os.chmod(os.path.join(rest[0], "scripts/check.sh"), 0o755)
    elif what == "calls":
        json.dump(calls(), open(rest[0], "w"))
    elif what == "plain":
        json.dump(plain(rest[0]), open(rest[1], "w"))
    elif what == "judge":
        sys.exit(judge(json.load(open(rest[0])), json.load(open(rest[1])), rest[2]))
    else:
        sys.exit(f"whole.py does not know `{what}`")


main()
