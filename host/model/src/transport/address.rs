//! Base addresses: which are valid, and which part of one may be shown.

use url::Url;

/// Parses an address to which paths can be added.
///
/// # Errors
///
/// The reason why it is invalid.
pub(super) fn base_url(address: &str) -> Result<Url, String> {
    let mut url = Url::parse(address.trim()).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it begins with neither `https://` nor `http://`".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns the address without what may be secret in it: user name, password and query.
pub(super) fn shown(address: &str) -> String {
    match Url::parse(address.trim()) {
        Ok(url) if url.has_host() => {
            let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
            format!("{}://{host}{}", url.scheme(), url.path().trim_end_matches('/'))
        }
        // A text that is not an address can have its secrets anywhere before the last `@`.
        Ok(_) | Err(_) => {
            let rest = address.rsplit('@').next().unwrap_or_default();
            rest.split(['?', '#']).next().unwrap_or_default().trim().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let check = |address: &str, expected: &str| assert_eq!(shown(address), expected, "{address}");
        check("https://api.openai.com/v1/", "https://api.openai.com/v1");
        check(" http://u:p@127.0.0.1:8080/v1?key=k#f", "http://127.0.0.1:8080/v1");
        check("http://[::1]:80/", "http://[::1]");
        check("http://u:pa/ss@host/v1", "host/v1");
        check("u:p@host?key=k", "host");
        check("localhost:8080", "localhost:8080");
        check("", "");
    }
}
