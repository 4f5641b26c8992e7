//! Indexes that git wrote, and others.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let ended = git.output().expect("git is there");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn repository(format: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    git(root, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
    fs::create_dir_all(root.join("src/deep")).expect("made");
    for (path, text) in [("src/a.rs", "a"), ("src/ab.rs", "ab"), ("src/deep/c.rs", "c"), ("z", "z")] {
        fs::write(root.join(path), text).expect("written");
    }
    git(root, &["add", "."]);
    folder
}

fn index(root: &Path) -> Vec<u8> {
    fs::read(root.join(".git/index")).expect("read")
}

#[test]
fn index_of_every_version_is_read_like_git_does() {
    for (format, hash) in [("sha1", Hash::Sha1), ("sha256", Hash::Sha256)] {
        for version in ["2", "3", "4"] {
            let folder = repository(format);
            let root = folder.path();
            git(root, &["update-index", "--index-version", version]);
            fs::write(root.join("new"), "new").expect("written");
            // It makes an entry of version 3.
            git(root, &["add", "-N", "new"]);
            assert_eq!(check(&index(root), hash), Ok(Vec::new()), "version {version}");
            let id = "1234567890123456789012345678901234567890123456789012345678901234";
            let id = &id[..hash.size() * 2];
            for path in ["src/sub", "zzz/sub"] {
                git(root, &["update-index", "--add", "--cacheinfo", &format!("160000,{id},{path}")]);
            }
            let expected = vec![b"src/sub".to_vec(), b"zzz/sub".to_vec()];
            assert_eq!(check(&index(root), hash), Ok(expected.clone()), "version {version}");
            assert_eq!(submodules(&index(root), hash), Ok(expected));
        }
    }
}

#[test]
fn index_with_a_part_elsewhere_a_wrong_sum_or_a_forbidden_path_is_rejected() {
    let folder = repository("sha1");
    let root = folder.path();
    let good = index(root);
    let mut wrong = good.clone();
    wrong[20] ^= 1;
    assert_eq!(check(&wrong, Hash::Sha1), Err("its checksum is wrong"));
    let summed = |mut body: Vec<u8>| {
        body.truncate(body.len() - 20);
        let sum = Hash::Sha1.digest(&body);
        [body, sum].concat()
    };
    assert_eq!(check(&summed(wrong), Hash::Sha1), Ok(Vec::new()), "what git saw of a file may be anything");
    for path in [b".git/a.rs".as_slice(), b"../a.rs/", b"/etc/a.x", b".GIT/x.c"] {
        let at = good.windows(8).position(|name| name == b"src/a.rs").expect("listed");
        let mut forged = good.clone();
        forged[at..at + path.len().min(8)].copy_from_slice(&path[..path.len().min(8)]);
        assert!(check(&summed(forged), Hash::Sha1).is_err(), "{path:?}");
    }
    git(root, &["update-index", "--split-index"]);
    assert!(check(&index(root), Hash::Sha1).is_err());
    assert_eq!(submodules(&index(root), Hash::Sha1), Err("a part of it is in another file, or not known"));
}

#[test]
fn indexes_list_the_same_until_something_is_staged() {
    let folder = repository("sha1");
    let root = folder.path();
    let before = index(root);
    // Git records again what it saw of the files.
    let file = fs::File::options().write(true).open(root.join("z")).expect("opened");
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).expect("set");
    git(root, &["update-index", "--refresh"]);
    let refreshed = index(root);
    assert_ne!(before, refreshed);
    assert!(lists_the_same(&before, &refreshed, Hash::Sha1));
    git(root, &["update-index", "--assume-unchanged", "z"]);
    assert!(!lists_the_same(&before, &index(root), Hash::Sha1));
    git(root, &["update-index", "--no-assume-unchanged", "z"]);
    fs::write(root.join("z"), "other").expect("written");
    git(root, &["add", "z"]);
    assert!(!lists_the_same(&before, &index(root), Hash::Sha1));
    assert!(!lists_the_same(&before, b"DIRC", Hash::Sha1));
}
