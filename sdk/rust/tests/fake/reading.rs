//! `fs-read`: what a path means, and what a walk hands over.

use host_sdk::fake::FakeHost;
use host_sdk::fs_read::{self, Error, Kind, Walk, WalkOptions};

fn host() -> FakeHost {
    FakeHost::new()
        .file("a.txt", "one")
        .file("src/lib.rs", "lib")
        .file("src/deep/er.rs", "er")
        .file(".gitignore", "out/\n*.log\n!keep.log\n")
        .file(".env", "secret")
        .file(".git/config", "git")
        .file("out/made.txt", "made")
        .file("x.log", "x")
        .file("src/keep.log", "keep")
        .file("src/.hostignore", "deep")
        .folder("empty")
}

fn walked(options: &WalkOptions) -> Vec<String> {
    let walk = Walk::open(options).expect("it begins");
    let mut names = Vec::new();
    while let Some(batch) = walk.next_batch().expect("it goes on") {
        names.extend((0..batch.len()).map(|index| batch.name(index).into_owned()));
    }
    assert_eq!(walk.summary().files, names.len() as u64);
    names
}

fn sorted() -> WalkOptions {
    WalkOptions { sorted: true, ..WalkOptions::default() }
}

#[test]
fn a_search_hands_over_files_that_contain_a_text() {
    host().file("LIB.txt", "a LIB").run(|| {
        let found = |texts: &[&str], ignore_case| {
            let texts: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
            let walk = Walk::open_search(&sorted(), &texts, ignore_case)?;
            let mut names = Vec::new();
            while let Some(batch) = walk.next_batch()? {
                names.extend((0..batch.len()).map(|index| batch.name(index).into_owned()));
            }
            Ok::<_, Error>(names)
        };
        assert_eq!(found(&["lib"], false).expect("found"), ["src/lib.rs"]);
        assert_eq!(found(&["lib", "one"], true).expect("found"), ["LIB.txt", "a.txt", "src/lib.rs"]);
        assert_eq!(found(&["git"], false).expect("found"), [""; 0]);
        assert!(matches!(found(&[], false), Err(Error::Invalid(why)) if why.contains("1 to 64 texts, not 0")));
        assert!(matches!(found(&["a", ""], false), Err(Error::Invalid(why)) if why.contains("1 to 256 bytes, not 0")));
    });
}

#[test]
fn a_path_means_what_it_means_to_the_host() {
    let read = |path: &str| host().run(|| fs_read::read_whole(path)).map(|whole| whole.data);
    for path in ["a.txt", "./a.txt", "src/../a.txt", "/workspace/a.txt", "a.txt/"] {
        assert_eq!(read(path), Ok(b"one".to_vec()), "{path}");
    }
    assert_eq!(read("none"), Err(Error::NotFound("none".to_owned())));
    assert_eq!(read("src/../none"), Err(Error::NotFound("none".to_owned())));
    assert_eq!(read("src"), Err(Error::IsDirectory("src".to_owned())));
    assert_eq!(read("a.txt/b"), Err(Error::NotDirectory("a.txt/b".to_owned())));
    for path in ["../a.txt", "/etc/passwd", "src/../../a.txt"] {
        assert!(matches!(read(path), Err(Error::Denied(denial)) if denial.help.contains("--grant")), "{path}");
    }
    for path in ["a\0b", "../../../a", &"x".repeat(5000)] {
        assert!(matches!(read(path), Err(Error::Invalid(_))), "{path:?}");
    }
}

#[test]
fn a_file_is_read_in_parts_and_whole_with_its_digest() {
    host().run(|| {
        let part = fs_read::read("a.txt", 1, 100).expect("read");
        assert_eq!((part.data.as_slice(), part.size), (b"ne".as_slice(), 3));
        assert_eq!(fs_read::read("a.txt", u64::MAX, 1).expect("read").data, b"");
        // What `printf one | sha256sum` says.
        let digest = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
        assert_eq!(fs_read::read_whole("a.txt").expect("read").digest, digest);
        assert_eq!(fs_read::read_text("a.txt").as_deref(), Ok("one"));
    });
    let large = FakeHost::new().file("large", vec![0; (20 << 20) + 1]).file("binary", [0xff]);
    large.run(|| {
        assert_eq!(fs_read::read_whole("large"), Err(Error::TooLarge((20 << 20) + 1)));
        assert_eq!(fs_read::read("large", 0, u32::MAX).expect("read").data.len(), 8 << 20);
        assert!(matches!(fs_read::read_text("binary"), Err(host_sdk::Failure::InvalidArguments(_))));
    });
}

