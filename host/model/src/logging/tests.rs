//! Recordings, and the events of their replay.

use std::time::Duration;

use futures::FutureExt;
use host_message::{
    CallId, Content, FileReference, FinishReason, FunctionCall, InlineData, Part, PartData, Signature, ToolName, Usage,
};
use serde_json::Map;

use super::*;
use crate::{Again, Chunk, ErrorKind, Gemini, Scripted, Service, Settings, Switched, Wanted};

/// Returns the given events, once for each request, and then may never end.
struct Says {
    replies: Mutex<Vec<Vec<Result<ModelEvent, ModelError>>>>,
    hangs: bool,
}

impl Provider for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> ModelStream<'a> {
        let reply = self.replies.lock().unwrap().remove(0);
        if self.hangs { stream::iter(reply).chain(stream::pending()).boxed() } else { stream::iter(reply).boxed() }
    }
}

/// A file that can be read while it is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn recorder(replies: Vec<Vec<Result<ModelEvent, ModelError>>>, hangs: bool) -> (LoggingProvider, Shared) {
    let file = Shared::default();
    let says = Arc::new(Says { replies: Mutex::new(replies), hangs });
    (LoggingProvider::new(says, &Recording::new(Box::new(file.clone()), "FILE")), file)
}

/// Returns all events of one request, without waiting.
fn heard(provider: &dyn Provider) -> Vec<Result<ModelEvent, ModelError>> {
    let (contents, settings) = ([Content::user("hi")], Settings::default());
    let request = Request {
        model: "the-model",
        system: None,
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    let mut stream = provider.stream(request);
    let mut events = Vec::new();
    while let Some(Some(event)) = stream.next().now_or_never() {
        events.push(event);
    }
    events
}

/// Returns the events one by one, as an agent receives them: how pieces were grouped does not matter.
fn told(events: Vec<Result<ModelEvent, ModelError>>) -> Vec<String> {
    let piece = |chunk: Chunk| Ok::<_, ModelError>(ModelEvent::Chunk(chunk));
    let mut pieces = Vec::new();
    for event in events {
        match event {
            Ok(ModelEvent::Chunk(Chunk { parts, finish, usage, citations, forming: _ })) => {
                pieces.extend(parts.into_iter().map(|part| piece(Chunk { parts: vec![part], ..Chunk::default() })));
                pieces
                    .extend(citations.into_iter().map(|uri| piece(Chunk { citations: vec![uri], ..Chunk::default() })));
                pieces.extend(usage.map(|usage| piece(Chunk { usage: Some(usage), ..Chunk::default() })));
                pieces.extend(finish.map(|finish| piece(Chunk { finish: Some(finish), ..Chunk::default() })));
            }
            other => pieces.push(other),
        }
    }
    let words = |error: ModelError| format!("{:?} {:?} {} {:?}", error.kind(), error.status(), error, error.help());
    pieces.into_iter().map(|event| event.map_or_else(words, |event| format!("{event:?}"))).collect()
}

fn chunk(parts: Vec<Part>) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Chunk(Chunk { parts, ..Chunk::default() }))
}

fn everything() -> Vec<Result<ModelEvent, ModelError>> {
    let call = |id: &str| {
        let arguments = Map::from_iter([("path".to_owned(), "a\n\"ü\"".into())]);
        PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("ls"), arguments))
    };
    let signature = Some(Signature { by: "gemini".to_owned(), data: "c2ln".to_owned() });
    let again = Again { reason: "broke".to_owned(), wait: Duration::from_millis(5_100), attempt: 2, attempts: 3 };
    vec![
        chunk(vec![Part::thought("hm"), Part::text("a")]),
        Ok(ModelEvent::Retry(again)),
        Ok(ModelEvent::Switched(Switched { model: "b".to_owned(), reason: "quota".to_owned() })),
        chunk(vec![Part { signature: signature.clone(), ..Part::thought("") }]),
        chunk(vec![call("").into(), Part { data: call("c1"), thought: false, signature }]),
        chunk(vec![
            PartData::InlineData(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() }).into(),
            PartData::FileReference(FileReference { mime_type: "a/b".to_owned(), uri: "gs://x".to_owned() }).into(),
        ]),
        Ok(ModelEvent::Chunk(Chunk {
            parts: vec![Part::text("end")],
            finish: Some(FinishReason::Other("odd".to_owned())),
            usage: Some(Usage { input: 1, output: 2, cached: 3, thought: 4, ..Usage::default() }),
            citations: vec!["https://example.com".to_owned()],
            forming: Vec::new(),
        })),
    ]
}

#[test]
fn recording_replay_gives_the_same_events() {
    let service = Service { provider: Gemini::PROVIDER, address: "http://test".to_owned() };
    let (message, again) = ("slow down".to_owned(), Wanted::default());
    let error = ModelError::Status { service, status: 429, kind: ErrorKind::Quota, message, again };
    let replies = vec![everything(), vec![chunk(vec![Part::text("half")]), Err(error)], vec![chunk(vec![])]];
    let (recorder, file) = recorder(replies, false);
    let first: Vec<_> = (0..3).map(|_| told(heard(&recorder))).collect();
    let replay = Scripted::parse("FILE", &file.text()).expect("a recording is a script");
    let second: Vec<_> = (0..3).map(|_| told(heard(&replay))).collect();
    assert_eq!(second, first);
    assert_eq!(replay.left(), 0);
    assert_eq!(replay.stands_for(), Some("the-model"));
}

#[test]
fn recording_of_a_reply_that_nobody_waited_for_hangs_when_replayed() {
    let (recorder, file) = recorder(vec![vec![chunk(vec![Part::text("half")])]], true);
    assert_eq!(heard(&recorder).len(), 1);
    assert!(file.text().ends_with("{\"chunks\":[{\"text\":\"half\"},{\"hang\":true}]}\n"), "{}", file.text());
}

#[test]
fn replies_are_written_in_the_order_of_their_requests() {
    let reply = |text: &str| vec![chunk(vec![Part::text(text)])];
    let (recorder, file) = recorder(vec![reply("one"), reply("two")], false);
    let (contents, settings) = ([Content::user("hi")], Settings::default());
    let request =
        Request { model: "m", system: None, contents: &contents, tools: &[], settings: &settings, conversation: None };
    let mut first = recorder.stream(request);
    assert!(first.next().now_or_never().is_some());
    assert_eq!(heard(&recorder).len(), 1, "the second is over before the first");
    assert!(!file.text().contains("two"));
    assert!(matches!(first.next().now_or_never(), Some(None)));
    let (one, two) = (file.text().find("one").expect("it is there"), file.text().find("two").expect("it is there"));
    assert!(one < two);
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let says = Arc::new(Says { replies: Mutex::new(vec![everything()]), hangs: false });
    let recorder = LoggingProvider::new(says, &Recording::new(Box::new(Full), "FILE"));
    let events = heard(&recorder);
    let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Configuration, "the recording `FILE` cannot be written")
    );
}
