//! What programs may touch: the system, the user's toolchains, the workspace and its repository.
//!
//! Deliberately not here: how a program is confined (`host-process`), and which programs may start.

use std::fs;
use std::path::{Path, PathBuf};

use host_capability::{Resources, Scope, ScopeError};
use host_files::RealPaths;
use host_plugin::{Caches, ProgramAccess, ProgramWalls};
use host_process::{ConfineMode, Places};
use host_shell::{REGISTRIES, Registry};
use host_text::{Advice, Flag};
use host_tool::ApprovalMode;

use crate::configuration::ConfineSettings;
use crate::environment::{Environment, Folders};
use crate::error::{ErrorKind, Fault};
use crate::repository::repository_of;

/// Files that a shell runs when it starts or ends.
pub const SHELL_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
];

/// Files and folders of a workspace or a home that shells, version control and the host itself obey, besides
/// [`SHELL_FILES`].
const OBEYED: &[&str] = &[".host", ".config/fish", ".gitconfig", ".hg/hgrc", ".jj/repo/config.toml"];

/// What nobody is asked about beneath the home: secrets, settings that run or install something later, and what
/// services are logged in with. What shells and other agents obey is in [`SHELL_FILES`] and `agent_files`.
const NEVER_OFFERED: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".gemini",
    ".ssh",
    ".gnupg",
    ".password-store",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/bin",
    ".local/share/applications",
    ".local/share/keyrings",
    ".local/share/systemd",
    ".config/autostart",
    ".config/chromium",
    ".config/environment.d",
    ".config/gcloud",
    ".config/gh",
    ".config/git",
    ".config/google-chrome",
    ".config/systemd",
    ".mozilla",
    ".thunderbird",
    "bin",
    "snap",
];

/// What a user can be asked about beneath the home: caches, of which nothing runs by itself. Whatever is not on this
/// list is the user's to name in the configuration.
const OFFERED: &[&str] = &[
    ".cache",
    ".cabal/packages",
    ".cargo/git",
    ".cargo/registry",
    ".conan2/p",
    ".gradle/caches",
    ".gradle/wrapper",
    ".hex/packages",
    ".ivy2/cache",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    ".pnpm-store",
    ".local/share/pnpm/store",
    ".yarn/berry",
    ".yarn/cache",
    "go/pkg/mod",
    "Library/Caches",
];

/// Why programs cannot be confined as the settings say.
#[derive(Debug, thiserror::Error)]
pub enum ConfinementError {
    /// The mode that rests on it was asked for, and it was turned off.
    #[error("the approval mode `auto` runs programs without asking because they are confined")]
    Off,
    /// A configured server is invalid.
    #[error("`net` of [confine] cannot be used: {0}")]
    Server(ScopeError),
    /// A server of git over ssh, which only programs of calls reach.
    #[error("`net` of [{section}] cannot be used: `{server}` is not supported there")]
    Ssh {
        /// The section of the configuration.
        section: String,
        /// The server, safe to show.
        server: String,
    },
}

impl Fault for ConfinementError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Off => ErrorKind::Input,
            Self::Server(_) | Self::Ssh { .. } => ErrorKind::Configuration,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Off => Some(
                Advice::from("remove ")
                    .code_flag(Flag::Confine, Some("off"))
                    .text(", or `mode = \"off\"` from [confine]; or use ")
                    .flag_with(Flag::ApprovalMode, "auto-edit"),
            ),
            Self::Server(cause) => Some(cause.help().into()),
            Self::Ssh { .. } => Some("only programs of calls use git over ssh: name it in `net` of [confine]".into()),
        }
    }
}

/// Returns the walls around programs: as they were asked for or configured, or else all that the machine has. They
/// stand in every approval mode but `yolo`, which lifts them unless the user chose them.
///
/// # Errors
///
/// If the mode that rests on them was asked for, and confinement was turned off; if the configuration names an invalid
/// server.
pub fn program_walls(
    configured: &ConfineSettings,
    requested: Option<ConfineMode>,
    mode: ApprovalMode,
) -> Result<ProgramWalls, ConfinementError> {
    let chosen = configured.mode.under(requested);
    if chosen.value() == ConfineMode::Off && mode == ApprovalMode::Auto {
        return Err(ConfinementError::Off);
    }
    let resources = Resources { servers: configured.net.clone(), ..Resources::default() };
    Scope::for_command_using(&["x".to_owned()], &resources).map_err(ConfinementError::Server)?;
    Ok(ProgramWalls { mode: chosen.value(), is_chosen: chosen.is_chosen() })
}

