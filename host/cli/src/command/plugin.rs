//! `host plugin`: plugins from their first line to another user's machine. Each command has a file.

mod adopt;
mod build;
mod check;
mod dev;
mod explain;
mod index;
mod install;
mod listed;
mod new;
mod pack;
mod search;
mod sign;
mod test;
mod transfer;
mod verify;
mod versions;

use host_settings::environment::Environment;
use host_settings::error::Failure;
use tokio_util::sync::CancellationToken;

use self::transfer::unless;
use crate::arguments::Plugin as Command;
use crate::exit::Code;
use crate::printer::Out;

pub(crate) async fn run(command: Command, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    match command {
        Command::New { name, lang, into } => new::run(&name, &lang, into.as_deref(), &environment),
        Command::Build { folder, out, check } => unless(&stop, build::run(&folder, &out, check, &environment)).await,
        Command::Adopt(adopt) => unless(&stop, adopt::run(adopt, &environment)).await,
        Command::Wit(wit) => adopt::wit(&wit),
        Command::Test(arguments) => {
            let tested = async {
                let plugins = build::plugins(&arguments.plugins, &environment).await?;
                test::run(plugins, &arguments, &environment, &Out::new(CancellationToken::new())).await
            };
            unless(&stop, tested).await
        }
        Command::Dev(dev) => dev::run(dev, &environment, stop).await,
        Command::Check(arguments) => {
            let checked = async {
                let plugins = build::plugins(&arguments.plugins, &environment).await?;
                check::run(plugins, &arguments, &environment, &Out::new(CancellationToken::new())).await
            };
            unless(&stop, checked).await
        }
        Command::Pack(pack) => unless(&stop, pack::run(pack, &environment)).await,
        Command::Sign(sign) => sign::run(&sign, &environment),
        Command::Verify(verify) => verify::run(&verify, &environment),
        Command::Install(install) => install::run(&install, &environment, &stop).await,
        Command::List(list) => listed::list(&list, &environment),
        Command::Remove(remove) => listed::remove(&remove, &environment),
        Command::Push(push) => transfer::push(&push, &environment, &stop).await,
        Command::Pull(pull) => transfer::pull(&pull, &environment, &stop).await,
        Command::Search(arguments) => search::run(&arguments, &environment, &stop).await,
        Command::Index(arguments) => index::run(arguments, &environment, &stop).await,
        Command::Versions(arguments) => versions::run(&arguments, &environment, &stop).await,
        Command::Explain { built } => {
            let plugins = host_devkit::read_built(&built, &built).map_err(build::failed)?;
            explain::run(&plugins, &Out::new(CancellationToken::new()))
        }
    }
}
