//! Git over ssh from behind the walls: which servers a program may use, and the user's ssh that is started for it.
//!
//! Promises: nothing is started before the user, a rule or a setting allowed the server, the user on it and the
//! direction; the ssh is the user's own, found in no folder that programs can change, and does not start in one; it
//! ends with the program.
//!
//! Deliberately not here: what a request may be, and the arguments of ssh (`host-process`). Where ssh leads with a
//! name, the user's own settings of ssh decide.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_capability::{GitDirection, GitRemote, ProcessPermit};
use host_git::{names_ssh_command, users_ssh_command};
use host_process::{GitRequest, GitService, NotConnected, SshStreams};
use host_programs::ProgramAccess;
use tokio::sync::Semaphore;

use super::connect::{Doors, PATIENCE, Refused, addresses_of};
use crate::addresses::{Unresolved, resolve};
use crate::shared::Shared;

/// The most that run at once for one program; others wait. Protects the user's machine.
const MOST: usize = 8;

/// Variables that name the ssh that git starts.
const COMMAND: &str = "GIT_SSH_COMMAND";
const PROGRAM: &str = "GIT_SSH";

/// The variable by which git says which version of its protocol it speaks.
const PROTOCOL: &str = "GIT_PROTOCOL";

/// The program of OpenSSH, whose options are used.
const SSH: &str = "ssh";

/// The way to the user's ssh for one program.
#[derive(Clone)]
pub(crate) struct SshDoor {
    client: PathBuf,
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
}

impl SshDoor {
    /// Opens it for a program that starts in a folder with these variables; `None` if they or the repository there name
    /// another ssh, which the program starts itself then.
    pub(crate) fn new<'v>(
        shared: &Arc<Shared>,
        access: &ProgramAccess,
        directory: &Path,
        mut variables: impl Iterator<Item = &'v OsStr>,
    ) -> Option<Self> {
        let client = access.ssh_client.clone()?;
        let has_other = variables.any(|name| name == COMMAND || name == PROGRAM)
            || names_ssh_command(directory, access.home.as_deref());
        let places = || Arc::new(Semaphore::new(MOST));
        (!has_other).then(|| Self { client, shared: Arc::clone(shared), places: places() })
    }

    /// The program that git starts, which it must be able to read.
    pub(crate) fn client(&self) -> &Path {
        &self.client
    }
}

/// Starts the user's ssh for a request, if the program may make it.
pub(super) async fn start(
    mut permits: Vec<ProcessPermit>,
    doors: Arc<Doors>,
    door: SshDoor,
    request: GitRequest,
) -> Result<SshStreams, NotConnected> {
    // By the service and not by the user's words: what git may send is decided by what runs there.
    let direction = match request.service() {
        GitService::UploadPack | GitService::UploadArchive => GitDirection::Fetch,
        GitService::ReceivePack => GitDirection::Push,
    };
    let remote = GitRemote::new(request.user(), request.host(), request.port(), direction);
    let remote = remote.ok_or_else(|| NotConnected::Unreachable("this is not the name of a server".to_owned()))?;
    let does = match direction {
        GitDirection::Fetch => "fetch from",
        GitDirection::Push => "send to",
    };
    let does = format!("{does} `{}` over ssh", remote.at());
    // Checked again after each answer, which may cover only a part of what is wanted.
    loop {
        match check(&permits, &remote).await {
            Ok(()) => break,
            Err(Refused::Other(why)) => return Err(why),
            Err(Refused::Ungranted(wanted)) => doors.ask(&mut permits, &wanted, &does).await?,
        }
    }
    let failed = |why: String| NotConnected::Unreachable(format!("ssh does not start: {why}"));
    // Bounded: each is a process of the user's, outside of all walls.
    let place = Arc::clone(&door.places).acquire_owned().await.map_err(|error| failed(error.to_string()))?;
    let command = command(&door.shared, &request).map_err(failed)?;
    // Without walls, since it needs the user's keys; so nothing of it comes from the program but checked parts.
    let process = host_process::start(&command, None, None);
    let mut process = process.map_err(|error| failed(error.to_string()))?;
    doors.kept_from.started_ssh();
    Ok(SshStreams {
        input: process.input.take(),
        output: process.output.take(),
        errors: process.errors.take(),
        ended: Box::pin(async move {
            let _place = place;
            let ended = process.wait().await;
            process.end();
            ended
        }),
    })
}

