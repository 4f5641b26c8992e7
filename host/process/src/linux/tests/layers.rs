//! What a program changes in a layer, and what it does not.

use super::*;
use crate::{Changed, Layer, Now, changed, clear_layer};

/// A layer over a folder of this world, with its folders outside of what the program may touch.
fn layer(world: &World, place: &str, below: &[&str]) -> Layer {
    let kept = format!("kept/{}", place.replace('/', "-"));
    let [changes, work] = ["changes", "work"].map(|name| world.path(&format!("{kept}/{name}")));
    for folder in [&changes, &work] {
        fs::create_dir_all(folder).expect("made");
    }
    let below = below.iter().map(|folder| world.path(folder)).collect();
    Layer { place: world.path(place), below, changes, work }
}

fn with(world: &World, layers: &[&Layer]) -> Confinement {
    Confinement { layers: layers.iter().copied().cloned().collect(), ..world.confinement() }
}

fn shown(layer: &Layer) -> Vec<String> {
    let shown = |Changed { path, now }: Changed| format!("{} {now:?}", path.display());
    changed(layer).expect("it can be read").into_iter().map(shown).collect()
}

/// The text of a file, or why there is none.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| error.kind().to_string())
}

// promise confine.layers: What a program changes in a layer is kept apart, and the folder stays as it is.
#[tokio::test]
async fn layer_keeps_changes_apart_and_lists_them() {
    level_of_tests();
    let world = World::new();
    for path in ["work/src/gone", "work/src/again", "work/src/kept", "cache/old", "more/old", "more/extra"] {
        fs::create_dir_all(world.path(path)).expect("made");
    }
    for path in ["work/src/a", "work/src/b", "work/src/again/x", "work/src/kept/x", "cache/old/x", "more/old/y"] {
        fs::write(world.path(path), "before").expect("written");
    }
    let src = layer(&world, "work/src", &[]);
    // A place outside of what may be written, with more below.
    let cache = layer(&world, "cache", &["more"]);
    let confinement = with(&world, &[&src, &cache]);
    let script = "set -e
        cd src; rm a; echo after > b; rm -r gone again; mkdir again; echo new > again/y; echo new > kept/y
        ln -s /etc/passwd link; mkfifo pipe; mkdir -p new/folder; chmod 700 kept; mv kept/x kept/z
        cd $R/cache; cat old/x old/y; ls -d extra; echo new > old/y; rmdir extra; echo new > file";
    let (ended, printed) = world.run(script, Some(&confinement)).await;
    assert_eq!((ended, printed.as_str()), (Ended::Code(0), "beforebeforeextra\n"), "{printed}");
    let expected = [
        "a Nothing",
        "again Replaced",
        "again/y File",
        "b File",
        "gone Nothing",
        "kept Folder",
        "kept/x Nothing",
        "kept/y File",
        "kept/z File",
        "link Link",
        "new Folder",
        "new/folder Folder",
        "pipe Other",
    ];
    assert_eq!(shown(&src), expected);
    assert_eq!(shown(&cache), ["extra Nothing", "file File", "old Folder", "old/y File"]);
    assert_eq!(text(&src.changes.join("b")), "after\n");
    for path in ["work/src/a", "work/src/b", "work/src/again/x", "cache/old/x", "more/old/y"] {
        assert_eq!(text(&world.path(path)), "before", "{path}");
    }
    assert!(!world.path("work/src/new").exists() && !world.path("cache/file").exists());

    // The next program goes on with what is there, until it is cleared.
    let script =
        "set -e; cat src/b; test ! -e src/a; mkdir src/new/locked; echo x > src/new/locked/x; chmod 0 src/new/locked";
    let (ended, printed) = world.run(script, Some(&confinement)).await;
    assert_eq!((ended, printed.as_str()), (Ended::Code(0), "after\n"));
    assert!(shown(&src).contains(&"new/locked/x File".to_owned()), "what nobody may list is listed");
    let mode = fs::metadata(src.changes.join("new/locked")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0, "and is as it was");
    clear_layer(&src).expect("cleared");
    assert_eq!(shown(&src), [] as [&str; 0]);
    assert_eq!(fs::read_dir(&src.work).expect("listed").count(), 0);
    let (_, printed) = world.run("cat src/a src/b", Some(&confinement)).await;
    assert_eq!(printed, "beforebefore");
}

/// Ways to change a folder itself that is a layer. Each works without it.
const ATTACKS: &[&str] = &[
    "echo x > top/deep/lower/file",
    "rm top/deep/lower/file",
    "mv top old; mkdir -p top/deep/lower; echo x > top/deep/lower/file",
    "mv top/deep old; mkdir -p top/deep/lower; echo x > top/deep/lower/file",
    "mv top/deep/lower old; mkdir top/deep/lower; echo x > top/deep/lower/file",
    "rm -rf top; mkdir -p top/deep/lower; echo x > top/deep/lower/file",
    "ln -f file top/deep/lower/file",
    "cd top/deep/lower; echo x > /proc/self/cwd/file",
    "echo x > /proc/self/root$R/work/top/deep/lower/file",
    "exec 3<> top/deep/lower/file; echo x > /proc/self/fd/3",
    "umount top/deep/lower; echo x > top/deep/lower/file",
    "echo x > $R/kept/work-top-deep-lower/changes/file; echo x > top/deep/lower/file",
];

