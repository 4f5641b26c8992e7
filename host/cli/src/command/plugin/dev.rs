//! `host plugin dev`: shows the rounds of a plugin that is built and tried whenever its sources change.

mod report;

use host_devkit::{DevError, DevOptions, DevSession};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::Advice;
use tokio_util::sync::CancellationToken;

use self::report::Report;
use super::{build, test};
use crate::arguments::dev::PluginDev;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(super) async fn run(dev: PluginDev, environment: &Environment, stop: CancellationToken) -> Result<Code, Failure> {
    // A reader that goes away ends it as Ctrl-C does.
    let out = Out::new(stop.clone());
    let PluginDev { folder, out: target, filter } = dev;
    let cases = test::options(filter, environment);
    let options = DevOptions { folder, target, tools: build::tools(environment), cases };
    let session = DevSession::open(options).map_err(|error| failed(&error))?;
    let target = session.target().to_owned();
    let report = Report::new(out, printer::stdout_style(environment), printer::style(environment), target);
    session.run(&|event| report.show(&event), &stop).await.map_err(|error| failed(&error))?;
    Ok(Code::Done)
}

fn failed(error: &DevError) -> Failure {
    let failure = match error {
        DevError::Watch(error) => Failure::from_error(ErrorKind::Configuration, error),
        DevError::Cases(error) => test::failed(error),
        DevError::Folder { .. }
        | DevError::NoPlugin(_)
        | DevError::TargetHasSources(_)
        | DevError::Sources(_)
        | DevError::Plugin(_) => Failure::from_error(ErrorKind::Input, error),
    };
    Failure { help: error.help().map(Advice::from), ..failure }
}
