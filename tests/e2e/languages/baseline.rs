//! What a language's runtime imports besides, and that none of it reaches anything.

use std::net::TcpListener;

use host_plugin::CallError;
use host_tests::Bench;
use host_tests::host::Host;
use host_tests::languages::{LANGUAGES, Language, Project, kept, load};
use serde_json::json;

use super::imports;

/// What every plugin here imports: what it asked for, its line to the host, and their types.
const OURS: &[&str] =
    &["host:cap/fs-read@0.1.0", "host:cap/types@0.1.0", "host:tool/context@0.1.0", "host:tool/types@0.1.0"];

/// What the adapter of WASI's first preview imports besides, in components of JavaScript and Go, but for random
/// numbers.
const ADAPTER: &[&str] = &[
    "wasi:cli/environment@0.2.12",
    "wasi:cli/exit@0.2.12",
    "wasi:cli/stderr@0.2.12",
    "wasi:cli/stdin@0.2.12",
    "wasi:cli/stdout@0.2.12",
    "wasi:cli/terminal-input@0.2.12",
    "wasi:cli/terminal-output@0.2.12",
    "wasi:cli/terminal-stderr@0.2.12",
    "wasi:cli/terminal-stdin@0.2.12",
    "wasi:cli/terminal-stdout@0.2.12",
    "wasi:clocks/monotonic-clock@0.2.12",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:filesystem/preopens@0.2.12",
    "wasi:filesystem/types@0.2.12",
    "wasi:io/error@0.2.12",
    "wasi:io/poll@0.2.12",
    "wasi:io/streams@0.2.12",
];

/// What the interpreter of Python imports besides; behind its sockets there is nothing.
const CPYTHON: &[&str] = &[
    "wasi:cli/environment@0.2.9",
    "wasi:cli/exit@0.2.9",
    "wasi:cli/stderr@0.2.9",
    "wasi:cli/stdin@0.2.9",
    "wasi:cli/stdout@0.2.9",
    "wasi:cli/terminal-input@0.2.9",
    "wasi:cli/terminal-output@0.2.9",
    "wasi:cli/terminal-stderr@0.2.9",
    "wasi:cli/terminal-stdin@0.2.9",
    "wasi:cli/terminal-stdout@0.2.9",
    "wasi:clocks/monotonic-clock@0.2.9",
    "wasi:clocks/wall-clock@0.2.9",
    "wasi:filesystem/preopens@0.2.9",
    "wasi:filesystem/types@0.2.9",
    "wasi:io/error@0.2.9",
    "wasi:io/poll@0.2.9",
    "wasi:io/streams@0.2.9",
    "wasi:random/random@0.2.9",
    "wasi:sockets/instance-network@0.2.9",
    "wasi:sockets/ip-name-lookup@0.2.9",
    "wasi:sockets/network@0.2.9",
    "wasi:sockets/tcp-create-socket@0.2.9",
    "wasi:sockets/tcp@0.2.9",
    "wasi:sockets/udp-create-socket@0.2.9",
    "wasi:sockets/udp@0.2.9",
];

// promise wasi.baseline: A language's runtime imports its part of the baseline and nothing else that the plugin did
//   not request.
#[test]
fn each_language_imports_what_it_asks_for_and_its_part_of_the_baseline() {
    for language in LANGUAGES {
        let (besides, random): (&[_], &[_]) = match language.name {
            "c" | "zig" => (&[], &[]),
            "js" => (ADAPTER, &["wasi:random/insecure-seed@0.2.12"]),
            "go" => (ADAPTER, &["wasi:random/random@0.2.12"]),
            "python" => (CPYTHON, &[]),
            other => panic!("what does {other} import?"),
        };
        let mut expected: Vec<&str> = OURS.iter().chain(besides).chain(random).copied().collect();
        expected.sort_unstable();
        let mut found = imports(language);
        found.sort_unstable();
        assert_eq!(found, expected, "{}", language.name);
    }
}

fn language(name: &str) -> Language {
    LANGUAGES.into_iter().find(|language| language.name == name).expect("it is one of them")
}

/// A tool that tries whatever its language's library offers, and says what came of it, one line each.
const PROBE_PYTHON: &str = r#"
import os, random, socket, sys, time
from host_sdk import READ_ONLY, export, tool