// promise confine.layers
#[tokio::test]
async fn layer_does_not_let_a_program_get_past_a_wall_to_its_folder() {
    level_of_tests();
    for script in ATTACKS {
        for is_layer in [false, true] {
            let world = World::new();
            fs::create_dir_all(world.path("work/top/deep/lower")).expect("made");
            fs::write(world.path("work/top/deep/lower/file"), "before").expect("written");
            let layer = layer(&world, "work/top/deep/lower", &[]);
            let layers: &[&Layer] = if is_layer { &[&layer] } else { &[] };
            let (_, printed) = world.run(script, Some(&with(&world, layers))).await;
            let same = text(&world.path("work/top/deep/lower/file")) == "before";
            assert_eq!(same, is_layer, "{script}: {printed}");
        }
    }
}

#[tokio::test]
async fn layer_leaves_protected_files_and_folders_read_only() {
    level_of_tests();
    let world = World::new();
    let git = layer(&world, "work/.git", &[]);
    let script =
        "echo x >> .git/config; echo x > .git/hooks/new; mv .git/hooks .git/old; echo x > .git/index && echo done";
    let (_, printed) = world.run(script, Some(&with(&world, &[&git]))).await;
    assert!(printed.contains("done\n") && printed.contains("Read-only file system"), "{printed}");
    assert_eq!(shown(&git), ["index File"]);
    // A workspace that is a layer itself.
    let whole = layer(&world, "work", &[]);
    let (_, printed) = world.run(script, Some(&with(&world, &[&whole]))).await;
    assert!(printed.contains("done\n"), "{printed}");
    assert_eq!(shown(&whole), [".git Folder", ".git/index File"]);
    assert!(!world.path("work/.git/index").exists());
}

#[tokio::test]
async fn layer_is_mounted_whatever_its_folders_are_called() {
    level_of_tests();
    let world = World::new();
    let long = ["a,b:c\\d \"e", &"x".repeat(250), &"y".repeat(250)].join("/");
    let place = format!("work/{long}");
    fs::create_dir_all(world.path(&place)).expect("made");
    fs::create_dir_all(world.path(&format!("more/{long}"))).expect("made");
    fs::write(world.path(&format!("more/{long}/file")), "below").expect("written");
    let layer = Layer {
        place: world.path(&place),
        below: vec![world.path(&format!("more/{long}"))],
        changes: world.path(&format!("kept/{long}/c")),
        work: world.path(&format!("kept/{long}/w")),
    };
    for folder in [&layer.changes, &layer.work] {
        fs::create_dir_all(folder).expect("made");
    }
    let script = "cd a*; cd x*; cd y*; cat file; echo x > new";
    let (ended, printed) = world.run(script, Some(&with(&world, &[&layer]))).await;
    assert_eq!((ended, printed.as_str()), (Ended::Code(0), "below"));
    assert_eq!(shown(&layer), ["new File"]);
}

#[tokio::test]
async fn layer_is_listed_and_cleared_however_deep_a_program_nests_folders() {
    level_of_tests();
    let world = World::new();
    let src = layer(&world, "work/src", &[]);
    let script = "cd src; python3 -c 'import os
for n in range(2000): os.mkdir(\"d\"); os.chdir(\"d\")'";
    let (ended, printed) = world.run(script, Some(&with(&world, &[&src]))).await;
    assert_eq!(ended, Ended::Code(0), "{printed}");
    let found = changed(&src).expect("it can be read");
    assert_eq!(found.last().expect("changes").now, Now::TooDeep);
    clear_layer(&src).expect("cleared");
    assert_eq!(shown(&src), [] as [&str; 0]);
}

#[tokio::test]
async fn layer_that_cannot_be_used_is_an_error_that_names_it() {
    let level = level_of_tests();
    let world = World::new();
    let src = layer(&world, "work/src", &[]);
    let confinement = with(&world, &[&src]);
    let start = |script: &str, confinement: &Confinement, level: &Level| {
        start_at(&world.command(script), Some((confinement, level)), None, None)
    };
    let mut first = start("cat", &confinement, level).expect("it starts");
    let error = start("true", &confinement, level).expect_err("the folders are used");
    assert!(matches!(&error, StartError::LayerInUse { place, .. } if *place == src.place), "{error}");
    first.end();
    start("true", &confinement, level).expect("they are free").end();

    for level in [level.without_layers(), level.without_namespaces()] {
        assert!(!level.has_layers());
        let error = start("true", &confinement, &level).expect_err("there are none");
        assert!(matches!(&error, StartError::NoLayers { place, .. } if *place == src.place), "{error}");
    }
    for broken in [Layer { place: world.path("work/none"), ..src.clone() }, Layer { work: world.path("none"), ..src }] {
        let folder = if broken.work.exists() { &broken.place } else { &broken.work }.clone();
        let error = start("true", &with(&world, &[&broken]), level).expect_err("a folder is missing").to_string();
        assert!(error.contains(&format!("`{}`", folder.display())) && error.contains("No such file"), "{error}");
    }
}
