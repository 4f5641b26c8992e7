//! Every wire format that the host speaks: how it is told to, and how a service words a reply in it.

use host_tests::host::Host;
use host_tests::server::{Answer, Request, Server};
use serde_json::{Value, json};

/// A thing that a model says.
pub(super) enum Say {
    Text(&'static str),
    Call(&'static str, Value),
    /// A search for tools, where the service has a form of its own for it.
    Search(Value),
    /// A call of a tool that such a search found.
    Found(&'static str, Value),
}

impl Say {
    /// The tool that is called, and its arguments, where all calls have one form.
    fn call(&self) -> Option<(&'static str, &Value)> {
        match self {
            Self::Text(_) => None,
            Self::Call(name, arguments) | Self::Found(name, arguments) => Some((*name, arguments)),
            Self::Search(arguments) => Some(("tool_search", arguments)),
        }
    }
}

/// One wire format.
pub(super) struct Format {
    /// The model, as the host is told.
    pub(super) model: &'static str,
    /// What is set besides the address.
    variables: &'static [(&'static str, &'static str)],
    /// The variable with the address, and the path of the service behind it.
    address: (&'static str, &'static str),
    /// The configuration of the model.
    options: &'static str,
    /// The media type of its streams.
    media_type: &'static str,
    /// The events of a reply with all this in it, each as it is sent.
    events: fn(&[Say]) -> Vec<String>,
}

pub(super) const FORMATS: &[Format] = &[
    Format {
        model: "gemini/gemini-2.5-pro",
        variables: &[("GEMINI_API_KEY", "sk-secret-1234")],
        address: ("GOOGLE_GEMINI_BASE_URL", ""),
        options: "",
        media_type: SSE,
        events: gemini,
    },
    Format {
        model: "vertex/gemini-3-pro",
        variables: &[("GOOGLE_CLOUD_PROJECT", "my-project")],
        address: ("GOOGLE_VERTEX_BASE_URL", ""),
        options: "",
        media_type: SSE,
        events: gemini,
    },
    Format {
        model: "openai/gpt-5",
        variables: &[("OPENAI_API_KEY", "sk-secret-1234")],
        address: ("OPENAI_BASE_URL", "/v1"),
        options: "",
        media_type: SSE,
        events: openai,
    },
    Format {
        model: "openai-responses/gpt-5",
        variables: &[("OPENAI_API_KEY", "sk-secret-1234")],
        address: ("OPENAI_BASE_URL", "/v1"),
        options: "",
        media_type: SSE,
        events: responses,
    },
    Format {
        model: "anthropic/claude-haiku-4-5",
        variables: &[("ANTHROPIC_API_KEY", "sk-secret-1234")],
        address: ("ANTHROPIC_BASE_URL", ""),
        options: "",
        media_type: SSE,
        events: anthropic,
    },
    Format {
        model: "ollama/qwen3:8b",
        variables: &[],
        address: ("OLLAMA_HOST", ""),
        options: "",
        media_type: "application/x-ndjson",
        events: ollama,
    },
    Format {
        model: "openai/llama",
        variables: &[("OPENAI_API_KEY", "sk-secret-1234")],
        address: ("OPENAI_BASE_URL", "/text"),
        options: "[models.\"openai/llama\"]\ntools = \"text\"\n",
        media_type: SSE,
        events: text_mode,
    },
];

const SSE: &str = "text/event-stream";

impl Format {
    /// What tests call it.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.model, if self.options.is_empty() { "" } else { " in text" })
    }

    /// Its provider, as the configuration has it.
    pub(super) fn provider(&self) -> &'static str {
        self.model.split('/').next().unwrap_or_default()
    }

    /// The command line that asks this model at this server, with this configuration.
    pub(super) fn host(&self, server: &Server, arguments: &[&str], configuration: &str) -> Host {
        self.set_up(Host::new(["run", "--model", self.model]).args(arguments), server, configuration)
    }

    /// The host with what it needs to ask this model at this server.
    pub(super) fn set_up(&self, host: Host, server: &Server, configuration: &str) -> Host {
        let host = host
            .env(self.address.0, server.url(self.address.1))
            .configured(&format!("{configuration}{}", self.options));
        let host = self.variables.iter().fold(host, |host, (name, value)| host.env(name, value));
        if self.provider() != "vertex" {
            return host;
        }
        let file = "credentials/google.json";
        let credentials = json!({"type": "authorized_user", "client_id": "id", "client_secret": "sk-secret-1",
                                 "refresh_token": "sk-secret-2", "token_uri": server.url("/token")});
        let host = host.home_file(file, credentials.to_string());
        let path = host.home().join(file);
        host.env("GOOGLE_APPLICATION_CREDENTIALS", path)
    }

    /// A whole reply.
    pub(super) fn reply(&self, said: &[Say]) -> Answer {
        self.answer(&(self.events)(said))
    }

    /// A reply that ends before its end.
    pub(super) fn broken(&self, said: &[Say]) -> Answer {
        let events = (self.events)(said);
        // The last two say why it ended and that it has.
        self.answer(&events[..events.len() - 2])
    }

    /// A reply whose last event is cut off in the middle.
    pub(super) fn cut_off(&self, said: &[Say]) -> Answer {
        let mut events = (self.events)(said);
        events.truncate(events.len() - 1);
        let last = events.pop().unwrap_or_default();
        let bytes: String = events.iter().map(|event| self.framed(event)).collect();
        let framed = self.framed(&last);
        self.stream(format!("{bytes}{}", &framed[..framed.len() - 4]))
    }

    /// A stream of these bytes.
    pub(super) fn stream(&self, bytes: impl AsRef<[u8]>) -> Answer {
        Answer::ok(bytes).header("content-type", self.media_type)
    }

    /// The requests to the model, without those for a token.
    pub(super) fn asked(&self, server: &Server) -> Vec<Request> {
        server.requests().into_iter().filter(|request| request.path != "/token").collect()
    }

    fn answer(&self, events: &[String]) -> Answer {
        Answer::pieces(events.iter().map(|event| self.framed(event).into_bytes()))
            .header("content-type", self.media_type)
    }

    fn framed(&self, event: &str) -> String {
        if self.media_type == SSE { format!("data: {event}\n\n") } else { format!("{event}\n") }
    }
}

/// A server that answers the requests to a model with `answer`, by their number from 0, and any for a token with one.
pub(super) async fn serve(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Server {
    let next = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |request| {
        if request.path == "/token" {
            return Answer::ok(json!({"access_token": "t0ken", "expires_in": 3600}).to_string());
        }
        answer(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
    })
    .await
}

fn gemini(said: &[Say]) -> Vec<String> {
    let event = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]});
    let mut events: Vec<Value> = said
        .iter()
        .map(|say| match say {
            Say::Text(text) => event(json!([{"text": text}])),
            call => {
                let (name, arguments) = call.call().expect("it is one");
                event(json!([{"functionCall": {"name": name, "args": arguments}}]))
            }
        })
        .collect();
    events.push(json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}));
    events.push(json!({"usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 7}}));
    events.iter().map(Value::to_string).collect()
}

fn openai(said: &[Say]) -> Vec<String> {
    let event = |delta: Value, finish: Option<&str>| {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).to_string()
    };
    let mut calls = 0;
    let mut events = Vec::new();
    for say in said {
        match say {
            Say::Text(text) => events.push(event(json!({"content": text}), None)),
            call => {
                let (name, arguments) = call.call().expect("it is one");
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call =
                    json!([{"index": calls, "id": format!("call_{calls}"), "type": "function", "function": function}]);
                events.push(event(json!({"tool_calls": call}), None));
                calls += 1;
            }
        }
    }
    let mut end: Value =
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": if calls > 0 { "tool_calls" } else { "stop" }}]});
    end["usage"] = json!({"prompt_tokens": 50, "completion_tokens": 7});
    events.push(end.to_string());
    events.push("[DONE]".to_owned());
    events
}

/// The same with calls in the text.
fn text_mode(said: &[Say]) -> Vec<String> {
    let mut text = String::new();
    for say in said {
        match say {
            Say::Text(piece) => text.push_str(piece),
            call => {
                let (name, arguments) = call.call().expect("it is one");
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                let call = json!({"name": name, "arguments": arguments});
                text.push_str(&format!("```tool_call\n{call}\n```\n"));
            }
        }
    }
    let mut events: Vec<String> = text
        .split_inclusive(' ')
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]}).to_string())
        .collect();
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 50, "completion_tokens": 7}});
    events.extend([end.to_string(), "[DONE]".to_owned()]);
    events
}

