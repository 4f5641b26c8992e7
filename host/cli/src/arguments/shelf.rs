//! What can be said of plugins that others made, and of the registries that have them.

use std::path::PathBuf;

use clap::Args;
use host_bundle::OciDigest;

use super::Place;

#[derive(Debug, Args)]
#[command(after_help = "SOURCE is a bundle in a registry (REGISTRY/REPOSITORY[:TAG][@DIGEST]), a file or folder, or
an https address with --digest. A key that you trust for the plugin's publisher has to have
signed it: `host keys trust`. You are shown what it may touch, and asked; what was agreed to is
kept by its digest, and a new version asks about what is new alone. Without SOURCE the plugins
of the project's .host/plugins.lock are installed, to the byte.

Examples:
  host plugin install ghcr.io/acme/fetch:1.2.0
  host plugin install acme+fetch-1.2.0.tar --user
  host plugin install https://example.com/fetch.tar --digest sha256:…
  host plugin install ghcr.io/acme/fetch --yes                     # each call will be asked about
  host plugin install ghcr.io/acme/fetch --grant http=example.com  # but for these
  host plugin install                                              # what the project lists")]
pub(crate) struct Install {
    /// Where the bundle is
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// For all that you work on, and not for this project alone
    #[arg(long)]
    pub(crate) user: bool,
    /// Install it without a question; each of its calls that is not granted is asked about
    #[arg(long)]
    pub(crate) yes: bool,
    /// Let it do this without asking; CAPABILITY alone is what it asks for
    #[arg(long, value_name = "CAPABILITY[=SCOPE]")]
    pub(crate) grant: Vec<String>,
    /// Take it though nobody whom you trust has signed it; it is shown as unsigned from then on
    #[arg(long)]
    pub(crate) allow_unsigned: bool,
    /// Take a version that is older than the one that is there
    #[arg(long)]
    pub(crate) allow_downgrade: bool,
    /// Take a version that others have signed than the one that is there
    #[arg(long)]
    pub(crate) allow_other_signers: bool,
    /// Take it only when this is its digest
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<OciDigest>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  host plugin remove acme/fetch
  host plugin remove acme/fetch --user")]
pub(crate) struct Remove {
    /// The plugin, as PUBLISHER/NAME
    #[arg(value_name = "PLUGIN")]
    pub(crate) plugin: String,
    /// Of all that you work on, and not of this project
    #[arg(long)]
    pub(crate) user: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  host plugin list
  host plugin list --json | jq '.[] | select(.unsigned)'")]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The login is Docker's (`docker login REGISTRY`): of ~/.docker/config.json, or what it says helps.

Examples:
  host plugin push acme+fetch-1.2.0.tar ghcr.io/acme/fetch          # under the tag 1.2.0
  host plugin push acme+fetch-1.2.0.tar localhost:5000/acme/fetch:latest"
)]
pub(crate) struct Push {
    /// The bundle
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// REGISTRY/REPOSITORY[:TAG]
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: String,
}

#[derive(Debug, Args)]
#[command(after_help = "The bundle is checked, and not who signed it: `host plugin verify FILE` says that.

Examples:
  host plugin pull ghcr.io/acme/fetch:1.2.0
  host plugin pull ghcr.io/acme/fetch@sha256:… --out fetch.tar")]
pub(crate) struct Pull {
    /// REGISTRY/REPOSITORY[:TAG][@DIGEST]
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: String,
    /// The file [default: PUBLISHER+NAME-VERSION.tar]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long)]
    pub(crate) force: bool,
}
