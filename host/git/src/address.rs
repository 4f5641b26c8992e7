//! Addresses of other repositories, and which of them run nothing here and lead to no folder of this machine.

/// How an address may begin.
const SCHEMES: &[&str] = &["https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://"];

/// Returns whether an address leads to a server: `https://host/path`, `ssh://user@host/path`, `user@host:path`.
///
/// Not one that names a helper (`ext::sh -c x`), a folder (a repository there has hooks), or a host or user that a
/// program would take for an option.
pub(crate) fn leads_to_a_server(address: &str) -> bool {
    // `NAME::address` runs the helper `git-remote-NAME`, and `ext::` any command.
    if address.is_empty() || address.chars().any(|c| c.is_control() || c.is_whitespace()) || address.contains("::") {
        return false;
    }
    let is_option = |part: &str| part.is_empty() || part.starts_with('-');
    let host = |authority: &str| {
        // At the last `@`, as git and ssh take it apart: a user may have one in its name.
        let (user, host) = authority.rsplit_once('@').unwrap_or(("x", authority));
        !is_option(user) && !is_option(host)
    };
    // A list of schemes: `file://` leads to a folder of this machine, and other schemes to helpers.
    if let Some(rest) = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme)) {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, "x"));
        return host(authority) && !path.starts_with('-');
    }
    // `host:path`: a slash before the colon makes it a folder.
    let Some((authority, path)) = address.split_once(':') else { return false };
    // `host://x` is an address with a scheme that is not on the list.
    !authority.contains(['/', '\\']) && !path.starts_with("//") && host(authority) && !is_option(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers_and_no_others() {
        for address in [
            "https://example.com/a.git",
            "http://127.0.0.1:8080/a",
            "ssh://git@example.com:22/a.git",
            "git://127.0.0.1:9418/a",
            "git@github.com:a/b.git",
            "host:a",
        ] {
            assert!(leads_to_a_server(address), "{address}");
        }
        for address in [
            "",
            "ext::sh -c touch% x",
            "ext::x",
            "fd::17",
            "transport::address",
            "/srv/a.git",
            "./a",
            "../a",
            "a",
            "up/x",
            "file:///srv/a.git",
            "FILE://x",
            "./a:b",
            "-oProxyCommand=x:y",
            "ssh://-oProxyCommand=x/y",
            "ssh://u@-oProxyCommand=x/y",
            "ssh://-x@host/y",
            "-x@host:y",
            "host:-y",
            "ssh://host/-y",
            "https://example.com/a\nb",
            "https:///x",
            "ftp://x/y",
            "unknown://x/y",
        ] {
            assert!(!leads_to_a_server(address), "{address}");
        }
    }
}
