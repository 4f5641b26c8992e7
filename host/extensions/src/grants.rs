//! The user's grants: the approval mode, `--grant`, `--deny` and `--add-dir`.
//!
//! Promises: a plugin is granted nothing that its manifest does not request; in a mode that only reads, nothing but
//! reading. Deliberately not here: deciding about a single path or address.

use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, PluginName, Scope, ScopeError};
use host_files::RealPaths;
use host_plugin::{Access, AllowedFiles, ProgramAccess, ProgramWalls};
use host_settings::configuration::Preference;
use host_settings::confinement::{self, SHELL_FILES};
use host_settings::denied_files::DeniedFiles;
use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::models::saved;
use host_settings::outside::Outside;
use host_settings::request::AccessRequest;
use host_text::{Advice, excerpt};
use host_tool::ApprovalMode;

use crate::plugins::{LoadedPlugin, PluginOrigin};

/// Files and folders that no tool may change, whatever was granted or approved, besides [`SHELL_FILES`]: those of
/// version control, of the host, and of another shell.
const NEVER_WRITTEN: &[&str] = &[".git", ".hg", ".jj", ".svn", ".host", "**/fish/config.fish", "**/fish/conf.d"];

/// The longest scope of a plugin that is shown, in characters.
const SHOWN_SCOPE: usize = 200;

/// The grants that the user gave, for all plugins.
#[derive(Clone, Debug)]
pub struct UserGrants {
    mode: ApprovalMode,
    /// Whether they are for a review, which changes nothing.
    is_review: bool,
    /// The walls around programs, on which the mode `auto` rests.
    walls: ProgramWalls,
    /// Everything but protected files.
    writable: Scope,
    own: OwnFiles,
    by_mode: Grants,
    /// The folder of the session's large outputs, which every plugin that reads may read. It is among the host's own
    /// files.
    outputs: Option<Scope>,
    grants: Vec<(PluginName, Scope)>,
    denies: Vec<Deny>,
    /// Folders besides the workspace that are read and changed like it: absolute, without links.
    added: Vec<PathBuf>,
    outside: Outside,
    /// What the user lets tools read besides until the session ends.
    reads: AllowedFiles,
    /// What the user lets tools change besides until then.
    writes: AllowedFiles,
}

/// The host's own files, which no tool may read, whatever was granted or approved: saved keys, what was typed, the logs
/// of all sessions and the key that verifies them.
#[derive(Clone, Debug)]
struct OwnFiles {
    each: Vec<Scope>,
    /// Everything else.
    others: Scope,
    /// Everything but the file with the key that the user saved.
    without_key: Scope,
}

/// The plugins that a deny is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DeniedTo {
    /// `*`: each of them.
    Every,
    One(PluginName),
}

impl DeniedTo {
    /// Whether a plugin with this name is one of them.
    fn covers(&self, name: &PluginName) -> bool {
        match self {
            Self::Every => true,
            Self::One(denied) => denied == name,
        }
    }
}

#[derive(Clone, Debug)]
struct Deny {
    plugin: DeniedTo,
    capability: Capability,
    /// The paths that are left; `None` denies the whole capability.
    paths: Option<Scope>,
}

impl UserGrants {
    /// Reads the flags, and checks them against the plugins.
    ///
    /// # Errors
    ///
    /// If a flag is invalid, names an unknown plugin, or grants what its plugin does not request.
    pub fn read(
        (access, configured, denied): (&AccessRequest, Preference<ApprovalMode>, &DeniedFiles),
        plugins: &[LoadedPlugin],
        workspace: &Path,
        (own, environment): (&Folders, &Environment),
        programs: &ProgramAccess,
    ) -> Result<Self, Failure> {
        let (walls, outside) = (programs.walls, Outside::new(environment, own, &programs.never_offered)?);
        let added = access.add_dir.iter().map(|folder| outside.folder(folder)).collect::<Result<_, _>>()?;
        let mode = approval_mode(access, configured);
        let grants = access.grant.iter().map(|text| grant(text, plugins, workspace)).collect::<Result<_, _>>()?;
        let flags = access.deny.iter().map(|text| deny(text, plugins, workspace));
        let of_all = |scope: &Scope| Deny {
            plugin: DeniedTo::Every,
            capability: scope.capability(),
            paths: Some(scope.clone()),
        };
        let denies = denied.left_to_tools().map(|scope| Ok(of_all(scope))).chain(flags).collect::<Result<_, _>>()?;
        Ok(Self {
            mode,
            is_review: false,
            walls,
            writable: writable(own, plugins)?,
            own: OwnFiles::new(own)?,
            by_mode: by_mode(mode, walls, workspace)?,
            outputs: None,
            grants,
            denies,
            added,
            reads: outside.reads(),
            writes: outside.writes(workspace),
            outside,
        })
    }

