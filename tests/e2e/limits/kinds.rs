//! Each kind of hostile guest, and how the host ends it.

use host_message::Output;
use host_plugin::{CallError, Failure, Limit, RuntimeError};
use host_tests::text;

use super::made::{self, Made};

/// One kind of hostile guest.
pub(super) struct Kind {
    /// The tool that misbehaves, or what the plugin that was made does.
    pub(super) name: &'static str,
    pub(super) plugin: Source,
    /// What is asked of it.
    pub(super) asked: Asked,
    /// What it works on: a path of the workspace, or of the server where it begins with `/`.
    pub(super) on: &'static str,
    pub(super) ends: Ends,
}

/// The plugin.
pub(super) enum Source {
    /// A guest of `tests/guests`.
    Guest(&'static str),
    Made(Made),
}

#[derive(Clone, Copy)]
pub(super) enum Asked {
    Call,
    Preview,
    Describe,
}

/// How it ends where nothing else runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// By the limit on time.
    TimedOut,
    /// By a limit on what it uses.
    Limit(Limit),
    /// By a trap that says this.
    Crashed(&'static str),
    /// With more than is taken, and of what.
    TooMuch(&'static str),
    /// With more items than are taken, in these words.
    TooMany(&'static str),
    /// With JSON that is not taken, for this reason.
    NotJson(&'static str),
    /// With a failure that says this.
    Failed(&'static str),
    /// It is not even compiled, for this reason.
    NotCompiled(&'static str),
    /// With a result that has each of these lines, or more behind them.
    Returned(&'static str),
}

use Ends::{Crashed, Failed, NotCompiled, NotJson, Returned, TimedOut, TooMany, TooMuch};

const fn kind(name: &'static str, plugin: Source, on: &'static str, ends: Ends) -> Kind {
    Kind { name, plugin, asked: Asked::Call, on, ends }
}

const fn bare(name: &'static str, ends: Ends) -> Kind {
    kind(name, Source::Guest("misbehave"), "", ends)
}

const fn hostile(name: &'static str, on: &'static str, ends: Ends) -> Kind {
    kind(name, Source::Guest("hostile"), on, ends)
}

const fn preview(name: &'static str, ends: Ends) -> Kind {
    Kind { asked: Asked::Preview, ..hostile(name, "", ends) }
}

const fn made(name: &'static str, made: Made, ends: Ends) -> Kind {
    kind(name, Source::Made(made), "", ends)
}

const fn described(name: &'static str, made: Made, ends: Ends) -> Kind {
    Kind { asked: Asked::Describe, ..self::made(name, made, ends) }
}

const NOTHING: Made = Made { start: "", describe: None, call: None, realloc: None, pages: None };

/// All kinds.
pub(super) const KINDS: &[Kind] = &[
    // It never ends.
    bare("loop_for_ever", TimedOut),
    hostile("loop_in_the_host", "", TimedOut),
    hostile("flood_progress", "", TimedOut),
    hostile("flood_log", "", TimedOut),
    hostile("flood_live_output", "", TimedOut),
    hostile("walk_for_ever", ".", TimedOut),
    hostile("read_for_ever", "big", TimedOut),
    hostile("write_for_ever", "", TimedOut),
    hostile("run_for_ever", "", TimedOut),
    hostile("keep_for_ever", "", TimedOut),
    hostile("fetch_for_ever", "/short", TimedOut),
    made("start_for_ever", Made { start: made::LOOP, ..NOTHING }, TimedOut),
    made("allocate_for_ever", Made { realloc: Some(made::LOOP), ..NOTHING }, TimedOut),
    described("describe_for_ever", Made { describe: Some(made::LOOP), ..NOTHING }, TimedOut),
    preview("preview_for_ever", TimedOut),
    // It waits for what never comes.
    hostile("wait_for_a_program", "", TimedOut),
    hostile("wait_for_one_that_reads_nothing", "", TimedOut),
    hostile("read_a_program_that_never_stops", "", TimedOut),
    hostile("leave_a_program_unread", "", TimedOut),
    hostile("start_what_starts_others", "", TimedOut),
    hostile("fetch", "/hangs", TimedOut),
    hostile("fetch", "/drips", TimedOut),
    // It takes more than a call may have.
    bare("grow", Ends::Limit(Limit::Memory)),
    made("grow_table", Made { call: Some(made::GROW_TABLE), ..NOTHING }, Ends::Limit(Limit::Table)),
    made("large_from_the_start", Made { pages: Some(4_000), ..NOTHING }, NotCompiled("memory does not fit")),
    bare("recurse", Crashed("call stack exhausted")),
    hostile("keep_walks", ".", Failed("4 walks are open already")),
    hostile("keep_programs", "", Failed("16 programs are running already")),
    hostile("fill_the_state_with_keys", "", Failed("there are 1024 keys already")),
    hostile("fill_the_state_with_values", "", Failed("all values together would be over 16777216 bytes")),
    // It traps, with whatever it holds.
    bare("panic", Crashed("with these words")),
    hostile("panic_with_all_of_it", ".", Crashed("!!!!")),
    preview("preview_with_a_panic", Crashed("no preview")),
    made("start_with_a_trap", Made { start: "unreachable", ..NOTHING }, Crashed("unreachable")),
    described("describe_with_a_trap", NOTHING, Crashed("unreachable")),
    hostile("use_a_walk_after_its_end", ".", Crashed("handle")),
    hostile("use_a_program_that_is_a_walk", ".", Crashed("handle")),
    hostile("emit_no_text", "", Crashed("utf-8")),
    hostile("run_the_same_words_again_and_again", "", Crashed("fuel")),
    made("return_a_wild_address", Made { call: Some("i32.const -16"), ..NOTHING }, Crashed("pointer")),
    made("return_neither", Made { call: Some(made::NEITHER), ..NOTHING }, Crashed("discriminant")),
    made("allocate_outside", Made { realloc: Some("i32.const -65536"), ..NOTHING }, Crashed("realloc")),
    described("describe_without_end", Made { describe: Some(made::ENDLESS_LIST), ..NOTHING }, Crashed("list")),
    // It returns what is not taken.
    bare("flood", TooMuch("text")),
    bare("flood_pieces", TooMuch("text")),
    hostile("return_much_data", "", TooMuch("data")),
    hostile("return_a_long_summary", "", TooMuch("text")),
    hostile("return_a_long_title", "", TooMuch("text")),
    hostile("return_a_long_kind", "", TooMuch("text")),
    hostile("return_long_values", "", TooMuch("text")),
    hostile("fail_with_much", "", TooMuch("text")),
    hostile("stop_with_much", "", TooMuch("text")),
    preview("preview_with_much", TooMuch("preview")),
    preview(
        "preview_with_many_requests",
        TooMany("`preview_with_many_requests` returned 100000 items of a preview, over the limit of 100"),
    ),
    hostile("return_many_parts", "", TooMany("`return_many_parts` returned 500000 parts, over the limit of 1000")),
    hostile("return_many_values", "", NotJson("more than 100000 values")),
    hostile("return_deep_values", "", NotJson("recursion limit exceeded")),
    bare("no_json", NotJson("EOF")),
    // It asks for what is not done, and hears so.
    hostile("walk_with_deep_globs", ".", Returned("its braces are nested deeper than 8")),
    hostile("pass_too_much_to_each_function", "/short", Returned(TAKEN)),
    hostile("write_too_much", "", Failed("22020096 bytes are too many for one file")),
    hostile("send_too_much", "/short", Failed("the body is over 8388608 bytes")),
    hostile("fetch", "/endless", Returned("16777216 bytes, cut: true")),
    hostile("fetch", "/redirects", Failed("over 10 redirects")),
    hostile("fetch", "/large-headers", Failed("error")),
    bare("shout", Returned("done")),
];

/// How each function answers arguments that are too long.
const TAKEN: &str = "\
config: true
stat: the path has 1048577 bytes, and a path may have 4096
list: the path has 1048577 bytes, and a path may have 4096
read: the path has 1048577 bytes, and a path may have 4096
read_whole: the path has 1048577 bytes, and a path may have 4096
walk: the path has 1048577 bytes, and a path may have 4096
globs: 2000 globs are over the limit of 1000
long glob: invalid glob `xxx
texts: a search has 1 to 64 texts, not 100000
no texts: a search has 1 to 64 texts, not 0
long text: a text of a search has 1 to 256 bytes, not 1048577
write: the path has 1048577 bytes, and a path may have 4096
expected: the file was removed after it was read
edit: the path has 1048577 bytes, and a path may have 4096
digest: there is nothing at `good.txt`
spans: 100000 spans are over the limit of 10000
rename: the path has 1048577 bytes, and a path may have 4096
remove: the path has 1048577 bytes, and a path may have 4096
make_directory: the path has 1048577 bytes, and a path may have 4096
word: the command is too long: 1 words, 1048577 bytes
words: the command is too long: 100000 words, 0 bytes
directory: the path has 1048577 bytes, and a path may have 4096
variables: `true` does not start
address: an address of 10
method: `xxxxxxxxxxxxxxxxxxxx… (cut)` is none of GET
headers: header fields of 1048608 bytes are over the limit of 65536
many headers: 1000 header fields are over the limit of 100
secret: the plugin's manifest declares no secret `xxx
key: invalid key `xxx
version: another call changed it
value: a value of 1048577 bytes is over the limit of 1048576";

impl Ends {
    /// Whether a call ended so.
    pub(super) fn is(self, ended: &Result<Option<Output>, CallError>) -> bool {
        match (self, ended.as_ref()) {
            (TimedOut, Err(CallError::TimedOut { .. })) => true,
            (Self::Limit(wanted), Err(CallError::Limit { limit, .. })) => wanted == *limit,
            (Crashed(words), Err(error @ CallError::Crashed { .. })) => {
                let said = error.to_string();
                said.contains(words) && said.len() < 20_000
            }
            (TooMuch(wanted), Err(CallError::TooMuch { what, size, limit, .. })) => wanted == *what && size > limit,
            (TooMany(words), Err(error @ CallError::TooMany { .. })) => error.to_string() == words,
            (NotJson(words), Err(CallError::NotJson { error, .. })) => error.contains(words),
            (
                Failed(words),
                Err(CallError::Failure(
                    Failure::Failed(said) | Failure::Unavailable(said) | Failure::InvalidArguments(said),
                )),
            ) => said.contains(words),
            (NotCompiled(words), Err(error @ CallError::Runtime(RuntimeError::Compile { .. }))) => {
                error.to_string().contains(words)
            }
            (Returned(words), Ok(Some(output))) => {
                let said = text(output);
                words.lines().all(|line| said.contains(line))
            }
            _ => false,
        }
    }
}
