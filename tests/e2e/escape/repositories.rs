//! What a confined program leaves in repositories, so that the user's own git runs its code without walls.
//!
//! Each row is done twice with the built program: behind the walls, after which the user's command must run nothing,
//! and without them, after which it must, or the row would show nothing.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use host_tests::host::Host;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::json;

use super::Failures;
use super::users::As;

struct Row {
    name: &'static str,
    /// What the user has.
    before: &'static str,
    /// What the program does. `MARKER` names the file that only code without walls can make.
    program: &'static str,
    /// What the user does then.
    user: &'static str,
    /// What the call says about it.
    says: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        name: "the pointer of another work tree",
        before: "git worktree add -q ../tree",
        program: "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo $PWD/evil > .git/worktrees/tree/commondir",
        user: "cd ../tree && git status",
        says: "worktrees/tree/commondir",
    },
    Row {
        name: "a thousand names that keep a pointer in its place",
        before: "",
        program: "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            for i in $(seq 1000); do : > .git/commondir.moved-$i; done; echo ../evil > .git/commondir",
        user: "git status",
        says: "commondir",
    },
    Row {
        name: "a repository that the index enters",
        before: "",
        program: "git init -q sub; git -C sub commit -q --allow-empty -m x
            git -C sub config core.fsmonitor 'touch $MARKER; false'
            git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub",
        user: "git status",
        says: "sub/.git",
    },
    Row {
        name: "a submodule whose pointer is replaced by a folder",
        before: "git clone -q --bare . ../sub.git
            git -c protocol.file.allow=always submodule add -q ../sub.git sub; git commit -qm sub",
        program: "cp -r .git/modules/sub evil; git config -f evil/config --unset core.worktree
            git config -f evil/config core.fsmonitor 'touch $MARKER; false'; rm -f sub/.git; mv evil sub/.git",
        user: "git status",
        says: "",
    },
    Row {
        name: "a link in the log of HEAD",
        before: "",
        program: "rm -rf .git/logs/HEAD; ln -s $OUT/start .git/logs/HEAD",
        user: "git commit -q --allow-empty -m 'fix; touch $MARKER'; sh $OUT/start",
        says: "logs/HEAD",
    },
    Row {
        name: "a link in place of the message",
        before: "echo keep > $OUT/kept",
        program: "rm -f .git/COMMIT_EDITMSG; ln -s $OUT/kept .git/COMMIT_EDITMSG",
        user: "git commit -q --allow-empty -m x; grep -q keep $OUT/kept || touch $MARKER",
        says: "COMMIT_EDITMSG",
    },
    Row {
        name: "a link in place of what was fetched",
        before: "git clone -q --bare . ../up.git; git remote add up ../up.git; echo keep > $OUT/kept",
        program: "ln -s $OUT/kept .git/FETCH_HEAD",
        user: "git fetch -q up; grep -q keep $OUT/kept || touch $MARKER",
        says: "FETCH_HEAD",
    },
    Row {
        name: "a hook where there was none",
        before: "",
        program: "mkdir -p .git/hooks; printf '#!/bin/sh\ntouch $MARKER\n' > .git/hooks/pre-commit
            chmod +x .git/hooks/pre-commit",
        user: "git commit -q --allow-empty -m x",
        says: "hooks",
    },
    Row {
        name: "a folder of hooks that the program names",
        before: "",
        program: "mkdir made; printf '#!/bin/sh\ntouch $MARKER\n' > made/pre-commit; chmod +x made/pre-commit
            git config core.hooksPath made",
        user: "git commit -q --allow-empty -m x",
        says: "config",
    },
    Row {
        name: "a work tree that the program adds",
        before: "",
        program: "git worktree add -q made; cp -r .git evil
            git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo $PWD/evil > .git/worktrees/made/commondir",
        user: "cd made && git status",
        says: "made/.git",
    },
    Row {
        name: "a filter of attributes",
        before: "echo 1 > file; git add file; git commit -qm file",
        program: "echo 'file filter=made' > .gitattributes; git config filter.made.clean 'touch $MARKER; cat'
            echo 2 > file",
        user: "git add file",
        says: "config",
    },
    Row {
        name: "a hook in the folder that the settings name",
        before: "mkdir .husky; git config core.hooksPath .husky",
        program: "printf '#!/bin/sh\ntouch $MARKER\n' > .husky/pre-commit; chmod +x .husky/pre-commit",
        user: "git commit -q --allow-empty -m x",
        says: "",
    },
    Row {
        name: "settings that the settings include",
        before: "echo > more; git config include.path ../more",
        program: "printf '[core]\n\tfsmonitor = \"touch $MARKER; false\"\n' > more",
        user: "git status",
        says: "",
    },
    Row {
        name: "a step of a rebase",
        before: "git commit -q --allow-empty -m y",
        program: "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i --root
            printf 'exec touch $MARKER\n' >> .git/rebase-merge/git-rebase-todo",
        user: "git rebase --continue",
        says: "",
    },
    Row {
        name: "a repository in a folder that the user enters",
        before: "mkdir -p docs/a",
        program: "git init -q docs/a; git -C docs/a config core.fsmonitor 'touch $MARKER; false'",
        user: "cd docs/a && git status",
        says: "docs/a/.git",
    },
    Row {
        name: "a repository in an ignored folder",
        before: "echo target > .gitignore; mkdir target",
        program: "git init -q target/a; git -C target/a config core.fsmonitor 'touch $MARKER; false'",
        user: "cd target/a && git status",
        says: "target/a/.git",
    },
    Row {
        name: "a bare repository in plain sight",
        before: "mkdir docs",
        program: "cp -r .git/. docs; git config -f docs/config core.bare true
            git config -f docs/config core.worktree .; git config -f docs/config core.fsmonitor 'touch $MARKER; false'
            git config -f docs/config --unset core.bare",
        user: "cd docs && git status",
        says: "docs",
    },
    Row {
        name: "a bare repository at the top",
        before: "rm -rf .git; echo 1 > file",
        program: "git init -q --bare made; cp -r made/. .; git config -f config core.bare false
            git config -f config core.worktree .; git config -f config core.fsmonitor 'touch $MARKER; false'",
        user: "git status",
        says: "HEAD",
    },
    Row {
        name: "settings of a repository within",
        before: "git init -q own; git -C own commit -q --allow-empty -m x",
        program: "git -C own config core.fsmonitor 'touch $MARKER; false'",
        user: "git -C own status",
        says: "config",
    },
    Row {
        name: "a file that leads to a repository of the program's",
        before: "mkdir docs",
        program: "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo 'gitdir: ../evil' > docs/.git",
        user: "cd docs && git status",
        says: "docs/.git",
    },
];

