//! What a hostile program leaves in git's folder so that the user's own git runs its code, each with the control that
//! it does run where the folder is taken as the program left it.

use std::fs;
use std::path::Path;

use crate::workspace::Workspace;

/// One attack.
struct Attack {
    name: &'static str,
    /// What the user has.
    before: &'static str,
    /// What the program does.
    program: &'static str,
    /// What the user does then.
    user: &'static str,
    /// A path that does not come back.
    left: &'static str,
}

const ATTACKS: &[Attack] = &[
    Attack {
        name: "a hook",
        before: "",
        program: "printf '#!/bin/sh\ntouch $MARKER\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        user: "git commit -q --allow-empty -m x",
        left: "hooks/pre-commit",
    },
    Attack {
        name: "a monitor",
        before: "",
        program: "git config core.fsmonitor 'touch $MARKER; false'",
        user: "git status",
        left: "config",
    },
    Attack {
        name: "included settings",
        before: "",
        program: "printf '[core]\nfsmonitor = \"touch $MARKER; false\"\n' > x; git config include.path ../x",
        user: "git status",
        left: "config",
    },
    Attack {
        name: "a folder of hooks",
        before: "",
        program: "mkdir h; printf '#!/bin/sh\ntouch $MARKER\n' > h/pre-commit; chmod +x h/pre-commit
            git config core.hooksPath h",
        user: "git commit -q --allow-empty -m x",
        left: "config",
    },
    Attack {
        name: "a filter",
        before: "",
        program: "git config filter.x.clean 'touch $MARKER; cat'; echo 'f filter=x' > .gitattributes; touch f",
        user: "git add f",
        left: "config",
    },
    Attack {
        name: "a program for fetching",
        before: "git clone -q --bare . ../up; git remote add origin ../up",
        program: "git config remote.origin.uploadpack 'touch $MARKER; git-upload-pack'",
        user: "git fetch -q",
        left: "config",
    },
    Attack {
        name: "an old file of a remote",
        before: "git clone -q --bare . ../up; mkdir -p up2",
        program: "mkdir -p .git/remotes; git clone -q --bare . evil
            printf '#!/bin/sh\ntouch $MARKER\n' > evil/hooks/pre-receive; chmod +x evil/hooks/pre-receive
            printf 'URL: evil\nPush: refs/heads/main:refs/heads/y\n' > .git/remotes/backup",
        user: "git push -q backup",
        left: "remotes/backup",
    },
    Attack {
        name: "settings of a work tree",
        before: "git config extensions.worktreeConfig true",
        program: "printf '[core]\nfsmonitor = \"touch $MARKER; false\"\n' > .git/config.worktree",
        user: "git status",
        left: "config.worktree",
    },
    Attack {
        name: "a common folder",
        before: "",
        program: "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo ../evil > .git/commondir",
        user: "git status",
        left: "commondir",
    },
    Attack {
        name: "the common folder of another work tree",
        before: "git worktree add -q ../tree",
        program: "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo $PWD/evil > .git/worktrees/tree/commondir",
        user: "cd ../tree && git status",
        left: "worktrees/tree/commondir",
    },
    Attack {
        name: "a repository that the index enters",
        before: "",
        program: "git init -q sub; cd sub; git commit -q --allow-empty -m x
            git config core.fsmonitor 'touch $MARKER; false'
            cd ..; git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub",
        user: "git status",
        left: "index",
    },
    Attack {
        name: "settings of a submodule",
        before: "git clone -q --bare . ../sub.git
            git -c protocol.file.allow=always submodule add -q ../sub.git sub; git commit -qm sub",
        program: "git -C sub config core.fsmonitor 'touch $MARKER; false'",
        user: "git status",
        left: "modules/sub/config",
    },
    Attack {
        name: "a hook of a submodule",
        before: "git clone -q --bare . ../sub.git
            git -c protocol.file.allow=always submodule add -q ../sub.git sub; git commit -qm sub",
        program: "h=.git/modules/sub/hooks; mkdir -p $h; printf '#!/bin/sh\ntouch $MARKER\n' > $h/post-index-change
            chmod +x $h/post-index-change",
        user: "cd sub; touch f; git status",
        left: "modules/sub/hooks/post-index-change",
    },
    Attack {
        name: "a link as a log",
        before: "",
        program: "rm .git/logs/HEAD; ln -s $MARKER .git/logs/HEAD",
        user: "git commit -q --allow-empty -m 'x; touch y'",
        left: "logs/HEAD",
    },
    Attack {
        name: "a link as a message",
        before: "",
        program: "rm -f .git/COMMIT_EDITMSG; ln -s $MARKER .git/COMMIT_EDITMSG",
        user: "git commit -q --allow-empty -m x",
        left: "COMMIT_EDITMSG",
    },
    Attack {
        name: "a link as what was fetched",
        before: "git clone -q --bare . ../up; git remote add origin ../up",
        program: "ln -s $MARKER .git/FETCH_HEAD",
        user: "git fetch -q",
        left: "FETCH_HEAD",
    },
    Attack {
        name: "a link as the folder of logs",
        before: "mkdir $OUTSIDE/there",
        program: "rm -rf .git/logs; ln -s $OUTSIDE/there .git/logs",
        user: "git commit -q --allow-empty -m x; test ! -e $OUTSIDE/there/HEAD || touch $MARKER",
        left: "logs",
    },
    Attack {
        name: "a rebase that runs something",
        before: "",
        program: "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~1
            echo 'exec touch $MARKER' >> .git/rebase-merge/git-rebase-todo",
        user: "git rebase --continue",
        left: "rebase-merge/git-rebase-todo",
    },
    Attack {
        name: "a rebase of the user's that runs something more",
        before: "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~1",
        program: "echo 'x touch $MARKER' >> .git/rebase-merge/git-rebase-todo",
        user: "git rebase --continue",
        left: "rebase-merge/git-rebase-todo",
    },
    Attack {
        name: "a rebase with a strategy of its own",
        before: "printf '#!/bin/sh\ntouch $MARKER\n' > ../git-merge-evil; chmod +x ../git-merge-evil",
        program: "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~1
            echo evil > .git/rebase-merge/strategy
            echo \"pick $(git rev-parse side)\" >> .git/rebase-merge/git-rebase-todo",
        user: "PATH=$OUTSIDE:$PATH git rebase --continue",
        left: "rebase-merge/strategy",
    },
    Attack {
        name: "no HEAD, so that git finds the repository around it",
        before: "git init -q $OUTSIDE; git -C $OUTSIDE config core.fsmonitor 'touch $MARKER; false'",
        program: "rm .git/HEAD",
        user: "git status",
        left: "HEAD",
    },
    Attack {
        name: "a new work tree with another repository",
        before: "",
        program: "git worktree add -q tree; cp -r .git evil
            git config -f evil/config core.fsmonitor 'touch $MARKER; false'
            echo $PWD/evil > .git/worktrees/tree/commondir",
        user: "cd tree && git status",
        left: "worktrees/tree/commondir",
    },
];

