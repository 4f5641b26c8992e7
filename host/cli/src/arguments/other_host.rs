//! A command line for the other `host`: the DNS tool of that name, which systems have had for decades.
//!
//! A script that looks up a name must not start a run, which costs money and calls tools. Promises: `host run` and what
//! stands behind `--` are not looked at.
//!
//! Deliberately not here: which of the two programs a shell starts, which `host doctor` says.

use std::ffi::OsString;
use std::net::IpAddr;

use host_settings::error::Failure;

/// Flags of the DNS tool that this program does not have.
const FLAGS: &[&str] =
    &["-4", "-6", "-A", "-N", "-R", "-T", "-U", "-W", "-a", "-d", "-i", "-l", "-s", "-t", "-v", "-w"];

/// The longest domain name, in bytes.
const MAX_NAME: usize = 253;
/// The longest part of a domain name, in bytes.
const MAX_LABEL: usize = 63;

/// Checks a command line without a command.
///
/// # Errors
///
/// If it is one of the DNS tool: a name or an address, alone or with a server, or such a flag with a name.
pub(super) fn check(words: &[OsString]) -> Result<(), Failure> {
    let words: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let name = match words.as_slice() {
        [name] | [name, _] if words.iter().all(|word| is_name(word)) => name,
        [flag, rest @ ..] if is_flag(flag) => match rest.iter().find(|word| is_name(word)).or_else(|| rest.last()) {
            Some(name) => name,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    Err(mistake(name, &words.join(" ")))
}

/// Checks a prompt of one word, wherever among the flags it was.
///
/// # Errors
///
/// If it is a name or an address.
pub(super) fn check_prompt(prompt: &str) -> Result<(), Failure> {
    if is_name(prompt) { Err(mistake(prompt, prompt)) } else { Ok(()) }
}

fn mistake(name: &str, line: &str) -> Failure {
    let help = format!(
        "this `host` runs an agent. The DNS tool of the same name is a different program: start it by its path, such as \
         `/usr/bin/host {line}`, or use `dig` (to send it as a prompt: host run {name})"
    );
    Failure::input(format!("`{name}` reads like a name or an address to look up, and not like a prompt")).help(help)
}

/// Whether a word is one of the flags, or `-t` with its value, such as `-tmx`.
fn is_flag(word: &str) -> bool {
    let has_value = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    FLAGS.contains(&word) || word.strip_prefix("-t").is_some_and(has_value)
}

/// Whether a word is a domain name of two parts or more, or an address.
fn is_name(word: &str) -> bool {
    if word.parse::<IpAddr>().is_ok() {
        return true;
    }
    let name = word.strip_suffix('.').unwrap_or(word);
    let mut labels = name.split('.');
    // `1.2` and `e.g` are none.
    let is_top = |label: &str| label.chars().count() > 1 && !label.chars().all(|letter| letter.is_ascii_digit());
    name.len() <= MAX_NAME
        && labels.next_back().is_some_and(is_top)
        && name.contains('.')
        && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|letter| letter.is_alphanumeric() || ['-', '_'].contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_for_dns(line: &[&str]) -> bool {
        check(&std::iter::once("host").chain(line.iter().copied()).map(OsString::from).collect::<Vec<_>>()).is_err()
    }

    // promise conversation.other-host: A command line of the DNS tool `host` is a mistake with a help, and starts no
    //   run.
    #[test]
    fn arguments_of_the_dns_tool_are_a_mistake() {
        for line in [
            &["example.com"][..],
            &["example.com."],
            &["www.example.co.uk"],
            &["_dmarc.example.com"],
            &["xn--bcher-kva.example"],
            &["bücher.example"],
            &["8.8.8.8"],
            &["2001:db8::1"],
            &["::1"],
            &["8.8.8.8.in-addr.arpa"],
            &["example.com", "8.8.8.8"],
            &["example.com", "ns1.example.com"],
            &["-t", "mx", "example.com"],
            &["-tmx", "example.com"],
            &["-t", "MX", "intranet"],
            &["-a", "example.com"],
            &["-v", "example.com", "8.8.8.8"],
            &["-l", "example.com"],
            &["-W", "2", "example.com"],
        ] {
            assert!(is_for_dns(line), "{line:?}");
        }
        for line in [
            &[][..],
            &["hello"],
            &["why?"],
            &["1.2"],
            &["1.2.3"],
            &["e.g."],
            &["..."],
            &["a..b"],
            &["-.com"],
            &["src/main.rs"],
            &["@example.com"],
            &["me@example.com"],
            &["https://example.com/"],
            &["look up example.com"],
            &["look", "up", "example.com"],
            &["explain", "example.com"],
            &["-p", "example.com"],
            &["--", "example.com"],
            &["-v"],
            &["-V"],
            &["/help"],
        ] {
            assert!(!is_for_dns(line), "{line:?}");
        }
        assert!(!is_for_dns(&[&format!("{}.com", "a".repeat(MAX_LABEL + 1))]));
        assert!(!is_for_dns(&[&format!("{}com", "a.".repeat(MAX_NAME))]));
    }
}