#[test]
fn a_folder_is_listed_with_what_ignore_rules_leave_out() {
    host().run(|| {
        let entries = fs_read::list(".").expect("listed");
        let named: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind, entry.ignored)).collect();
        assert!(named.contains(&("a.txt", Kind::File, false)));
        assert!(named.contains(&("out", Kind::Directory, true)));
        assert!(named.contains(&("x.log", Kind::File, true)));
        assert!(named.contains(&(".env", Kind::File, false)), "being hidden is not being ignored");
        assert!(!named.is_sorted(), "no order is promised");
        assert!(fs_read::list("out").expect("listed").iter().all(|entry| entry.ignored));
        assert_eq!(fs_read::list("empty"), Ok(Vec::new()));
        assert_eq!(fs_read::list("a.txt"), Err(Error::NotDirectory("a.txt".to_owned())));
        let ignored = |path: &str| fs_read::stat(path).expect("there").ignored;
        assert!(ignored("out/made.txt") && ignored("src/deep/er.rs") && !ignored("src/keep.log"));
        assert_eq!(fs_read::stat("src").map(|about| (about.kind, about.size)), Ok((Kind::Directory, 0)));
    });
}

#[test]
fn a_walk_leaves_out_what_the_host_leaves_out() {
    host().run(|| {
        let glob = |glob: &str| WalkOptions { globs: vec![glob.to_owned()], ..sorted() };
        let all = ["a.txt", "src/keep.log", "src/lib.rs"];
        assert_eq!(walked(&sorted()), all);
        let reversed: Vec<_> = all.iter().rev().copied().collect();
        assert_eq!(walked(&WalkOptions::default()), reversed, "an unsorted walk has no order to rely on");
        assert_eq!(walked(&WalkOptions { root: "src".to_owned(), ..sorted() }), ["src/keep.log", "src/lib.rs"]);
        assert_eq!(walked(&WalkOptions { root: "a.txt".to_owned(), ..sorted() }), ["a.txt"]);
        assert_eq!(walked(&WalkOptions { max_depth: Some(1), ..sorted() }), ["a.txt"]);
        assert_eq!(walked(&glob("*.rs")), ["src/lib.rs"]);
        assert_eq!(walked(&glob("!*.rs")), ["a.txt", "src/keep.log"]);
        assert_eq!(walked(&glob("*.RS")), Vec::<String>::new());
        assert_eq!(walked(&WalkOptions { globs_ignore_case: true, ..glob("*.RS") }), ["src/lib.rs"]);
        let hidden = walked(&WalkOptions { hidden: true, respect_ignore: false, ..sorted() });
        assert!(hidden.contains(&".env".to_owned()) && hidden.contains(&"out/made.txt".to_owned()), "{hidden:?}");
        assert!(!hidden.iter().any(|name| name.starts_with(".git/")), "{hidden:?}");
        assert!(matches!(Walk::open(&glob("[")), Err(Error::Invalid(why)) if why.contains("`[`")));
        let nowhere = WalkOptions { root: "none".to_owned(), ..sorted() };
        assert!(matches!(Walk::open(&nowhere), Err(Error::NotFound(_))));
    });
}

#[test]
fn a_walk_hands_over_contents_batch_after_batch() {
    let host = (1000..6000).fold(FakeHost::new(), |host, number| host.file(&format!("{number}"), number.to_string()));
    let host = host.file("large", vec![b'x'; 2000]);
    host.run(|| {
        let options = WalkOptions { contents: true, max_file_size: 1000, ..sorted() };
        let walk = Walk::open(&options).expect("it begins");
        let mut sizes = Vec::new();
        while let Some(batch) = walk.next_batch().expect("it goes on") {
            sizes.push(batch.len());
            assert_eq!(batch.content(0), batch.name(0).as_bytes());
        }
        assert_eq!(sizes, [4096, 904]);
        assert_eq!((walk.summary().files, walk.summary().too_large), (5000, 1));
    });
}
