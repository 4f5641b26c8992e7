//! Runs one script: the engine, what it finds there, and the loop that makes its calls.
//!
//! What the script can change, such as `Array.prototype`, nothing here relies on: the functions that it gets are the
//! host's own, and the few of the engine that are used are taken before it runs.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use boa_engine::builtins::promise::{PromiseState, ResolvingFunctions};
use boa_engine::context::Context;
use boa_engine::context::time::FixedClock;
use boa_engine::native_function::NativeFunction;
use boa_engine::object::builtins::{JsFunction, JsPromise, JsProxyBuilder};
use boa_engine::object::{FunctionObjectBuilder, JsObject, ObjectInitializer};
use boa_engine::property::Attribute;
use boa_engine::{JsError, JsNativeError, JsResult, JsString, JsValue, Source, js_string};
use host_sdk::tools::{self, Error, ToolCall};
use host_sdk::{Failure, context};

/// How much a script prints, in bytes; what is over is dropped and said. Protects the model's window.
const MAX_PRINTED: usize = 256 << 10;

/// How much it returns, in bytes. Protects the session, which keeps it.
const MAX_RETURNED: usize = 4 << 20;

/// The lines of a stack that are told.
const STACK_LINES: usize = 5;

/// What the lines of the script are called in an error.
const NAME: &str = "script";

/// How a script ended.
pub(crate) struct Ended {
    /// What the model reads.
    pub(crate) result: Result<String, Failure>,
    /// How many calls it made.
    pub(crate) calls: usize,
}

/// What the functions that a script calls work on.
#[derive(Default)]
struct Running {
    /// Calls that have begun and were not made yet.
    waiting: Vec<Waiting>,
    calls: usize,
    printed: String,
    is_cut: bool,
    /// `JSON.stringify` as it was before the script ran.
    stringify: Option<JsFunction>,
}

struct Waiting {
    call: ToolCall,
    resolving: ResolvingFunctions,
}

thread_local! {
    static RUNNING: RefCell<Running> = RefCell::default();
}

/// Runs a script to its end.
pub(crate) fn run(code: &str) -> Ended {
    RUNNING.take();
    crate::random::seed(code);
    // A component has no clock, and the engine's own would end it.
    let engine = Context::builder().clock(Rc::new(FixedClock::from_millis(0))).build();
    let result = engine.map_err(Stopped::from).and_then(|mut engine| {
        prepared(&mut engine)?;
        evaluated(code, &mut engine)
    });
    let Running { calls, printed, is_cut, .. } = RUNNING.take();
    let result = match result {
        Ok(returned) => Ok(with_printed(printed, is_cut, returned)),
        Err(Stopped::Cancelled) => Err(Failure::Cancelled(printed)),
        Err(Stopped::Failed(why)) => Err(Failure::Failed(with_printed(printed, is_cut, Some(why)))),
        Err(Stopped::Threw(error)) => {
            let why = in_words(&error, code.split('\n').count());
            Err(Failure::Failed(with_printed(printed, is_cut, Some(why))))
        }
    };
    Ended { result, calls }
}

/// Why a script has no result.
enum Stopped {
    Cancelled,
    Failed(String),
    Threw(JsError),
}

impl From<JsError> for Stopped {
    fn from(error: JsError) -> Self {
        Self::Threw(error)
    }
}

/// Puts into the engine what a script finds there besides the language.
fn prepared(engine: &mut Context) -> Result<(), Stopped> {
    let stringify = engine.eval(Source::from_bytes("JSON.stringify"))?;
    let stringify = stringify.as_object().and_then(JsFunction::from_object);
    RUNNING.with_borrow_mut(|running| running.stringify = stringify);

    let log = NativeFunction::from_fn_ptr(print);
    let mut console = ObjectInitializer::new(engine);
    for name in [js_string!("log"), js_string!("info"), js_string!("warn"), js_string!("error"), js_string!("debug")] {
        console.function(log.clone(), name, 0);
    }
    let console = console.build();
    let names = JsObject::with_null_proto();
    let tools = JsProxyBuilder::new(names).get(tool_function).build(engine)?;
    engine.register_global_property(js_string!("console"), console, Attribute::all())?;
    engine.register_global_property(js_string!("tools"), tools, Attribute::all())?;
    Ok(())
}

