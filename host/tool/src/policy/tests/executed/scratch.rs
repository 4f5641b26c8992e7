//! A home with canaries and a hostile workspace, in which lines run without any walls.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::policy::ProgramEnvironment;

/// What every file outside of the workspace contains, and a part of the names of some.
const CANARY: &str = "canary-7f3a";

/// Programs that the workspace brings under the names of others.
const NAMES: [&str; 22] = [
    "cargo", "cat", "echo", "find", "git", "git-diff", "grep", "head", "id", "jq", "ls", "make", "node", "python3",
    "rg", "rm", "sed", "sh", "sort", "evil", "tee", "xargs",
];

/// The settings of a folder that is a repository without being called `.git`.
const BARE: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";

/// Where a line runs, besides the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variables {
    /// Those of a system.
    Usual,
    /// `PATH` begins with a folder of the workspace.
    PathInside,
    /// `PATH` begins with a relative folder.
    PathRelative,
    /// `PATH` begins with a folder of the home in which a link leads into the workspace.
    PathLinked,
    /// `CDPATH` is the home.
    Cdpath,
    /// `GIT_DIR` is a hostile repository.
    GitDir,
}

pub(super) const VARIABLES: [Variables; 6] = [
    Variables::Usual,
    Variables::PathInside,
    Variables::PathRelative,
    Variables::PathLinked,
    Variables::Cdpath,
    Variables::GitDir,
];