/// Says that the servers of a section are none that git reaches over ssh: only programs of calls do, whose user is
/// asked.
///
/// # Errors
///
/// If one is.
pub fn check_without_ssh(servers: &[String], section: &str) -> Result<(), ConfinementError> {
    let Some(server) = servers.iter().find(|server| server.starts_with("ssh://")) else { return Ok(()) };
    Err(ConfinementError::Ssh { section: section.to_owned(), server: host_text::exact(server).into_owned() })
}

/// Returns what programs may touch in this workspace. `host` is the host's own binary, which git starts as its ssh.
pub fn program_access(
    configured: &ConfineSettings,
    walls: ProgramWalls,
    workspace: &Path,
    (environment, folders): (&Environment, &Folders),
    host: Option<&Path>,
) -> ProgramAccess {
    let home = environment.home();
    let named = |paths: &[PathBuf]| {
        let absolute = |path: &PathBuf| match (path.strip_prefix("~"), home) {
            (Ok(beneath), Some(home)) => home.join(beneath),
            (Ok(_), None) | (Err(_), _) => workspace.join(path),
        };
        paths.iter().filter_map(|path| fs::canonicalize(absolute(path)).ok()).collect::<Vec<_>>()
    };
    let mut access = ProgramAccess {
        walls,
        installed: Places::new(home, environment.all()),
        readable: Vec::new(),
        writable: Vec::new(),
        protected: Vec::new(),
        hidden: Vec::new(),
        shown: Vec::new(),
        repositories: Vec::new(),
        home: home.map(Path::to_owned),
        layers: Some(folders.layers.clone()),
        caches: caches(environment),
        servers: configured.net.clone(),
        // Within the walls `/proc/self/exe` is another program.
        ssh_client: host.and_then(|program| fs::canonicalize(program).ok()),
        offered: home.into_iter().flat_map(|home| OFFERED.iter().map(|name| home.join(name))).collect(),
        never_offered: never_offered(home, folders),
        commands_in: Some(host_tool::commands_in),
    };
    access.readable.extend(named(&configured.readable));
    access.writable.extend(named(&configured.writable));
    access.protected.extend(folders.unchangeable());
    // Where the layers are, programs get them.
    let hidden = folders.unreadable().into_iter().filter(|path| *path != folders.layers);
    access.hidden.extend(hidden.map(Path::to_owned));
    add_place(&mut access, workspace, repository_of(workspace));
    access
}

/// Returns the caches of package managers, where the environment moves them too.
fn caches(environment: &Environment) -> Vec<Caches> {
    let Some(home) = environment.home() else { return Vec::new() };
    let moved = |variable: &str| environment.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let (cargo, cache) = (moved("CARGO_HOME"), moved("XDG_CACHE_HOME"));
    let folder = |name: &&str| {
        let path = Path::new(name);
        let moved = [(".cargo", &cargo), (".cache", &cache)]
            .into_iter()
            .find_map(|(first, moved)| Some(moved.as_ref()?.join(path.strip_prefix(first).ok()?)));
        moved.unwrap_or_else(|| home.join(path))
    };
    let of_row = |row: &Registry| Caches {
        programs: row.programs,
        folders: row.caches.iter().map(folder).collect(),
        // A home that is not there stays so.
        first: match home.is_dir() {
            true => row.first.iter().map(|(program, name)| (*program, folder(name))).collect(),
            false => Vec::new(),
        },
    };
    REGISTRIES.iter().map(of_row).collect()
}

/// Returns what a program may read that the user's own configuration starts with this command: the files that it names,
/// and of each what it is made of: its folder, the packages among which it lies, and the environment that it belongs
/// to. Left out is a folder that holds more than programs: the home, or secrets.
pub fn named_by(command: &[String], home: Option<&Path>, never_offered: &[PathBuf]) -> Vec<PathBuf> {
    let named = command.iter().map(Path::new).filter(|path| path.is_absolute());
    let files = named.filter_map(|path| fs::canonicalize(path).ok()).filter(|path| path.is_file());
    let is_narrow = |folder: &&Path| {
        let is_around = |path: &Path| path.starts_with(folder);
        folder.parent().is_some() && !home.is_some_and(is_around) && !never_offered.iter().any(|path| is_around(path))
    };
    let with_folders = |file: PathBuf| {
        let packages = file.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
        let environment = file.ancestors().find(|folder| folder.join("pyvenv.cfg").is_file());
        let folders = [file.parent(), packages, environment].into_iter().flatten().filter(is_narrow);
        let folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
        std::iter::once(file).chain(folders)
    };
    files.filter(|file| !never_offered.iter().any(|never| file.starts_with(never))).flat_map(with_folders).collect()
}