/// Evaluates the script, and makes its calls until it has ended. Returns what it returned, as text.
fn evaluated(code: &str, engine: &mut Context) -> Result<Option<String>, Stopped> {
    // On one line, so that the lines of the script keep their numbers.
    let source = format!("(async () => {{{code}\n}})()");
    let promise = engine.eval(Source::from_bytes(&source).with_path(Path::new(NAME)))?;
    let promise = promise.as_object().and_then(|promise| JsPromise::from_object(promise).ok());
    // Text that closes the function early is not one function any more.
    let promise = promise.ok_or_else(|| Stopped::Failed("the script is not the body of one function".to_owned()))?;
    loop {
        engine.run_jobs()?;
        match promise.state() {
            PromiseState::Fulfilled(value) => return returned(&value, engine),
            PromiseState::Rejected(error) => return Err(JsError::from_opaque(error).into()),
            PromiseState::Pending if make_calls(engine)? => {}
            PromiseState::Pending => {
                return Err(Stopped::Failed("the script waits for something that never comes".to_owned()));
            }
        }
    }
}

/// Makes the calls that have begun, as one batch; returns false if there are none.
fn make_calls(engine: &mut Context) -> Result<bool, Stopped> {
    let waiting = RUNNING.with_borrow_mut(|running| std::mem::take(&mut running.waiting));
    if waiting.is_empty() {
        return Ok(false);
    }
    if context::should_stop() {
        return Err(Stopped::Cancelled);
    }
    let (calls, resolving): (Vec<_>, Vec<_>) =
        waiting.into_iter().map(|waiting| (waiting.call, waiting.resolving)).unzip();
    for ((call, answer), resolving) in calls.iter().zip(tools::call_all(&calls)).zip(resolving) {
        let (settle, value) = match answer {
            Ok(answer) => (resolving.resolve, JsString::from(answer.text).into()),
            Err(Error::Cancelled) => return Err(Stopped::Cancelled),
            Err(error) => (resolving.reject, thrown(&call.tool, error, engine)?),
        };
        settle.call(&JsValue::undefined(), &[value], engine)?;
    }
    Ok(true)
}

/// Returns the error that a script catches.
fn thrown(tool: &str, error: Error, engine: &mut Context) -> JsResult<JsValue> {
    let (kind, why) = match error {
        Error::Denied(denial) => ("denied", denial.help),
        Error::Refused(why) => ("denied", why),
        Error::NotFound(why) => ("not-found", why),
        Error::Invalid(why) => ("invalid-arguments", why),
        Error::Unavailable(why) => ("unavailable", why),
        Error::Cancelled => ("cancelled", "the call was told to stop".to_owned()),
        Error::Failed(why) => ("failed", why),
    };
    let error = JsNativeError::error().with_message(format!("{tool}: {why}")).into_opaque(engine);
    for (name, value) in [("tool", tool), ("kind", kind)] {
        error.create_data_property_or_throw(JsString::from(name), JsString::from(value), engine)?;
    }
    Ok(error.into())
}

/// `tools.NAME`: the function that calls the tool.
fn tool_function(_: &JsValue, arguments: &[JsValue], engine: &mut Context) -> JsResult<JsValue> {
    // The target, the key and the receiver.
    let Some(name) = arguments.get(1).and_then(JsValue::as_string) else { return Ok(JsValue::undefined()) };
    // Whoever awaits `tools` itself would otherwise call a tool of that name.
    if name == js_string!("then") {
        return Ok(JsValue::undefined());
    }
    let function = NativeFunction::from_copy_closure_with_captures(begin, name.clone());
    Ok(FunctionObjectBuilder::new(engine.realm(), function).name(name).length(1).build().into())
}

/// Begins a call: it is made when the script waits.
fn begin(_: &JsValue, arguments: &[JsValue], name: &JsString, engine: &mut Context) -> JsResult<JsValue> {
    let tool = name.to_std_string_escaped();
    let arguments = match arguments.first() {
        None => Some("{}".to_owned()),
        Some(value) if value.is_object() => json(value, engine)?.filter(|json| json.starts_with('{')),
        Some(_) => None,
    };
    let Some(arguments) = arguments else {
        let why = format!("`{tool}` takes one object with its arguments, such as tools.{tool}({{…}})");
        return Err(JsNativeError::typ().with_message(why).into());
    };
    let (promise, resolving) = JsPromise::new_pending(engine);
    RUNNING.with_borrow_mut(|running| {
        running.calls += 1;
        running.waiting.push(Waiting { call: ToolCall { tool, arguments }, resolving });
    });
    Ok(promise.into())
}

