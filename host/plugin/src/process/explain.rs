//! Recognises failures that a program's confinement caused, and says what would allow it.
//!
//! A program only sees an error of the system, and prints it in its own words. A line that is not recognised, or only
//! looks like one of these, costs the user a hint and nothing else: it is said that the program was confined, not that
//! this is why it failed.

/// How much of the end of a program's errors is looked at, in bytes.
pub(super) const LOOKED_AT: usize = 16 << 10;

/// The longest path that is shown.
const LONGEST: usize = 200;

/// Messages about files, in lower case, with what would allow it.
const FILES: &[(&str, &str)] = &[
    ("read-only file system", "writable"),
    ("erofs", "writable"),
    ("permission denied", "readable` or `writable"),
    ("operation not permitted", "readable` or `writable"),
    ("eacces", "readable` or `writable"),
    ("eperm", "readable` or `writable"),
];

/// Messages about the network, in lower case.
const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "enetunreach",
    "dns error",
    "no such host",
];

/// Returns what a failed program may have been kept from, a line each.
pub(super) fn explain(plugin: &str, program: &str, errors: &str) -> Vec<String> {
    let lower = errors.to_lowercase();
    let mut lines = Vec::new();
    for (line, lower) in errors.lines().zip(lower.lines()) {
        let Some((_, key)) = FILES.iter().find(|(message, _)| lower.contains(message)) else { continue };
        let Some(path) = path(line) else { continue };
        let words = format!(
            "this program is confined: if it needs `{}`, add that to `{key}` of [confine] in your configuration",
            host_text::exact(path)
        );
        if !lines.contains(&words) {
            lines.push(words);
        }
    }
    if NETWORK.iter().any(|message| lower.contains(message)) {
        lines.push(format!(
            "this program is confined and reaches only granted servers; to allow one, add --grant \
             '{plugin}:process={program};net=HOST'"
        ));
    }
    lines
}

/// Returns the first absolute path in a line.
fn path(line: &str) -> Option<&str> {
    let starts = line.char_indices().filter(|(_, c)| *c == '/').map(|(at, _)| at);
    let begins_word =
        |at: &usize| line[..*at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"/._~-".contains(c));
    let start = starts.into_iter().find(begins_word)?;
    let path = &line[start..];
    let end = path.find(|c: char| c.is_whitespace() || "'\"`:,;()<>".contains(c)).unwrap_or(path.len());
    let path = path[..end].trim_end_matches('.');
    (path.len() > 1 && path.len() <= LONGEST).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confinement_is_recognised_in_what_programs_print() {
        let files = |key: &str, path: &str| {
            vec![format!(
                "this program is confined: if it needs `{path}`, add that to `{key}` of [confine] in your configuration"
            )]
        };
        let either = "readable` or `writable";
        for (errors, expected) in [
            ("cat: /root/.ssh/id: Permission denied\n", files(either, "/root/.ssh/id")),
            ("touch: cannot touch '/root/new': Read-only file system\n", files("writable", "/root/new")),
            (
                "error: failed to open: /root/.cargo/registry/x.crate\n\nCaused by:\n  Read-only file system (os error 30)",
                vec![],
            ),
            ("PermissionError: [Errno 13] Permission denied: '/home/a/.config/x'", files(either, "/home/a/.config/x")),
            ("Error: EACCES: permission denied, mkdir '/home/a/.npm/_logs'", files(either, "/home/a/.npm/_logs")),
            ("open /root/.cache/go-build/x: read-only file system", files("writable", "/root/.cache/go-build/x")),
            ("sh: 1: ./run: Permission denied", vec![]),
            ("all is well in /root", vec![]),
        ] {
            assert_eq!(explain("shell", "x", errors), expected, "{errors}");
        }
        for errors in [
            "curl: (6) Could not resolve host: example.com",
            "curl: (7) Failed to connect to 192.0.2.1 port 80: Network is unreachable",
            "npm error code EAI_AGAIN",
            "go: dial tcp: lookup proxy.golang.org: Temporary failure in name resolution",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        ] {
            let found = explain("shell", "npm", errors);
            assert_eq!(found.len(), 1, "{errors}");
            assert!(found[0].ends_with("add --grant 'shell:process=npm;net=HOST'"), "{found:?}");
        }
    }
}
