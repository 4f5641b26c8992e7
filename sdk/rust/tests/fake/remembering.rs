//! `state`: compare and put.

use host_sdk::fake::FakeHost;
use host_sdk::state::{self, Error, Expected};

#[test]
fn a_value_changes_only_from_the_version_that_was_seen() {
    let host = FakeHost::new().state("a", "old");
    host.run(|| {
        let item = state::get("a").expect("granted").expect("kept");
        assert_eq!(item.value, b"old");
        assert_eq!(state::put("a", b"x", &Expected::Absent), Err(Error::Changed(Some(item.version.clone()))));
        let version = state::put("a", b"new", &Expected::Version(item.version.clone())).expect("kept");
        assert_ne!(version, item.version);
        assert_eq!(state::put("a", b"x", &Expected::Version(item.version)), Err(Error::Changed(Some(version.clone()))));
        assert_eq!(state::put("b", b"1", &Expected::Version(version)), Err(Error::Changed(None)));
        assert!(state::put("b", b"1", &Expected::Absent).is_ok());
        assert_eq!(state::list(), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(state::delete("b", &Expected::Anything), Ok(()));
        assert_eq!(state::get("b"), Ok(None));
    });
    assert_eq!((host.value("a"), host.value("b")), (Some(b"new".to_vec()), None));
}

#[test]
fn keys_and_sizes_are_the_hosts() {
    let host = (0..1023).fold(FakeHost::new(), |host, key| host.state(&key.to_string(), ""));
    host.run(|| {
        for key in ["", ".a", "a/b", "ä", &"a".repeat(129)] {
            assert!(matches!(state::get(key), Err(Error::Invalid(_))), "{key}");
        }
        assert!(matches!(state::put("0", &vec![0; (1 << 20) + 1], &Expected::Anything), Err(Error::Full(_))));
        assert!(state::put("last", b"", &Expected::Absent).is_ok());
        assert!(matches!(state::put("more", b"", &Expected::Absent), Err(Error::Full(_))));
        assert!(state::put("last", b"again", &Expected::Anything).is_ok());
    });
}

#[test]
fn a_grant_for_looking_changes_nothing() {
    let host = FakeHost::new().state("a", "1").grant("state=read");
    host.run(|| {
        assert!(state::get("a").is_ok());
        assert!(matches!(state::put("a", b"2", &Expected::Anything), Err(Error::Denied(_))));
        assert!(matches!(state::delete("a", &Expected::Anything), Err(Error::Denied(_))));
    });
    assert_eq!(host.value("a").as_deref(), Some(b"1".as_slice()));
}