/// Returns the access with folders that the user added: programs change them as they change the workspace. One that
/// contains secrets is left out, since whatever a program may change it may also read.
pub fn with_added(mut access: ProgramAccess, added: &[PathBuf]) -> ProgramAccess {
    for folder in added {
        if !access.never_offered.iter().any(|never| never.starts_with(folder)) {
            // A repository around it was not added.
            add_place(&mut access, folder, repository_of(folder).filter(|repository| *repository == folder));
        }
    }
    access
}

/// Adds a folder to work in, and the repository that it is in.
fn add_place(access: &mut ProgramAccess, folder: &Path, repository: Option<&Path>) {
    access.writable.push(folder.to_owned());
    access.protected.extend(obeyed(folder));
    let Some(repository) = repository else { return };
    if repository != folder {
        access.readable.push(repository.to_owned());
        access.protected.extend(obeyed(repository));
    }
    let git = repository.join(".git");
    access.readable.extend(host_git::folders_of(&git));
    access.repositories.push(git);
}

/// The files and folders of this one that shells, version control and the host itself obey.
fn obeyed(folder: &Path) -> impl Iterator<Item = PathBuf> {
    OBEYED.iter().chain(SHELL_FILES).map(|name| folder.join(name))
}

/// Returns what nobody is asked about, each also as what it leads to.
pub fn never_offered(home: Option<&Path>, folders: &Folders) -> Vec<PathBuf> {
    let of_home =
        home.into_iter().flat_map(|home| obeyed(home).chain(NEVER_OFFERED.iter().map(|name| home.join(name))));
    let named: Vec<PathBuf> = folders.unchangeable().into_iter().chain(of_home).collect();
    // The home can be a link, too.
    let mut paths = RealPaths::default();
    let real: Vec<PathBuf> =
        named.iter().filter_map(|path| paths.real_beginning(path).filter(|real| real != path)).collect();
    named.into_iter().chain(real).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confinement_of_hooks_and_servers_takes_no_git_over_ssh() {
        let check = |server: &str| check_without_ssh(&["a.io".to_owned(), server.to_owned()], "hooks");
        assert!(check("b.io:22").is_ok());
        let failure = check("ssh://git@b.io").expect_err("it is not for hooks");
        assert_eq!(failure.to_string(), "`net` of [hooks] cannot be used: `ssh://git@b.io` is not supported there");
    }

    #[test]
    fn confinement_of_a_named_program_lets_it_read_what_it_is_made_of_and_no_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        let home = root.join("home");
        for path in
            ["tools/node_modules/.bin", "tools/node_modules/a/dist/node_modules/b", "env/bin", "home/.ssh", "one"]
        {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        let (script, bin) = ("tools/node_modules/a/dist/x.js", "tools/node_modules/.bin/x");
        for path in [script, "env/bin/y", "env/pyvenv.cfg", "home/z", "home/.ssh/id", "one/w"] {
            fs::write(root.join(path), "").expect("written");
        }
        std::os::unix::fs::symlink(root.join(script), root.join(bin)).expect("linked");
        let never = [home.join(".ssh")];
        let named = |path: &str| {
            let words = ["node".to_owned(), root.join(path).display().to_string()];
            let found = named_by(&words, Some(&home), &never);
            let names = found.iter().map(|path| path.strip_prefix(&root).expect("beneath").display().to_string());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(named(bin), format!("{script} tools/node_modules/a/dist tools/node_modules"));
        assert_eq!(named("env/bin/y"), "env/bin/y env/bin env");
        assert_eq!(named("one/w"), "one/w one");
        assert_eq!(named("home/z"), "home/z", "the home is more than a program");
        assert_eq!(named("home/.ssh/id"), "");
        assert_eq!(named("none"), "");
    }

    // promise folders.added
    #[test]
    fn confinement_added_folder_is_writable_without_what_is_obeyed_and_never_with_secrets() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        for path in ["home/.git", "home/src/.git", "home/docs"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        let home = root.join("home");
        let access = ProgramAccess { never_offered: vec![home.join(".ssh")], ..ProgramAccess::default() };
        let added = |folders: &[PathBuf]| with_added(access.clone(), folders);
        let src = added(&[home.join("src")]);
        assert!(src.writable.contains(&home.join("src")) && src.repositories == [home.join("src/.git")]);
        // The repository around it was not added, and neither is a home with its keys.
        let docs = added(&[home.join("docs")]);
        assert_eq!((docs.writable, docs.repositories), (vec![home.join("docs")], Vec::new()));
        let all = added(std::slice::from_ref(&home));
        assert_eq!((all.writable, all.readable), (Vec::<PathBuf>::new(), Vec::new()));
    }
}
