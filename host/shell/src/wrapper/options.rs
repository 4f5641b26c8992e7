//! The options of the programs that run others, as far as they are understood.

use super::Word;

/// How a wrapper's own words are read.
pub(super) struct Form {
    /// Only what it runs matters.
    pub(super) transparent: bool,
    /// The short options without a value.
    pub(super) flags: &'static str,
    /// The short options with a value.
    pub(super) valued: &'static str,
    /// The long options without a value.
    pub(super) long_flags: &'static [&'static str],
    /// The long options with a value.
    pub(super) long_valued: &'static [&'static str],
    /// How many operands stand before the command.
    pub(super) operands: usize,
}

/// Only what it runs matters, and it has no options.
pub(super) const BARE: Form =
    Form { transparent: true, flags: "", valued: "", long_flags: &[], long_valued: &[], operands: 0 };

/// How the words of that program are read; none when it runs no others.
pub(super) fn form(name: &str) -> Option<Form> {
    let opaque = Form { transparent: false, ..BARE };
    Some(match name {
        "nohup" | "builtin" => BARE,
        "busybox" | "toybox" => BARE,
        "command" => Form { flags: "p", ..BARE },
        "exec" => Form { flags: "cl", valued: "a", ..BARE },
        "env" => Form {
            flags: "i0v",
            valued: "uC",
            long_flags: &["ignore-environment", "null", "debug"],
            long_valued: &["unset", "chdir"],
            ..BARE
        },
        "nice" => Form { valued: "n", long_valued: &["adjustment"], ..BARE },
        "ionice" => {
            Form { flags: "t", valued: "cn", long_flags: &["ignore"], long_valued: &["class", "classdata"], ..BARE }
        }
        "time" => Form { flags: "pv", long_flags: &["portability", "verbose"], ..BARE },
        "timeout" | "gtimeout" => Form {
            flags: "v",
            valued: "ks",
            long_flags: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
            operands: 1,
            ..BARE
        },
        "stdbuf" => Form { valued: "ioe", long_valued: &["input", "output", "error"], ..BARE },
        "setsid" => Form { flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..BARE },
        "sudo" => Form {
            flags: "AbEHknPS",
            valued: "ugpCDRThrtU",
            long_flags: &["preserve-env", "set-home", "non-interactive", "stdin", "background", "askpass"],
            long_valued: &["user", "group", "prompt", "chdir", "chroot", "close-from", "host", "role", "type"],
            ..opaque
        },
        "doas" => Form { flags: "Ln", valued: "uC", ..opaque },
        "chroot" => Form { long_valued: &["groups", "userspec"], long_flags: &["skip-chdir"], operands: 1, ..opaque },
        "strace" | "ltrace" => Form { flags: "cCdDfFhiknqrtTvVwxyYzZ", valued: "aeEoOpPsSuUIXb", ..opaque },
        "taskset" => Form { flags: "a", long_flags: &["all-tasks"], operands: 1, ..opaque },
        "chrt" => Form { flags: "abdfior", valued: "TPD", operands: 1, ..opaque },
        _ => return None,
    })
}

/// Where the command stands behind the options and operands; an error is the place that is not understood.
pub(super) fn skip_options(words: &[Word], form: &Form) -> Result<usize, usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.literal().ok_or(at)?;
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        at += 1;
        if let Some(long) = text.strip_prefix("--") {
            let (name, attached) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            match () {
                () if form.long_valued.contains(&name) => at += usize::from(!attached),
                () if form.long_flags.contains(&name) => {}
                () => return Err(at),
            }
            continue;
        }
        let mut letters = text[1..].chars();
        while let Some(letter) = letters.next() {
            match letter {
                // The niceness itself, as in `nice -10`.
                '0'..='9' if form.long_valued.contains(&"adjustment") => {}
                letter if form.valued.contains(letter) => {
                    at += usize::from(letters.as_str().is_empty());
                    break;
                }
                letter if form.flags.contains(letter) => {}
                _ => return Err(at),
            }
        }
    }
    for _ in 0..form.operands {
        words.get(at).and_then(Word::literal).ok_or(at)?;
        at += 1;
    }
    Ok(at)
}