/// The folder with everything in it.
pub(super) struct Scratch {
    folder: TempDir,
    pub(super) shells: Vec<PathBuf>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let shells = ["/usr/bin/dash", "/usr/bin/bash"].map(PathBuf::from).into_iter().filter(|shell| shell.is_file());
        let scratch = Self { shells: shells.collect(), folder };
        scratch.fill();
        scratch
    }

    pub(super) fn root(&self) -> PathBuf {
        // What leads up from it stays in the folder.
        self.folder.path().canonicalize().expect("it is there").join("a/b/c")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.root().join("w")
    }

    fn fill(&self) {
        let (root, workspace) = (self.root(), self.workspace());
        for folder in [
            "marks",
            "tools",
            "home/.ssh",
            "home/.local/bin",
            "home/src",
            "elsewhere",
            "w/src/deep",
            "w/docs",
            "w/leaks",
            "w/sub/deep",
            "w/sub/objects",
            "w/sub/refs",
            "w/bin",
            "w/node_modules/.bin",
            "w/tc/bin",
            "w/src/node_modules/.bin",
        ] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        for file in
            ["home/secret", "home/.ssh/id", "home/.netrc", "home/src/main.rs", "elsewhere/t.py", "elsewhere/a.rs"]
        {
            fs::write(root.join(file), format!("{CANARY}\n")).expect("written");
        }
        fs::write(root.join(format!("home/.ssh/{CANARY}")), "\n").expect("written");
        let shown = root.display();
        for (path, text) in [
            ("src/main.rs", "fn main() {}\n".to_owned()),
            ("src/lib.rs", "// TODO\n".to_owned()),
            ("src/deep/a.rs", String::new()),
            ("docs/a.md", "# A\n".to_owned()),
            ("README.md", "# Read\n".to_owned()),
            ("a b.txt", "x\n".to_owned()),
            ("package.json", "{\"name\": \"x\"}\n".to_owned()),
            ("-o", "x\n".to_owned()),
            ("--output=made", "x\n".to_owned()),
            ("paths", format!("{shown}/home/secret\n")),
            ("globs", format!("{shown}/home/.ssh/*\n")),
            ("sub/HEAD", "ref: refs/heads/main\n".to_owned()),
            ("sub/config", format!("{BARE}\tfsmonitor = {shown}/w/tc/bin/evil\n")),
            ("sub/rust-toolchain.toml", format!("[toolchain]\npath = \"{shown}/w/tc\"\n")),
        ] {
            fs::write(workspace.join(path), text).expect("written");
        }
        for (link, target) in [
            ("out", "../home/secret"),
            ("leaks/out", "../../home/secret"),
            ("up", ".."),
            ("l", "sub/deep"),
            ("n", "nested/deep"),
            ("away", "../elsewhere"),
            ("dangling", "/nowhere/at/all"),
            ("inner", "README.md"),
        ] {
            symlink(target, workspace.join(link)).expect("linked");
        }
        let places = ["", "bin", "node_modules/.bin", "src/node_modules/.bin", "tc/bin", "src", "docs"];
        for (place, name) in places.iter().flat_map(|place| NAMES.map(|name| (place, name))) {
            self.program(&workspace.join(place).join(name), &format!("#!/bin/sh\n: > {shown}/marks/{name}\n"));
        }
        symlink(workspace.join("git"), root.join("home/.local/bin/git")).expect("linked");
        // What rustup does: the first file above the folder, as the system knows it, names where the compiler is.
        let rustup = "#!/bin/sh\nfolder=$(pwd -P)\nwhile [ \"$folder\" != / ]; do\n    \
                      path=$(sed -n 's/^path = \"\\(.*\\)\"$/\\1/p' \"$folder/rust-toolchain.toml\" 2>/dev/null)\n    \
                      [ -z \"$path\" ] || exec \"$path/bin/cargo\" \"$@\"\n    \
                      folder=${folder%/*}; folder=${folder:-/}\ndone\n\
                      echo 'cargo 1.0'\n";
        self.program(&root.join("tools/rustup"), rustup);
        symlink("rustup", root.join("tools/cargo")).expect("linked");
        // Git writes down what it sees of a file only if that is older than what it wrote last.
        for tracked in ["src/main.rs", "src/lib.rs", "README.md"] {
            let file = fs::File::options().append(true).open(workspace.join(tracked)).expect("it is there");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("set");
        }
        self.git(&workspace, &["init", "-q", "-b", "main"]);
        self.git(&workspace, &["add", "src/main.rs", "src/lib.rs", "README.md"]);
        self.git(&workspace, &["commit", "-q", "-m", "First"]);
        // A repository inside, whose settings name a program.
        fs::create_dir_all(workspace.join("nested/deep")).expect("made");
        fs::write(workspace.join("nested/deep/a"), "a\n").expect("written");
        let nested = workspace.join("nested");
        self.git(&nested, &["init", "-q", "-b", "main"]);
        self.git(&nested, &["add", "deep"]);
        self.git(&nested, &["commit", "-q", "-m", "First"]);
        fs::write(workspace.join("nested/deep/a"), "b\n").expect("written");
        let config = format!("[core]\n\tbare = false\n[diff]\n\texternal = {shown}/w/tc/bin/git-diff\n");
        fs::write(nested.join(".git/config"), config).expect("written");
        // What `git status` would write down.
        self.git(&workspace, &["status", "-s"]);
    }

    fn program(&self, path: &Path, text: &str) {
        fs::write(path, text).expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(folder)
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        for variable in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            git.env(format!("{variable}_NAME"), "Ada").env(format!("{variable}_EMAIL"), "ada@example.com");
        }
        assert!(git.output().expect("git is there").status.success(), "{arguments:?}");
    }

    /// The variables that the host gives to programs, from a user's environment.
    fn variables(&self, variables: Variables) -> Vec<(OsString, OsString)> {
        let (root, workspace) = (self.root(), self.workspace());
        let usual = format!("{}/tools:/usr/local/bin:/usr/bin:/bin", root.display());
        let before = |folder: &str| format!("{folder}:{usual}");
        let path = match variables {
            Variables::PathInside => before(&format!("{}/node_modules/.bin", workspace.display())),
            Variables::PathRelative => before("node_modules/.bin"),
            Variables::PathLinked => before(&format!("{}/home/.local/bin", root.display())),
            Variables::Usual | Variables::Cdpath | Variables::GitDir => usual,
        };
        let mut set: Vec<(OsString, OsString)> = [
            ("PATH", path.as_str()),
            ("LANG", "C.UTF-8"),
            ("CANARY", CANARY),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("PAGER", "cat"),
            ("TERM", "dumb"),
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
            ("GIT_CONFIG_VALUE_0", "explicit"),
            ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_1", "false"),
        ]
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
        set.push(("HOME".into(), root.join("home").into()));
        match variables {
            Variables::Cdpath => set.push(("CDPATH".into(), root.join("home").into())),
            Variables::GitDir => set.push(("GIT_DIR".into(), workspace.join("nested/.git").into())),
            Variables::Usual | Variables::PathInside | Variables::PathRelative | Variables::PathLinked => {}
        }
        set
    }

    pub(super) fn environment(&self, variables: Variables) -> ProgramEnvironment {
        let set = self.variables(variables);
        ProgramEnvironment::new(set.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())))
    }

    /// Runs a line without walls, and returns what it touched: a canary in its output, a program of the workspace, or a
    /// file that it changed.
    pub(super) fn touched(&self, shell: &Path, directory: &Path, variables: Variables, line: &str) -> Vec<String> {
        let before = self.files();
        let mut command = Command::new("/usr/bin/timeout");
        command.args([OsStr::new("-s"), OsStr::new("KILL"), OsStr::new("5"), shell.as_os_str()]);
        command.args(["-c", line]).current_dir(directory).env_clear().envs(self.variables(variables));
        let output = command.stdin(Stdio::null()).output().expect("a shell that ends");
        let shown = [output.stdout, output.stderr].concat();
        let mut touched = Vec::new();
        if String::from_utf8_lossy(&shown).contains(CANARY) {
            touched.push("the output has a canary".to_owned());
        }
        for mark in fs::read_dir(self.root().join("marks")).expect("read") {
            let mark = mark.expect("read").path();
            fs::remove_file(&mark).expect("removed");
            touched.push(format!("{} of the workspace ran", mark.file_name().unwrap_or_default().display()));
        }
        let after = self.files();
        let changed = before.iter().filter(|(path, seen)| after.get(*path) != Some(seen)).map(|(path, _)| path);
        let made = after.keys().filter(|path| !before.contains_key(*path));
        touched.extend(changed.chain(made).map(|path| format!("{} is changed", path.display())));
        touched
    }

    /// All files with what a change of them would change. The folder of the marks is not among them.
    fn files(&self) -> BTreeMap<PathBuf, (u64, u32, u64, (i64, i64))> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.root()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("read") {
                let path = entry.expect("read").path();
                let found = path.symlink_metadata().expect("it is there");
                if path.ends_with("marks") {
                    continue;
                }
                // `git status` makes a lock and removes it, whatever it finds.
                let time = if path.ends_with(".git") { (0, 0) } else { (found.mtime(), found.mtime_nsec()) };
                files.insert(path.clone(), (found.ino(), found.mode(), found.size(), time));
                if found.is_dir() {
                    folders.push(path);
                }
            }
        }
        files
    }
}
