//! Reads an address as Ollama's own clients read `OLLAMA_HOST`.
//!
//! Any part may be missing, but not all: `box`, `:8080`, `10.0.0.1:8080`, `https://box/ollama`. Without a scheme the
//! port is Ollama's, with one it is the scheme's. The server listens at the address in the same variable, so an address
//! that means all interfaces means this machine.

/// Ollama's port.
const PORT: &str = "11434";

/// Completes the address. Whether it is valid is checked on connecting.
pub(super) fn read(text: &str) -> String {
    // As Ollama's own clients do.
    let text = text.trim().trim_matches(['"', '\'']);
    if text == "ollama.com" {
        return "https://ollama.com".to_owned();
    }
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    // At the last one: a password may have one.
    let (user, place) = authority.rsplit_once('@').map_or(("", authority), |(user, place)| (user, place));
    let (host, port) = split(place);
    let host = match host.trim_start_matches('[').trim_end_matches(']') {
        // The server's own variable says where it listens; no client can connect to all interfaces.
        "" | "0.0.0.0" => "127.0.0.1".to_owned(),
        "::" => "[::1]".to_owned(),
        six if six.contains(':') => format!("[{six}]"),
        name => name.to_owned(),
    };
    let mut address = format!("{}://", if scheme.is_empty() { "http" } else { scheme });
    if !user.is_empty() {
        address.push_str(user);
        address.push('@');
    }
    address.push_str(&host);
    if let Some(port) = port.or(scheme.is_empty().then_some(PORT)) {
        address.push(':');
        address.push_str(port);
    }
    if !path.is_empty() {
        address.push('/');
        address.push_str(path);
    }
    address
}

/// Splits host and port. An IPv6 address without brackets has no port.
fn split(place: &str) -> (&str, Option<&str>) {
    let is_six = place.matches(':').count() > 1;
    match place.rsplit_once(':') {
        Some((host, port)) if !is_six || host.ends_with(']') => (host, Some(port).filter(|port| !port.is_empty())),
        _ => (place, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_read_as_ollamas_clients_read_it() {
        let check = |text: &str, expected: &str| assert_eq!(read(text), expected, "{text:?}");
        check("", "http://127.0.0.1:11434");
        check("box", "http://box:11434");
        check(" \"box:8080\" ", "http://box:8080");
        check(":8080", "http://127.0.0.1:8080");
        check("0.0.0.0", "http://127.0.0.1:11434");
        check("0.0.0.0:8080", "http://127.0.0.1:8080");
        check("[::]:8080", "http://[::1]:8080");
        check("::1", "http://[::1]:11434");
        check("[::1]", "http://[::1]:11434");
        check("[fe80::1]:80", "http://[fe80::1]:80");
        check("http://box", "http://box");
        check("https://box/", "https://box");
        check("https://box:8443/ollama/", "https://box:8443/ollama/");
        check("box/ollama", "http://box:11434/ollama");
        check("http://u:p@box:1", "http://u:p@box:1");
        check("ollama.com", "https://ollama.com");
        check("https://ollama.com", "https://ollama.com");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[a0:/@.\\[\\]\"ü -]{0,12}") {
            prop_assert!(read(&text).contains("://"));
        }
    }
}
