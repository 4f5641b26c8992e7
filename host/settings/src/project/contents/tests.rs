use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("config.toml", "a"),
        ("agents/x.md", "b"),
        ("agents/notes.txt", "c"),
        ("plugins/p.wasm", "d"),
        ("other/y.md", "e"),
    ] {
        let path = folder.path().join(FOLDER).join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

fn why(folder: &Path) -> String {
    match Listing::scan(folder).and_then(|listing| listing.read()) {
        Ok(contents) => panic!("{contents:?}"),
        Err(Unusable(why)) => why,
    }
}

#[test]
fn only_what_can_be_used_is_read() {
    let folder = project();
    let listing = Listing::scan(folder.path()).expect("it is right");
    assert!(listing.has(Part::Agent) && !listing.has(Part::Rules));
    let contents = listing.read().expect("it is right");
    let names: Vec<&str> = contents.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["agents/x.md", "config.toml", "plugins/p.wasm"]);
    assert_eq!(contents.get("config.toml").map(|file| file.bytes.as_slice()), Some(&b"a"[..]));
    let nothing = tempfile::tempdir().expect("a folder");
    assert!(Listing::scan(nothing.path()).expect("it is right").is_empty());
    fs::write(nothing.path().join(FOLDER), "").expect("written");
    assert!(Listing::scan(nothing.path()).expect("a file of that name is ignored").is_empty());
}

// promise project.links
#[test]
fn project_contents_symbolic_link_is_never_followed_wherever_it_is_and_leads() {
    for at in ["", "agents", "agents/x.md", "config.toml", "plugins/p.wasm"] {
        let folder = project();
        let path = folder.path().join(FOLDER).join(at);
        let away = folder.path().join("away");
        fs::rename(&path, &away).expect("moved");
        symlink(&away, path.components().as_path()).expect("linked");
        assert!(why(folder.path()).ends_with("is a symbolic link"), "{at}: {}", why(folder.path()));
    }
}

// promise project.bytes: The bytes that are used are the bytes that were trusted: each file is read once, compared and
//   then used.
#[test]
fn a_link_that_takes_a_files_place_after_the_listing_is_not_followed() {
    let folder = project();
    let listing = Listing::scan(folder.path()).expect("it is right");
    let path = folder.path().join(FOLDER).join("config.toml");
    fs::remove_file(&path).expect("removed");
    symlink("/etc/hostname", &path).expect("linked");
    assert!(listing.read().is_err());
    // Nor is a folder that was swapped: the listed folder is already open.
    let folder = project();
    let listing = Listing::scan(folder.path()).expect("it is right");
    let agents = folder.path().join(FOLDER).join("agents");
    fs::rename(&agents, folder.path().join("moved")).expect("moved");
    fs::create_dir(&agents).expect("made");
    fs::write(agents.join("x.md"), "evil").expect("written");
    let contents = listing.read().expect("it is right");
    assert_eq!(contents.get("agents/x.md").map(|file| file.bytes.as_slice()), Some(&b"b"[..]));
}

#[test]
fn project_contents_irregular_oversized_or_too_many_files_are_an_error() {
    let folder = project();
    fs::create_dir(folder.path().join(FOLDER).join("agents/y.md")).expect("made");
    assert!(why(folder.path()).ends_with("is not a regular file"));
    let folder = project();
    fs::write(folder.path().join(FOLDER).join("config.toml"), vec![b' '; MAX_TEXT as usize + 1]).expect("written");
    assert!(why(folder.path()).contains("over the limit"));
    let folder = project();
    for number in 0..=MAX_FILES {
        fs::write(folder.path().join(FOLDER).join(format!("agents/{number}.md")), "").expect("written");
    }
    assert!(why(folder.path()).contains("over 256 files"));
}

// promise project.links
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = project();
    let listing = Listing::scan(folder.path()).expect("it is right");
    let path = folder.path().join(FOLDER).join("config.toml");
    fs::remove_file(&path).expect("removed");
    rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("made");
    assert!(listing.read().is_err_and(|Unusable(why)| why.ends_with("is not a regular file")));
    assert!(why(folder.path()).ends_with("is not a regular file"));
}
