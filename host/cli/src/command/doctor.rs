//! `host doctor`: prints the checks of what the host needs.

use anstyle::AnsiColor;
use host_app::doctor::{Check, CheckState, checks};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use tokio_util::sync::CancellationToken;

use crate::arguments::Doctor;
use crate::exit::Code;
use crate::printer::{self, Out, Style};
use crate::process;

pub(crate) async fn run(doctor: Doctor, environment: Environment) -> Result<Code, Failure> {
    let checks = checks(&environment, &process::tooling(&environment)).await;
    let out = Out::new(CancellationToken::new());
    match doctor.json {
        true => out.write(&printer::json(&checks)?),
        false => {
            let style = Style { colour: printer::style(&environment).colour && environment.stdout_is_terminal };
            checks.iter().for_each(|check| out.write(&line(check, style)));
        }
    }
    match checks.iter().any(|check| check.state == CheckState::Bad) {
        true => Err(Failure::configuration("some checks failed (see above)")),
        false => Ok(Code::Done),
    }
}

fn line(Check { about, state, said }: &Check, style: Style) -> String {
    let mark = match state {
        CheckState::Good => style.paint("good", AnsiColor::Green),
        CheckState::Note => style.paint("note", AnsiColor::Yellow),
        CheckState::Bad => style.paint("bad ", AnsiColor::Red),
    };
    format!("{mark}  {about:15} {said}\n")
}
