//! Edits as models get them wrong, each with what must come of it.
//!
//! The files and the edits that were meant are in `edits/`; a kind of mistake is made with each of them. Where the text
//! can be known, the file must become what the edit meant, byte for byte; everywhere else the file must stay as it is,
//! and the model must be told what is there. An edit that lands in another place fails this test either way.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use host_sdk::fake::FakeHost;
use host_sdk::{Content, Failure};
use serde_json::json;

/// An edit that was meant, and the file that it is about.
struct Meant {
    file: String,
    old: String,
    new: String,
    /// How many spaces one step of indentation has.
    step: usize,
}

/// An edit as a model makes it.
struct Made {
    file: String,
    old: String,
    new: String,
    all: bool,
    result: Expected,
}

enum Expected {
    /// The file becomes this.
    Becomes(String),
    /// The file stays, and the model is told this.
    Stays(String),
}

impl Meant {
    fn becomes(&self) -> String {
        self.file.replace(&self.old, &self.new)
    }

    /// The edit with another copy of the old and the new text.
    fn copied(&self, copy: impl Fn(&str) -> String) -> Made {
        self.made(&copy(&self.old), &copy(&self.new))
    }

    fn made(&self, old: &str, new: &str) -> Made {
        let result = Expected::Becomes(self.becomes());
        Made { file: self.file.clone(), old: old.to_owned(), new: new.to_owned(), all: false, result }
    }

    /// The edit in a file that is different in the lines that it does not change.
    fn in_file(&self, other: impl Fn(&str) -> String) -> Made {
        let changed = |lines: &str| {
            lines
                .split_inclusive('\n')
                .map(|line| {
                    let is_kept = self.old.contains(line) == self.new.contains(line);
                    let bare = line.strip_suffix('\n').unwrap_or(line);
                    if is_kept && !bare.is_empty() { other(bare) + "\n" } else { line.to_owned() }
                })
                .collect::<String>()
        };
        let file = changed(&self.file);
        let result = Expected::Becomes(file.replace(&changed(&self.old), &changed(&self.new)));
        assert!(file.contains(&changed(&self.old)), "{}", self.old);
        Made { file, old: self.old.clone(), new: self.new.clone(), all: false, result }
    }

    fn stays(&self, old: &str, told: &str) -> Made {
        let result = Expected::Stays(told.to_owned());
        Made { file: self.file.clone(), old: old.to_owned(), new: self.new.clone(), all: false, result }
    }

    /// The number of the line at which the text begins, from 1.
    fn line(&self) -> usize {
        let (before, _) = self.file.split_once(&self.old).expect("it is there");
        before.lines().count() + 1
    }

    fn lines(&self) -> Vec<&str> {
        self.old.lines().collect()
    }
}

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some("") | None => line.to_owned(),
            Some(bare) => change(bare) + "\n",
        })
        .collect()
}

fn dedented(line: &str) -> String {
    line.strip_prefix("  ").unwrap_or(line).to_owned()
}

/// The line, with a tab for each step of its indentation.
fn with_tabs(line: &str, step: usize) -> String {
    let spaces = line.len() - line.trim_start().len();
    "\t".repeat(spaces / step) + &" ".repeat(spaces % step) + line.trim_start()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
}

