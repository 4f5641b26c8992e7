//! The attacks, by what the user has.

use super::{Control, MODES, Row, Table, User, Wanted};

const fn mark(name: &'static str, folder: &'static str, line: &'static str, mark: &'static str) -> Row {
    Row { name, folder, line, wants: Wanted::Mark(mark), needs: None, may: &[], control: Control::Call }
}

const fn secret(name: &'static str, folder: &'static str, line: &'static str) -> Row {
    Row { name, folder, line, wants: Wanted::Secret, needs: None, may: &[], control: Control::Call }
}

const fn config(name: &'static str, folder: &'static str, line: &'static str) -> Row {
    Row { name, folder, line, wants: Wanted::Obeyed, needs: None, may: &[], control: Control::Line }
}

impl Row {
    const fn needs(self, line: &'static str) -> Self {
        Self { needs: Some(line), ..self }
    }

    /// What walls do not keep from a program that runs unasked: that a file is there, and what git keeps.
    const fn but_in_auto(self) -> Self {
        Self { may: &["auto"], ..self }
    }

    const fn by_line(self) -> Self {
        Self { control: Control::Line, ..self }
    }
}

/// A clone that its user opens, and nothing else.
pub(super) const CLONE: Table = Table { rows: IN_CLONE, user: User::Usual, folder: "", arguments: &[], modes: MODES };

const IN_CLONE: &[Row] = &[
    // The folder of a call decides what its words mean.
    secret("a link in the folder of the call", "leak", "cat key"),
    mark("a toolchain of the folder of the call", "toolchain", "cargo --version", "toolchain"),
    mark("a repository in the folder of the call", "nested", "git diff", "nested"),
    // A link leads to a place with other parents than its name has.
    mark("a toolchain behind a link", "", "cd tool && cargo --version", "toolchain"),
    mark("a repository behind a link", "", "cd nest && git diff", "nested"),
    mark("a toolchain behind a link that the call names", "tool", "cargo -V", "toolchain"),
    // The host's settings for git are variables.
    mark("git without any variable", "", "cd bare && env -i git status", "bare"),
    mark("git without any variable, another way", "", "cd bare && env - git status", "bare"),
    mark("git without the number of its settings", "", "cd bare && env -u GIT_CONFIG_COUNT git status", "bare"),
    mark("git without the number of its settings, unset", "", "cd bare; unset GIT_CONFIG_COUNT; git status", "bare"),
    mark("git by an exec without variables", "", "bash -c 'cd bare; exec -c git status'", "bare"),
    // A wrapper reads a file for the program behind it.
    secret("arguments from a file", "", "xargs -a ~/.ssh/id -d '\\n' echo"),
    secret("arguments from a file, in one word", "", "xargs -a$HOME/.ssh/id echo"),
    secret("arguments from a file, by its long name", "", "xargs --arg-file=../../..$HOME/.ssh/id echo"),
    secret("arguments from a link", "leak", "xargs -a key echo"),
    secret("the input of a wrapper", "", "timeout 5 cat < leak/key"),
    // A shell shows names by itself.
    secret("names of a folder", "", "echo ~/.ssh/*"),
    secret("names of a folder behind a link", "", "printf '%s\\n' up/.ssh/*"),
    secret("names in a loop", "", "for f in ~/.ssh/*; do echo \"$f\"; done"),
    secret("names from a file", "", "echo $(cat globs)"),
    secret("whether a file is there", "", "[ -f ~/.ssh/id ] && printf 'SECRET-%s' OF-THE-USER").but_in_auto(),
    secret("whether a file is there, by its name", "", "test -s ~/.ssh/id && printf 'SECRET-%s' OF-THE-USER")
        .but_in_auto(),
    // In zsh `path` is the search path.
    mark("a variable of zsh in a loop", "zsh", "zsh -c 'for path in .; do git status; done'", "zsh")
        .needs("command -v zsh"),
    mark("a variable of zsh that is read", "zsh", "echo . | zsh -c 'read path; git status'", "zsh")
        .needs("command -v zsh"),
    // A bracket has another end there.
    mark("a file that BusyBox writes", "", "busybox sed 's/[/]/p;/w up/marks/p' slashes", "p")
        .needs("command -v busybox"),
];

