//! Reads the errors of services, with a status or within a reply.
//!
//! The services differ least here: an object `error` with a message, a code that is a number or a word, and further
//! words beside it. So one lenient parser serves them all, and the kind follows from the status first and the words
//! second. Any other text is shown as it is, unless it is a page of HTML.

use std::time::Duration;

use serde_json::Value;

use crate::text::{clip, clip_bytes};
use crate::{ErrorKind, Wanted};

/// An error that a service reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// Its message, safe to show; may be empty.
    pub(crate) message: String,
    /// The HTTP status, from the response or from within the error.
    pub(crate) status: Option<u16>,
    pub(crate) kind: ErrorKind,
    pub(crate) again: Wanted,
}

impl Failure {
    /// Reads the body of a response with an error status. The body may be cut.
    pub(crate) fn from_body(status: u16, body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let is_page = body.trim_ascii_start().starts_with(b"<");
            let message = if is_page { String::new() } else { clip_bytes(body) };
            let kind = kind(Some(status), &[]);
            let shorter = kind == ErrorKind::Input && is_overflow(Some(status), &[], &message);
            return Self { message, status: Some(status), kind, again: Wanted { shorter, ..Wanted::default() } };
        };
        // Gemini wraps the object in a list unless events were requested.
        let value = value.get(0).unwrap_or(&value);
        // Without `error`, the whole body is read like one: `{"message": ..}` and `{"detail": ..}` are in use.
        Self { status: Some(status), ..Self::read(value.get("error").unwrap_or(value), Some(status)) }
    }

    /// Reads the value of `error` in an event of a reply, or in a body that is not an event stream.
    pub(crate) fn from_error(error: &Value) -> Self {
        Self::read(error, None)
    }

    fn read(error: &Value, status: Option<u16>) -> Self {
        let message = [Some(error), error.get("message"), error.get("detail")].into_iter().flatten();
        let message = message.filter_map(Value::as_str).next().map(clip).unwrap_or_default();
        let code = error.get("code").or_else(|| error.get("status"));
        let status = status.or_else(|| code?.as_u64()?.try_into().ok().filter(|code| (400..600).contains(code)));
        let reasons = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let words = ["code", "status", "type"].into_iter().filter_map(|field| error.get(field));
        let words: Vec<&str> =
            words.chain(reasons.filter_map(|detail| detail.get("reason"))).filter_map(Value::as_str).collect();
        let status = status.or_else(|| words.iter().find_map(|word| status_of(word)));
        let kind = kind(status, &words);
        let shorter = kind == ErrorKind::Input && is_overflow(status, &words, &message);
        Self { message, status, kind, again: Wanted { shorter, ..wanted(error, &words) } }
    }
}

/// Phrases, in lower case, from errors about a request that is longer than the model allows: those of OpenAI and vLLM,
/// of OpenAI's Responses API, llama.cpp, Ollama and LM Studio, Anthropic, Gemini, and Groq.
const OVERFLOWS: &[&str] = &[
    "maximum context length",
    "context window",
    "context size",
    "context length",
    "prompt is too long",
    "exceed context limit",
    "exceeds the maximum number of tokens",
    "reduce the length of",
];

/// Whether the service rejected the request because of its length.
fn is_overflow(status: Option<u16>, words: &[&str], message: &str) -> bool {
    let message = message.to_lowercase();
    status == Some(413)
        || words
            .iter()
            .any(|word| matches!(*word, "context_length_exceeded" | "exceed_context_size_error" | "request_too_large"))
        || OVERFLOWS.iter().any(|overflow| message.contains(overflow))
}