/// Sets the workspace up, and returns it.
fn prepared(attack: &Attack) -> Workspace {
    let workspace = Workspace::new();
    workspace.sh(attack.before);
    assert!(!workspace.marker().exists(), "{}: before", attack.name);
    workspace
}

fn attacked(workspace: &Workspace, attack: &Attack) {
    let ended = workspace.run_in(&workspace.root, attack.program);
    assert!(ended.status.success(), "{}: {ended:?}", attack.name);
    // Git may run it at once, behind the walls.
    let _ = fs::remove_file(workspace.marker());
}

#[test]
fn attacks_through_gits_folder_run_nothing_afterwards_and_would_without_the_check() {
    for attack in ATTACKS {
        let workspace = prepared(attack);
        let done = workspace.call(|workspace| attacked(workspace, attack));
        assert!(done.left.iter().any(|left| left.path == Path::new(attack.left)), "{}: {done:?}", attack.name);
        workspace.run_in(&workspace.root, attack.user);
        assert!(!workspace.marker().exists(), "{}", attack.name);
        // The repository is the user's as before.
        workspace.sh("git fsck --no-dangling && git log --oneline");

        let control = prepared(attack);
        control.enter();
        attacked(&control, attack);
        control.run_in(&control.root, attack.user);
        assert!(control.marker().exists(), "{}: the control ran nothing", attack.name);
    }
}
