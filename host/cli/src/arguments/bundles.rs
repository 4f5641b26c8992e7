//! Arguments of the commands for bundles and the keys that sign them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use host_bundle::Pattern;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

#[derive(Debug, Args)]
#[command(
    after_help = "A bundle is one file with the component, its manifest, README and licence. The same input gives the \
same bytes. The plugin.toml needs a `description`, and the name PUBLISHER/NAME before it can be signed.

Examples:
  host plugin pack my-plugin                       # build it, and pack what was built
  host plugin build my-plugin --out dist && host plugin pack dist/acme+fetch.wasm
  host plugin pack dist/acme+fetch.wasm --readme my-plugin/README.md --out fetch.tar"
)]
pub(crate) struct Pack {
    /// The plugin: a folder with its plugin.toml, or what `host plugin build --out` made: the .wasm file, or a folder
    /// with one plugin
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The bundle [default: PUBLISHER+NAME-VERSION.tar]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The README [default: README.md beside the plugin.toml or the component, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) readme: Option<PathBuf>,
    /// The licence's text [default: LICENSE beside the plugin.toml or the component, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) license: Option<PathBuf>,
    /// Replace an existing file and the signatures in it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The signature is added to the file; the signed contents do not change, and several keys can sign. It \
has minisign's format: `docs/bundles.md` shows how minisign itself makes and checks one.

Examples:
  host plugin sign acme+fetch-1.2.0.tar --key acme.key
  host plugin sign acme+fetch-1.2.0.tar --key acme.key --password-file /run/secrets/acme
  host plugin sign acme+fetch-1.2.0.tar --signature made-elsewhere.minisig"
)]
pub(crate) struct Sign {
    /// The bundle
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The secret key that signs
    #[arg(long, value_name = "FILE", required_unless_present = "signature")]
    pub(crate) key: Option<PathBuf>,
    /// A file whose first line is the key's password, instead of asking for it
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) password_file: Option<PathBuf>,
    /// Add a signature that was made elsewhere, instead of making one
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub(crate) signature: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  host plugin verify acme+fetch-1.2.0.tar            # by the keys of `host keys list`
  host plugin verify acme+fetch-1.2.0.tar --key acme.pub
  host plugin verify acme+review-1.0.0.tar --files   # what it brings besides tools

Exit codes: 0 signed by a key that is trusted for this plugin, 42 not a bundle, 55 not signed by such a key.")]
pub(crate) struct Verify {
    /// The bundle: a file, or the folder of an OCI image layout
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Check for a signature of this key, trusted or not: the key, or the file with it
    #[arg(long, value_name = "PUB")]
    pub(crate) key: Option<String>,
    /// Also print the texts that it brings: skills, commands, agents and what hooks are asked about
    #[arg(long)]
    pub(crate) files: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The use of a key, in short.
pub(super) const KEYS_HELP: &str =
    "A publisher creates a key once, signs with it, and publishes the .pub file. Users of the publisher's \
plugins trust that key for these plugins only.

Examples:
  host keys generate --out acme.key
  host keys trust acme.pub --for 'acme/*' --expires 2027-12-31
  host keys rotate --key acme.key --to new.pub --out acme.rotation   # made by the publisher
  host keys rotate acme.rotation                                     # applied by the user
  host keys revoke acme.pub --reason 'stolen'
  host keys list";

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a key pair for signing: a secret key in a file that a password protects, and its public key beside it
    #[command(after_help = "Examples:
  host keys generate --out acme.key                  # asks for the password, twice
  host keys generate --out acme.key --password-file /run/secrets/acme

The public key is written to the same name ending in .pub. Both files have minisign's format.")]
    Generate {
        /// The secret key's file, which must not exist yet [default: host.key in your configuration]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// A file whose first line is the password, instead of asking for it
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Trust a key for the plugins of its publisher
    #[command(after_help = "Examples:
  host keys trust acme.pub --for 'acme/*'
  host keys trust RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 --for acme/fetch --expires 2027-12-31")]
    Trust {
        /// The public key, or the file with it
        key: String,
        /// The plugins that it may sign: PUBLISHER/* or PUBLISHER/NAME; may be repeated
        #[arg(long = "for", value_name = "PATTERN", required = true)]
        patterns: Vec<Pattern>,
        /// The date when the trust expires, such as 2027-12-31 (at its beginning, in UTC)
        #[arg(long, value_name = "DATE", value_parser = date)]
        expires: Option<Timestamp>,
    },
    /// Stop trusting a key, for some plugins or for all
    #[command(after_help = "Examples:
  host keys distrust acme.pub --for acme/fetch       # only for this pattern of `host keys list`
  host keys distrust E7620F1842B4E81F                # for all, and the key leaves the list

The key can be trusted again. Use `host keys revoke` for a key that was stolen.")]
    Distrust {
        /// The public key, the file with it, or its id
        key: String,
        /// A pattern that it is trusted for; may be repeated [default: all]
        #[arg(long = "for", value_name = "PATTERN")]
        patterns: Vec<Pattern>,
    },
    /// Replace a key by a new one that the old key signed for; or, as the publisher, make that statement
    #[command(after_help = "Examples:
  host keys rotate --key acme.key --to new.pub --out acme.rotation   # made by the publisher
  host keys rotate acme.rotation                                     # applied by the user")]
    Rotate {
        /// The publisher's statement to apply
        #[arg(value_name = "FILE", required_unless_present = "key", conflicts_with_all = ["key", "to", "out"])]
        statement: Option<PathBuf>,
        /// The old secret key; the statement says that --to replaces it
        #[arg(long, value_name = "FILE", requires = "to")]
        key: Option<PathBuf>,
        /// The new public key, or the file with it
        #[arg(long, value_name = "PUB", requires = "key")]
        to: Option<String>,
        /// The file to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// A file whose first line is the old key's password, instead of asking for it
        #[arg(long, value_name = "FILE", requires = "key")]
        password_file: Option<PathBuf>,
    },
    /// Revoke a key, a bundle or a component permanently
    #[command(after_help = "Examples:
  host keys revoke acme.pub --reason 'stolen'
  host keys revoke E7620F1842B4E81F --reason 'stolen'
  host keys revoke sha256:8f43… --reason 'sends your files away'")]
    Revoke {
        /// A public key, the file with it, or its id; or the digest of a bundle or a component
        #[arg(value_name = "KEY|DIGEST")]
        what: String,
        /// The reason; shown when the key or digest is rejected
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// List the trusted keys, and what is revoked
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn date(text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("invalid date `{text}`; write it as 2027-12-31");
    let date: Date = text.parse().map_err(|_| wrong())?;
    Ok(date.to_zoned(TimeZone::UTC).map_err(|_| wrong())?.timestamp())
}
