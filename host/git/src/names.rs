//! Names and numbers as git writes them: object ids, names of refs, names of files that nothing may track.

/// The digits of an object id: SHA-1 and SHA-256.
const DIGITS: [usize; 2] = [40, 64];

/// Code points that HFS+ leaves out of a name, in UTF-8: `.g\u{200c}it` is `.git` there, and git rejects it everywhere.
const IGNORED: &[&[u8]] = &[
    b"\xe2\x80\x8c",
    b"\xe2\x80\x8d",
    b"\xe2\x80\x8e",
    b"\xe2\x80\x8f",
    b"\xe2\x80\xaa",
    b"\xe2\x80\xab",
    b"\xe2\x80\xac",
    b"\xe2\x80\xad",
    b"\xe2\x80\xae",
    b"\xe2\x81\xaa",
    b"\xe2\x81\xab",
    b"\xe2\x81\xac",
    b"\xe2\x81\xad",
    b"\xe2\x81\xae",
    b"\xe2\x81\xaf",
    b"\xef\xbb\xbf",
];

/// Returns whether these are only hexadecimal digits in lower case, as git writes them.
pub(crate) fn is_hex(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit))
}

/// Returns whether it is the id of an object, whole.
pub(crate) fn is_object_id(digits: &[u8]) -> bool {
    DIGITS.contains(&digits.len()) && is_hex(digits)
}

/// Returns whether it is the id of an object, whole or shortened, as in the list of a rebase.
pub(crate) fn is_short_id(digits: &[u8]) -> bool {
    (4..=64).contains(&digits.len()) && is_hex(digits)
}

/// Returns whether it is the name of a ref beneath `refs/`, by the rules of `git check-ref-format`.
pub(crate) fn is_ref(name: &[u8]) -> bool {
    name.starts_with(b"refs/") && is_ref_part(name)
}

/// Returns whether it can be a ref's name, or its end: `main`, `feature/fuel`.
pub(crate) fn is_ref_part(name: &[u8]) -> bool {
    let forbidden = |byte: &u8| *byte <= b' ' || *byte == 0x7f || b"~^:?*[\\".contains(byte);
    let part = |part: &[u8]| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock");
    name != b"@"
        && !name.starts_with(b"-")
        && !name.ends_with(b".")
        && !name.iter().any(forbidden)
        && !name.windows(2).any(|pair| pair == b".." || pair == b"@{")
        && name.split(|byte| *byte == b'/').all(part)
}

/// Returns whether an index may list the path: relative, without empty parts, `.` and `..`, and without git's own
/// folder under any name that a file system could take for it.
pub(crate) fn is_tracked_path(path: &[u8]) -> bool {
    // The one entry of a sparse index that ends like this is a folder.
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let mut from = 0;
    // An index has hundreds of thousands of parts, so they are found by many bytes at a time.
    memchr::memchr_iter(b'/', path).chain([path.len()]).all(|end| {
        let part = path.get(from..end).unwrap_or_default();
        from = end + 1;
        match part.first() {
            None => false,
            Some(b'.') => part != b"." && part != b".." && !is_git_folder(part),
            // Beginnings of `git~1`, and of ignored code points.
            Some(b'g' | b'G' | 0xe2 | 0xef) => !is_git_folder(part),
            Some(_) => true,
        }
    })
}

/// Returns whether a file system could take a name for `.git`.
pub(crate) fn is_git_folder(name: &[u8]) -> bool {
    // A stream of NTFS, which also drops dots and spaces at the end.
    let ntfs = name.split(|byte| *byte == b':' || *byte == b'\\').next().unwrap_or(name);
    let end = ntfs.iter().rposition(|byte| !b". ".contains(byte)).map_or(0, |last| last + 1);
    let ntfs = ntfs.get(..end).unwrap_or(ntfs);
    // The short name that Windows gives to `.git`.
    if ntfs.eq_ignore_ascii_case(b".git") || ntfs.eq_ignore_ascii_case(b"git~1") {
        return true;
    }
    // The rest is about HFS+, which passes over some code points when it compares names.
    if name.is_ascii() {
        return false;
    }
    let mut rest = name;
    let mut kept = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        match IGNORED.iter().find_map(|ignored| rest.strip_prefix(*ignored)) {
            Some(behind) => rest = behind,
            None => {
                kept.push(*first);
                rest = behind;
            }
        }
    }
    kept.eq_ignore_ascii_case(b".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_refs_are_those_that_git_accepts() {
        for (name, valid) in [
            ("refs/heads/main", true),
            ("refs/heads/feature/fuel-2", true),
            ("refs/heads/ä", true),
            ("refs/stash", true),
            ("refs", false),
            ("HEAD", false),
            ("refs/", false),
            ("refs/heads/", false),
            ("refs//heads", false),
            ("refs/../config", false),
            ("refs/heads/.x", false),
            ("refs/heads/x.lock", false),
            ("refs/heads/x.lock/y", false),
            ("refs/heads/x.", false),
            ("refs/heads/a b", false),
            ("refs/heads/a\nb", false),
            ("refs/heads/a@{1}", false),
            ("refs/heads/a:b", false),
            ("refs/heads/a*", false),
            ("refs/heads/a\\b", false),
            ("refs/heads/a\x7f", false),
        ] {
            assert_eq!(is_ref(name.as_bytes()), valid, "{name}");
            // Git says the same of all of them.
            if name.starts_with("refs/") {
                let git =
                    std::process::Command::new("git").args(["check-ref-format", name]).status().expect("git runs");
                assert_eq!(git.success(), valid, "git: {name}");
            }
        }
    }

    #[test]
    fn names_that_may_be_taken_for_gits_folder_are_not_tracked() {
        for path in [
            ".git",
            ".GIT/config",
            "a/.git/hooks/x",
            "a/.Git",
            "git~1/x",
            "GIT~1",
            ".git./x",
            ".git /x",
            ".git::$INDEX_ALLOCATION/x",
            ".g\u{200c}it/x",
            "\u{feff}.git",
            "..",
            "a/../b",
            "./a",
            "/etc/passwd",
            "a//b",
            "",
        ] {
            assert!(!is_tracked_path(path.as_bytes()), "{path}");
        }
        for path in
            ["a", ".gitignore", ".github/x", "git/x", "git~2", "a/b.git/c", "ä/é", ".gitmodules", "\u{200b}x", "a/"]
        {
            assert!(is_tracked_path(path.as_bytes()), "{path}");
        }
    }
}
