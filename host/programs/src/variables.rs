//! The variables that programs get of the user's environment: a list of what passes.
//!
//! A list of what is held back would miss the next name for a secret, and with it go variables by which somebody else
//! decides what a program runs. What passes says who and where the user is, which language they read, and where
//! toolchains and their caches are. Everything else the user names: `variables` of `[confine]`. A listed variable whose
//! value is a secret by its looks, such as an index with a password, is left out all the same.
//!
//! A call that the user lets run without walls gets what their own shell would give it, without what looks like a
//! secret.

mod environment;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use self::environment::{git_settings, is_git_setting, is_secret};
use crate::walls::ProgramReach;

/// The names; a `*` at the end stands for any end.
const PASSED: &[&str] = &[
    // The user, their folders and their language.
    "PATH HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE LC_* TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
     XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS",
    // What they see.
    "TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES MANPATH MANWIDTH",
    // Names in commits.
    "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE EMAIL",
    // Whom to believe on the network.
    "SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO PIP_CERT
     CARGO_HTTP_CAINFO AWS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy",
    // A machine that builds.
    "CI CONTINUOUS_INTEGRATION DEBIAN_FRONTEND SOURCE_DATE_EPOCH",
    // C, C++ and what is built with them.
    "CC CXX CPP LD AR AS NM RANLIB STRIP FC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS FFLAGS MAKEFLAGS MAKE CMAKE_* CTEST_* NINJA_STATUS
     PKG_CONFIG PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH
     LD_LIBRARY_PATH DYLD_LIBRARY_PATH LIBCLANG_PATH OPENSSL_DIR OPENSSL_LIB_DIR OPENSSL_INCLUDE_DIR CCACHE_* SCCACHE_DIR
     SDKROOT MACOSX_DEPLOYMENT_TARGET DEVELOPER_DIR ACLOCAL_PATH",
    // Rust.
    "CARGO_HOME CARGO_TARGET_DIR CARGO_TARGET_* CARGO_BUILD_* CARGO_PROFILE_* CARGO_INCREMENTAL CARGO_NET_* CARGO_TERM_*
     CARGO_HTTP_* CARGO_LOG CARGO_ENCODED_RUSTFLAGS CARGO_UNSTABLE_* RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTUP_DIST_SERVER
     RUSTUP_UPDATE_ROOT RUSTUP_AUTO_INSTALL RUSTFLAGS RUSTDOCFLAGS RUSTC RUSTC_BOOTSTRAP RUST_BACKTRACE RUST_LOG
     RUST_MIN_STACK RUST_TEST_THREADS NEXTEST_* INSTA_* PROPTEST_*",
    // Go.
    "GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOENV GOFLAGS GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOTOOLCHAIN GOOS
     GOARCH GOARM GOAMD64 GOWORK GO111MODULE GOEXPERIMENT GODEBUG GOMAXPROCS GOTMPDIR CGO_*",
    // JavaScript.
    "NODE_ENV NODE_PATH NODE_OPTIONS NODE_VERSION NVM_* FNM_* VOLTA_* PNPM_HOME YARN_* BUN_INSTALL BUN_* DENO_DIR DENO_*
     npm_config_* NPM_CONFIG_* COREPACK_* PLAYWRIGHT_BROWSERS_PATH PUPPETEER_* ELECTRON_*",
    // Python.
    "PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8
     PYTHONHASHSEED PYTHONWARNINGS PYTHONSAFEPATH VIRTUAL_ENV VIRTUAL_ENV_PROMPT CONDA_* MAMBA_* PYENV_* PIP_* PIPX_* UV_*
     POETRY_* PDM_* HATCH_* TOX_* PYTEST_* MYPYPATH JUPYTER_*",
    // The Java machine.
    "JAVA_HOME JDK_HOME JRE_HOME JAVA_OPTS JAVA_TOOL_OPTIONS CLASSPATH MAVEN_HOME MAVEN_OPTS MAVEN_ARGS M2_HOME M2 GRADLE_HOME
     GRADLE_USER_HOME GRADLE_OPTS ANT_HOME ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME KOTLIN_HOME SBT_OPTS COURSIER_*
     SDKMAN_*",
    // Ruby, PHP, Perl, .NET, Elixir, Haskell, OCaml, Zig, Swift, R, Lua.
    "GEM_HOME GEM_PATH RUBYLIB RUBYOPT RBENV_* RVM_* BUNDLE_PATH BUNDLE_GEMFILE BUNDLE_JOBS RAILS_ENV RACK_ENV COMPOSER_HOME
     COMPOSER_CACHE_DIR PERL5LIB PERL_LOCAL_LIB_ROOT PERL_MB_OPT PERL_MM_OPT DOTNET_* NUGET_PACKAGES MSBUILD* MIX_ENV MIX_HOME
     HEX_HOME ERL_LIBS ERL_AFLAGS GHCUP_* STACK_ROOT CABAL_DIR OPAM* OCAML* CAML_LD_LIBRARY_PATH ZIG_* SWIFTLY_* R_HOME R_LIBS
     R_LIBS_USER LUA_PATH LUA_CPATH JULIA_*",
    // Package and version managers of whole machines.
    "ASDF_* MISE_* HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_* LOCALE_ARCHIVE GUIX_* SPACK_ROOT VCPKG_ROOT
     CONAN_HOME",
];

