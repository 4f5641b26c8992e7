//! The address that is really fetched.

use host_sdk::Failure;

/// The address to fetch for the one that was named: of a page that shows a file of a repository on GitHub, the file.
///
/// # Errors
///
/// `invalid-arguments` when it is no web address. Whether it may be fetched is the host's to say.
pub(crate) fn real(url: &str) -> Result<String, Failure> {
    let url = url.trim();
    let web = ["https://", "http://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if !web || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Failure::InvalidArguments(format!("`{}` is no address of the web", url.escape_debug())));
    }
    Ok(raw_on_github(url).unwrap_or_else(|| url.to_owned()))
}

fn raw_on_github(url: &str) -> Option<String> {
    let path = url.strip_prefix("https://github.com/").or_else(|| url.strip_prefix("https://www.github.com/"))?;
    let path = path.split(['?', '#']).next()?;
    let mut parts = path.splitn(4, '/');
    let (owner, repository, kind, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Behind `blob` come the branch and the path.
    (kind == "blob" && rest.contains('/'))
        .then(|| format!("https://raw.githubusercontent.com/{owner}/{repository}/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_on_github_is_fetched_itself() {
        let check = |url: &str, expected: &str| assert_eq!(real(url).as_deref(), Ok(expected));
        check(
            "https://github.com/o/r/blob/main/src/lib.rs?plain=1#L10",
            "https://raw.githubusercontent.com/o/r/main/src/lib.rs",
        );
        for url in [
            "https://github.com/o/r",
            "https://github.com/o/r/tree/main/src",
            "https://github.com/o/r/blob/main",
            "https://github.com.example.org/o/r/blob/main/a",
            "HTTP://example.org/",
        ] {
            check(url, url);
        }
    }

    #[test]
    fn web_fetch_address_that_is_not_a_web_address_is_an_error() {
        for url in ["", "example.org", "file:///etc/passwd", "https:/x", "https://a b", "https://a\nb", "ftp://x", "é"]
        {
            assert!(matches!(real(url), Err(Failure::InvalidArguments(_))), "{url}");
        }
    }
}
