//! `host plugin`: making plugins.

mod build;
mod new;

use crate::arguments::Plugin as Command;
use crate::environment::Environment;
use crate::exit::{Code, Failure};

pub(crate) async fn run(command: Command, environment: Environment) -> Result<Code, Failure> {
    match command {
        Command::New { name, lang, into } => new::run(&name, &lang, into.as_deref()),
        Command::Build { folder, out, check } => build::run(&folder, &out, check, &environment).await,
    }
}