    /// The folders that were added to the workspace.
    pub fn added(&self) -> &[PathBuf] {
        &self.added
    }

    /// Returns what calls may touch by these, besides the grants of their plugins. `programs` is what programs may
    /// touch without the added folders.
    pub fn access(&self, programs: &ProgramAccess) -> Access {
        Access {
            programs: confinement::with_added(programs.clone(), &self.added),
            added: self.added.clone(),
            reads: self.reads.clone(),
            writes: self.writes.clone(),
        }
    }

    /// What the user lets tools read outside of the workspace until the session ends.
    pub fn reads(&self) -> &AllowedFiles {
        &self.reads
    }

    /// Returns these grants for a new conversation: what was allowed for the last one is not allowed in it.
    pub fn renewed(self) -> Self {
        Self { reads: self.reads.renewed(), writes: self.writes.renewed(), ..self }
    }

    /// The same with another folder, in the user's words, and that folder.
    ///
    /// # Errors
    ///
    /// If it is not a folder, or one that is never added.
    pub fn with_folder(mut self, text: &str) -> Result<(Self, PathBuf), Failure> {
        let folder = self.outside.folder(text)?;
        if !self.added.contains(&folder) {
            self.added.push(folder.clone());
        }
        Ok((self, folder))
    }

    /// Returns these grants without this folder, which was added.
    pub fn without_folder(mut self, folder: &Path) -> Self {
        self.added.retain(|added| added != folder);
        self
    }

    /// The same for a session whose large outputs are in this folder: every plugin that reads may read it.
    pub fn reading_outputs(self, folder: &Path) -> Result<Self, Failure> {
        let scope = Scope::for_path(Capability::FsRead, folder).map_err(|error| {
            Failure::configuration(format!("cannot grant the folder `{}`", folder.display())).cause(error.to_string())
        })?;
        Ok(Self { outputs: Some(scope), ..self })
    }

    /// The part of a folder that the host itself may read for a model: all of it, without what is denied to every
    /// plugin.
    pub fn readable_by_host(&self, folder: &Path) -> Option<Grants> {
        let whole = Scope::for_path(Capability::FsRead, folder).ok()?;
        let denies =
            self.denies.iter().filter(|deny| deny.plugin == DeniedTo::Every && deny.capability == Capability::FsRead);
        let left = denies.into_iter().try_fold(whole, |scope, deny| scope.meet(deny.paths.as_ref()?))?;
        Some(Grants::none().with(self.own.kept_from_host(&left)?))
    }

    /// Whether any file is denied to any plugin that is not hidden from programs, too.
    pub fn denies_reading(&self) -> bool {
        let is_hidden = |deny: &Deny| deny.plugin == DeniedTo::Every && deny.paths.is_some();
        self.denies.iter().any(|deny| deny.capability == Capability::FsRead && !is_hidden(deny))
    }

    /// The same in another mode.
    ///
    /// # Errors
    ///
    /// If the mode rests on confined programs, and they are not confined.
    pub fn in_mode(self, mode: ApprovalMode, workspace: &Path) -> Result<Self, Failure> {
        if mode == ApprovalMode::Auto
            && let Some(lacking) = self.walls.lacking()
        {
            let help = Advice::from("stay in `auto-edit`, where you are asked before each; ");
            return Err(Failure::input("the mode `auto` runs programs without asking because they are confined")
                .cause(lacking)
                .help(help.command("doctor").text(" says what is missing")));
        }
        Ok(Self { mode, by_mode: by_mode(mode, self.walls, workspace)?, ..self })
    }

