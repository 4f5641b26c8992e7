//! What is in the small files of git's folder, checked line by line.
//!
//! Each check takes the whole file and says what is wrong with it. None of them says whether an object exists: git
//! does.

use crate::names::{is_hex, is_object_id, is_ref, is_ref_part, is_tracked_path};

/// What a check says.
pub(crate) type Checked = Result<(), &'static str>;

/// How `packed-refs` says how it is sorted.
const PACKED_HEAD: &[u8] = b"# pack-refs with:";

/// Any bytes: nothing obeys them.
pub(crate) fn anything(_: &[u8]) -> Checked {
    Ok(())
}

/// An object, or the name of another ref.
pub(crate) fn reference(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    let valid = match line.strip_prefix(b"ref: ") {
        Some(name) => is_ref(name),
        None => is_object_id(line),
    };
    valid.or_wrong("it is neither the id of an object nor the name of a ref")
}

/// One object, which may be shortened, or nothing.
pub(crate) fn object_id_or_nothing(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    (line.is_empty() || crate::names::is_short_id(line)).or_wrong("it is not the id of an object")
}

/// An object a line.
pub(crate) fn object_ids(bytes: &[u8]) -> Checked {
    lines(bytes).all(is_object_id).or_wrong("a line is not the id of an object")
}

/// Some objects a line: what was rewritten to what.
pub(crate) fn rewritten(bytes: &[u8]) -> Checked {
    let ids = |line: &[u8]| line.split(|byte| *byte == b' ').all(is_object_id);
    lines(bytes).all(ids).or_wrong("a line has something else than ids of objects")
}

/// A ref a line, or an object.
pub(crate) fn refs_and_ids(bytes: &[u8]) -> Checked {
    lines(bytes).all(|line| is_ref(line) || is_object_id(line)).or_wrong("a line is neither a ref nor an object")
}

/// The branch that a rebase is of.
pub(crate) fn branch_or_detached(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    (is_ref(line) || line == b"detached HEAD").or_wrong("it is not the name of a ref")
}

/// What `git bisect reset` goes back to.
pub(crate) fn branch_or_id(bytes: &[u8]) -> Checked {
    is_ref_part(without_end(bytes)).or_wrong("it is not the name of a branch")
}

