//! Arguments of the commands that make and search indexes of plugins.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Each word has to be in a plugin's name, description or tools. An index is configured in your own \
config.toml, with the key of its publisher:

  [indexes.acme]
  source = \"https://example.com/plugins/index.json\"
  keys = [\"RW…\"]

What is found grants nothing: `host plugin install` checks the bundle by the keys that you trust for plugins.

Examples:
  host plugin search fetch pages
  host plugin search --json | jq '.[] | select(.trusted) | .name'
  host plugin install acme/fetch"
)]
pub(crate) struct Search {
    /// The words; without one, everything is listed
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Use an index that is older than one seen before
    #[arg(long)]
    pub(crate) allow_older_index: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each bundle must be signed by a key that you trust for it. The signature is written beside the index, \
with the name of the index and `.minisig`: publish both, on any web server, or in a registry with --push. \
`host schema plugin-index` prints the JSON Schema of an index.

Examples:
  host plugin index bundles --name acme --key acme.key
  host plugin index bundles --key acme.key --base https://example.com/plugins
  host plugin index bundles --key acme.key --base ghcr.io/acme --push ghcr.io/acme/index"
)]
pub(crate) struct Index {
    /// The folder with the bundles, whose names end in .tar
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The secret key that signs the index
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// A file whose first line is the key's password, instead of asking for it
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// The name of the index [default: the one that it has]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where users get the bundles: the https address of a folder, or REGISTRY/PATH before each plugin's name [default:
    /// beside the index]
    #[arg(long, value_name = "PLACE")]
    pub(crate) base: Option<String>,
    /// The number of this edition [default: one more than that of the edition which it replaces]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) serial: Option<u64>,
    /// The file to write [default: index.json in FOLDER]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Push it to a registry, too: REGISTRY/REPOSITORY[:TAG]
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) push: Option<String>,
}
