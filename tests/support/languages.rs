//! Plugins in other languages, for the tests: their compilers, got once into the target folder, and projects that `host
//! plugin new` began.
//!
//! What a test needs and a machine lacks is said in its failure: nothing is passed over.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use host_manifest::{Manifest, Source};
use host_plugin::{Digest, Plugin};

use crate::host::binary;
use crate::{cache, repository};

/// A language, how its compiler is got, and where that lies in a package.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// As `host plugin new` calls it.
    pub name: &'static str,
    /// The file that says which compiler.
    pub wanted: &'static str,
    /// The folder of a package that it is installed in.
    pub installed: &'static str,
}

/// The languages that bring a compiler of their own; what Rust needs, the other tests need too.
pub const LANGUAGES: [Language; 5] = [
    Language { name: "c", wanted: "requirements.txt", installed: ".venv" },
    Language { name: "zig", wanted: "requirements.txt", installed: ".venv" },
    Language { name: "go", wanted: "requirements.txt", installed: ".venv" },
    Language { name: "js", wanted: "package.json", installed: "node_modules" },
    Language { name: "python", wanted: "requirements.txt", installed: ".venv" },
];

/// A package that was begun with `host plugin new`, with its compiler.
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    language: Language,
}

impl Project {
    /// The example of a language, as a plugin of this name, without a compiler.
    pub fn begun(language: Language, name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Self { folder, language };
        let output = project.host(&["plugin", "new", name, "--lang", language.name, "--in", "."]).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        project
    }

    /// The same with its compiler.
    pub fn new(language: Language, name: &str) -> Self {
        let project = Self::begun(language, name);
        let compiler = toolchain(language, &project.text(language.wanted)).join(language.installed);
        std::os::unix::fs::symlink(compiler, project.path().join(language.installed)).expect("made");
        project
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What a file of it holds.
    pub fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Writes a file of it.
    pub fn file(self, file: &str, text: &str) -> Self {
        std::fs::write(self.path().join(file), text).expect("written");
        self
    }

    /// A command line of the host in it.
    pub fn host(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null()).env("XDG_CACHE_HOME", cache());
        command.envs(compiler_caches());
        command
    }

    /// Builds it into `dist`; what was printed when that fails.
    pub fn build(&self) -> Result<(), String> {
        let output = self.host(&["plugin", "build", ".", "--out", "dist"]).output().expect("it runs");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        if output.status.success() { Ok(()) } else { Err(said) }
    }

    /// What the build made, loaded.
    pub fn plugin(&self) -> Arc<Plugin> {
        load(&self.path().join("dist"))
    }

    /// What stands for the sources and for what builds them: with the same key the same is built.
    fn key(&self) -> String {
        let mut all = Vec::new();
        let devkit = repository().join("host/devkit/src");
        let build = devkit.join("build");
        let inner = ["wit/tool", "wit/cap", "host"].map(|inner| self.path().join(inner));
        let builders = [build.clone(), build.join("go"), build.join("python")];
        let folders = [self.path().to_owned()].into_iter().chain(inner).chain(builders);
        for folder in folders.filter(|folder| folder.is_dir()) {
            let mut files: Vec<_> =
                std::fs::read_dir(&folder).expect("read").map(|entry| entry.expect("read").path()).collect();
            files.sort();
            if folder == build {
                files.push(devkit.join("build.rs"));
            }
            for file in files.into_iter().filter(|file| file.is_file()) {
                all.extend(file.file_name().unwrap_or_default().as_encoded_bytes());
                all.extend(std::fs::read(file).expect("read"));
            }
        }
        Digest::of(&all).to_string()
    }
}

/// The variables that let all packages share what compilers keep: to compile the C library and Go's standard library
/// anew for each would take longer than all the tests.
pub fn compiler_caches() -> [(&'static str, PathBuf); 2] {
    [("ZIG_GLOBAL_CACHE_DIR", cache().join("zig")), ("GOCACHE", cache().join("go"))]
}

/// A built plugin of a folder with one.
pub fn load(dist: &Path) -> Arc<Plugin> {
    let mut found = std::fs::read_dir(dist).expect("it was built").map(|entry| entry.expect("read").path());
    let component = found.find(|path| path.extension() == Some(OsStr::new("wasm"))).expect("there is a component");
    let manifest = component.with_extension("json");
    let json = std::fs::read_to_string(&manifest).expect("it has a manifest");
    let manifest = Manifest::parse(&json, Source::File(manifest)).expect("it is right");
    let declared = manifest.declared(Path::new("/")).expect("its scopes make sense");
    Arc::new(Plugin::new(manifest.plugin_name(), std::fs::read(component).expect("read"), declared))
}

/// The folder with the example of a language, built as it is. It is kept between runs as long as neither the example
/// nor what builds it changes: an interpreter is not built the same twice, and each would be compiled anew.
pub fn example(language: Language) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<&'static str, PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let folder = built.entry(language.name).or_insert_with(|| kept(Project::new(language, "acme/words")));
    folder.clone()
}

/// Where the project's `dist` is kept, built when it is not there yet.
pub fn kept(project: Project) -> PathBuf {
    let place = repository().join("target/test-languages").join(format!("{}-{}", project.language.name, project.key()));
    once(&place, || {
        project.build().unwrap_or_else(|said| panic!("the plugin in {} is not built:\n{said}", project.language.name));
        let dist = place.join("dist");
        std::fs::create_dir_all(&dist).expect("made");
        for file in std::fs::read_dir(project.path().join("dist")).expect("it was built") {
            let file = file.expect("read");
            std::fs::copy(file.path(), dist.join(file.file_name())).expect("copied");
        }
    });
    place.join("dist")
}

/// The folder with a language's compiler, as the file says which.
pub fn toolchain(language: Language, wanted: &str) -> PathBuf {
    // The name of the package is not part of what is wanted.
    let same: String = wanted.lines().filter(|line| !line.contains("\"name\"")).collect();
    let place = repository().join("target/test-languages").join(format!("compiler-{}", Digest::of(same.as_bytes())));
    once(&place, || {
        std::fs::write(place.join(language.wanted), wanted).expect("written");
        if language.wanted == "package.json" {
            run(&place, "npm", &["install", "--no-audit", "--no-fund", "--loglevel=error"], "npm and node 20");
        } else {
            run(&place, "python3", &["-m", "venv", ".venv"], "python3 with its module venv");
            let pip = place.join(".venv/bin/pip");
            let install = ["install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
            run(&place, &pip.to_string_lossy(), &install, "pip and a package index");
        }
    });
    place
}

fn run(folder: &Path, program: &str, arguments: &[&str], needed: &str) {
    let output = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "the tests of plugins in other languages need {needed}: `{program} {}` said {}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => panic!("the tests of plugins in other languages need {needed}: `{program}`: {error}"),
    }
}

/// Does something once for a folder, whatever other processes do at the same time; what broke off is begun anew.
fn once(place: &Path, work: impl FnOnce()) {
    std::fs::create_dir_all(place).expect("made");
    let lock = File::create(place.with_extension("lock")).expect("made");
    lock.lock().expect("this system has locks on files");
    let done = place.join("done");
    if !done.exists() {
        std::fs::remove_dir_all(place).expect("removed");
        std::fs::create_dir_all(place).expect("made");
        work();
        std::fs::write(done, "").expect("written");
    }
}
