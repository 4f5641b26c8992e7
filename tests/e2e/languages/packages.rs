//! Packages of others in plugins: those that can run do, and those that cannot say what they lack.

use std::process::Command;

use host_plugin::{CallError, Failure};
use host_tests::languages::{Project, toolchain};
use host_tests::{Bench, text};
use serde_json::{Value, json};

use super::building::language;

/// A package of JavaScript with these dependencies, installed.
fn javascript(dependencies: Value, plugin: &str) -> Project {
    let begun = Project::begun(language("js"), "packages");
    let mut package: Value = serde_json::from_str(&begun.text("package.json")).expect("it is JSON");
    package["dependencies"] = dependencies;
    let package = format!("{package:#}\n");
    let installed = toolchain(language("js"), &package).join("node_modules");
    std::os::unix::fs::symlink(installed, begun.path().join("node_modules")).expect("made");
    let manifest = begun.text("plugin.toml");
    let manifest = manifest.split("\n[titles]").next().unwrap_or_default().to_owned();
    begun.file("package.json", &package).file("plugin.toml", &manifest).file("plugin.js", plugin)
}

#[tokio::test]
async fn packages_for_browsers_run_in_a_plugin() {
    let project = javascript(
        json!({"cheerio": "1.2.0", "csv-parse": "7.0.3", "papaparse": "5.7.1"}),
        r#"
        import * as cheerio from 'cheerio';
        import { parse } from 'csv-parse/browser/esm/sync';
        import Papa from 'papaparse';
        import { READ_ONLY, plugin } from './host.js';

        export const tool = plugin({
          name: 'read',
          description: 'Reads text with packages.',
          inputSchema: { type: 'object' },
          annotations: READ_ONLY,
          call: () => [
            cheerio.load('<ul><li>one</li><li>two</li></ul>')('li').last().text(),
            Papa.parse('a,b\n1,"2,3"').data[1][1],
            parse('x;y\n4;5', { delimiter: ';', columns: true })[0].y,
          ].join(' '),
        });
        "#,
    );
    project.build().unwrap_or_else(|said| panic!("{said}"));
    let bench = Bench::with(project.plugin(), &["fs-read=."]);
    let output = bench.call("read", json!({})).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text(&output), "two 2,3 5");
}