/// Says that one of the permits covers the use of a remote, as far as its name shows where it leads. A name that cannot
/// be looked up is one of the user's own settings of ssh.
async fn check(permits: &[ProcessPermit], remote: &GitRemote) -> Result<(), Refused> {
    let server = remote.server();
    let permits: Vec<_> = permits.iter().filter_map(|permit| permit.permit_git(remote).ok()).collect();
    if permits.is_empty() {
        let reach = if server.is_plainly_private() { " +private" } else { "" };
        return Err(Refused::Ungranted(format!("{remote}{reach}")));
    }
    let resolving = resolve(server.host(), server.port(), addresses_of(&permits));
    match tokio::time::timeout(PATIENCE, resolving).await {
        Ok(Err(Unresolved::Denied(_))) => Err(Refused::Ungranted(format!("{remote} +private"))),
        // ssh resolves it again; the key of the server, which must be known, holds it to the same one.
        Ok(Ok(_) | Err(Unresolved::Unknown(_))) | Err(_) => Ok(()),
    }
}

/// Says that no program of a call can change the user's settings of ssh, which name programs that ssh runs.
fn check_settings(home: Option<&Path>, writable: &[PathBuf]) -> Result<(), String> {
    let Some(home) = home else { return Ok(()) };
    let places = [".ssh", ".ssh/config"].map(|name| home.join(name));
    match places.iter().find(|place| !is_far(place, writable)) {
        Some(place) => Err(format!(
            "`{}` lies in a folder that programs can change, and names programs that ssh runs",
            host_text::exact(&place.to_string_lossy())
        )),
        None => Ok(()),
    }
}

/// Whether a file is in none of these folders, also behind links.
fn is_far(file: &Path, folders: &[PathBuf]) -> bool {
    let real = file.canonicalize();
    let paths = [Some(file), real.as_deref().ok()];
    !paths.into_iter().flatten().any(|path| folders.iter().any(|folder| path.starts_with(folder)))
}

/// Returns the user's ssh for a request, as git would start it in no repository.
fn command(shared: &Shared, request: &GitRequest) -> Result<host_process::Command, String> {
    // What programs may change by now, whatever it was when this one started.
    let access = shared.access.now();
    let (home, writable) = (access.programs.home.as_deref(), &access.programs.writable);
    // If a program can change the user's settings of ssh, they name commands that it chose.
    check_settings(home, writable)?;
    // Without folders of the workspace in `PATH`, which could have an `ssh`.
    let variables = shared.variables.without_walls(writable);
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        found.and_then(|value| value.to_str()).filter(|value| !value.is_empty())
    };
    // In git's own order: the variable, the setting, the program.
    let named = variable(COMMAND).map(str::to_owned);
    let named = named.or_else(|| {
        let settings = variable("XDG_CONFIG_HOME").map(Path::new).filter(|path| path.is_absolute());
        users_ssh_command(home?, settings, writable)
    });
    // `GIT_SSH` is a path and no line, so it is quoted.
    let named = named.or_else(|| variable(PROGRAM).map(|program| format!("'{}'", program.replace('\'', r"'\''"))));
    let arguments = request.arguments().into_iter().map(OsString::from);
    let (program, arguments) = match named.filter(|named| named != SSH) {
        Some(named) => {
            let program = named.split_whitespace().next().unwrap_or_default().trim_matches(['\'', '"']);
            // Other programs take other options, and `-o` could mean anything there.
            if Path::new(program).file_name() != Some(OsStr::new(SSH)) {
                return Err(format!("not supported: git's ssh is `{}`. Use OpenSSH's `ssh`", host_text::exact(&named)));
            }
            let shell = host_process::shell().ok_or("this machine has no shell for `core.sshCommand`")?;
            // The arguments stay words of their own, whatever they contain.
            let line = [OsString::from("-c"), format!("{named} \"$@\"").into(), named.into()];
            let first = shell.arguments.iter().cloned().chain(line);
            (shell.program.clone().into(), first.chain(arguments).collect())
        }
        None => {
            let folders = variable("PATH").map(std::env::split_paths).into_iter().flatten();
            // Files that programs can change are passed over, and not taken with a warning.
            let program = folders.map(|folder| folder.join(SSH)).find(|file| file.is_file() && is_far(file, writable));
            let program = program.ok_or("there is no `ssh` in `PATH`")?;
            (program.into(), arguments.collect())
        }
    };
    let own = |name: &OsStr| name == PROTOCOL || name == COMMAND || name == PROGRAM;
    let protocol = request.protocol().map(|protocol| (OsString::from(PROTOCOL), OsString::from(protocol)));
    Ok(host_process::Command {
        program,
        arguments,
        // ssh reads nothing here; a folder of the workspace could have a file that something obeys.
        directory: PathBuf::from("/"),
        environment: variables.iter().filter(|(name, _)| !own(name)).cloned().chain(protocol).collect(),
        input: host_process::Input::Pipe,
    })
}
