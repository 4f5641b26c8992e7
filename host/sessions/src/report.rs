//! Reports of a run for programs: one JSON object at the end, or a JSON line for each event; and the statistics of a
//! run.
//!
//! The shapes are published as JSON Schemas. Deliberately not here: where a report is written to.

pub mod answer_line;
pub mod json;
pub mod notices;
pub mod refusals;
pub mod run_stats;
pub mod stream_json;

use host_agent::{CompressionStatus, Observer, RunResult};
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::TrustStatus;
use host_tool::PausableClock;
use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};

/// Reports a run while it is under way, and its end.
pub trait Report: Observer {
    /// Reports the end of the run, with `failure` if it did not reach its goal.
    fn finish(&self, result: &RunResult, failure: Option<&Failure>);
}

/// Takes the text of a report: whole lines.
pub type Sink = Box<dyn Fn(&str) + Send + Sync>;

/// Data for a report of a run, in addition to its events.
#[derive(Clone, Debug)]
pub struct About {
    /// The trust in the project; `None` if it brings nothing.
    pub project_trust: Option<TrustStatus>,
    /// Paused while the user is asked.
    pub run_clock: PausableClock,
    /// Whether the report contains the full statistics.
    pub stats: bool,
    /// The number that a report has for a kind of failure.
    pub code: fn(ErrorKind) -> u8,
}

/// The schema of what [`json::Json`] writes.
pub fn json_schema() -> Schema {
    generator().into_root_schema_for::<json::Document<'static>>()
}

/// The schema of each line that [`stream_json::StreamJson`] writes.
pub fn stream_json_schema() -> Schema {
    generator().into_root_schema_for::<stream_json::Stamped<'static>>()
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Writes the outcome of compressing a conversation as JSON.
pub fn compressed_json(sink: &Sink, status: CompressionStatus) {
    json::write(sink, &json::Document::Compressed(json::Compressed::new(status)));
}