/// A mistake that models make, and what comes of it.
type Kind = (&'static str, fn(&Meant) -> Made);

const KINDS: &[Kind] = &[
    ("to the letter", |meant| meant.copied(str::to_owned)),
    ("the file has CRLF", |meant| {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        Made {
            file: crlf(&meant.file),
            result: Expected::Becomes(crlf(&meant.becomes())),
            ..meant.copied(str::to_owned)
        }
    }),
    ("the copy has CRLF", |meant| meant.copied(|text| text.replace('\n', "\r\n"))),
    ("the file has a byte order mark and CRLF", |meant| {
        let marked = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let result = Expected::Becomes(marked(&meant.becomes()));
        Made { file: marked(&meant.file), result, ..meant.copied(str::to_owned) }
    }),
    ("the file has white space at line ends", |meant| meant.in_file(|line| format!("{line}  "))),
    ("the file has a tab at line ends", |meant| meant.in_file(|line| format!("{line}\t"))),
    ("the copy has white space at line ends", |meant| {
        let old = each_line(&meant.old, |line| format!("{line} "));
        meant.made(&old, &meant.new)
    }),
    ("the copy has less indentation", |meant| meant.copied(|text| each_line(text, dedented))),
    ("the copy has more indentation", |meant| meant.copied(|text| each_line(text, |line| format!("   {line}")))),
    ("the file has tabs, the copy spaces", |meant| {
        let tabs = |text: &str| each_line(text, |line| with_tabs(line, meant.step));
        Made {
            file: tabs(&meant.file),
            result: Expected::Becomes(tabs(&meant.becomes())),
            ..meant.copied(str::to_owned)
        }
    }),
    ("the file has spaces, the copy tabs", |meant| {
        meant.copied(|text| each_line(text, |line| with_tabs(line, meant.step)))
    }),
    ("the file has curly quotes", |meant| {
        meant.in_file(|line| line.replacen('"', "\u{201c}", 1).replacen('"', "\u{201d}", 1))
    }),
    ("the file has other dashes", |meant| meant.in_file(|line| line.replace(" - ", " \u{2013} "))),
    ("the copy has curly quotes", |meant| meant.made(&meant.old.replace('"', "\u{201d}"), &meant.new)),
    ("the copy has other dashes", |meant| meant.made(&meant.old.replace(" - ", " \u{2014} "), &meant.new)),
    ("the file has spaces that do not break", |meant| meant.in_file(|line| line.replace(" - ", "\u{a0}- "))),
    ("the file has two spaces within lines", |meant| meant.in_file(|line| line.replace(" - ", "  -  "))),
    ("the copy has two spaces within lines", |meant| meant.copied(|text| text.replace(" - ", "  - "))),
    ("the copy has the numbers of its lines", |meant| {
        let mut number = meant.line() - 1;
        let old: String = meant
            .old
            .split_inclusive('\n')
            .map(|line| {
                number += 1;
                format!("{number}\t{line}")
            })
            .collect();
        meant.made(&old, &meant.new)
    }),
    ("a text that is there twice has the numbers of its lines", |meant| {
        let first = meant.line() + meant.file.lines().count();
        let numbered = (first..).zip(meant.old.split_inclusive('\n')).map(|(number, line)| format!("{number}\t{line}"));
        let file = meant.file.repeat(2);
        let result = Expected::Becomes(meant.file.clone() + &meant.becomes());
        Made { file, result, ..meant.made(&numbered.collect::<String>(), &meant.new) }
    }),
    ("the copy is escaped", |meant| meant.copied(escaped)),
    ("the copy has blank lines around it", |meant| meant.copied(|text| format!("\n\n{text}\n"))),
    ("the copy begins within a line, with other indentation", |meant| {
        let (first, rest) = meant.old.split_once('\n').expect("lines");
        let (new_first, new_rest) = meant.new.split_once('\n').expect("lines");
        let at = first.rfind(' ').expect("words") + 1;
        if first != new_first {
            // The edit is in the first line: it is copied whole.
            return meant.copied(|text| each_line(text, dedented));
        }
        let copy = |rest: &str| format!("{}\n{}", &first[at..], each_line(rest, dedented));
        meant.made(&copy(rest), &copy(new_rest))
    }),
    ("the file ends without a line break", |meant| {
        let (before, _) = meant.file.split_once(&meant.old).expect("it is there");
        let file = format!("{before}{}", meant.old.trim_end_matches('\n'));
        let result = Expected::Becomes(format!("{before}{}", meant.new.trim_end_matches('\n')));
        Made { file, result, ..meant.copied(str::to_owned) }
    }),
    ("the same lines are there with other indentation", |meant| {
        let twin = format!("{}{}", meant.file, each_line(&meant.old, |line| format!("        {line}")));
        let result = Expected::Becomes(twin.replacen(&meant.old, &meant.new, 1));
        Made { file: twin, result, ..meant.copied(str::to_owned) }
    }),
    ("it is there twice, and all are wanted", |meant| {
        let result = Expected::Becomes(meant.becomes().repeat(2));
        Made { file: meant.file.repeat(2), all: true, result, ..meant.copied(str::to_owned) }
    }),
    ("it is there twice", |meant| {
        let (line, count) = (meant.line(), meant.file.lines().count());
        let told = format!("2 times, at the lines {line}, {}", line + count);
        Made { file: meant.file.repeat(2), ..meant.stays(&meant.old, &told) }
    }),
    ("it is there twice, and the copy has less indentation", |meant| Made {
        file: meant.file.repeat(2),
        ..meant.stays(&each_line(&meant.old, dedented), "2 times")
    }),
    ("nothing is to change", |meant| Made { new: meant.old.clone(), ..meant.stays(&meant.old, "are the same") }),
    ("a word of the file has changed since", |meant| {
        let lines = meant.lines();
        let last = lines.last().expect("lines");
        let now = format!("{last} now();");
        let file = meant.file.replace(&meant.old, &meant.old.replace(last, &now));
        let told = format!("{}\t{now}", meant.line() + lines.len() - 1);
        Made { file, ..meant.stays(&meant.old, &told) }
    }),
    ("lines of the copy are left out", |meant| {
        let lines = meant.lines();
        let old = format!("{}\n    ...\n{}\n", lines[0], lines[lines.len() - 1]);
        meant.stays(&old, &format!("{}\t{}", meant.line(), lines[0]))
    }),
    ("the copy has a line that is nowhere", |meant| {
        let lines = meant.lines();
        let old = format!("{}\n    log.debug(here);\n{}\n", lines[0], lines[1..].join("\n"));
        meant.stays(&old, "is not in it")
    }),
    ("the copy lacks a line in the middle", |meant| {
        let lines = meant.lines();
        meant.stays(&format!("{}\n{}\n", lines[0], lines[2..].join("\n")), "is not in it")
    }),
    ("the lines of the copy are in another order", |meant| {
        let mut lines = meant.lines();
        lines.swap(0, 1);
        meant.stays(&(lines.join("\n") + "\n"), "is not in it")
    }),
    ("the copy has other capitals", |meant| meant.stays(&meant.old.to_uppercase(), "is not in it")),
    ("the copy has the marks of a difference", |meant| {
        meant.stays(&each_line(&meant.old, |line| format!("-{line}")), "is not in it")
    }),
    ("the edit was made before", |meant| {
        let told = format!("`new_string` is in it already, at line {}", meant.line());
        Made { file: meant.becomes(), ..meant.stays(&meant.old, &told) }
    }),
    ("the copy is of another file", |meant| {
        meant.stays("int main(void)\n{\n    return EXIT_SUCCESS;\n", "is not in it")
    }),
];

fn meant() -> Vec<(&'static str, Meant)> {
    let mut all = Vec::new();
    for language in ["c", "go", "python", "rust", "typescript"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edits").join(language).with_extension("toml");
        let seed: toml::Table = std::fs::read_to_string(&path).expect("a seed").parse().expect("TOML");
        let file = seed["file"].as_str().expect("a file");
        let step = seed["step"].as_integer().and_then(|step| usize::try_from(step).ok()).expect("a step");
        for edit in seed["edit"].as_array().expect("edits") {
            let text = |key: &str| edit[key].as_str().expect("text").to_owned();
            let meant = Meant { file: file.to_owned(), old: text("old"), new: text("new"), step };
            assert_eq!(file.matches(&meant.old).count(), 1, "{language}: {}", meant.old);
            assert!(meant.lines().len() >= 3 && meant.old.contains(" - ") && meant.old.contains('"'), "{}", meant.old);
            all.push((language, meant));
        }
    }
    all
}

/// Makes the edit; the file after it, and what the model is told.
fn make(made: &Made) -> (String, String) {
    let host = FakeHost::new().file("f", made.file.as_bytes());
    let mut arguments = json!({"path": "f", "old_string": made.old, "new_string": made.new});
    if made.all {
        arguments["replace_all"] = true.into();
    }
    let tools = plugin_edit::tools();
    let ended = host.call(tools.first().expect("one tool"), arguments);
    let told = match ended {
        Ok(outcome) => outcome
            .content
            .into_iter()
            .map(|part| match part {
                Content::Text(text) => text,
                other => panic!("{other:?}"),
            })
            .collect(),
        Err(Failure::Conflict(told) | Failure::InvalidArguments(told)) => told,
        Err(other) => panic!("{other:?}"),
    };
    (host.text("f").expect("the file is there"), told)
}

#[test]
fn edits_as_models_get_them_wrong_land_where_they_were_meant_or_not_at_all() {
    let meant = meant();
    let mut by_kind: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut wrong = String::new();
    for (language, meant) in &meant {
        for (number, (kind, make_it)) in KINDS.iter().enumerate() {
            let made = make_it(meant);
            let (file, told) = make(&made);
            let (is_right, wanted) = match &made.result {
                Expected::Becomes(wanted) => (file == *wanted, wanted),
                Expected::Stays(words) => (file == made.file && told.contains(words), words),
            };
            let counts = by_kind.entry(number).or_default();
            counts.0 += usize::from(is_right);
            counts.1 += usize::from(!is_right && file != made.file);
            if !is_right {
                let _ = writeln!(
                    wrong,
                    "--- {language}, {kind}\n{}\n--- told: {told}\n--- file:\n{file}--- wanted:\n{wanted}\n",
                    made.old
                );
            }
        }
    }
    let mut table = String::new();
    for (number, (right, elsewhere)) in &by_kind {
        let _ = writeln!(table, "{:58} {right:3} of {} right, {elsewhere} wrong", KINDS[*number].0, meant.len());
    }
    let edits = KINDS.len() * meant.len();
    assert!(edits >= 300, "{edits}");
    assert!(wrong.is_empty(), "{table}\n{wrong}");
}
