//! The places that programs need: the system, and the toolchains of this user.
//!
//! Found by looking, so that builds and tests work without a setting. Deliberately not here: the workspace, what the
//! user configured, and anything that holds a secret: of a tool that keeps its login beside its programs, the parts
//! without it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host_files::RealPaths;

/// The system's folders with programs, libraries and settings.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/sys",
    "/run/current-system",
    "/run/systemd/resolve",
    "/var/lib/snapd",
    "/var/cache/fontconfig",
    // macOS
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var/db",
];

/// Names in `/etc` that hold secrets of the machine. They are left out for root, who alone could read them.
const SECRET_SETTINGS: &[&str] = &[
    "shadow",
    "shadow-",
    "gshadow",
    "gshadow-",
    "sudoers",
    "sudoers.d",
    "ssh",
    "ssl",
    "pki",
    "krb5.keytab",
    "wireguard",
];

/// Parts of `/etc` that hold no secret, although their folder does.
const PUBLIC_SETTINGS: &[&str] = &["ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/ca-trust"];

/// Places of toolchains beneath the user's home: programs, libraries and downloads, and settings without secrets.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cabal",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".conan2/p",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".deno",
    ".dotnet",
    ".elan",
    ".gem/ruby",
    ".ghcup",
    ".gitconfig",
    ".gitignore",
    ".gradle/caches",
    ".gradle/wrapper",
    ".hex/packages",
    ".julia",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".m2/wrapper",
    ".mix",
    ".n",
    ".node",
    ".npm/_cacache",
    ".npm/_npx",
    ".nuget/packages",
    ".nvm",
    ".opam",
    ".proto",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".stack",
    ".swiftly",
    ".volta",
    ".yarn",
    ".zig",
    ".cache/deno",
    ".cache/go-build",
    ".cache/ms-playwright",
    ".cache/pip",
    ".cache/pre-commit",
    ".cache/puppeteer",
    ".cache/uv",
    ".cache/yarn",
    ".cache/zig",
    "go/bin",
    "go/pkg",
    "Library/Caches/pip",
];

/// Variables that name such a place, with the parts of it that hold no secret; all of it if there are none.
const VARIABLES: &[(&str, &[&str])] = &[
    ("ANDROID_HOME", &[]),
    ("CARGO_HOME", &["bin", "config", "config.toml", "env", "git", "registry"]),
    ("CONDA_PREFIX", &[]),
    ("DENO_DIR", &[]),
    ("GOCACHE", &[]),
    ("GOMODCACHE", &[]),
    ("GOPATH", &["bin", "pkg"]),
    ("GOROOT", &[]),
    ("JAVA_HOME", &[]),
    ("NVM_DIR", &[]),
    ("PNPM_HOME", &[]),
    ("PYENV_ROOT", &[]),
    ("RBENV_ROOT", &[]),
    ("RUSTUP_HOME", &[]),
    ("UV_CACHE_DIR", &[]),
    ("VIRTUAL_ENV", &[]),
    ("VOLTA_HOME", &[]),
];

/// The places that a program may read, which are looked for when a program first needs them: most runs start none.
#[derive(Clone, Debug, Default)]
pub struct Places(Option<Arc<Sought>>);

#[derive(Debug)]
struct Sought {
    home: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    found: OnceLock<Vec<PathBuf>>,
}

impl Places {
    /// Those of the system, of the toolchains in this home, and those that these variables name. The default has none.
    pub fn new(home: Option<&Path>, environment: Vec<(OsString, OsString)>) -> Self {
        Self(Some(Arc::new(Sought { home: home.map(Path::to_owned), environment, found: OnceLock::new() })))
    }

    /// Returns those that exist, resolved, none within another.
    pub fn paths(&self) -> &[PathBuf] {
        match &self.0 {
            Some(sought) => sought.found.get_or_init(|| places(sought.home.as_deref(), &sought.environment)),
            None => &[],
        }
    }
}