/// Returns whether the user's command ran something of the program's, and what the call printed.
fn done(row: &Row, confine: &str, by: As) -> (bool, String) {
    let arguments = json!({"command": row.program}).to_string();
    let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
    let host = Host::new(call)
        .home_file(".gitconfig", "[user]\n\tname = a\n\temail = a@example.com\n[safe]\n\tbareRepository = all\n")
        .configured("any_folder = true\n[confine]\nvariables = [\"MARKER\", \"OUT\"]\n");
    let top = host.home().join("work");
    let out = host.home().join("out");
    let marker = host.home().join("marker");
    for folder in [&top, &out] {
        std::fs::create_dir(folder).expect("made");
    }
    let prepared = |mut command: Command| {
        command.current_dir(&top).env("MARKER", &marker).env("OUT", &out).stdin(Stdio::null());
        command
    };
    let script = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env_clear().env("HOME", host.home()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        prepared(command)
    };
    let before = format!("git init -q -b main --template= . && git commit -q --allow-empty -m x\n{}", row.before);
    let ended = script(&before).output().expect("a shell");
    assert!(ended.status.success(), "{}: {ended:?}", row.name);
    by.owns(host.home());
    let ended = host.end(prepared(by.starts(host.command())));
    let user = format!("export GIT_EDITOR=true; {}", row.user);
    by.starts(script(&user)).output().expect("a shell");
    (marker.exists(), ended.stdout + &ended.stderr)
}

// promise confine.git: What a confined program leaves in repositories makes the user's own git run nothing.
#[test]
fn escape_repositories_run_nothing_of_a_confined_program_later() {
    let mut failures = Failures::default();
    for row in ROWS {
        for by in As::all() {
            let (ran, printed) = done(row, "require", *by);
            let name = format!("{by:?}: {}", row.name);
            failures.check(&name, !ran, &format!("the user's git ran it: {printed}"));
            failures.check(&name, printed.contains(row.says), &format!("not said: {printed}"));
        }
        let (ran, printed) = done(row, "off", As::Oneself);
        failures.check(row.name, ran, &format!("it does not work without the walls either: {printed}"));
    }
    failures.report(ROWS.len());
}

// promise confine.git
#[test]
fn escape_repositories_are_not_changed_while_a_program_runs() {
    // The pointer is there for the program, and the user's git beside it does not see it.
    let program = "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
        echo ../evil > .git/commondir; test -e .git/commondir && echo there
        echo ready > ready; read line < done";
    let ran = |confine: &str| {
        let arguments = json!({"command": program}).to_string();
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
        let host = Host::new(call).home_file(".gitconfig", "[user]\n\tname = a\n\temail = a@example.com\n");
        let marker = host.home().join("marker");
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(host.repository()).env("HOME", host.home()).env("MARKER", &marker);
            git.output().expect("git runs")
        };
        std::fs::remove_dir(host.repository().join(".git")).expect("removed");
        assert!(git(&["init", "-q", "--template="]).status.success());
        let pipe = |name: &str| {
            let path = host.repository().join(name);
            rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("made");
            OpenOptions::new().read(true).write(true).open(path).expect("opened")
        };
        let (ready, mut done) = (pipe("ready"), pipe("done"));
        let running = host.command().spawn().expect("it starts");
        let mut gone = ready.try_clone().expect("another");
        let ending = std::thread::spawn(move || {
            let ended = running.wait_with_output().expect("it ends");
            gone.write_all(b"gone\n").expect("written");
            String::from_utf8_lossy(&ended.stdout).into_owned()
        });
        let mut said = String::new();
        BufReader::new(ready).read_line(&mut said).expect("read");
        git(&["status"]);
        done.write_all(b"done\n").expect("written");
        let printed = ending.join().expect("it ends");
        assert!(said == "ready\n" && printed.contains("there"), "{said}{printed}");
        (marker.exists(), printed)
    };
    let (owned, printed) = ran("require");
    assert!(!owned, "{printed}");
    let (owned, printed) = ran("off");
    assert!(owned, "it does not work without the walls either: {printed}");
}