    /// The modes that an answer about a command can switch to: those that the user can have here, with fewer questions
    /// about commands and no weaker walls.
    pub fn switches(&self, workspace: &Path) -> Vec<ApprovalMode> {
        let asks = !self.is_review && matches!(self.mode, ApprovalMode::Default | ApprovalMode::AutoEdit);
        let is_possible = asks && self.clone().in_mode(ApprovalMode::Auto, workspace).is_ok();
        is_possible.then_some(ApprovalMode::Auto).into_iter().collect()
    }

    /// The modes in which an approved plan can be carried out.
    pub fn plan_modes(&self, workspace: &Path) -> Vec<ApprovalMode> {
        let modes = [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Auto];
        modes.into_iter().filter(|mode| self.clone().in_mode(*mode, workspace).is_ok()).collect()
    }

    /// The same for a review, which changes nothing: in the mode `default` at most, tools read, and an approval can let
    /// a program run and nothing else.
    ///
    /// # Errors
    ///
    /// Those of [`UserGrants::in_mode`].
    pub fn for_review(self, workspace: &Path) -> Result<Self, Failure> {
        let mode = self.mode.min(ApprovalMode::Default);
        Ok(Self { is_review: true, ..self.in_mode(mode, workspace)? })
    }

    /// The same with these plugins.
    pub fn with_plugins(self, plugins: &[LoadedPlugin], own: &Folders) -> Result<Self, Failure> {
        Ok(Self { writable: writable(own, plugins)?, ..self })
    }

    /// The mode.
    pub fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// Returns what a plugin may touch without asking: its requests, as far as they were granted.
    pub fn granted_to(&self, plugin: &LoadedPlugin) -> Grants {
        let name = plugin.name();
        let mut granted = self.by_mode.join(&plugin.agreed);
        // As in the workspace: what a mode lets be done to it goes for these, too.
        for scope in self.added.iter().flat_map(|folder| self.outside.scopes(folder)) {
            if self.by_mode.has(scope.capability()) {
                granted = granted.with(scope);
            }
        }
        // What the tools of the host call passes the same gate as what the model calls.
        if let (PluginOrigin::BuiltIn(_), Some(tools)) =
            (&plugin.origin, plugin.plugin.declared().scope(Capability::Tools))
        {
            granted = granted.with(tools.clone());
        }
        for (_, scope) in self.grants.iter().filter(|(wanted, _)| wanted == name) {
            granted = granted.with(scope.clone());
        }
        let outputs: Grants = self.outputs.iter().cloned().collect();
        let granted = self.bounded(granted, plugin).join(&outputs.meet(plugin.plugin.declared()));
        if self.is_review { granted.reading() } else { granted }
    }

    /// The most that an approval can let a plugin touch.
    pub fn ceiling_of(&self, plugin: &LoadedPlugin) -> Grants {
        let ceiling = self.bounded(plugin.plugin.declared().clone(), plugin);
        if !self.is_review {
            return ceiling;
        }
        let programs = ceiling.iter().filter(|scope| scope.capability() == Capability::Process).cloned();
        ceiling.reading().join(&programs.collect())
    }

    /// The grants within what the plugin requests, without what is denied or protected; reading alone in a mode that
    /// only reads.
    fn bounded(&self, mut granted: Grants, plugin: &LoadedPlugin) -> Grants {
        for deny in self.denies.iter().filter(|deny| deny.plugin.covers(plugin.name())) {
            granted = granted
                .iter()
                .filter_map(|scope| match (&deny.paths, scope.capability() == deny.capability) {
                    (_, false) => Some(scope.clone()),
                    (Some(paths), true) => scope.meet(paths),
                    (None, true) => None,
                })
                .collect();
        }
        let unprotected = |scope: &Scope| match scope.capability() {
            Capability::FsWrite => scope.meet(&self.writable),
            Capability::FsRead => self.own.kept_from(scope),
            Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => {
                Some(scope.clone())
            }
        };
        let granted = plugin.reach.as_ref().map_or_else(|| granted.clone(), |reach| granted.meet(reach));
        let effective: Grants = granted.meet(plugin.plugin.declared()).iter().filter_map(unprotected).collect();
        if self.mode == ApprovalMode::Plan { effective.reading() } else { effective }
    }
}