fn responses(said: &[Say]) -> Vec<String> {
    let mut events = Vec::new();
    for (at, say) in said.iter().enumerate() {
        events.push(match say {
            Say::Text(text) => json!({"type": "response.output_text.delta", "output_index": at, "delta": text}),
            Say::Search(arguments) => {
                json!({"type": "response.output_item.done", "output_index": at,
                       "item": {"type": "tool_search_call", "id": format!("tsc_{at}"), "call_id": format!("call_{at}"),
                                "execution": "client", "arguments": arguments, "status": "completed"}})
            }
            call => {
                let (name, arguments) = call.call().expect("it is one");
                let mut item = json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("call_{at}"),
                                      "name": name, "arguments": arguments.to_string(), "status": "completed"});
                if let (Say::Found(..), Some((server, _))) = (say, name.split_once("__")) {
                    item["namespace"] = json!(server);
                }
                json!({"type": "response.output_item.done", "output_index": at, "item": item})
            }
        });
    }
    events.push(json!({"type": "response.in_progress", "response": {"status": "in_progress"}}));
    events.push(json!({"type": "response.completed",
                       "response": {"status": "completed", "output": [], "usage": {"input_tokens": 50, "output_tokens": 7}}}));
    events.iter().map(Value::to_string).collect()
}

fn anthropic(said: &[Say]) -> Vec<String> {
    let mut events = vec![json!({"type": "message_start", "message": {"role": "assistant", "content": [],
                                  "usage": {"input_tokens": 50, "output_tokens": 1}}})];
    let mut calls = false;
    for (at, say) in said.iter().enumerate() {
        let (block, delta) = match say {
            Say::Text(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            call => {
                let (name, arguments) = call.call().expect("it is one");
                calls = true;
                (
                    json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
                )
            }
        };
        events.push(json!({"type": "content_block_start", "index": at, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    let reason = if calls { "tool_use" } else { "end_turn" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(Value::to_string).collect()
}

fn ollama(said: &[Say]) -> Vec<String> {
    let message = |message: Value| json!({"model": "qwen3:8b", "message": message, "done": false});
    let mut events: Vec<Value> = said
        .iter()
        .map(|say| match say {
            Say::Text(text) => message(json!({"role": "assistant", "content": text})),
            call => {
                let (name, arguments) = call.call().expect("it is one");
                let calls = json!([{"function": {"name": name, "arguments": arguments}}]);
                message(json!({"role": "assistant", "content": "", "tool_calls": calls}))
            }
        })
        .collect();
    events.push(message(json!({"role": "assistant", "content": ""})));
    events.push(json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                       "prompt_eval_count": 50, "eval_count": 7}));
    events.iter().map(Value::to_string).collect()
}
