//! The profile of macOS's sandbox for a program.
//!
//! The last rule that matches decides. Deliberately not here: starting a program with it.

use std::fmt::Write;
use std::path::Path;

use crate::Confinement;

/// The rules that every program needs to start.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name \"com.apple.system.notification_center\") (global-name \"com.apple.system.opendirectoryd.libinfo\"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* (literal \"/\"))
(allow file-read* file-write* file-ioctl (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/random\") (literal \"/dev/urandom\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\"))
";

/// Returns the profile.
pub(crate) fn profile(confinement: &Confinement) -> String {
    let mut profile = BASE.to_owned();
    let mut rule = |rule: &str, path: &Path| {
        let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(profile, "({rule} (subpath \"{text}\"))").expect("a string can be written to");
    };
    confinement.readable.iter().for_each(|path| rule("allow file-read*", path));
    let writable = || confinement.writable.iter().chain(&confinement.temporary);
    writable().for_each(|path| rule("allow file-read* file-write*", path));
    confinement.protected.iter().for_each(|path| rule("deny file-write*", path));
    // Names in a folder can be read without this one.
    confinement.hidden.iter().for_each(|path| rule("deny file-read* file-write*", path));
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seatbelt_profile_denies_last_what_stays_unchanged() {
        let profile = profile(&Confinement {
            readable: vec!["/usr".into()],
            writable: vec!["/w \"x\\".into()],
            protected: vec!["/w \"x\\/.git/hooks".into()],
            hidden: vec!["/w/.env".into()],
            layers: vec![],
            temporary: Some("/private/tmp/t".into()),
        });
        assert!(profile.starts_with("(version 1)\n(deny default)\n"), "{profile}");
        let rules: Vec<&str> = profile.lines().skip(BASE.lines().count()).collect();
        assert_eq!(
            rules,
            [
                r#"(allow file-read* (subpath "/usr"))"#,
                r#"(allow file-read* file-write* (subpath "/w \"x\\"))"#,
                r#"(allow file-read* file-write* (subpath "/private/tmp/t"))"#,
                r#"(deny file-write* (subpath "/w \"x\\/.git/hooks"))"#,
                r#"(deny file-read* file-write* (subpath "/w/.env"))"#,
            ]
        );
        assert!(!profile.contains("network"), "{profile}");
    }
}