impl OwnFiles {
    fn new(own: &Folders) -> Result<Self, Failure> {
        // As tools' paths are held against them: one need not be there, and its folder may be a link.
        let mut paths = RealPaths::default();
        let mut real: Vec<PathBuf> = own
            .unreadable()
            .into_iter()
            .map(|path| paths.real_beginning(path).unwrap_or_else(|| path.to_owned()))
            .collect();
        real.sort();
        // One in another one goes with it.
        real.dedup_by(|path, before| path.starts_with(before));
        let unprotected = |error: ScopeError| {
            Failure::configuration("the host's own files cannot be protected from tools")
                .cause(error.to_string())
                .help("set XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME to folders with printable names")
        };
        let each = real.iter().map(|path| Scope::for_path(Capability::FsRead, path));
        let all_but = |paths: &[PathBuf]| {
            Scope::all_files_but(Capability::FsRead, &[], paths.iter().map(PathBuf::as_path)).map_err(unprotected)
        };
        let key = saved::path(own);
        let key = paths.real_beginning(&key).unwrap_or(key);
        Ok(Self {
            each: each.collect::<Result<_, _>>().map_err(unprotected)?,
            others: all_but(&real)?,
            without_key: all_but(&[key])?,
        })
    }

    /// The scope that the host reads for a model: the user's own context files are in one of the folders.
    fn kept_from_host(&self, scope: &Scope) -> Option<Scope> {
        match self.each.iter().any(|own| scope.le(own)) {
            true => scope.meet(&self.without_key),
            false => self.kept_from(scope),
        }
    }

    /// The scope without the files; a scope that has none of them stays word for word.
    fn kept_from(&self, scope: &Scope) -> Option<Scope> {
        let touches = |own: &Scope| own.meet(scope).is_some();
        if self.each.iter().any(touches) { scope.meet(&self.others) } else { Some(scope.clone()) }
    }
}

/// The first name in a grant or a deny that no plugin has.
pub fn unknown_plugin<'a>(access: &'a AccessRequest, plugins: &[LoadedPlugin]) -> Option<&'a str> {
    let names = access.grant.iter().chain(&access.deny).filter_map(|text| Some(text.split_once(':')?.0));
    names.into_iter().find(|name| *name != "*" && !plugins.iter().any(|plugin| plugin.name() == *name))
}

/// Everything but protected files, the folders of the host, and the files that plugins were read from: a grant is for
/// the component that the user named, and a conversation reads its file again.
fn writable(own: &Folders, plugins: &[LoadedPlugin]) -> Result<Scope, Failure> {
    let files = plugins.iter().filter_map(|plugin| plugin.origin.file());
    let files = files.map(|component| [component.to_owned(), component.with_extension("json")]);
    // As tools' paths are held against it.
    let files = files.flatten().filter_map(|file| std::fs::canonicalize(file).ok());
    let mut paths = RealPaths::default();
    let own = own.unchangeable().into_iter().flat_map(|path| {
        let real = paths.real_beginning(&path).filter(|real| *real != path);
        real.into_iter().chain([path])
    });
    let never: Vec<PathBuf> = own.chain(files).collect();
    let never = never.iter().map(PathBuf::as_path);
    Scope::all_files_but(Capability::FsWrite, &[NEVER_WRITTEN, SHELL_FILES].concat(), never).map_err(|error| {
        Failure::configuration("the host's own folders and plugins cannot be protected from tools")
            .cause(error.to_string())
            .help(
                "set XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME to folders with printable names, and keep plugins \
                 in such folders",
            )
    })
}

/// Returns the mode that was asked for, or configured.
pub fn approval_mode(access: &AccessRequest, configured: Preference<ApprovalMode>) -> ApprovalMode {
    configured.under(access.approval_mode).value()
}