def outcome(work):
    try:
        return f"got {work()!r}"
    except Exception as error:
        return type(error).__name__

@tool("probe", "Tries.", {"type": "object"}, annotations=READ_ONLY)
def probe(arguments):
    if "connect" in arguments:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", arguments["connect"]))
        return "connected"
    print("said aloud")
    print("said aside", file=sys.stderr)
    return "\n".join([
        "open " + outcome(lambda: open("/etc/passwd").read()),
        "here " + outcome(lambda: open("some.txt").read()),
        "write " + outcome(lambda: open("new.txt", "w")),
        "list " + outcome(lambda: os.listdir("/")),
        "environment " + outcome(lambda: dict(os.environ)),
        "input " + outcome(lambda: sys.stdin.read()),
        "run " + outcome(lambda: os.system("true")),
        "clock " + str(time.time() > 1.7e9),
        "random " + str(random.random()),
    ])

Tool = export(probe)
"#;

/// The same in C, whose library comes to WASI through the adapter.
const PROBE_C: &str = r#"
#include "host.h"
#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <time.h>

static const char *got(const void *thing) { return thing ? "got" : "nothing"; }

static bool probe(const host_json *arguments, host_outcome *outcome, host_failure *failure) {
    (void)arguments, (void)failure;
    host_buffer text = {0};
    printf("said aloud\n");
    fflush(stdout);
    host_add(&text, "open %s\n", got(fopen("/etc/passwd", "r")));
    host_add(&text, "here %s\n", got(fopen("some.txt", "r")));
    host_add(&text, "write %s\n", got(fopen("new.txt", "w")));
    host_add(&text, "list %s\n", got(opendir("/")));
    host_add(&text, "environment %s\n", got(getenv("PATH")));
    host_add(&text, "input %d\n", getchar());
    host_add(&text, "clock %s", time(NULL) > 1700000000 ? "True" : "False");
    return host_answer(outcome, host_finish(&text), (host_string){0});
}

const host_tool host_tools[] = {
    {.name = "probe", .description = "Tries.", .input_schema = "{\"type\":\"object\"}", .read_only = true, .call = probe}};
const size_t host_tool_count = 1;
"#;

/// And in JavaScript, whose engine has no library to speak of.
const PROBE_JS: &str = r#"
import { READ_ONLY, plugin } from './host.js';

const names = ['process', 'require', 'std', 'os', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Deno', 'Bun', 'scriptArgs'];

export const tool = plugin({
  name: 'probe',
  description: 'Tries.',
  inputSchema: { type: 'object' },
  annotations: READ_ONLY,
  call() {
    console.log('said aloud');
    console.error('said aside');
    return [
      `globals ${names.filter((name) => name in globalThis).join(' ')}`,
      `clock ${Date.now() > 1.7e12}`,
      `random ${Math.random()}`,
    ].join('\n');
  },
});
"#;

/// And in Go, whose runtime comes to WASI through the adapter too.
const PROBE_GO: &str = r#"
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"host.internal/host"
)

func main() {}

func init() {
	host.Export(host.Tool{
		Name: "probe", Description: "Tries.", InputSchema: `{"type": "object"}`, Annotations: host.ReadOnly, Call: probe,
	})
}

func probe(json.RawMessage) (host.Answer, error) {
	fmt.Println("said aloud")
	fmt.Fprintln(os.Stderr, "said aside")
	var said []string
	tried := func(what string, err error) {
		said = append(said, fmt.Sprintf("%s %t", what, err == nil))
	}
	_, err := os.ReadFile("/etc/passwd")
	tried("open", err)
	_, err = os.ReadFile("some.txt")
	tried("here", err)
	tried("write", os.WriteFile("new.txt", nil, 0o600))
	_, err = os.ReadDir("/")
	tried("list", err)
	_, err = net.Dial("tcp", "127.0.0.1:80")
	tried("connect", err)
	tried("run", exec.Command("true").Run())
	said = append(said, fmt.Sprintf("environment %d", len(os.Environ())))
	said = append(said, fmt.Sprintf("clock %t", time.Now().Unix() > 1700000000))
	return host.Answer{Text: strings.Join(said, "\n")}, nil
}
"#;

