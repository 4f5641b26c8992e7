//! `fs-write`: nothing is overwritten unseen.

use host_sdk::fake::FakeHost;
use host_sdk::fs_write::{self, Error, Expected, Span};
use host_sdk::{Failure, fs_read};

fn host() -> FakeHost {
    FakeHost::new().file("a.txt", "0123456789").file("src/b.txt", "b").folder("empty")
}

#[test]
fn a_write_needs_what_it_expects_to_be_there() {
    let host = host();
    host.run(|| {
        let digest = fs_read::read_whole("a.txt").expect("read").digest;
        let absent = fs_write::write("a.txt", b"new", &Expected::Absent);
        assert_eq!(absent, Err(Error::Changed(Some(digest.clone()))));
        let other = fs_write::write("a.txt", b"new", &Expected::Digest("0".repeat(64)));
        assert_eq!(other, Err(Error::Changed(Some(digest.clone()))));
        let gone = fs_write::write("new.txt", b"new", &Expected::Digest(digest.clone()));
        assert_eq!(gone, Err(Error::Changed(None)));
        let written = fs_write::write("a.txt", b"new", &Expected::Digest(digest)).expect("written");
        assert!(!written.created && written.size == 3);
        assert_eq!(fs_read::read_whole("a.txt").expect("read").digest, written.digest);
        assert!(fs_write::write("deep/er/new.txt", b"new", &Expected::Absent).expect("written").created);
    });
    assert_eq!(host.text("a.txt").as_deref(), Some("new"));
    assert_eq!(host.files(), ["a.txt", "deep/er/new.txt", "src/b.txt"]);
}

#[test]
fn fake_host_write_that_fails_changes_nothing() {
    let host = host();
    host.run(|| {
        let write = |path: &str| fs_write::write(path, b"x", &Expected::Anything);
        assert!(matches!(write("src"), Err(Error::Invalid(_))));
        assert_eq!(write("a.txt/b"), Err(Error::Exists("a.txt/b".to_owned())));
        assert!(matches!(write("../b"), Err(Error::Denied(_))));
        assert!(matches!(write("."), Err(Error::Io(_))));
        let large = fs_write::write("a.txt", &vec![0; (20 << 20) + 1], &Expected::Anything);
        assert_eq!(large, Err(Error::TooLarge((20 << 20) + 1)));
    });
    assert_eq!(host.text("a.txt").as_deref(), Some("0123456789"));
}

#[test]
fn an_edit_replaces_spans_of_the_file_that_was_read() {
    let host = host();
    host.run(|| {
        let digest = fs_read::read_whole("a.txt").expect("read").digest;
        let span = |start, end, text: &str| Span { start, end, replacement: text.as_bytes().to_vec() };
        let crossed = fs_write::edit("a.txt", &digest, &[span(2, 4, ""), span(3, 5, "")]);
        assert!(matches!(crossed, Err(Error::Invalid(_))));
        assert!(matches!(fs_write::edit("a.txt", &digest, &[span(9, 11, "")]), Err(Error::Invalid(_))));
        assert_eq!(fs_write::edit("none", &digest, &[]), Err(Error::NotFound("none".to_owned())));
        let edited = fs_write::edit("a.txt", &digest, &[span(2, 4, "ab"), span(4, 4, "+"), span(9, 10, "")]);
        assert_eq!(edited.map(|written| written.size), Ok(10));
        assert!(matches!(fs_write::edit("a.txt", &digest, &[]), Err(Error::Changed(Some(_)))));
    });
    assert_eq!(host.text("a.txt").as_deref(), Some("01ab+45678"));
}

#[test]
fn names_are_given_and_taken_and_nothing_is_lost_by_it() {
    let host = host();
    host.run(|| {
        assert_eq!(fs_write::rename("a.txt", "src/b.txt"), Err(Error::Exists("src/b.txt".to_owned())));
        assert_eq!(fs_write::rename("none", "c"), Err(Error::NotFound("c".to_owned())));
        assert_eq!(fs_write::rename("a.txt", "none/c"), Err(Error::NotFound("none/c".to_owned())));
        assert!(matches!(fs_write::rename("src", "src/in"), Err(Error::Io(_))));
        assert!(matches!(fs_write::rename("a.txt", "/etc/a"), Err(Error::Denied(_))));
        assert_eq!(fs_write::rename("src", "lib"), Ok(()));
        assert!(matches!(fs_write::remove("lib"), Err(Error::Io(_))), "it is not empty");
        assert_eq!(fs_write::remove("none"), Err(Error::NotFound("none".to_owned())));
        assert_eq!(fs_write::remove("empty"), Ok(()));
        assert_eq!(fs_write::remove("lib/b.txt"), Ok(()));
        assert_eq!(fs_write::make_directory("one/two"), Ok(()));
        assert_eq!(fs_write::make_directory("one/two"), Ok(()));
        assert_eq!(fs_write::make_directory("a.txt"), Err(Error::Exists("a.txt".to_owned())));
        assert_eq!(fs_read::list("one").map(|entries| entries.len()), Ok(1));
    });
    assert_eq!(host.files(), ["a.txt"]);
}

#[test]
fn fake_host_error_becomes_a_failure_that_a_model_understands() {
    let failed: Result<(), Failure> = host().run(|| {
        fs_write::write("a.txt", b"", &Expected::Absent)?;
        Ok(())
    });
    assert!(matches!(failed, Err(Failure::Conflict(why)) if why.contains("read it again")));
}
