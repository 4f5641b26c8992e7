//! What a program must not read although it lies in a place that it may read or write.

use super::*;

/// Ways to read what is hidden, each of which prints it without a confinement.
const ATTACKS: &[&str] = &[
    "cat deep/in/.env",
    "cp deep/in/.env copy; cat copy",
    "mv deep/in/.env copy; cat copy",
    "ln deep/in/.env copy; cat copy",
    "ln -s deep/in/.env copy; cat copy",
    "cat /proc/self/cwd/deep/in/.env",
    "cat /proc/self/root$R/work/deep/in/.env",
    "exec 3< deep/in/.env; cat /proc/self/fd/3",
    "exec 3< deep/in; cat /proc/self/fd/3/.env",
    "cd deep/in; cat ../in/.env",
    "mv deep other; cat other/in/.env",
    "mv deep/in other; cat other/.env",
    "cp -r deep other; cat other/in/.env",
    "chmod 666 deep/in/.env; cat deep/in/.env",
    "cat link-to-env",
    "tar cf - deep | tar xOf -",
    "umount deep/in/.env; cat deep/in/.env",
    "cat keys/id",
    "chmod 777 keys; cat keys/id",
    "mv keys other; cat other/id",
    "exec 3< keys; cat /proc/self/fd/3/id",
    "find . -type f -exec cat {} +",
    "python3 -c 'import mmap, os
f = os.open(\"deep/in/.env\", os.O_RDONLY)
print(mmap.mmap(f, 0, prot=mmap.PROT_READ)[:])'",
];

fn world() -> (World, Confinement) {
    let world = World::new();
    for path in ["work/deep/in", "work/keys"] {
        fs::create_dir_all(world.path(path)).expect("made");
    }
    for path in ["work/deep/in/.env", "work/keys/id"] {
        fs::write(world.path(path), "HIDDEN").expect("written");
    }
    symlink("deep/in/.env", world.path("work/link-to-env")).expect("linked");
    let hidden = ["work/deep/in/.env", "work/keys", "work/none"].map(|path| world.path(path)).to_vec();
    let confinement = Confinement { hidden, ..world.confinement() };
    (world, confinement)
}

// promise confine.hidden: What is hidden from a program cannot be read, wherever it lies.
#[tokio::test]
async fn hidden_file_does_not_let_a_program_get_past_a_wall() {
    let level = level_of_tests();
    for level in [level, &level.without_namespaces()] {
        for script in ATTACKS {
            let (_, text) = world().0.run(script, None).await;
            assert!(text.contains("HIDDEN"), "{script}: shows nothing without a confinement: {text}");
            let (world, confinement) = world();
            let (_, text) = world.run_at(script, Some(&confinement), level).await;
            assert!(!text.contains("HIDDEN"), "{script}: {text}");
            for path in ["work/deep/in/.env", "work/keys/id"] {
                assert_eq!(fs::read_to_string(world.path(path)).expect("there"), "HIDDEN", "{script}: {text}");
            }
        }
    }
}

// An empty file would be taken for what is there, and git would commit it.
#[tokio::test]
async fn hidden_file_cannot_be_opened_and_is_no_empty_file() {
    let (world, confinement) = world();
    let script =
        "cat deep/in/.env && echo opened; test -f deep/in/.env && echo a file; echo x >> deep/in/.env && echo written";
    let (_, text) = world.run(script, Some(&confinement)).await;
    assert!(!["opened", "a file", "written"].iter().any(|word| text.contains(word)), "{text}");
}

#[tokio::test]
async fn hidden_file_is_replaced_by_nobody_and_hides_nothing_else() {
    let level = level_of_tests();
    let (world, confinement) = world();
    fs::write(world.path("work/deep/in/other"), "seen").expect("written");
    let script = "echo x > file; mv file deep/in/.env; rm -rf keys; echo x > keys/new; rm -f deep/in/.env
        mkdir new; mv new keys; cat deep/in/other; ls deep/in";
    let (_, text) = world.run(script, Some(&confinement)).await;
    assert!(text.contains("seen") && text.contains("other\n"), "{text}");
    assert_eq!(fs::read_to_string(world.path("work/deep/in/.env")).expect("there"), "HIDDEN");
    let keys: Vec<_> = fs::read_dir(world.path("work/keys")).expect("there").collect();
    assert_eq!(keys.len(), 1, "{keys:?}");

    // Without mounts, too, what lies beside it is read, and names around a hidden file are listed.
    let (_, text) = world.run_at("cat deep/in/other; ls deep", Some(&confinement), &level.without_namespaces()).await;
    assert_eq!(text, "seenin\n");
    // In a folder that may only be read, and in a layer.
    let kept = ["changes", "work"].map(|name| world.path(&format!("kept-{name}")));
    kept.iter().for_each(|folder| fs::create_dir(folder).expect("made"));
    let [changes, work] = kept;
    let layer = crate::Layer { place: world.path("work"), below: vec![], changes, work };
    let readable = Confinement {
        readable: [&confinement.readable[..], &[world.path("work")]].concat(),
        writable: vec![],
        ..confinement.clone()
    };
    for confinement in [readable, Confinement { layers: vec![layer], ..confinement }] {
        let (_, text) = world.run("cat deep/in/other deep/in/.env keys/id link-to-env", Some(&confinement)).await;
        assert!(text.contains("seen") && !text.contains("HIDDEN"), "{text}");
    }
}

#[tokio::test]
async fn hidden_file_that_no_wall_can_hide_is_an_error_that_names_it() {
    let level = level_of_tests().without_walls_for_files();
    let (world, confinement) = world();
    let error =
        start_at(&world.command("true"), Some((&confinement, &level)), None, None).expect_err("nothing hides it");
    assert!(matches!(&error, StartError::NotHidden { path } if *path == world.path("work/deep/in/.env")), "{error}");
    let nothing = Confinement { hidden: vec![world.path("none")], ..confinement };
    start_at(&world.command("true"), Some((&nothing, &level)), None, None).expect("there is nothing to hide").end();
}