fn probe(name: &str, file: &str, text: &str) -> std::path::PathBuf {
    let project = Project::new(language(name), "probe");
    // The template's titles are of its own tool.
    let manifest = project.text("plugin.toml");
    let manifest = manifest.split("\n[titles]").next().unwrap_or_default().to_owned();
    kept(project.file("plugin.toml", &manifest).file(file, text))
}

/// All that a plugin could reach is granted to it by the host's own interfaces, and still WASI leads nowhere.
async fn tried(dist: &std::path::Path) -> Vec<String> {
    let bench = Bench::with(load(dist), &["fs-read=."]);
    bench.file("some.txt", "secret");
    let said = bench.text("probe", json!({})).await;
    assert!(!bench.root().join("new.txt").exists());
    said.lines().map(str::to_owned).collect()
}

// promise wasi.inert: The baseline reads, writes, lists and starts nothing, and its environment is empty.
#[tokio::test]
async fn the_library_of_python_reaches_nothing() {
    let dist = probe("python", "plugin.py", PROBE_PYTHON);
    let said = tried(&dist).await;
    assert_eq!(
        said[..8],
        [
            "open FileNotFoundError",
            "here FileNotFoundError",
            "write FileNotFoundError",
            "list FileNotFoundError",
            "environment got {}",
            "input got ''",
            "run AttributeError",
            "clock True"
        ]
    );
    assert_ne!(said[8], tried(&dist).await[8], "each call has numbers of its own");
}

// promise wasi.sockets: No socket can be opened; each function of `wasi:sockets` traps.
#[tokio::test]
async fn wasi_socket_traps_and_nothing_is_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("this machine has a loopback");
    listener.set_nonblocking(true).expect("it can be asked");
    let port = listener.local_addr().expect("it has one").port();
    let dist = probe("python", "plugin.py", PROBE_PYTHON);
    let bench = Bench::with(load(&dist), &["fs-read=."]);
    let error = bench.call("probe", json!({"connect": port})).await.expect_err("there is no network");
    let CallError::Crashed { trap, .. } = &error else { panic!("{error:?}") };
    assert!(trap.contains("wasi:sockets/"), "{trap}");
    assert!(listener.accept().is_err(), "somebody connected");
}

// promise wasi.inert
#[tokio::test]
async fn the_library_of_c_reaches_nothing() {
    let said = tried(&probe("c", "plugin.c", PROBE_C)).await;
    assert_eq!(
        said,
        [
            "open nothing",
            "here nothing",
            "write nothing",
            "list nothing",
            "environment nothing",
            "input -1",
            "clock True"
        ]
    );
}

// promise wasi.inert
#[tokio::test]
async fn the_library_of_go_reaches_nothing() {
    let said = tried(&probe("go", "plugin.go", PROBE_GO)).await;
    let nothing = ["open", "here", "write", "list", "connect", "run"].map(|what| format!("{what} false"));
    assert_eq!(said[..6], nothing);
    assert_eq!(said[6..], ["environment 0", "clock true"]);
}

// promise wasi.inert
#[tokio::test]
async fn the_engine_of_javascript_reaches_nothing() {
    let dist = probe("js", "plugin.js", PROBE_JS);
    let said = tried(&dist).await;
    assert_eq!(said[..2], ["globals ", "clock true"]);
    assert_ne!(said[2], tried(&dist).await[2], "each call has numbers of its own");
}

// promise wasi.printing: Text that a guest prints goes to the log, is limited and is never part of the output.
#[test]
fn wasi_text_that_a_plugin_prints_goes_to_the_log_and_not_to_the_output() {
    for (name, file, text) in [
        ("python", "plugin.py", PROBE_PYTHON),
        ("c", "plugin.c", PROBE_C),
        ("js", "plugin.js", PROBE_JS),
        ("go", "plugin.go", PROBE_GO),
    ] {
        let dist = probe(name, file, text);
        let call = || Host::new(["tool", "call", "probe", "{}", "--plugin"]).arg(&dist);
        let ended = call().env("HOST_LOG", "info").run();
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
        assert!(ended.stderr.contains("said aloud") && ended.stderr.contains("probe"), "{name}: {}", ended.stderr);
        assert!(!ended.stdout.contains("said"), "{name}: {}", ended.stdout);
        let ended = call().run();
        assert!(!ended.stderr.contains("said aloud"), "{name}: below a warning nothing is shown: {}", ended.stderr);
    }
}