/// The words of a bisection, such as `good` and `bad`.
pub(crate) fn terms(bytes: &[u8]) -> Checked {
    let word = |line: &[u8]| {
        line.first().is_some_and(u8::is_ascii_alphanumeric)
            && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    (lines(bytes).count() == 2 && lines(bytes).all(word)).or_wrong("it does not have two words")
}

/// What `git fetch` brought: an object, whether it is for merging, and from where.
pub(crate) fn fetched(bytes: &[u8]) -> Checked {
    let valid = lines(bytes).all(|line| {
        let mut parts = line.splitn(3, |byte| *byte == b'\t');
        parts.next().is_some_and(is_object_id)
            && parts.next().is_some_and(|merge| merge.is_empty() || merge == b"not-for-merge")
            && parts.next().is_some()
    });
    valid.or_wrong("a line is not what `git fetch` writes")
}

/// A log of a ref: from, to, who, when, why.
pub(crate) fn log(bytes: &[u8]) -> Checked {
    let valid = lines(bytes).all(|line| {
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let ids = parts.next().is_some_and(is_object_id) && parts.next().is_some_and(is_object_id);
        let who = parts.next().map(|rest| rest.split(|byte| *byte == b'\t').next().unwrap_or(rest));
        ids && who.is_some_and(is_signature)
    });
    (valid && (bytes.is_empty() || bytes.ends_with(b"\n"))).or_wrong("a line is not one of a log of refs")
}

/// `Ada <ada@example.com> 1795701779 +0000`
fn is_signature(text: &[u8]) -> bool {
    let Some(at) = text.iter().rposition(|byte| *byte == b'>') else { return false };
    let (who, when) = text.split_at(at);
    let mut when = when.get(1..).unwrap_or_default().split(|byte| *byte == b' ').skip(1);
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    who.contains(&b'<')
        && when.next().is_some_and(digits)
        && when.next().is_some_and(|zone| {
            zone.len() == 5 && zone.starts_with(b"+") | zone.starts_with(b"-") && zone.get(1..).is_some_and(digits)
        })
        && when.next().is_none()
}

/// All refs in one file.
pub(crate) fn packed_refs(bytes: &[u8]) -> Checked {
    let mut first = true;
    let valid = lines(bytes).all(|line| {
        let head = std::mem::take(&mut first) && line.starts_with(PACKED_HEAD);
        let peeled = line.strip_prefix(b"^").is_some_and(is_object_id);
        let named = line.iter().position(|byte| *byte == b' ').is_some_and(|at| {
            is_object_id(line.get(..at).unwrap_or_default()) && line.get(at + 1..).is_some_and(is_ref)
        });
        head || peeled || named
    });
    (valid && (bytes.is_empty() || bytes.ends_with(b"\n"))).or_wrong("a line is not one of `packed-refs`")
}

/// Returns the lines of `packed-refs` that put other objects in the place of what they name.
pub(crate) fn replaced_objects(bytes: &[u8]) -> Vec<&[u8]> {
    lines(bytes).filter(|line| line.windows(14).any(|part| part == b" refs/replace/")).collect()
}

/// What `git update-server-info` writes of the refs.
pub(crate) fn served_refs(bytes: &[u8]) -> Checked {
    let valid = lines(bytes).all(|line| {
        let mut parts = line.splitn(2, |byte| *byte == b'\t');
        let name = |name: &[u8]| is_ref(name.strip_suffix(b"^{}").unwrap_or(name));
        parts.next().is_some_and(is_object_id) && parts.next().is_some_and(name)
    });
    valid.or_wrong("a line is not what `git update-server-info` writes")
}

/// What it writes of the packs.
pub(crate) fn served_packs(bytes: &[u8]) -> Checked {
    let pack =
        |line: &[u8]| line.strip_prefix(b"P pack-").and_then(|name| name.strip_suffix(b".pack")).is_some_and(is_hex);
    lines(bytes).all(|line| line.is_empty() || pack(line)).or_wrong("a line is not the name of a pack")
}

/// The files of a chain of graphs of commits.
pub(crate) fn hashes(bytes: &[u8]) -> Checked {
    lines(bytes).all(is_hex).or_wrong("a line is not a hash")
}

/// How a merge is to end.
pub(crate) fn merge_mode(bytes: &[u8]) -> Checked {
    matches!(without_end(bytes), b"" | b"no-ff").or_wrong("it is not `no-ff`")
}

/// Files with conflicts, whose resolutions git takes down.
pub(crate) fn conflicts(bytes: &[u8]) -> Checked {
    let valid = bytes.strip_suffix(b"\0").unwrap_or(bytes).split(|byte| *byte == 0).all(|entry| {
        let Some(at) = entry.iter().position(|byte| *byte == b'\t') else { return entry.is_empty() };
        let id = entry.get(..at).unwrap_or_default().split(|byte| *byte == b'.').next().unwrap_or_default();
        is_hex(id) && entry.get(at + 1..).is_some_and(is_tracked_path)
    });
    valid.or_wrong("it lists a path that is not one of the files")
}

/// A number.
pub(crate) fn number(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    (!line.is_empty() && line.len() < 10 && line.iter().all(u8::is_ascii_digit)).or_wrong("it is not a number")
}

/// A flag: it is there or not, or a word such as `t`, `f`, `--signoff`.
pub(crate) fn flag(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    let word = line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
    (line.len() <= 40 && word).or_wrong("it is not a flag")
}

/// Returns the lines, without the last one if it is empty.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let none = bytes.is_empty();
    body.split(|byte| *byte == b'\n').filter(move |_| !none)
}

/// Returns the text without the end of its line.
pub(crate) fn without_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

