//! A program's own `/tmp`.

use super::*;

/// What is done, and what it prints: by a program whose workspace lies beneath the machine's `/tmp`.
const CASES: &[(&str, &str)] = &[
    ("echo $TMPDIR; stat -c %a /tmp", "/tmp\n700\n"),
    ("echo x > /tmp/x && cat $R/tmp/x /tmp/x", "x\n"),
    ("cat $R/work/file file", "minemine"),
    ("echo new > $R/work/new && cat new", "new\n"),
    ("cat $R/read/file", "read"),
    ("cat $R/read/only", ""),
    ("echo x > $R/read/new", ""),
    ("echo x > .git/hooks/new", ""),
    ("mv .git old", ""),
    ("ls $R", "read\nwork\n"),
    ("cat $R/other/file", ""),
    ("mkdir -p $R/other && echo own > $R/other/file && cat $R/other/file", "own\n"),
    ("cat $OUTSIDE; ls /tmp | grep -c machine", "0\n"),
    ("umount $R/work", ""),
    ("umount /tmp", ""),
];

// promise confine.files
#[tokio::test]
async fn tmp_is_private_and_does_not_let_a_program_get_past_a_wall_to_that_of_the_machine() {
    level_of_tests();
    let machine = tempfile::Builder::new().prefix("machine-").tempfile_in("/tmp").expect("made");
    fs::write(machine.path(), "SECRET").expect("written");
    for (script, printed) in CASES {
        let world = World::beneath("/tmp");
        fs::create_dir(world.path("read")).expect("made");
        fs::write(world.path("read/file"), "read").expect("written");
        fs::set_permissions(world.path("tmp"), fs::Permissions::from_mode(0o700)).expect("set");
        let mut confinement = world.confinement();
        confinement.readable.push(world.path("read"));
        let script = format!("OUTSIDE={}; {{ {script}; }} 2>/dev/null", machine.path().display());
        let (_, text) = world.run(&script, Some(&confinement)).await;
        assert_eq!(text, *printed, "{script}");
        assert_eq!(fs::read_to_string(world.path("other/file")).expect("there"), "SECRET");
        assert!(world.path("work/.git/hooks/sample").exists() && !world.path("read/new").exists());
    }
    assert_eq!(fs::read_to_string(machine.path()).expect("there"), "SECRET");
}

#[tokio::test]
async fn tmp_is_shared_by_programs_and_keeps_what_they_left_in_the_way() {
    level_of_tests();
    let world = World::beneath("/tmp");
    let confinement = world.confinement();
    // Where the workspace of the second program is to be, the first leaves a link to somewhere else.
    let first = Confinement { writable: vec![], protected: vec![], ..confinement.clone() };
    let command = |script: &str| Command { directory: "/".into(), ..world.command(script) };
    let mut process = start(&command("mkdir -p $R; ln -s /etc $R/work; echo left > /tmp/file"), Some(&first), None)
        .expect("it starts");
    assert_eq!(process.wait().await, Ended::Code(0));
    process.end();
    let (_, text) =
        world.run("cat /tmp/file file; readlink $R/work.moved-1; echo new > $R/work/new", Some(&confinement)).await;
    assert_eq!(text, "left\nmine/etc\n");
    assert_eq!(fs::read_to_string(world.path("work/new")).expect("written"), "new\n");
}

#[tokio::test]
async fn tmp_of_the_machine_is_seen_by_a_program_that_may_touch_it() {
    level_of_tests();
    let world = World::beneath("/tmp");
    let confinement = Confinement { writable: vec!["/tmp".into()], ..world.confinement() };
    let (_, text) =
        world.run("test $TMPDIR = ${R}tmp && cat $R/other/file; echo new > $R/tmp/new", Some(&confinement)).await;
    assert_eq!(text, "SECRET");
    assert_eq!(fs::read_to_string(world.path("tmp/new")).expect("written"), "new\n");
}
