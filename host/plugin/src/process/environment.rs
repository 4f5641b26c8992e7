//! Selects the variables of the user's environment that a program gets.
//!
//! Agents print what their programs print, and a program can print its environment. So variables that look like a
//! secret are left out: by their name, or by a value with the shape of one.

use std::ffi::{OsStr, OsString};

/// Words that, between underscores, mark the name of a secret.
const WORDS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "SAS",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Pieces that mark the name of a secret anywhere in it.
const PIECES: &[&str] = &["APIKEY", "CREDENTIAL", "PASSWORD", "SECRET", "TOKEN"];

/// The prefixes of well-known secrets.
const BEGINNINGS: &[&str] = &[
    "-----BEGIN",
    "AIza",
    "AKIA",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "xoxb-",
    "xoxp-",
];

/// Returns the environment without the variables that look like a secret.
pub(crate) fn without_secrets(environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    environment.into_iter().filter(|(name, value)| !is_secret(name, value)).collect()
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let value = value.to_string_lossy();
    name.split('_').any(|word| WORDS.contains(&word))
        || PIECES.iter().any(|piece| name.contains(piece))
        || BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
        || has_password(&value)
}

/// Whether it is an address with a password in it: `postgres://user:password@host`.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise process.secrets
    #[test]
    fn environment_variables_that_look_like_secrets_are_not_passed_on() {
        for (name, value, secret) in [
            ("PATH", "/usr/bin", false),
            ("HOME", "/home/a", false),
            ("LANG", "C.UTF-8", false),
            ("KEYBOARD", "de", false),
            ("AUTHOR", "a", false),
            ("GEMINI_API_KEY", "x", true),
            ("OPENAI_API_KEY", "x", true),
            ("github_token", "x", true),
            ("NPM_CONFIG__AUTH", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("MYAPIKEY", "x", true),
            ("SSH_AUTH_SOCK", "/tmp/agent", true),
            ("DATABASE_URL", "postgres://u:p@db/x", true),
            ("HOMEPAGE", "https://example.com/a:b@c", false),
            ("PROXY", "http://proxy:3128", false),
            ("WHATEVER", "ghp_0123456789", true),
        ] {
            assert_eq!(is_secret(OsStr::new(name), OsStr::new(value)), secret, "{name}={value}");
        }
    }
}
