//! Options and arguments by which a program runs something else, or writes, although its name does not say so.
//!
//! A rule that allows `find` does not mean `find -delete`; one that allows `find . -delete` does. So each such word is
//! told with its place, and a rule that does not reach it does not cover it.

use super::analysis::{Hazard, base_name};
use super::line::Word;

/// The options of a program by which it runs something or writes, without their values. Two dashes are a long one.
fn options(name: &str) -> &'static [&'static str] {
    match name {
        "find" => &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"],
        "tar" | "gtar" | "bsdtar" => &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
            "-I",
            "-F",
        ],
        "rg" => &["--pre", "--hostname-bin", "--search-zip", "-z"],
        "sort" => &["--compress-program", "--output", "-o", "--temporary-directory", "-T"],
        "uniq" | "tree" => &["-o", "--output"],
        "less" | "more" | "man" => &["-P", "--pager", "-o", "-O", "--log-file", "-H", "--html"],
        "diff" => &["--output"],
        "split" => &["--filter"],
        "zip" => &["-T", "-TT", "--unzip-command"],
        "rsync" => &["-e", "--rsh", "--rsync-path"],
        "scp" | "sftp" => &["-S", "-o", "-F", "-D"],
        "cargo" => &["--config", "-Z", "--manifest-path", "-C"],
        "go" => &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-C", "-overlay", "-modfile"],
        "npm" | "npx" | "pnpm" | "yarn" => {
            &["--script-shell", "--shell", "-c", "--call", "--prefix", "--node-options", "--cwd"]
        }
        "make" | "gmake" => &["-f", "--file", "--makefile", "-C", "--directory", "--eval", "-I"],
        "pytest" => &["-p", "-c", "--rootdir", "-o", "--override-ini"],
        "date" => &["-s", "--set"],
        "file" => &["-C", "--compile"],
        "xxd" => &["-r"],
        "jq" => &["-L", "-f", "--from-file"],
        "yq" => &["-i", "--inplace"],
        "curl" | "wget" => &["-o", "-O", "--output", "--output-document", "-K", "--config", "--use-askpass"],
        "awk" | "gawk" | "mawk" | "nawk" => {
            &["-W", "-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec", "-o", "-p", "-d", "-D"]
        }
        "sed" | "gsed" => &["-i", "--in-place", "-f", "--file", "-s", "--null-data"],
        "vi" | "vim" | "nvim" | "emacs" | "ex" | "ed" => &["-c", "--cmd", "-S", "--eval", "-u", "-s", "-l", "--load"],
        "hexdump" | "od" | "cut" | "head" | "tail" | "wc" | "cat" | "ls" => &[],
        _ => &[],
    }
}

/// Programs that run others or write, so that an argument that is not literal may make them do it.
fn needs_literals(name: &str) -> bool {
    !options(name).is_empty()
        || interpreter(name).is_some()
        || matches!(
            name,
            "git" | "fd" | "fdfind" | "docker" | "podman" | "kubectl" | "ssh" | "dd" | "tee" | "cp" | "mv" | "rm"
        )
}

/// The letters of the options by which an interpreter runs a program from its arguments.
fn interpreter(name: &str) -> Option<&'static str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match bare {
        "python" | "pypy" => Some("cm"),
        "node" | "nodejs" | "bun" => Some("eprc"),
        "deno" => Some(""),
        "perl" => Some("eEMmIpni"),
        "ruby" => Some("erIpni"),
        "php" => Some("rBREda"),
        "lua" | "luajit" => Some("el"),
        "tclsh" | "wish" | "expect" => Some("c"),
        "Rscript" | "R" | "julia" | "ghci" | "runghc" | "elixir" | "iex" | "erl" | "scala" | "jshell" | "groovy"
        | "osascript" | "gdb" | "octave" | "sqlite" | "psql" | "mysql" => Some("eEfrc"),
        _ => None,
    }
}

/// Whether the program runs programs in a language of its own.
pub fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some()
}

