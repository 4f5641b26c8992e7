//! Programs that run the command they are given: what it is, behind their own options.
//!
//! An option that is not in the table is a doubt, and then each word behind it may be the command.

mod options;

use options::{BARE, Form, form, skip_options};

use super::analysis::{Hazard, base_name};
use super::line::{Word, quote};

/// How many words of a wrapper that is not understood are taken for a command, and how many words each then has.
const CANDIDATES: usize = 24;

/// What a wrapper would run.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) inner: Vec<Inner>,
    /// Why that is not all, or not certain.
    pub(super) doubts: Vec<String>,
    /// It does nothing else, so that only what it runs matters.
    pub(super) transparent: bool,
    /// Its word that names what it runs, where that cannot be looked into.
    pub(super) hazards: Vec<Hazard>,
}

/// A command inside another.
#[derive(Debug)]
pub(super) enum Inner {
    /// These words; `at` is the index of the program among the wrapper's words.
    Words { at: usize, words: Vec<Word> },
    /// This line, by a shell.
    Line { at: usize, text: String },
    /// These words, if the wrapper's options are what they seem.
    Perhaps { at: usize, words: Vec<Word> },
}

/// Programs that run what they are given somewhere behind options that are not followed here.
const RUNNERS: &str = "at batch bwrap caffeinate capsh cgexec chronic dbus-run-session direnv entr fakeroot firejail gdb linux32 \
    linux64 mise nix-shell nsenter numactl parallel perf pkexec prlimit proot proxychains proxychains4 rlwrap \
    runcon runuser run-parts setarch setpriv sg ssh start-stop-daemon systemd-run torsocks unbuffer unshare \
    valgrind watch xvfb-run";

fn is_runner(name: &str) -> bool {
    RUNNERS.split_whitespace().any(|runner| runner == name)
}

