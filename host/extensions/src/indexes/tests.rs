//! Places beside an index, names of plugins, and what is found.

use std::path::PathBuf;

use super::place::{MAX_TIME, in_time};
use super::*;

#[test]
fn index_places_beside_it_stay_beside_it() {
    let web = Place::Web("https://example.com/plugins/index.json?x=a/b".to_owned());
    let path = Place::Path(PathBuf::from("/srv/plugins/index.json"));
    let registry = Place::Registry("ghcr.io/acme/index".parse().expect("a reference"));
    assert_eq!(web.beside("fetch.tar").expect("beside"), "https://example.com/plugins/fetch.tar");
    assert_eq!(path.beside("acme+fetch-1.0.0.tar").expect("beside"), "/srv/plugins/acme+fetch-1.0.0.tar");
    for place in [&web, &path, &registry] {
        for elsewhere in ["https://example.org/fetch.tar", "ghcr.io/acme/fetch:1.0.0"] {
            assert_eq!(place.beside(elsewhere).expect("it names its place"), elsewhere);
        }
        for invalid in [
            "..",
            "../fetch.tar",
            "/etc/passwd",
            "a/b.tar",
            "..\\fetch.tar",
            "http://example.org/x",
            "a?b",
            "a%2fb",
            "file:x",
        ] {
            assert!(place.beside(invalid).is_err(), "{place:?} {invalid}");
        }
    }
    assert!(registry.beside("fetch.tar").is_err());
}

#[test]
fn plugin_name_of_an_index_is_neither_a_reference_nor_a_file() {
    let parse = |text: &str| PluginQuery::parse(text).map(|query| (query.name, query.version.map(|it| it.to_string())));
    assert_eq!(parse("acme/fetch"), Some(("acme/fetch".to_owned(), None)));
    assert_eq!(parse("acme/fetch@1.0.0-rc.1"), Some(("acme/fetch".to_owned(), Some("1.0.0-rc.1".to_owned()))));
    for text in [
        "fetch",
        "acme/fetch@latest",
        "acme/fetch@sha256:0",
        "ghcr.io/acme/fetch",
        "localhost/fetch",
        "acme/fetch:1",
        "./a",
        "",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

// promise index.bounded
#[tokio::test(start_paused = true)]
async fn index_that_does_not_arrive_is_not_waited_for() {
    let before = tokio::time::Instant::now();
    let failure = in_time(std::future::pending::<Result<(), Failure>>()).await.expect_err("it never arrives");
    assert_eq!(failure.message, "it did not arrive within 30 seconds");
    assert_eq!(before.elapsed(), MAX_TIME);
    assert_eq!(in_time(async { Ok(1) }).await.expect("it is there"), 1);
}