/// The words of a command, whose program is literal, that its name alone does not allow.
pub fn hazards(words: &[Word]) -> Vec<Hazard> {
    let name = base_name(words);
    let mut hazards = Vec::new();
    let mut add = |at: usize, why: &str| hazards.push(Hazard { at, why: why.to_owned() });
    if needs_literals(name) {
        for (at, _) in words.iter().enumerate().skip(1).filter(|(_, word)| word.literal().is_none()) {
            add(at, "an argument that is not literal may make it run or write something else");
        }
    }
    for (at, word) in words.iter().enumerate().skip(1) {
        if options(name).iter().any(|option| is_option(&word.text, option)) {
            add(at, "an option makes it run or write something else");
        }
    }
    let why = "its script may write or run something";
    match name {
        "sed" | "gsed" => {
            for (at, _) in words.iter().enumerate().skip(1).filter(|(_, word)| !is_known_to_sed(&word.text)) {
                add(at, "an option makes it run or write something else");
            }
            for (at, _) in sed_scripts(words).into_iter().filter(|(_, script)| !is_plain_sed(script)) {
                add(at, why);
            }
        }
        // The first word is options even without a dash.
        "tar" | "gtar" | "bsdtar"
            if words.get(1).is_some_and(|word| !word.text.starts_with('-') && word.text.contains(['I', 'F'])) =>
        {
            add(1, "an option makes it run or write something else");
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            for (at, word) in words.iter().enumerate().skip(1) {
                let separator = words[at - 1].is("-F") || word.text.starts_with("-F");
                if !separator && !is_plain_awk(&word.text) {
                    add(at, why);
                }
            }
        }
        _ => {}
    }
    if let Some(letters) = interpreter(name) {
        let runs = |word: &Word| {
            let text = word.text.as_str();
            let bundle = text.starts_with('-') && !text.starts_with("--") && text.contains(|c| letters.contains(c));
            bundle
                || ["--eval", "--print", "--require", "--import", "--loader", "--run", "--exec"]
                    .iter()
                    .any(|long| is_option(text, long))
        };
        let inline = words.iter().skip(1).position(runs).map(|at| at + 1);
        let reads = |word: &Word| word.is("-") || !word.text.starts_with('-');
        match (inline, words.iter().skip(1).find(|word| reads(word))) {
            (Some(at), _) => add(at, "it runs the program in its arguments"),
            (None, Some(file))
                if !file.is("-") && !file.text.starts_with("/dev/") && !file.text.starts_with("/proc/") => {}
            (None, None) if words.len() == 2 && (words[1].is("--version") || words[1].is("-V")) => {}
            (None, _) => add(words.len(), "it runs what it reads"),
        }
    }
    hazards
}

/// Whether the word is the option: alone, with its value, or in a bundle of short ones.
fn is_option(text: &str, option: &str) -> bool {
    if option.starts_with("--") {
        let name = text.split('=').next().unwrap_or_default();
        // Abbreviations are taken by most programs.
        return name == option || name.len() > 2 && option.starts_with(name);
    }
    let single = option.len() == 2;
    text == option
        || single && text.starts_with('-') && !text.starts_with("--") && text.contains(&option[1..])
        || !single && text.split('=').next() == Some(option)
}

/// Whether the word is no option of `sed`, or one that only changes how it reads. An abbreviated one is not known.
fn is_known_to_sed(text: &str) -> bool {
    match (text.strip_prefix("--"), text.strip_prefix('-')) {
        (
            Some("" | "quiet" | "silent" | "regexp-extended" | "null-data" | "unbuffered" | "posix" | "expression"),
            _,
        ) => true,
        (Some(long), _) => long.starts_with("expression="),
        (None, Some(bundle)) => {
            bundle.split('e').next().unwrap_or_default().chars().all(|letter| "nErubz".contains(letter))
        }
        (None, None) => true,
    }
}

/// The scripts among the words of `sed`, each with its place: those behind `-e`, or else the first operand.
fn sed_scripts(words: &[Word]) -> Vec<(usize, &str)> {
    let (mut scripts, mut first_operand, mut at) = (Vec::new(), None, 1);
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        let next = |at: usize| words.get(at + 1).map(|word| (at + 1, word.text.as_str()));
        match (text.strip_prefix("--expression"), text.strip_prefix('-')) {
            (Some(value), _) => match value.strip_prefix('=') {
                Some(script) => scripts.push((at, script)),
                None => {
                    scripts.extend(next(at));
                    at += 1;
                }
            },
            (None, Some(bundle)) if !bundle.starts_with('-') && bundle.contains('e') => match bundle.split_once('e') {
                Some((_, script)) if !script.is_empty() => scripts.push((at, script)),
                _ => {
                    scripts.extend(next(at));
                    at += 1;
                }
            },
            (None, Some(_)) => {}
            (None, None) => first_operand = first_operand.or(Some((at, text))),
        }
        at += 1;
    }
    if scripts.is_empty() { first_operand.into_iter().collect() } else { scripts }
}

/// Whether a script of `sed` only prints, deletes and substitutes.
fn is_plain_sed(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ",;$+~! \n".contains(c));
        let Some(command) = rest.chars().next() else { return true };
        rest = &rest[command.len_utf8()..];
        match command {
            'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'P' | 'D' => {}
            '/' => match behind(rest, '/') {
                Some(behind) => rest = behind.trim_start_matches(['I', 'i']),
                None => return false,
            },
            's' | 'y' => {
                let Some(delimiter) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else {
                    return false;
                };
                let behind = behind(&rest[1..], delimiter).and_then(|rest| behind(rest, delimiter));
                let Some(flags) = behind else { return false };
                rest = flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiI".contains(c));
            }
            _ => return false,
        }
        if command != '/' && !rest.trim_start_matches(' ').starts_with([';', '\n']) && !rest.trim().is_empty() {
            return false;
        }
    }
}

/// What follows the delimiter, of which escaped ones do not count.
fn behind(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            c if c == delimiter && !escaped => return Some(&text[at + c.len_utf8()..]),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// Whether a program of awk can neither write, nor read another file, nor run anything.
fn is_plain_awk(program: &str) -> bool {
    !["system", "getline", "|", ">", "@", "fflush", "close", "ARGV", "ENVIRON", "\\"]
        .iter()
        .any(|word| program.contains(word))
}