/// Shells that run the line behind `-c`.
const SHELLS: [&str; 10] = ["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "yash"];

/// Whether the program runs the commands that it is given.
pub fn is_wrapper(name: &str) -> bool {
    SHELLS.contains(&name)
        || form(name).is_some()
        || is_runner(name)
        || matches!(name, "fish" | "eval" | "trap" | "xargs" | "su" | "script" | "flock")
}

/// Looks for what the words would run besides their program, which is literal.
pub(super) fn look(words: &[Word]) -> Option<Look> {
    let name = base_name(words);
    match name {
        _ if SHELLS.contains(&name) => Some(shell(words)),
        "fish" | "csh" | "tcsh" | "pwsh" | "nu" | "elvish" | "xonsh" => {
            Some(doubtful(words, 1, "it is another kind of shell"))
        }
        _ if is_runner(name) => {
            let hazard = Hazard { at: 1, why: "what it runs is not followed".to_owned() };
            Some(Look { inner: candidates(words, 1), hazards: vec![hazard], ..Look::default() })
        }
        "eval" => Some(joined(words, 1 + usize::from(words.get(1).is_some_and(|word| word.is("--"))), true)),
        "trap" => Some(trap(words)),
        "xargs" => Some(xargs(words)),
        "find" | "fd" | "fdfind" => find(words),
        "su" | "script" | "flock" => Some(dash_c(words)),
        "git" => super::git::inner(words),
        "env" => Some(env(words)),
        "command" if words.get(1).is_some_and(|word| word.is("-v") || word.is("-V")) => None,
        "exec" if words.len() == 1 => None,
        _ => form(name).map(|form| behind_options(words, &form)),
    }
}

impl Look {
    fn with_doubt(mut self, why: &str) -> Self {
        self.doubts.push(why.to_owned());
        self
    }

    pub(super) fn line(at: usize, text: String) -> Self {
        Self { inner: vec![Inner::Line { at, text }], ..Self::default() }
    }
}

/// Each of the words from there on may be a command.
pub(super) fn doubtful(words: &[Word], from: usize, why: &str) -> Look {
    Look { inner: candidates(words, from), doubts: vec![why.to_owned()], ..Look::default() }
}

fn candidates(words: &[Word], from: usize) -> Vec<Inner> {
    let candidate = |at: usize| match words[at].literal() {
        // A whole line may be one word.
        Some(text) if text.contains(char::is_whitespace) => Some(Inner::Line { at, text: text.to_owned() }),
        Some(text) if text.starts_with('-') => None,
        Some(_) => Some(Inner::Perhaps { at, words: words[at..].iter().take(CANDIDATES).cloned().collect() }),
        None => None,
    };
    (from..words.len()).take(CANDIDATES).filter_map(candidate).collect()
}

fn behind_options(words: &[Word], form: &Form) -> Look {
    match skip_options(words, form) {
        Err(at) => doubtful(words, at, "an option of a wrapper is not understood"),
        Ok(mut at) => {
            // `sudo` takes assignments before the command; what follows `time` is read anew by bash, and not by dash.
            let odd = |word: &&Word| {
                word.text.contains('=')
                    || matches!(word.text.as_str(), "!" | "{" | "[[" | "coproc" | "function" | "select")
            };
            let skipped = words.iter().skip(at).take_while(odd).count();
            at += skipped;
            let doubts = match skipped {
                0 => Vec::new(),
                _ => vec!["what the wrapper is given is no plain command".to_owned()],
            };
            match words.get(at..).unwrap_or_default() {
                [] => Look { doubts, ..Look::default() },
                rest => Look {
                    inner: vec![Inner::Words { at, words: rest.to_vec() }],
                    doubts,
                    transparent: form.transparent,
                    ..Look::default()
                },
            }
        }
    }
}

fn env(words: &[Word]) -> Look {
    let Some(form) = form("env") else { return Look::default() };
    let Ok(mut at) = skip_options(words, &form) else {
        return doubtful(words, 1, "an option of `env` is not understood");
    };
    let mut doubts = Vec::new();
    while let Some(word) = words.get(at).filter(|word| word.text.contains('=') || word.is("-")) {
        doubts.extend(super::harmless::variable_doubt(word));
        at += 1;
    }
    let inner = match words.get(at..) {
        Some(rest) if !rest.is_empty() => vec![Inner::Words { at, words: rest.to_vec() }],
        _ => return Look { doubts, ..Look::default() },
    };
    Look { inner, doubts, transparent: true, ..Look::default() }
}

/// The line that `eval` and its like make of their words.
fn joined(words: &[Word], from: usize, transparent: bool) -> Look {
    let literals: Option<Vec<&str>> = words[from..].iter().map(Word::literal).collect();
    match literals {
        None => doubtful(words, from, "what it runs is not literal"),
        Some(literals) => {
            Look { transparent: transparent && !literals.is_empty(), ..Look::line(from, literals.join(" ")) }
        }
    }
}

fn trap(words: &[Word]) -> Look {
    match words.get(1).map(|word| (word, word.literal())) {
        Some((_, Some(line))) => Look::line(1, line.to_owned()).with_doubt("it runs something later"),
        _ => doubtful(words, 1, "it runs something later"),
    }
}

/// A shell with a line behind `-c`. Without one it runs a file, or what it reads.
fn shell(words: &[Word]) -> Look {
    let mut at = 1;
    let mut doubts = Vec::new();
    while let Some(text) = words.get(at).and_then(Word::literal).filter(|text| text.starts_with(['-', '+'])) {
        at += 1;
        if !text.starts_with("--") && text.starts_with('-') && text.contains('c') {
            if !text[1..].chars().all(|letter| "ceux".contains(letter)) {
                doubts.push("an option of the shell is not understood".to_owned());
            }
            // More options may stand before the line.
            while words.get(at).is_some_and(|word| word.text.starts_with(['-', '+'])) {
                doubts.push("an option of the shell is not understood".to_owned());
                at += 1;
            }
            return match words.get(at).map(|word| (word, word.literal())) {
                Some((_, Some(line))) => Look { doubts, transparent: true, ..Look::line(at, line.to_owned()) },
                _ => doubtful(words, at, "the line of a shell is not literal"),
            };
        }
        if text.contains('o') || text.starts_with("--") {
            doubts.push("an option of the shell is not understood".to_owned());
        }
    }
    match words.get(at).and_then(Word::literal) {
        Some(file) if !file.is_empty() && doubts.is_empty() => {
            let hazard = Hazard { at, why: "a shell runs that file".to_owned() };
            Look { hazards: vec![hazard], ..Look::default() }
        }
        _ => {
            let mut look = doubtful(words, at, "a shell runs what it reads");
            look.doubts.extend(doubts);
            look
        }
    }
}

fn xargs(words: &[Word]) -> Look {
    let form = Form {
        flags: "0oprtx",
        valued: "adEILnPs",
        long_flags: &["null", "open-tty", "interactive", "no-run-if-empty", "verbose", "exit"],
        long_valued: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars"],
        ..BARE
    };
    let at = match skip_options(words, &form) {
        Err(at) => return doubtful(words, at, "an option of `xargs` is not understood"),
        Ok(at) if at >= words.len() => return Look::default(),
        Ok(at) => at,
    };
    // What is replaced: behind `-I`, in its word or the next.
    let mark = words[1..at].iter().enumerate().find_map(|(index, word)| {
        let (_, attached) = word.text.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'))?.split_once('I')?;
        Some(if attached.is_empty() { words[index + 2].text.as_str() } else { attached })
    });
    let mut inner = words[at..].to_vec();
    if let Some(mark) = mark {
        inner.iter_mut().filter(|word| word.text.contains(mark)).for_each(|word| word.dynamic = true);
    } else {
        inner.push(Word::unknown());
    }
    Look { inner: vec![Inner::Words { at, words: inner }], transparent: true, ..Look::default() }
}

/// `find -exec … ;`, and the same of `fd -x …`.
fn find(words: &[Word]) -> Option<Look> {
    let mut look = Look::default();
    let is_find = base_name(words) == "find";
    let starts = |word: &Word| match is_find {
        true => matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
        false => {
            let text = word.text.as_str();
            text.starts_with("--exec") || !text.starts_with("--") && text.starts_with('-') && text.contains(['x', 'X'])
        }
    };
    let mut at = 1;
    while at < words.len() {
        at += 1;
        if !starts(&words[at - 1]) {
            continue;
        }
        if !is_find && !matches!(words[at - 1].text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch") {
            look.doubts.push("an option holds what is run".to_owned());
        }
        let ends = |end: &usize| words[*end].is(";") || is_find && words[*end].is("+") && words[*end - 1].is("{}");
        let end = (at..words.len()).find(ends).unwrap_or(words.len());
        let mut inner = words[at..end].to_vec();
        inner.iter_mut().filter(|word| word.text.contains('{')).for_each(|word| word.dynamic = true);
        if !is_find {
            inner.push(Word::unknown());
        }
        look.inner.push(Inner::Words { at, words: inner });
        at = end;
    }
    (!look.inner.is_empty()).then_some(look)
}

/// `su -c LINE`, `script -c LINE`, `flock FILE -c LINE`.
fn dash_c(words: &[Word]) -> Look {
    let is_c = |word: &Word| {
        let text = word.text.as_str();
        text == "--command" || text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
    };
    let line = words.iter().position(is_c).and_then(|at| Some((at + 1, words.get(at + 1)?.literal()?)));
    match line {
        Some((at, line)) => Look::line(at, line.to_owned()).with_doubt("who runs it, and where, is not followed"),
        None => doubtful(words, 1, "what it runs is not followed"),
    }
}

/// The words as a line, for what joins them.
pub(super) fn as_line(words: &[Word]) -> Option<String> {
    match words {
        [only] => only.literal().map(str::to_owned),
        words => {
            words.iter().map(|word| word.literal().map(quote)).collect::<Option<Vec<_>>>().map(|all| all.join(" "))
        }
    }
}