/// Returns the status that a word means, for an error within a reply, after the status of a success. From Anthropic's
/// reference, which gives each type of error its status.
fn status_of(word: &str) -> Option<u16> {
    match word {
        "rate_limit_error" => Some(429),
        "api_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    }
}

/// Returns an error's hints about retrying: Google's `RetryInfo` (a duration such as `34.07s`) and `QuotaFailure`,
/// whose quotas for a day have `PerDay` in their ids, and OpenAI's word for an account that is used up.
fn wanted(error: &Value, words: &[&str]) -> Wanted {
    let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of = |name: &str| {
        let ends =
            move |detail: &&Value| detail.get("@type").and_then(Value::as_str).is_some_and(|t| t.ends_with(name));
        details.iter().filter(ends).collect::<Vec<_>>()
    };
    let delay = of("google.rpc.RetryInfo").into_iter().find_map(|info| seconds(info.get("retryDelay")?.as_str()?));
    let violations =
        of("google.rpc.QuotaFailure").into_iter().filter_map(|failure| failure.get("violations")?.as_array());
    let daily = violations.flatten().filter_map(|violation| violation.get("quotaId")?.as_str()).any(|id| {
        let id = id.to_ascii_lowercase();
        id.contains("perday") || id.contains("daily")
    });
    Wanted { delay, never: daily || words.contains(&"insufficient_quota"), shorter: false }
}

/// Parses a duration in Google's JSON: seconds with an `s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the kind of an error. The words come from the services' references: Google's canonical codes and reasons,
/// the `type` and `code` of OpenAI's errors, which the compatible servers copy, and the `type` of Anthropic's.
fn kind(status: Option<u16>, words: &[&str]) -> ErrorKind {
    // Words before the status: services use 400 and 429 for many things.
    for word in words {
        // These are more specific than their status, which is 400 or 429.
        match *word {
            "API_KEY_INVALID" | "invalid_api_key" | "authentication_error" => return ErrorKind::Authentication,
            "content_filter" | "content_policy_violation" | "image_content_policy_violation" | "invalid_prompt" => {
                return ErrorKind::Safety;
            }
            // It comes with 429, but waiting does not help.
            "insufficient_quota" => return ErrorKind::Quota,
            _ => {}
        }
    }
    match status {
        Some(401 | 403) => return ErrorKind::Authentication,
        Some(402 | 429) => return ErrorKind::Quota,
        // A redirect is not followed, so that a key goes only to the configured address.
        Some(300..400 | 404 | 405 | 410) => return ErrorKind::Configuration,
        Some(408 | 425 | 499) => return ErrorKind::Server,
        Some(400..500) => return ErrorKind::Input,
        Some(_) => return ErrorKind::Server,
        None => {}
    }
    // Within a stream there is no status, so the words are all that is known.
    words
        .iter()
        .find_map(|word| match *word {
            "UNAUTHENTICATED" | "PERMISSION_DENIED" | "permission_error" => Some(ErrorKind::Authentication),
            "RESOURCE_EXHAUSTED"
            | "rate_limit_exceeded"
            | "rate_limit_error"
            | "requests"
            | "tokens"
            | "billing_error" => Some(ErrorKind::Quota),
            "INVALID_ARGUMENT" | "invalid_request_error" | "context_length_exceeded" | "request_too_large" => {
                Some(ErrorKind::Input)
            }
            "NOT_FOUND" | "model_not_found" | "not_found_error" => Some(ErrorKind::Configuration),
            // OpenAI's Responses API has a word for each problem of an image.
            image if image.contains("image") => Some(ErrorKind::Input),
            _ => None,
        })
        .unwrap_or(ErrorKind::Server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errors_body_gives_kind_and_words() {
        let check = |status: u16, body: &str, kind: ErrorKind, message: &str| {
            let expected =
                Failure { message: message.to_owned(), status: Some(status), kind, again: Wanted::default() };
            assert_eq!(Failure::from_body(status, body.as_bytes()), expected, "{status} {body}");
        };
        check(
            401,
            r#"{"error":{"message":"no key","type":"invalid_request_error","code":null}}"#,
            ErrorKind::Authentication,
            "no key",
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            ErrorKind::Authentication,
            "API key not valid.",
        );
        check(
            403,
            r#"[{"error":{"code":403,"message":"denied","status":"PERMISSION_DENIED"}}]"#,
            ErrorKind::Authentication,
            "denied",
        );
        check(404, r#"{"error":"model 'x' not found"}"#, ErrorKind::Configuration, "model 'x' not found");
        check(
            429,
            r#"{"error":{"code":429,"message":"slow\ndown","status":"RESOURCE_EXHAUSTED"}}"#,
            ErrorKind::Quota,
            "slow down",
        );
        check(402, "", ErrorKind::Quota, "");
        check(400, r#"{"error":{"message":"filtered","code":"content_filter"}}"#, ErrorKind::Safety, "filtered");
        check(
            400,
            r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
            ErrorKind::Input,
            "too long",
        );
        check(422, r#"{"detail":"bad field"}"#, ErrorKind::Input, "bad field");
        check(409, r#"{"error":{"message":"busy"}}"#, ErrorKind::Input, "busy");
        for passing in [408, 425, 499, 529] {
            check(passing, "", ErrorKind::Server, "");
        }
        check(500, "Internal Server Error", ErrorKind::Server, "Internal Server Error");
        check(502, "<html><body>Bad Gateway</body></html>", ErrorKind::Server, "");
        check(503, r#"{"error":{"message":7}}"#, ErrorKind::Server, "");
        check(307, "", ErrorKind::Configuration, "");
    }

    #[test]
    fn failure_reads_what_a_service_reports_about_retrying() {
        let check = |error: &str, delay: Option<u64>, never: bool| {
            let failure = Failure::from_error(&serde_json::from_str(error).unwrap());
            assert_eq!(
                failure.again,
                Wanted { delay: delay.map(Duration::from_millis), never, shorter: false },
                "{error}"
            );
        };
        let info = |delay: &str| {
            format!(
                r#"{{"code":429,"details":[{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{delay}"}}]}}"#
            )
        };
        let quota = |id: &str| {
            format!(
                r#"{{"code":429,"details":[{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{id}"}}]}}]}}"#
            )
        };
        check(&info("34.074s"), Some(34_074), false);
        check(&info("0s"), Some(0), false);
        for no_duration in ["34", "-1s", "s", "NaNs", "1e99s", "soon"] {
            check(&info(no_duration), None, false);
        }
        check(&quota("GenerateRequestsPerMinutePerProjectPerModel"), None, false);
        check(&quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), None, true);
        check(r#"{"code":"insufficient_quota","type":"insufficient_quota"}"#, None, true);
        check(r#"{"code":429,"details":"none"}"#, None, false);
    }

    #[test]
    fn failure_knows_a_request_that_is_too_long() {
        let check = |status: u16, error: &str, shorter: bool| {
            let failure = Failure::from_body(status, error.as_bytes());
            assert_eq!((failure.again.shorter, failure.kind == ErrorKind::Input), (shorter, true), "{status} {error}");
        };
        for message in [
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "the request exceeds the available context size. try increasing the context size",
            "Trying to keep the first 9000 tokens when the model's context length is only 4096",
            "prompt is too long: 208310 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 198000 + 20000 > 200000",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "Please reduce the length of the messages or completion.",
        ] {
            check(400, &format!(r#"{{"error":{{"message":{message:?}}}}}"#), true);
            check(400, message, true);
        }
        check(400, r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#, true);
        check(400, r#"{"error":{"message":"no","type":"exceed_context_size_error","code":400}}"#, true);
        check(413, r#"{"error":{"message":"no"}}"#, true);
        check(413, "", true);
        for message in ["`temperature` must be 1", "tools are not supported", ""] {
            check(400, &format!(r#"{{"error":{{"message":{message:?}}}}}"#), false);
            check(422, message, false);
        }
        // A message about a quota mentions tokens too, but waiting helps there.
        let quota =
            Failure::from_body(429, br#"{"error":{"message":"prompt is too long for your tokens per minute"}}"#);
        assert_eq!((quota.kind, quota.again.shorter), (ErrorKind::Quota, false));
    }

    #[test]
    fn an_error_within_a_reply_gives_kind_and_status() {
        let check = |error: &str, status: Option<u16>, kind: ErrorKind| {
            let failure = Failure::from_error(&serde_json::from_str(error).unwrap());
            assert_eq!((failure.status, failure.kind), (status, kind), "{error}");
        };
        check(r#"{"code":503,"message":"overloaded","status":"UNAVAILABLE"}"#, Some(503), ErrorKind::Server);
        check(r#"{"code":429,"status":"RESOURCE_EXHAUSTED"}"#, Some(429), ErrorKind::Quota);
        check(r#"{"code":"rate_limit_exceeded","type":"requests"}"#, None, ErrorKind::Quota);
        check(r#"{"type":"invalid_request_error","code":"invalid_api_key"}"#, None, ErrorKind::Authentication);
        check(r#"{"type":"overloaded_error","message":"Overloaded"}"#, Some(529), ErrorKind::Server);
        check(r#"{"type":"rate_limit_error"}"#, Some(429), ErrorKind::Quota);
        check(r#"{"type":"permission_error"}"#, None, ErrorKind::Authentication);
        check(r#"{"type":"not_found_error"}"#, None, ErrorKind::Configuration);
        check(r#"{"code":"invalid_prompt","message":"flagged"}"#, None, ErrorKind::Safety);
        check(r#"{"code":"image_too_large"}"#, None, ErrorKind::Input);
        check(r#"{"code":"server_error"}"#, None, ErrorKind::Server);
        check(r#"{"code":7}"#, None, ErrorKind::Server);
        check(r#""out of memory""#, None, ErrorKind::Server);
        check("null", None, ErrorKind::Server);
    }
}
