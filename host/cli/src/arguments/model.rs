//! Arguments of `host model`.

use clap::Subcommand;

pub(crate) const MODEL_HELP: &str = "Examples:
  host model list
  host model show claude-sonnet-5-5
  host model update https://models.dev/api.json";

#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// List the models of the catalogue: their windows, efforts and list prices
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is known about a model
    Show {
        /// The service's name for it, or its id as `--model` takes it
        #[arg(value_name = "ID")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch newer facts; they are used in place of the built-in ones
    #[command(after_help = "The file is a list of models.dev or a catalogue that `host model update` saved. It is \
                            saved as catalogue.json in the folder of the configuration; without it the built-in \
                            catalogue is used again.\n\nExample:\n  host model update https://models.dev/api.json")]
    Update {
        /// A file, or an address that begins with https://
        from: String,
    },
}