fn places(home: Option<&Path>, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    found.extend(settings());
    if let Some(home) = home {
        found.extend(TOOLCHAINS.iter().map(|place| home.join(place)));
    }
    let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    for (name, value) in environment {
        if name == "PATH" {
            // Relative folders of `PATH` mean another place for each folder to start in.
            found.extend(std::env::split_paths(value).filter(|path| path.is_absolute()).map(program_folder));
        }
        let parts = VARIABLES.iter().find(|(known, _)| name == known).map(|(_, parts)| *parts);
        match (parts, absolute(value)) {
            (Some([]), Some(place)) => found.push(place),
            (Some(parts), Some(place)) => found.extend(parts.iter().map(|part| place.join(part))),
            (None, _) | (_, None) => {}
        }
    }
    let mut paths = RealPaths::default();
    let home = home.and_then(|home| paths.real(home));
    // A variable that names the home, or a folder around it, would open all of it.
    let is_too_much =
        |path: &Path| path == Path::new("/") || home.as_deref().is_some_and(|home| home.starts_with(path));
    // Real paths: a toolchain is often a link, and a rule counts for what the link leads to.
    let real: BTreeSet<PathBuf> =
        found.iter().filter_map(|path| paths.real(path)).filter(|path| !is_too_much(path)).collect();
    // A folder in one that is already there adds nothing but a rule that each start pays for.
    let within = |path: &Path| path.ancestors().skip(1).any(|folder| real.contains(folder));
    real.iter().filter(|path| !within(path)).cloned().collect()
}

/// Returns what is read for programs in this folder of `PATH`: a `bin` belongs to the libraries beside it.
fn program_folder(folder: PathBuf) -> PathBuf {
    let is_installed = |parent: &Path| ["lib", "libexec", "share"].iter().any(|name| parent.join(name).is_dir());
    match folder.parent() {
        Some(parent) if folder.ends_with("bin") && is_installed(parent) && !parent.ends_with(".local") => {
            parent.to_owned()
        }
        _ => folder,
    }
}

/// Returns `/etc`, without its secrets if this user could read them.
fn settings() -> Vec<PathBuf> {
    let etc = Path::new("/etc");
    if !rustix::process::geteuid().is_root() {
        return vec![etc.to_owned()];
    }
    let entries = fs::read_dir(etc).into_iter().flatten().flatten();
    let public = entries.filter(|entry| !SECRET_SETTINGS.iter().any(|name| entry.file_name() == *name));
    public.map(|entry| entry.path()).chain(PUBLIC_SETTINGS.iter().map(|path| etc.join(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_toolchains_are_found_without_their_logins() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = fs::canonicalize(folder.path()).expect("there").join("home");
        for path in [
            ".cargo/registry/src",
            ".cargo/bin",
            ".ssh",
            ".nvm/v22/bin",
            ".nvm/v22/lib",
            ".local/bin",
            ".local/share/keyrings",
            "tools/bin",
            "tools/lib",
        ] {
            fs::create_dir_all(home.join(path)).expect("made");
        }
        fs::write(home.join(".cargo/credentials.toml"), "").expect("written");
        let found = |environment: &[(&str, &str)]| {
            let variable = |(name, value): &(&str, &str)| {
                (OsString::from(name), OsString::from(value.replace('~', home.to_str().expect("text"))))
            };
            let environment: Vec<_> = environment.iter().map(variable).collect();
            let found = places(Some(&home), &environment);
            let beneath = found.iter().filter_map(|path| path.strip_prefix(&home).ok());
            beneath.map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        let always = ".cargo/bin .cargo/registry .local/bin .nvm";
        assert_eq!(found(&[]), always);
        // Whatever names the whole home opens nothing.
        assert_eq!(found(&[("GOROOT", "~"), ("JAVA_HOME", "/"), ("PATH", "~:relative:")]), always);
        assert_eq!(found(&[("PATH", "/usr/bin:~/.nvm/v22/bin:~/tools/bin:~/.local/bin")]), format!("{always} tools"));
        assert_eq!(found(&[("CARGO_HOME", "~/.cargo"), ("VIRTUAL_ENV", "~/tools/lib")]), format!("{always} tools/lib"));
    }

    #[test]
    fn places_of_the_system_hold_no_secret_of_the_machine() {
        let found = places(None, &[]);
        let readable = |path: &str| found.iter().any(|place| Path::new(path).starts_with(place));
        assert!(readable("/usr/bin/env") && readable("/etc/passwd"), "{found:?}");
        assert!(!readable("/root/.ssh") && !readable("/home/user/.ssh") && !readable("/proc/1/environ"), "{found:?}");
        if rustix::process::geteuid().is_root() {
            assert!(!readable("/etc/shadow") && !readable("/etc/ssh/ssh_host_ed25519_key"), "{found:?}");
        }
    }
}
