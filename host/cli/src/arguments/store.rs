//! Arguments of the commands that install, list, push and pull plugins.

use std::path::PathBuf;

use clap::Args;
use host_bundle::OciDigest;

use super::Place;

#[derive(Debug, Args)]
#[command(after_help = "SOURCE is a bundle in a registry (REGISTRY/REPOSITORY[:TAG][@DIGEST]), a file or folder, \
an https address with --digest, or PUBLISHER/NAME[@VERSION] of an index that you configured. A key that \
you trust for the plugin's publisher must have signed it: `host keys trust`. host shows what the plugin \
may touch and asks you; your answer is stored with its digest, and a new version asks only about what is \
new. Without SOURCE, exactly the plugins of the project's .host/plugins.lock are installed.

Examples:
  host plugin install ghcr.io/acme/fetch:1.2.0
  host plugin install acme/fetch                                   # from an index
  host plugin install acme+fetch-1.2.0.tar --user
  host plugin install https://example.com/fetch.tar --digest sha256:…
  host plugin install ghcr.io/acme/fetch --yes                     # ask before each call
  host plugin install ghcr.io/acme/fetch --grant http=example.com  # except for these
  host plugin install                                              # what the project lists")]
pub(crate) struct Install {
    /// Where the bundle is
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// Install for all projects, not only for this one
    #[arg(long)]
    pub(crate) user: bool,
    /// Install without asking; calls that are not granted are asked about later
    #[arg(long)]
    pub(crate) yes: bool,
    /// Allow this without asking; CAPABILITY alone means all that it requests
    #[arg(long, value_name = "CAPABILITY[=SCOPE]")]
    pub(crate) grant: Vec<String>,
    /// Install it without a trusted signature; it is listed as unsigned
    #[arg(long)]
    pub(crate) allow_unsigned: bool,
    /// Install a version older than the installed one
    #[arg(long)]
    pub(crate) allow_downgrade: bool,
    /// Install a version that is signed by other keys than the installed one
    #[arg(long)]
    pub(crate) allow_other_signers: bool,
    /// Install it only if this is its digest
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<OciDigest>,
    /// Use an index that is older than one seen before
    #[arg(long)]
    pub(crate) allow_older_index: bool,
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
    /// Remove it from your own list, not from this project's
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
#[command(after_help = "The login is Docker's (`docker login REGISTRY`): from ~/.docker/config.json or its helper.

Without TAG, the tag is the version, and a release is also `latest` unless a newer one has it.

Examples:
  host plugin push acme+fetch-1.2.0.tar ghcr.io/acme/fetch          # 1.2.0 and latest
  host plugin push acme+fetch-1.2.0.tar localhost:5000/acme/fetch:testing")]
pub(crate) struct Push {
    /// The bundle
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// REGISTRY/REPOSITORY[:TAG]
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Checks the bundle, not its signatures; for those, run `host plugin verify FILE`.

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
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "The newest version comes first, with its tags and its digest, as the registry has them.

Examples:
  host plugin versions ghcr.io/acme/fetch
  host plugin versions ghcr.io/acme/fetch --json | jq -r '.[0].digest'")]
pub(crate) struct Versions {
    /// REGISTRY/REPOSITORY
    #[arg(value_name = "REPOSITORY")]
    pub(crate) reference: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