/// What of the user's environment programs get.
#[derive(Debug, Default)]
pub struct Variables {
    /// Behind walls.
    listed: Vec<(OsString, OsString)>,
    /// Without them.
    open: Vec<(OsString, OsString)>,
}

impl Variables {
    /// Sorts the environment. `named` are the names that the user adds to the list; what the user names passes whatever
    /// it holds.
    pub fn new(environment: Vec<(OsString, OsString)>, named: &[String]) -> Self {
        let (git, others): (Vec<_>, Vec<_>) = environment.into_iter().partition(|(name, _)| is_git_setting(name));
        let git = git_settings(&git);
        let is_named = |name: &OsStr| named.iter().any(|pattern| matches(pattern, name));
        let is_listed =
            |name: &OsStr| PASSED.iter().flat_map(|row| row.split_whitespace()).any(|row| matches(row, name));
        let is_agent = |name: &OsStr| name == "SSH_AUTH_SOCK";
        let of = |passes: &dyn Fn(&OsStr, &OsStr) -> bool| {
            let passed = others.iter().filter(|(name, value)| is_named(name) || passes(name, value));
            passed.cloned().chain(git.iter().cloned()).collect()
        };
        Self {
            listed: of(&|name, value| is_listed(name) && !is_secret(name, value)),
            // Where the cursor may jump to is nothing that a line of a model's should depend on.
            open: of(&|name, value| name != "CDPATH" && (is_agent(name) || !is_secret(name, value))),
        }
    }

    /// Returns those of a program that reaches this far. What nobody was asked about finds no program in a folder that
    /// it can write or that depends on where it runs.
    pub fn for_reach(&self, reach: ProgramReach, writable: &[PathBuf]) -> Vec<(OsString, OsString)> {
        let variables = if reach == ProgramReach::Everything { &self.open } else { &self.listed };
        adjusted(variables, reach == ProgramReach::Reading, writable)
    }

    /// Returns those of a program of the user's that the host itself starts without walls. Nothing that a confined
    /// program can write is found in its `PATH`.
    pub fn without_walls(&self, writable: &[PathBuf]) -> Vec<(OsString, OsString)> {
        adjusted(&self.open, true, writable)
    }
}

/// Takes from `PATH` the folders that depend on where a program runs, and if it is to be `safe` those that can be
/// written.
fn adjusted(variables: &[(OsString, OsString)], safe: bool, writable: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let is_path = |name: &OsStr| name == "PATH";
    let kept = |folder: &Path| {
        let is_of_workspace = || {
            let real = folder.canonicalize();
            let paths = [Some(folder), real.as_deref().ok()];
            paths.into_iter().flatten().any(|path| writable.iter().any(|root| path.starts_with(root)))
        };
        folder.is_absolute() && (!safe || !is_of_workspace())
    };
    let adjusted = |(name, value): &(OsString, OsString)| {
        let joined = is_path(name).then(|| {
            let folders = std::env::split_paths(value).filter(|folder| kept(folder));
            std::env::join_paths(folders).unwrap_or_default()
        });
        (name.clone(), joined.unwrap_or_else(|| value.clone()))
    };
    variables.iter().map(adjusted).collect()
}

