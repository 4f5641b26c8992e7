//! Arguments of `host plugin dev`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Each round builds (as `host plugin build`), runs the cases (as `host plugin test`) and reports what \
changed for users of the plugin. Saving a file starts the next round; if only cases changed, only they \
are run again. A build that passes its cases replaces the one in --out as a whole; while sources do not \
build or a case fails, the last good build stays there, and watching continues.

Hidden files, files that .gitignore leaves out and build output (--out, target, build, node_modules, …) \
are not watched. Ctrl-C stops it, with exit code 0. The exit code is 42 if there is nothing to watch.

Examples:
  host plugin dev
  host plugin dev my-plugin --out /tmp/try
  host plugin dev --filter \"is denied\"
  host run --plugin dist            # meanwhile, in another terminal: each prompt loads what is new"
)]
pub(crate) struct PluginDev {
    /// The package or workspace
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The folder for the components and their manifests [default: FOLDER/dist]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run only the cases with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
}
