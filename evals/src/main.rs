//! `evals`: runs the evaluations against recordings or a model, and prints a table.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use host_evals::{Case, Report, Row, Setup, judge, run};

const EXAMPLES: &str = "Examples:
  cargo run -p host-evals                                       # the recordings
  cargo run -p host-evals -- --model anthropic/claude-sonnet-5-5 --out today.json
  cargo run -p host-evals -- --model openai-responses/gpt-6.1-terra --against today.json edit git

A model costs money: `--max-cost` limits each run of the host.";

/// Run the evaluations of the agent
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Arguments {
    /// Only cases whose names contain one of these words, or that have one of them as a tag
    words: Vec<String>,
    /// The model, as `host run --model` takes it [default: the recordings]
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Record what the model says, beside the other recordings
    #[arg(long, requires = "model")]
    record: bool,
    /// The most that one run may cost
    #[arg(long, value_name = "AMOUNT", requires = "model")]
    max_cost: Option<String>,
    /// The longest time of one run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    limit: u64,
    /// The binary of the host [default: the one of this workspace's build]
    #[arg(long, value_name = "FILE")]
    host: Option<PathBuf>,
    /// Write the figures into a file, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Compare with the figures of an earlier run
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Print the names and titles of the cases, and run none
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match evaluate(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether all cases are passed.
fn evaluate(arguments: Arguments) -> Result<bool, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Case::all(&here.join("cases")).map_err(|error| error.to_string())?;
    cases.retain(|case| case.matches(&arguments.words));
    if cases.is_empty() {
        return Err(format!("no case has one of these words: {}", arguments.words.join(" ")));
    }
    if arguments.list {
        cases.iter().for_each(|case| println!("{}: {} ({})", case.name, case.title, case.tags.join(", ")));
        return Ok(true);
    }
    let earlier = arguments.against.as_deref().map(read).transpose()?;
    let cache = tempfile::tempdir().map_err(|error| format!("no folder for a cache can be made: {error}"))?;
    let setup = Setup {
        host: host(arguments.host)?,
        model: arguments.model.clone(),
        recordings: here.join("recordings"),
        record: arguments.record,
        limit: Duration::from_secs(arguments.limit),
        cache: cache.path().to_owned(),
    };
    let mut report = Report { model: arguments.model.unwrap_or_else(|| recordings(&cases)), ..Report::default() };
    for (number, case) in cases.iter_mut().enumerate() {
        if let Some(most) = &arguments.max_cost {
            case.arguments.extend(["--max-cost".to_owned(), most.clone()]);
        }
        eprintln!("{} of all cases: {}", number + 1, case.name);
        report.rows.insert(case.name.clone(), row(case, &setup));
    }
    print!("{}", report.text());
    if let Some(earlier) = &earlier {
        print!("{}", report.compared_with(earlier));
    }
    if let Some(out) = arguments.out {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        std::fs::write(&out, text).map_err(|error| format!("cannot write `{}`: {error}", out.display()))?;
    }
    Ok(report.rows.values().all(Row::is_passed))
}

/// How a case ended. One that cannot be run has failed.
fn row(case: &Case, setup: &Setup) -> Row {
    let tags = case.tags.clone();
    match run::run(case, setup).and_then(|finished| Ok((judge(case, &finished)?, finished))) {
        Ok((wrong, finished)) => Row {
            tags,
            wrong,
            turns: finished.turns,
            calls: finished.calls.len(),
            failed: finished.calls.iter().filter(|call| call.failed).count(),
            tokens: finished.tokens,
            cost: finished.cost,
            seconds: finished.time.as_secs_f64(),
        },
        Err(error) => Row { tags, wrong: vec![error.to_string()], ..Row::default() },
    }
}

/// The name of a run against recordings, which says how many are not of a real model.
fn recordings(cases: &[Case]) -> String {
    let by_hand = cases.iter().filter(|case| case.recorded == "by hand").count();
    format!("recordings ({by_hand} of {} written by hand, not by a model)", cases.len())
}

fn read(path: &Path) -> Result<Report, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("`{}` has no figures of a run: {error}", path.display()))
}

/// The binary: the given one, or the one beside this program.
fn host(given: Option<PathBuf>) -> Result<PathBuf, String> {
    let beside = || {
        let own = std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))?;
        Ok::<_, String>(own.with_file_name("host"))
    };
    let path = given.map_or_else(beside, Ok)?;
    std::fs::canonicalize(&path).map_err(|error| {
        format!(
            "there is no host at `{}` ({error}); build it with `cargo build`, or name it with --host",
            path.display()
        )
    })
}