/// Whether a name is that of the list, or begins as one of the list with a `*`.
fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.as_encoded_bytes().starts_with(beginning.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(reach: ProgramReach, given: &[(&str, &str)], named: &[&str]) -> Vec<String> {
        let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let passed = Variables::new(given, &named).for_reach(reach, &[PathBuf::from("/w")]);
        let shown = passed.into_iter().map(|(name, value)| format!("{}={}", name.display(), value.display()));
        shown.filter(|shown| !shown.starts_with("GIT_CONFIG_")).collect()
    }

    // promise process.secrets
    #[test]
    fn variables_that_pass_are_listed_and_no_secret() {
        let given = [
            ("HOME", "/home/a"),
            ("LC_ALL", "C"),
            ("CARGO_TARGET_DIR", "/t"),
            ("PIP_INDEX_URL", "https://user:pass@host/simple"),
            ("npm_config_cache", "/c"),
            ("npm_config__authToken", "npm_x"),
            ("CARGO_REGISTRY_TOKEN", "x"),
            ("CDPATH", "/home/a"),
            ("GIT_DIR", "/x"),
            ("GIT_EXTERNAL_DIFF", "x"),
            ("MYSQL_PWD", "x"),
            ("BW_SESSION", "x"),
            ("AZURE_STORAGE_CONNECTION_STRING", "x"),
            ("SLACK_WEBHOOK_URL", "https://hooks.slack.com/x"),
            ("WHATEVER", "hf_x"),
            ("KEY2", "x"),
            ("LD_PRELOAD", "/x.so"),
            ("RAILS_MASTER", "x"),
            ("SSH_AUTH_SOCK", "/agent"),
        ];
        let listed = ["HOME=/home/a", "LC_ALL=C", "CARGO_TARGET_DIR=/t", "npm_config_cache=/c"];
        assert_eq!(passed(ProgramReach::Workspace, &given, &[]), listed);
        let named = passed(ProgramReach::Workspace, &given, &["RAILS_*", "CARGO_REGISTRY_TOKEN"]);
        assert!(named.contains(&"RAILS_MASTER=x".to_owned()) && named.contains(&"CARGO_REGISTRY_TOKEN=x".to_owned()));
        // Without walls it is the user's own shell, but for what looks like a secret.
        let open = passed(ProgramReach::Everything, &given, &[]);
        assert!(open.contains(&"SSH_AUTH_SOCK=/agent".to_owned()) && open.contains(&"LD_PRELOAD=/x.so".to_owned()));
        for secret in ["CARGO_REGISTRY_TOKEN", "PIP_INDEX_URL", "npm_config__authToken", "CDPATH"] {
            assert!(!open.iter().any(|shown| shown.starts_with(secret)), "{secret}: {open:?}");
        }
    }

    // promise process.path: A program that runs without a question is found in no folder of the workspace, and in none
    //   that depends on where it runs.
    #[test]
    fn path_of_a_program_that_reads_has_no_folder_of_the_workspace() {
        let path = [("PATH", "node_modules/.bin:/w/.venv/bin:/usr/bin::.")];
        assert_eq!(passed(ProgramReach::Reading, &path, &[]), ["PATH=/usr/bin"]);
        assert_eq!(passed(ProgramReach::Workspace, &path, &[]), ["PATH=/w/.venv/bin:/usr/bin"]);
        assert_eq!(passed(ProgramReach::Everything, &path, &[]), ["PATH=/w/.venv/bin:/usr/bin"]);
        // The user's ssh, which the host itself starts, is none of the workspace's either.
        let given = path.map(|(name, value)| (name.into(), value.into())).into();
        let outside = Variables::new(given, &[]).without_walls(&[PathBuf::from("/w")]);
        assert!(outside.contains(&("PATH".into(), "/usr/bin".into())), "{outside:?}");
    }
}
