//! Arguments of `host plugin dev`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Each round builds (as `host plugin build`), runs the cases (as `host plugin test`) and says what
changed for users of the plugin. Saving a file begins the next; when cases alone changed, they
alone are run again. What is built and passes its cases goes to --out, whole; while sources do not
build or a case fails, what was there before stays, and watching continues.

Not watched are hidden files, what .gitignore leaves out, and what builds write (--out, target,
build, node_modules, …). Ctrl-C ends it, and that is its normal end: the exit code is 0. It is 42
when there is nothing to watch.

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
    /// Where the components and their manifests go [default: FOLDER/dist]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run the cases with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
}
