//! What variables hold: secrets by their looks, and settings of git.
//!
//! Agents print what their programs print, and a program can print its environment. So what looks like a secret is left
//! out of it, by its name or by a value with the shape of one, even where a list says that it passes.

use std::ffi::{OsStr, OsString};

/// Words that, between underscores, mark the name of a secret.
const WORDS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "BEARER",
    "COOKIE",
    "CRED",
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
    "PWD",
    "PAT",
    "PRIVATE",
    "SAS",
    "SECRET",
    "SECRETS",
    "SESSION",
    "TOKEN",
    "TOKENS",
];

/// Pieces that mark the name of a secret anywhere in it.
const PIECES: &[&str] = &["APIKEY", "CREDENTIAL", "PASSWORD", "SECRET", "TOKEN"];

/// Names with such a word that say where the user's desktop is.
const DESKTOP: &[&str] = &["DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "PWD", "XDG_SESSION_"];

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
    "hf_",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
];

/// Settings of git in every program. A folder of a repository can look like a bare repository (`HEAD`, `objects`,
/// `refs`, `config`), and its `config` names programs that git runs: only one that the user named counts
/// (`safe.bareRepository`, git 2.38). The monitor of a work tree is such a program, and a daemon that outlives its
/// call.
const GIT_SETTINGS: &[(&str, &str)] = &[("safe.bareRepository", "explicit"), ("core.fsmonitor", "false")];

/// The beginning of the names of the variables by which git takes settings (`GIT_CONFIG_COUNT`, `_KEY_0`, `_VALUE_0`).
const GIT_VARIABLES: &str = "GIT_CONFIG_";

/// The most settings that are taken over from the environment. Protects the host from a count without end.
const MAX_GIT_SETTINGS: usize = 1_000;

/// Returns the variables that carry [`GIT_SETTINGS`] behind the settings that the environment has already, without
/// those that look like a secret. They override every file with settings, and hold for each git that a program starts.
pub(super) fn git_settings(environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let variable = |name: &str| {
        let name = format!("{GIT_VARIABLES}{name}");
        environment.iter().find(|(key, _)| *key == *name).and_then(|(_, value)| value.to_str())
    };
    let count: usize = variable("COUNT").and_then(|count| count.parse().ok()).unwrap_or(0);
    let given = (0..count.min(MAX_GIT_SETTINGS))
        .filter_map(|number| Some((variable(&format!("KEY_{number}"))?, variable(&format!("VALUE_{number}"))?)));
    let harmless = given.filter(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let looks_secret = is_secret(key.replace(['.', '-'], "_").as_ref(), value.as_ref()) || has_password(&key);
        !key.ends_with(".extraheader") && !looks_secret
    });
    let settings: Vec<(&str, &str)> = harmless.chain(GIT_SETTINGS.iter().copied()).collect();
    let named = |name: String, value: &str| (OsString::from(format!("{GIT_VARIABLES}{name}")), OsString::from(value));
    let mut variables = vec![named("COUNT".to_owned(), &settings.len().to_string())];
    for (number, (key, value)) in settings.into_iter().enumerate() {
        variables.push(named(format!("KEY_{number}"), key));
        variables.push(named(format!("VALUE_{number}"), value));
    }
    variables
}

/// Whether the variable is one of those that carry settings of git.
pub(super) fn is_git_setting(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(GIT_VARIABLES));
    rest.is_some_and(|rest| rest == "COUNT" || rest.starts_with("KEY_") || rest.starts_with("VALUE_"))
}

/// Whether a variable looks like a secret.
pub(super) fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let value = value.to_string_lossy();
    let is_of_desktop = DESKTOP.iter().any(|known| name.starts_with(known));
    (!is_of_desktop && name.split('_').any(|word| WORDS.contains(&word)))
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

    #[test]
    fn process_git_settings_follow_those_of_the_environment() {
        let check = |given: &[(&str, &str)], expected: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| (format!("GIT_CONFIG_{name}").into(), value.into())).collect();
            let ours = [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false")];
            let expected: Vec<_> = expected.iter().copied().chain(ours).collect();
            let given: Vec<(OsString, OsString)> = given;
            let found = git_settings(&given);
            let found: Vec<_> = found.iter().map(|(name, value)| (name.to_str(), value.to_str())).collect();
            let mut wanted = vec![("GIT_CONFIG_COUNT".to_owned(), expected.len().to_string())];
            for (number, (key, value)) in expected.into_iter().enumerate() {
                wanted.push((format!("GIT_CONFIG_KEY_{number}"), key.to_owned()));
                wanted.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
            }
            let wanted: Vec<_> = wanted.iter().map(|(name, value)| (Some(&**name), Some(&**value))).collect();
            assert_eq!(found, wanted);
        };
        check(&[], &[]);
        check(&[("COUNT", "many")], &[]);
        check(&[("COUNT", "99999999999999999999")], &[]);
        let directory = ("safe.directory", "*");
        check(&[("COUNT", "1"), ("KEY_0", directory.0), ("VALUE_0", directory.1)], &[directory]);
        // Incomplete settings and secrets are left out, and the rest is renumbered: git stops at a gap.
        check(
            &[
                ("COUNT", "4"),
                ("KEY_0", "http.https://a.example/.extraHeader"),
                ("VALUE_0", "AUTHORIZATION: basic x"),
                ("KEY_1", "url.https://u:p@a.example/.insteadOf"),
                ("VALUE_1", "https://a.example/"),
                ("VALUE_2", "lost"),
                ("KEY_3", directory.0),
                ("VALUE_3", directory.1),
            ],
            &[directory],
        );
    }

    // promise process.secrets
    #[test]
    fn environment_variables_that_look_like_secrets_are_known() {
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