/// What is wrong, unless it is right.
pub(crate) trait OrWrong {
    /// Returns what is wrong if it is not so.
    fn or_wrong(self, what: &'static str) -> Checked;
}

impl OrWrong for bool {
    fn or_wrong(self, what: &'static str) -> Checked {
        if self { Ok(()) } else { Err(what) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ca85398e9578f46a203b9355f6ee09d9847f43e0";

    fn check(name: &str, check: fn(&[u8]) -> Checked, good: &[&str], bad: &[&str]) {
        let filled = |text: &&str| text.replace("ID", ID).into_bytes();
        for text in good {
            assert_eq!(check(&filled(text)), Ok(()), "{name}: {text:?}");
        }
        for text in bad {
            assert!(check(&filled(text)).is_err(), "{name}: {text:?}");
        }
    }

    #[test]
    fn contents_are_those_that_git_writes() {
        check("ref", reference, &["ID\n", "ID", "ref: refs/heads/main\n"], &["", "ref: HEAD\n", "ID\nID\n", "ID x"]);
        check(
            "ref",
            reference,
            &[],
            &["ref: refs/../../x\n", "ref:refs/heads/x\n", "0000\n", "ref: refs/heads/a\nb\n"],
        );
        check("ids", object_ids, &["", "ID\n", "ID\nID\n"], &["ID\n\n", "x\n"]);
        check("head-name", branch_or_detached, &["refs/heads/x\n", "detached HEAD\n"], &["x\n", ""]);
        check("start", branch_or_id, &["main\n", "ID\n", "a/b"], &["", "--x\n", "a b\n", "-\n"]);
        check("terms", terms, &["bad\ngood\n", "new\nold\n"], &["bad\n", "a\nb\nc\n", "-x\ngood\n", "$(x)\ny\n"]);
        check(
            "fetched",
            fetched,
            &["", "ID\t\tbranch 'main' of x\n", "ID\tnot-for-merge\tx\n"],
            &["ID\n", "ID\tx\ty\n", "x\t\ty\n"],
        );
        check(
            "log",
            log,
            &[
                "",
                "ID ID Ada <a@x> 1795701779 +0000\tcommit: x\n",
                "ID ID Ada <a@x> 1 -0530\n",
                "ID ID <a@x> 1 +0000\ta > b\n",
            ],
            &["alias ls=x\n", "ID ID\n", "ID ID Ada 1 +0000\n", "ID ID Ada <a@x> 1 +0000\tx", "ID x Ada <a> 1 +0000\n"],
        );
        check(
            "packed",
            packed_refs,
            &["", "# pack-refs with: peeled sorted \nID refs/heads/main\nID refs/tags/v1\n^ID\n"],
            &["# x\n", "ID refs/heads/main\n# pack-refs with: x\n", "ID HEAD\n", "ID refs/../x\n", "ID refs/heads/x"],
        );
        check("mode", merge_mode, &["", "no-ff"], &["ff", "no-ff x"]);
        check(
            "conflicts",
            conflicts,
            &["", "ID\ta/b\0", "ID.1\ta\0ID\tb\0"],
            &["ID\t../x\0", "ID\t.git/config\0", "x"],
        );
        check("number", number, &["1\n", "12"], &["", "x", "1 2", "12345678901"]);
        check("flag", flag, &["", "\n", "t\n", "--signoff"], &["a b", "$(x)", "a\nb"]);
        check("served", served_refs, &["", "ID\trefs/heads/main\nID\trefs/tags/v^{}\n"], &["ID refs/heads/x\n", "x"]);
        check("packs", served_packs, &["P pack-ID.pack\n\n", ""], &["P ../x.pack\n", "x"]);
        check("rewritten", rewritten, &["ID ID\n", "ID\n"], &["ID  ID\n", "ID;x\n"]);
        let packed = format!("{ID} refs/heads/x\n{ID} refs/replace/{ID}\n");
        assert_eq!(replaced_objects(packed.as_bytes()).len(), 1);
    }
}
