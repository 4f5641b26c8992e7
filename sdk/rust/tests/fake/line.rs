//! `context`, and what a fake host is without a call and without being there.

use host_sdk::context::{self, Level};
use host_sdk::fake::{FakeHost, Progress};
use host_sdk::{Failure, fs_read};

#[test]
fn fake_host_records_what_a_call_shows_and_logs() {
    let host = FakeHost::new().config("limit", 5).config("name", "x");
    host.run(|| {
        context::log(Level::Warn, "careful");
        context::emit("a");
        context::emit("b");
        context::progress(1, Some(2), "half");
        assert_eq!(context::config("limit").as_deref(), Some("5"));
        assert_eq!(context::config("name").as_deref(), Some("\"x\""), "it is JSON");
        assert_eq!(context::config("none"), None);
    });
    assert_eq!(host.emitted(), "ab");
    assert_eq!(host.logged(), [(Level::Warn, "careful".to_owned())]);
    assert_eq!(host.progress(), [Progress { done: 1, total: Some(2), message: "half".to_owned() }]);
}

#[test]
fn fake_host_cuts_what_is_shown_where_the_host_does() {
    let host = FakeHost::new();
    host.run(|| {
        context::emit(&"ä".repeat(40 << 10));
        context::log(Level::Info, &"x".repeat(9 << 10));
    });
    assert!(host.emitted().starts_with("ää") && host.emitted().len() < (65 << 10));
    assert!(host.emitted().ends_with("[live output cut here; the result has the rest]\n"));
    assert_eq!(host.logged().first().map(|(_, line)| line.len()), Some(8 << 10));
}

#[test]
fn fake_host_call_that_is_cancelled_returns_what_it_has() {
    let counting = || {
        for number in 0.. {
            if context::should_stop() {
                return Err::<(), _>(Failure::cancelled(format!("counted to {number}")));
            }
        }
        Ok(())
    };
    assert_eq!(FakeHost::new().stop_after(3).run(counting), Err(Failure::cancelled("counted to 3")));
}

#[test]
fn fake_host_that_is_missing_is_reported_with_how_to_create_one() {
    let panicked = std::panic::catch_unwind(|| fs_read::stat("a")).expect_err("there is none");
    let said = panicked.downcast_ref::<String>().expect("words");
    assert!(said.contains("`fs_read::stat`") && said.contains("FakeHost::new().run("), "{said}");
}

#[test]
fn a_host_is_gone_when_its_test_panics_and_the_one_before_is_back() {
    let outer = FakeHost::new().file("outer", "");
    let inner = FakeHost::new().file("inner", "");
    outer.run(|| {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| inner.run(|| panic!("a test failed"))));
        assert!(panicked.is_err());
        assert!(fs_read::stat("outer").is_ok() && fs_read::stat("inner").is_err());
    });
    assert!(std::panic::catch_unwind(|| fs_read::stat("outer")).is_err());
}