#[test]
fn package_that_needs_node_is_named_with_what_it_needs() {
    let project = javascript(
        json!({"iconv-lite": "0.6.3"}),
        r#"
        import { readFileSync } from 'node:fs';
        import iconv from 'iconv-lite';
        import nothing from './nothing.js';

        export const tool = [readFileSync, iconv, nothing];
        "#,
    );
    let said = project.build().expect_err("there is no node in a plugin");
    for words in [
        "`plugin.js` imports `fs` of node, which a plugin does not have",
        "the package `iconv-lite` imports ",
        "the package `safer-buffer` imports `buffer` of node",
        "use a package that works in browsers",
        "Could not resolve \"./nothing.js\"",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn package_that_lacks_a_global_is_named_with_it_and_what_to_do() {
    let imports = |first: &str| {
        let plugin = format!(
            "import {{ READ_ONLY, plugin }} from './host.js';\n{first}\nexport const tool = plugin({{\n  name: 'read', \
             description: 'Reads text.', inputSchema: {{ type: 'object' }},\n  annotations: READ_ONLY, call: () => \
             String(used),\n}});\n"
        );
        let project = javascript(json!({"csv-parse": "7.0.3", "turndown": "7.2.4"}), &plugin);
        project.build().expect_err("it cannot be loaded")
    };
    for (first, words) in [
        (
            "import { parse as used } from 'csv-parse/sync';",
            &[
                "the package `csv-parse` uses `Buffer` when it is loaded, which a plugin does not have",
                "help: import the form of the package for browsers: ",
                "`csv-parse/browser/esm/sync`",
            ][..],
        ),
        (
            "import used from 'turndown';",
            &[
                "the package `@mixmark-io/domino` uses `setTimeout` when it is loaded, which a plugin does not have",
                "import before it a module of yours that sets",
            ],
        ),
        ("const used = document.title;", &["`plugin.js` uses `document` when it is loaded"]),
        (
            "const used = (() => { throw new Error('no title'); })();",
            &["`plugin.js` cannot be loaded: Error: no title"],
        ),
    ] {
        let said = imports(first);
        for words in words {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("triggerUncaughtException"), "{said}");
    }
}

#[tokio::test]
async fn package_that_lacks_a_global_in_a_call_is_named_with_it() {
    let project = javascript(
        json!({"papaparse": "5.7.1"}),
        r#"
        import Papa from 'papaparse';
        import { READ_ONLY, plugin } from './host.js';

        const tools = {
          package: () => Papa.parse('http://a.example/', { download: true, complete() {} }),
          own: () => process.env.HOME,
          other: () => { throw new ReferenceError('no such reference'); },
        };

        export const tool = plugin({
          name: 'read',
          description: 'Uses what a plugin does not have.',
          inputSchema: { type: 'object', properties: { of: { type: 'string' } } },
          annotations: READ_ONLY,
          call: ({ of }) => String(tools[of]()),
        });
        "#,
    );
    project.build().unwrap_or_else(|said| panic!("{said}"));
    let bench = Bench::with(project.plugin(), &["fs-read=."]);
    for (of, words) in [
        ("package", "the package `papaparse` uses `XMLHttpRequest`, which a plugin does not have"),
        ("own", "`plugin.js` uses `process`, which a plugin does not have"),
        ("other", "ReferenceError: no such reference"),
    ] {
        let error = bench.call("read", json!({"of": of})).await.expect_err("it is missing");
        assert!(matches!(&error, CallError::Failure(Failure::Failed(said)) if said == words), "{of}: {error:?}");
    }
}

/// A package of Python with these packages beside it.
fn python(packages: &[&str], plugin: &str) -> Project {
    let project = Project::new(language("python"), "packages");
    let manifest = project.text("plugin.toml");
    let manifest = manifest.split("\n[titles]").next().unwrap_or_default().to_owned();
    let downloads = host_tests::repository().join("target/test-languages/downloads/pip");
    if !packages.is_empty() {
        let pip = project.path().join(".venv/bin/pip");
        let install = ["install", "--quiet", "--disable-pip-version-check", "--target", "."];
        let mut command = Command::new(pip);
        command.args(install).args(packages).current_dir(project.path()).env("PIP_CACHE_DIR", downloads);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    project.file("plugin.toml", &manifest).file("plugin.py", plugin)
}

#[tokio::test]
async fn snapshot_of_python_has_what_is_imported_late_and_no_holes_and_its_objects_are_immortal() {
    let project = python(
        &[],
        r#"
import sys

from host_sdk import READ_ONLY, export, tool


class Noted(list):
    pass


NOTED = Noted(["before"])


@tool("late", "Imports late.", {"type": "object"}, annotations=READ_ONLY)
def late(arguments):
    import gc
    import textwrap
    from datetime import datetime

    collected = any(found is textwrap.__dict__ for found in gc.get_objects())
    blocks = [bytes(size) for size in range(20, 2_000, 20)]
    # 100 KB have 25 pages; in the holes of the snapshot they would have 64.
    pages = len({id(block) >> 12 for block in blocks})
    when = datetime.strptime("2024-02-29", "%Y-%m-%d")
    # What the snapshot has is changed as ever, and references to it are not counted.
    NOTED.append([])
    references = [sys.getrefcount(thing) for thing in (NOTED, Noted, textwrap.shorten, textwrap.shorten.__code__, textwrap.__dict__)]
    immortal = len(set(references)) == 1 and references[0] > 1 << 28 and sys.getrefcount(NOTED[1]) < 9
    return f"{textwrap.shorten('one two three', 9)} {when.day} {'é'.encode('latin-1')} {b'x'.decode('utf-16-le', 'ignore')}{'é'.encode('cp1252')} {collected} {pages < 45} {immortal} {NOTED}"


Tool = export(late)
"#,
    );
    project.build().unwrap_or_else(|said| panic!("{said}"));
    let bench = Bench::with(project.plugin(), &["fs-read=."]);
    let output = bench.call("late", json!({})).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text(&output), "one [...] 29 b'\\xe9' b'\\xe9' False True True ['before', []]");
}

/// It has more than 1,500 files, and imports many of its modules when it needs them.
#[tokio::test]
async fn large_package_of_python_builds_and_runs() {
    let project = python(
        &["sympy==1.14.0"],
        r#"
import sympy
from host_sdk import READ_ONLY, export, tool


@tool("solve", "Solves.", {"type": "object"}, annotations=READ_ONLY)
def solve(arguments):
    x = sympy.symbols("x")
    return f"{sympy.solve(x**2 - 5 * x + 6, x)} {sympy.integrate(sympy.sin(x) * x, x)}"


Tool = export(solve)
"#,
    );
    project.build().unwrap_or_else(|said| panic!("{said}"));
    let bench = Bench::with(project.plugin(), &["fs-read=."]);
    let output = bench.call("solve", json!({})).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text(&output), "[2, 3] -x*cos(x) + sin(x)");
}