/// A user whose variables and rules fit other folders than a clone.
pub(super) const HABITS: Table =
    Table { rows: WITH_HABITS, user: User::Habits, folder: "", arguments: &[], modes: MODES };

const WITH_HABITS: &[Row] = &[
    mark("a program of the workspace in the search path", "", "wc -l README.md", "wc"),
    mark("a relative folder in the search path", "", "nl README.md", "nl").by_line(),
    mark("a program of the workspace behind a wrapper", "", "timeout 5 wc -l README.md", "wc"),
    secret("the folder that CDPATH finds", "", "cd .ssh; cat id").by_line(),
    secret("the folder that CDPATH finds, in a list", "", "cd .ssh && cat id").by_line(),
    // Rules of the user: `git push`, `find`, `make test`, `pytest`.
    mark("a folder as the remote of a push", "", "git push up/elsewhere/x main", "push"),
    mark("a hook of a remote in the clone", "", "git push pushed/x main", "pushed"),
    mark("a rule in another folder", "", "find ~/elsewhere -maxdepth 1 -name Makefile -execdir make test ';'", "make"),
    mark("a rule behind a link", "", "git -C elsewhere push", "elsewhere"),
    mark("tests of another folder", "", "pytest ~/elsewhere/test_it.py", "pytest").needs("command -v pytest"),
    mark("tests that a file names", "", "pytest @named", "pytest")
        .needs("pytest --version | grep -E ' (8[.][2-9]|8[.][1-9][0-9]|9|[1-9][0-9])'"),
    // The system's `sed` is that of BusyBox.
    mark("a file that the system's sed writes", "", "sed 's/[/]/p;/w up/marks/p' slashes", "p")
        .needs("command -v busybox"),
];

/// A repository above the folder that the user opens, which has an empty `.git`.
pub(super) const DECOY: Table =
    Table { rows: IN_DECOY, user: User::Usual, folder: "outer/decoy", arguments: &[], modes: MODES };

const IN_DECOY: &[Row] = &[mark("a repository above an empty one", "", "git diff", "outer")];

/// A user who denies a file.
pub(super) const DENIED: Table =
    Table { rows: OF_DENIED, user: User::Usual, folder: "", arguments: &["--deny", "*:fs-read=.env"], modes: MODES };

const OF_DENIED: &[Row] = &[
    secret("a file that is denied", "", "cat .env"),
    secret("arguments from a file that is denied", "", "xargs -a .env echo"),
    secret("a link to a file that is denied", "", "cat env"),
    secret("a file that is denied, from its folder", "leak", "cat ../.env"),
    // What git keeps of it is in no file that could be hidden from a program that runs unasked.
    secret("a file that is denied, by its object", "", "git show HEAD:.env; git cat-file -p HEAD:.env").but_in_auto(),
];

/// What no mode lets a command write: where nothing else holds, its words have to show it.
pub(super) const PROTECTED: Table = Table {
    rows: OF_PROTECTED,
    user: User::Habits,
    folder: "",
    arguments: &[],
    modes: &["plan", "default", "auto-edit", "auto", "yolo"],
};

const OF_PROTECTED: &[Row] = &[
    config("a pattern with a star", "", "cp evil .gi*/config"),
    config("a pattern with a mark", "", "cp evil .gi?/config"),
    config("a pattern with a bracket", "", "cp evil .gi[t]/config"),
    config("a link that stays", "", "cp -l .git/config hard && tee hard < evil"),
    config("a link by name", "", "cp -s \"$PWD/.git/config\" soft && tee soft < evil"),
    config("the folder of the call", ".git", "cp ../evil config"),
    config("a link in the clone", "", "cp evil dotgit/config"),
];