/// `console.log` and its like.
fn print(_: &JsValue, arguments: &[JsValue], engine: &mut Context) -> JsResult<JsValue> {
    let mut line = String::new();
    for (at, value) in arguments.iter().enumerate() {
        line.push_str(if at > 0 { " " } else { "" });
        line.push_str(&shown(value, engine));
    }
    line.push('\n');
    context::emit(&line);
    RUNNING.with_borrow_mut(|running| {
        if running.printed.len() + line.len() > MAX_PRINTED {
            running.is_cut = true;
        } else {
            running.printed.push_str(&line);
        }
    });
    Ok(JsValue::undefined())
}

/// A value as text: what is no text as JSON where that can be.
fn shown(value: &JsValue, engine: &mut Context) -> String {
    if let Some(text) = value.as_string() {
        return text.to_std_string_escaped();
    }
    let is_error = value.as_object().is_some_and(|object| object.is::<boa_engine::builtins::error::Error>());
    match json(value, engine) {
        Ok(Some(json)) if !is_error => json,
        Ok(_) | Err(_) => value.display().to_string(),
    }
}

/// A value as JSON; `None` for one that has none, such as `undefined`.
fn json(value: &JsValue, engine: &mut Context) -> JsResult<Option<String>> {
    let stringify = RUNNING.with_borrow(|running| running.stringify.clone());
    let Some(stringify) = stringify else { return Ok(None) };
    let json = stringify.call(&JsValue::undefined(), std::slice::from_ref(value), engine)?;
    Ok(json.as_string().map(|json| json.to_std_string_escaped()))
}

/// What the script returned, as text; `None` if that is nothing.
fn returned(value: &JsValue, engine: &mut Context) -> Result<Option<String>, Stopped> {
    if value.is_undefined() {
        return Ok(None);
    }
    let text = match value.as_string() {
        Some(text) => text.to_std_string_escaped(),
        None => json(value, engine)?.unwrap_or_else(|| value.display().to_string()),
    };
    match text.len() > MAX_RETURNED {
        true => Err(Stopped::Failed(format!(
            "the script returned {} bytes, over the limit of {MAX_RETURNED}; return what you need of it",
            text.len()
        ))),
        false => Ok(Some(text)),
    }
}

/// What the model reads: what was printed, and behind it the result.
fn with_printed(mut printed: String, is_cut: bool, result: Option<String>) -> String {
    if is_cut {
        printed.push_str("[more was printed than is kept]\n");
    }
    match (printed.is_empty(), result) {
        (true, Some(result)) => result,
        (false, Some(result)) => format!("{printed}\n{result}"),
        (false, None) => printed,
        (true, None) => "The script ended and returned nothing: `return` what you want to read. A function in it runs \
                         only if it is called."
            .to_owned(),
    }
}

/// An error with the lines of the script that it came through, of which there are so many.
fn in_words(error: &JsError, lines: usize) -> String {
    let text = error.to_string();
    let (mut words, mut places) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let place = |line: &str| {
            let (before, place) = line.rsplit_once(&format!("({NAME}:"))?;
            Some((before.trim_end().to_owned(), place.split(':').next()?.parse::<usize>().ok()?))
        };
        match (line.strip_prefix("    at "), place(line)) {
            (Some(_), Some((_, at))) => places.push(at),
            // The engine's own functions say nothing to whoever wrote the script.
            (Some(_), None) => {}
            (None, Some((message, at))) => {
                words.push(message);
                places.push(at);
            }
            (None, None) => words.push(line.trim_end_matches(" (native)").to_owned()),
        }
    }
    // The last line is not the script's.
    places.retain(|at| *at <= lines);
    places.dedup();
    let places = places.into_iter().take(STACK_LINES).map(|at| format!("    at line {at} of the script"));
    words.into_iter().chain(places).collect::<Vec<_>>().join("\n")
}
