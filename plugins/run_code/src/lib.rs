//! The tool `run_code`: a script that calls other tools, in order or at once, and returns what matters of their
//! results.
//!
//! Each call that a script makes goes through the capability `tools`, so the host treats it as it treats one of the
//! model's. Calls that the script has begun when it waits are made together.
//!
//! Promises: a script reaches nothing but those calls; what it prints and returns is limited; an error names its line.
//!
//! Deliberately not here: what a script may call and how often, which the host decides; timers and modules.

mod random;
mod script;

use host_sdk::{Annotations, Failure, Outcome, Tool, export_plugin};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Runs JavaScript that calls your other tools, and returns what the script returns: one script in place of many turns. Each \
of your tools is an async function of `tools` with the arguments that you know, and gives the text of the result; a call \
that fails or is refused throws an Error with the reason. Calls that do not wait for each other run at once:
const texts = await Promise.all(paths.map((path) => tools.read_file({path})));
return texts.filter((text) => text.includes('TODO')).length;
Use it for three calls and more of whose results you need only a part, or whose number you do not know. Return little: \
text comes as it is, anything else as JSON; `console.log` comes before it. Each call is checked, asked about and recorded \
like your own, so do not try again what was refused. The tools that are the agent itself and `todo` cannot be called. There \
are no modules, files, network, clock or timers; at most 256 calls, two minutes of computing and 256 MiB of memory. Nothing is \
kept for the next script.";

export_plugin!(run_code());

fn run_code() -> Tool {
    Tool::new("run_code", DESCRIPTION, include_str!("input.json"), call)
        .title("Run a script over tools")
        .annotations(Annotations { read_only: false, destructive: true, idempotent: false, open_world: true })
        .needs("tools", "*,!todo", "call the tools that the model's script calls, each as if the model had called it")
        // Nothing to ask: it touches nothing by itself, and each call that it makes is decided about.
        .preview(|_: Arguments| Ok(None))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: String,
}

fn call(Arguments { code }: Arguments) -> Result<Outcome, Failure> {
    let ended = script::run(&code);
    let calls = match ended.calls {
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    ended.result.map(|text| Outcome::text(text).with_summary(calls))
}

#[cfg(test)]
mod tests;
