//! The first stage of an application: the folder, its project, the settings and the rules.
//!
//! Promises: nothing is run, and no plugin, hook or skill is read. Deliberately not here: what there is to use
//! (`catalog`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_extensions::grants;
use host_extensions::plugins::settings::PluginSettings;
use host_plugin::{CompileOptions, ProgramAccess};
use host_settings::configuration::{Configuration, Owner};
use host_settings::confinement::{self, program_access, program_walls};
use host_settings::denied_files::DeniedFiles;
use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::folder;
use host_settings::mcp::McpConnector;
use host_settings::policies::{self, Policies};
use host_settings::project::{Project, ProjectFiles};
use host_settings::request::{AccessRequest, FolderRequest};
use host_text::{Notice, Wording};
use host_tool::{ApprovalMode, Policy};

/// What an application is opened for.
pub struct Opening<'a> {
    /// The folder to work in.
    pub place: &'a FolderRequest,
    /// The access that the user asked for.
    pub access: &'a AccessRequest,
    /// The project, whose trust was decided.
    pub project: Project,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// What loads plugins and connects MCP servers.
    pub tooling: &'a Tooling,
}

/// What loads plugins and connects MCP servers.
#[derive(Clone, Default)]
pub struct Tooling {
    /// How components are compiled.
    pub compile: CompileOptions,
    /// Connects MCP servers; `None` if this frontend uses none.
    pub connector: Option<Arc<dyn McpConnector>>,
    /// The terms of the frontend, for helps in the outcomes of calls.
    pub wording: Wording,
}

/// The folder, its project with its trust, the settings and the rules.
pub struct Opened {
    pub(super) environment: Environment,
    pub(super) folders: Folders,
    pub(super) configuration: Configuration,
    pub(super) access: AccessRequest,
    pub(super) place: FolderRequest,
    pub(super) project: Project,
    /// The files of the project, if it is trusted.
    pub(super) files: ProjectFiles,
    /// The folder to work in.
    pub(super) root: PathBuf,
    pub(super) settings: PluginSettings,
    pub(super) policy: Policy,
    pub(super) denied: DeniedFiles,
    /// What programs may touch, before skills and added folders.
    pub(super) programs: ProgramAccess,
    pub(super) tooling: Tooling,
}

impl Opened {
    /// Reads them, with the files of the project if it is trusted. `notice` gets what the user should know.
    ///
    /// # Errors
    ///
    /// If the folder, a configuration file or a rule is invalid.
    pub fn read(opening: Opening<'_>, notice: &(dyn Fn(&Notice) + Sync)) -> Result<Self, Failure> {
        let Opening { place, access, project, environment, tooling } = opening;
        let folders = environment.folders()?;
        let files = project.files();
        let configuration = Configuration::read(environment, &folders, files.configuration.as_ref())?;
        let Policies { policy, notes } = policies::read(&folders, &files.policies)?;
        notes.iter().for_each(|note| notice(&note.into()));
        let root = folder::work_in(place, &folders)?;
        let settings = PluginSettings::read(&configuration, environment)?;
        let mode = grants::approval_mode(access, configuration.approval_mode());
        let denied = DeniedFiles::read(&configuration.deny, access, &root, environment)?;
        let walls = denied.walls(program_walls(&configuration.confine, access.confine, mode)?);
        let host = tooling.compile.program.as_deref();
        let mut programs = program_access(&configuration.confine, walls, &root, (environment, &folders), host);
        programs.shown = denied.left_to_programs();
        let listing = readable_to_list_tools(&configuration, environment.home(), &folders, &programs);
        programs.readable.extend(listing);
        if mode == ApprovalMode::Auto && !walls.are_complete() {
            let unconfined = "this machine cannot confine programs, so you are asked before each; ";
            notice(&Notice::from(unconfined).command("doctor").text(" says why"));
        }
        Ok(Self {
            environment: environment.clone(),
            folders,
            configuration,
            access: access.clone(),
            place: place.clone(),
            project,
            files,
            root,
            settings,
            policy,
            denied,
            programs,
            tooling: tooling.clone(),
        })
    }
}

/// Returns what programs read besides so that the commands run that list and call tools.
fn readable_to_list_tools(
    configuration: &Configuration,
    home: Option<&Path>,
    folders: &Folders,
    programs: &ProgramAccess,
) -> Vec<PathBuf> {
    match configuration.commands() {
        Some(commands) if commands.owner == Owner::User => [&commands.discovery, &commands.call]
            .into_iter()
            .flat_map(|command| confinement::named_by(command, home, &programs.never_offered))
            .collect(),
        // The copy of the bytes that were trusted.
        Some(_) => vec![folders.programs.clone()],
        None => Vec::new(),
    }
}
