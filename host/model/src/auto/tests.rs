//! Which model answers, and that one always does.

use std::sync::Mutex;

use host_message::FinishReason;

use super::*;
use crate::ErrorKind;

/// Returns one text, or fails, or never answers; remembers its requests.
struct Says {
    reply: Reply,
    asked: Mutex<Vec<(String, String)>>,
}

enum Reply {
    Text(&'static str),
    Fails,
    Hangs,
}

impl Says {
    fn new(reply: Reply) -> Arc<Self> {
        Arc::new(Self { reply, asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Provider for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let last = request.contents.last().map(Content::visible_text).unwrap_or_default();
        self.asked.lock().unwrap().push((request.model.to_owned(), last));
        let usage = Some(Usage { input: 7, output: 1, ..Usage::default() });
        let finish = Some(FinishReason::Stop);
        match self.reply {
            Reply::Text(text) => {
                let chunk = Chunk { parts: vec![Part::text(text)], finish, usage, ..Chunk::default() };
                stream::iter([Ok(ModelEvent::Chunk(chunk))]).boxed()
            }
            Reply::Fails => {
                let (message, help) = ("no key".to_owned(), None);
                let error = ModelError::Recorded { kind: ErrorKind::Authentication, status: None, message, help };
                stream::iter([Err(error)]).boxed()
            }
            Reply::Hangs => stream::pending().boxed(),
        }
    }
}

fn asked(model: &str, provider: &Arc<Says>) -> Asked {
    Asked { model: model.to_owned(), provider: Arc::clone(provider) as _, settings: Settings::default() }
}

fn route(id: &str, provider: &Arc<Says>) -> Route {
    let model = id.split('/').next_back().unwrap();
    Route { id: id.to_owned(), when: format!("what {model} is for"), asked: asked(model, provider) }
}

struct Bench {
    auto: Auto,
    large: Arc<Says>,
    small: Arc<Says>,
    classifier: Arc<Says>,
}

fn bench(reply: Reply) -> Bench {
    let (large, small, classifier) =
        (Says::new(Reply::Text("large")), Says::new(Reply::Text("small")), Says::new(reply));
    let auto = Auto::new(route("p/large", &large), vec![route("p/small", &small)], Some(asked("tiny", &classifier)));
    Bench { auto, large, small, classifier }
}

/// Returns the text of one reply, the picked model with the reason, and the usage.
async fn ask(auto: &Auto) -> (String, Option<(String, String)>, Usage) {
    let (contents, settings) = ([Content::user("count the files")], Settings::default());
    let request = Request {
        model: "auto",
        system: None,
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    let (mut text, mut told, mut usage) = (String::new(), None, Usage::default());
    let mut stream = auto.stream(request);
    while let Some(event) = stream.next().await {
        match event.expect("it answers") {
            ModelEvent::Chunk(chunk) => {
                text.extend(chunk.parts.iter().filter_map(Part::as_text));
                usage = chunk.usage.unwrap_or(usage);
            }
            ModelEvent::Switched(switched) => told = Some((switched.model, switched.reason)),
            ModelEvent::Retry(_) => panic!("nothing is asked again"),
        }
    }
    (text, told, usage)
}

#[tokio::test(start_paused = true)]
async fn the_classifier_picks_once_and_the_model_stays() {
    let bench = bench(Reply::Text("```json\n{\"reasoning\": \"It is simple.\", \"model\": \"p/small\"}\n```"));
    let (text, told, usage) = ask(&bench.auto).await;
    assert_eq!((text.as_str(), told), ("small", Some(("p/small".to_owned(), "It is simple.".to_owned()))));
    assert_eq!(usage.input, 14, "what picking cost is part of it");
    assert_eq!(ask(&bench.auto).await, ("small".to_owned(), None, Usage { input: 7, output: 1, ..Usage::default() }));
    assert_eq!((bench.classifier.asked(), bench.small.asked(), bench.large.asked()), (1, 2, 0));
    let asked = bench.classifier.asked.lock().unwrap();
    assert!(asked[0].0 == "tiny" && asked[0].1.contains("<user>\ncount the files\n</user>"), "{asked:?}");
    assert_eq!(bench.small.asked.lock().unwrap()[0].0, "small");
}

#[tokio::test(start_paused = true)]
async fn auto_default_model_answers_whatever_fails() {
    let check = async |reply: Reply, says: &str| {
        let bench = bench(reply);
        let (text, told, _) = ask(&bench.auto).await;
        let (model, reason) = told.expect("it is told");
        assert_eq!((text.as_str(), model.as_str()), ("large", "p/large"), "{says}");
        assert!(reason.contains(says), "{reason}");
        ask(&bench.auto).await;
        assert_eq!(bench.classifier.asked(), 1, "{says}: and it is not asked again");
    };
    check(Reply::Fails, "no key").await;
    check(Reply::Hangs, "longer than 15 s").await;
    check(Reply::Text("I would take the small one."), "I would take").await;
    check(Reply::Text("{\"model\": \"p/other\"}"), "p/other").await;
    check(Reply::Text("} {"), "} {").await;
    check(Reply::Text(""), "it answered").await;
}

#[tokio::test(start_paused = true)]
async fn auto_without_a_classifier_or_a_choice_asks_nobody() {
    let large = Says::new(Reply::Text("large"));
    let classifier = Says::new(Reply::Hangs);
    for auto in [
        Auto::new(route("p/large", &large), Vec::new(), Some(asked("tiny", &classifier))),
        Auto::new(route("p/large", &large), vec![route("p/small", &large)], None),
    ] {
        let (text, told, _) = ask(&auto).await;
        assert_eq!((text.as_str(), told.map(|told| told.0)), ("large", Some("p/large".to_owned())));
    }
    assert_eq!(classifier.asked(), 0);
}

#[test]
fn the_classifier_reads_the_end_of_the_conversation() {
    let contents: Vec<Content> =
        (0..9).map(|at| Content::user(format!("message {at} {}", "x".repeat(9_000)))).collect();
    let text = conversation(&contents);
    assert!(!text.contains("message 4") && text.contains("message 5") && text.contains("message 8"));
    assert!(text.len() < READ_MESSAGES * (READ_CHARACTERS + 100) && text.contains("… (cut)"));
}