fn by_mode(mode: ApprovalMode, walls: ProgramWalls, workspace: &Path) -> Result<Grants, Failure> {
    let mut grants = vec![(Capability::FsRead, "."), (Capability::State, "read")];
    if mode >= ApprovalMode::AutoEdit {
        grants.extend([(Capability::FsWrite, "."), (Capability::State, "write")]);
    }
    if mode == ApprovalMode::Auto && walls.are_complete() {
        grants.push((Capability::Process, "*"));
    }
    if mode >= ApprovalMode::Yolo {
        grants.extend([(Capability::Process, "*;net=*:*"), (Capability::Http, "* *:*"), (Capability::Mcp, "*")]);
    }
    grants
        .into_iter()
        .map(|(capability, text)| {
            Scope::parse(capability, text, workspace).map_err(|error| {
                Failure::input(format!("the folder `{}` cannot be granted", workspace.display()))
                    .cause(error.to_string())
            })
        })
        .collect()
}

fn grant(text: &str, plugins: &[LoadedPlugin], workspace: &Path) -> Result<(PluginName, Scope), Failure> {
    let form = || {
        Failure::input(format!("invalid grant `{text}`"))
            .help("write it as PLUGIN:CAPABILITY=SCOPE, such as shell:process=git")
    };
    let (plugin, rest) = text.split_once(':').ok_or_else(form)?;
    let (capability, scope) = rest.split_once('=').ok_or_else(form)?;
    let installed = find(plugin, plugins, text)?;
    let capability = parse_capability(capability, text)?;
    if !installed.plugin.declared().has(capability) {
        return Err(Failure::input(format!(
            "the grant `{text}` has no effect: `{plugin}` does not ask for {capability}"
        ))
        .help(format!("it asks for {}", asked(installed))));
    }
    let scope = Scope::parse(capability, scope, workspace)
        .map_err(|error| Failure::input(format!("invalid grant `{text}`: {error}")).help(error.help()))?;
    let most = installed.plugin.declared().scope(capability);
    if most.is_none_or(|most| most.meet(&scope).is_none()) {
        return Err(Failure::input(format!(
            "the grant `{text}` has no effect: it allows nothing that `{plugin}` asks for"
        ))
        .help(format!("it asks for {capability} {}", most.map_or_else(String::new, held))));
    }
    Ok((installed.name().clone(), scope))
}

fn deny(text: &str, plugins: &[LoadedPlugin], workspace: &Path) -> Result<Deny, Failure> {
    let form = || {
        Failure::input(format!("invalid deny `{text}`"))
            .help("write it as PLUGIN:CAPABILITY, or PLUGIN:fs-read=GLOB for paths; PLUGIN can be `*`")
    };
    let (plugin, rest) = text.split_once(':').ok_or_else(form)?;
    let plugin = match plugin {
        "*" => DeniedTo::Every,
        name => DeniedTo::One(find(name, plugins, text)?.name().clone()),
    };
    let (capability, glob) = rest.split_once('=').map_or((rest, None), |(capability, glob)| (capability, Some(glob)));
    let capability = parse_capability(capability, text)?;
    let paths = match (capability, glob) {
        (_, None) => None,
        (Capability::FsRead | Capability::FsWrite, Some(glob)) => {
            let scope = format!("*,!{glob}");
            Some(
                Scope::parse(capability, &scope, workspace)
                    .map_err(|error| Failure::input(format!("invalid deny `{text}`: {error}")).help(error.help()))?,
            )
        }
        (Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools, Some(_)) => {
            return Err(form());
        }
    };
    Ok(Deny { plugin, capability, paths })
}

fn find<'p>(name: &str, plugins: &'p [LoadedPlugin], text: &str) -> Result<&'p LoadedPlugin, Failure> {
    plugins.iter().find(|plugin| plugin.name() == name).ok_or_else(|| {
        let known = plugins.iter().map(|plugin| plugin.name().as_str());
        let all = Advice::default().command("tool list").text(" lists all plugins");
        let help = Advice::on_name(name, known, all);
        Failure::input(format!("there is no plugin `{name}` for `{text}`")).help(help)
    })
}

fn parse_capability(name: &str, text: &str) -> Result<Capability, Failure> {
    name.parse::<Capability>().map_err(|error| Failure::input(format!("`{text}`: {error}")))
}

/// The scope that a plugin asks for, for a sentence.
fn held(scope: &Scope) -> String {
    format!("`{}`, and no grant gives more", excerpt(&scope.to_string(), SHOWN_SCOPE))
}

fn asked(plugin: &LoadedPlugin) -> String {
    let names: Vec<String> = plugin.plugin.declared().iter().map(|scope| scope.capability().to_string()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
