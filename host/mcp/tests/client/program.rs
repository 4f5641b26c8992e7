//! Servers that are programs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use host_message::OutputPart;
use host_plugin::{ElicitationForm, ElicitationKind, McpError, ProgramAccess, ProgramWalls};
use host_process::ConfineMode;
use host_settings::mcp::{McpState, McpTransport};
use serde_json::json;

use crate::fixture::{Ears, Fixture, name, text, until_ended, until_written};

// promise mcp.eras: A server of either era is listed and called, and how it begins is remembered.
#[tokio::test]
async fn server_of_the_older_era_is_listed_and_called_and_remembered() {
    let fixture = Fixture::new();
    let script = r#"
capabilities='{"tools":{},"resources":{},"prompts":{}}'
on_other() {
    case $line in
        *resources/list*) result '{"resources":[{"uri":"a://b","name":"b"}]}' ;;
        *resources/read*) result '{"contents":[{"uri":"a://b","text":"inside"}]}' ;;
        *prompts/list*) result '{"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}]}' ;;
        *prompts/get*) result '{"messages":[{"role":"assistant","content":{"type":"text","text":"filled"}}]}' ;;
    esac
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    let status = session.ready().await;
    assert_eq!(status.revision.as_deref(), Some("2025-11-25"));
    assert_eq!(status.program, Some(("fake".to_owned(), "1.0".to_owned())));
    assert_eq!((status.tools.len(), status.resources.len(), status.prompts.len()), (1, 1, 1), "{status:?}");
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
    let contents = session.servers.resource(&name(), "a://b").await.expect("a resource");
    assert_eq!(contents, [OutputPart::Text("inside".to_owned())]);
    let messages = session.servers.prompt(&name(), "p", serde_json::Map::new()).await.expect("a prompt");
    assert!(messages[0].is_model && messages[0].content == OutputPart::Text("filled".to_owned()));
    assert!(session.sent().contains("server/discover"));

    std::fs::remove_file(&session.log).expect("there was a log");
    let again = fixture.connect(fixture.script(script));
    again.ready().await;
    assert!(!again.sent().contains("server/discover"), "it is remembered: {}", again.sent());
}

// promise mcp.eras
#[tokio::test]
async fn server_of_the_stateless_era_is_listed_and_called_and_remembered() {
    let fixture = Fixture::new();
    let script = r#"
on_discover() { discovered; }
on_initialize() { exit 3; }
on_tools() { result '{"resultType":"complete","tools":'"$tools"',"ttlMs":0,"cacheScope":"private"}'; }
on_call() { result '{"resultType":"complete","content":[{"type":"text","text":"called"}]}'; }
serve"#;
    let session = fixture.connect(fixture.script(script));
    assert_eq!(session.ready().await.revision.as_deref(), Some("2026-07-28"));
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
    let call = session.sent().lines().rfind(|line| line.contains("tools/call")).expect("a call").to_owned();
    assert!(call.contains("io.modelcontextprotocol/protocolVersion"), "each request says its revision: {call}");
    drop(session);
    // One that changed to the older era is found out again.
    let again = fixture.connect(fixture.script("serve"));
    assert_eq!(again.ready().await.revision.as_deref(), Some("2025-11-25"));
}

// promise mcp.eras
#[tokio::test]
async fn server_that_dies_of_an_unknown_first_request_is_started_again() {
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.script("on_discover() { exit 1; }\nserve"));
    assert_eq!(session.ready().await.revision.as_deref(), Some("2025-11-25"));
}

// promise mcp.away: A server that hangs, ends or prints rubbish costs its own tools and nothing else; what it listed
//   stays listed, calls say why, and it is connected again.
#[tokio::test]
async fn server_that_hangs_in_the_handshake_is_away() {
    let fixture = Fixture::new();
    let mut server = fixture.script("on_discover() { :; }\non_initialize() { :; }\nserve");
    server.timeout = Duration::from_millis(300);
    let session = fixture.connect(server);
    session.servers.settled(&|_| true).await;
    let why = session.away().await;
    assert!(why.contains("did not finish the handshake within 300 ms"), "{why}");
    let error = session.call("echo").await.expect_err("it is away");
    assert!(matches!(&error, McpError::Unavailable(why) if why.contains("handshake")), "{error:?}");
}

// promise mcp.away
#[tokio::test]
async fn server_that_dies_stays_listed_and_comes_back() {
    let fixture = Fixture::new();
    let script = r#"on_call() { echo "out of cheese" >&2; exit 7; }
[ -e "$LOG.once" ] && on_call() { text "back"; }
: > "$LOG.once"
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let error = session.call("echo").await.expect_err("it dies").to_string();
    assert!(error.contains("may have had its effect"), "{error}");
    let status = session.until("away", |status| matches!(status.state, McpState::Unavailable { .. })).await;
    assert!(
        matches!(&status.state, McpState::Unavailable { why, is_retried: true }
            if why.contains("exit code 7") && why.contains("out of cheese")),
        "{status:?}"
    );
    assert_eq!(status.tools.len(), 1, "what it listed stays listed");
    session.ready().await;
    assert_eq!(text(&session.call("echo").await.expect("it is back")), "back");
    assert_eq!(session.sent().matches("tools/call").count(), 2, "no call is repeated by itself");
}

// promise mcp.away
#[tokio::test]
async fn program_that_is_missing_or_no_server_is_away_with_the_reason() {
    let fixture = Fixture::new();
    let mut missing = fixture.script("");
    if let McpTransport::Program(program) = &mut missing.transport {
        program.command = vec!["no-such-program".to_owned()];
    }
    let session = fixture.connect(missing);
    let why = session.away().await;
    assert!(why.contains("no program `no-such-program`"), "{why}");

    let rubbish = r#"while :; do printf '\033]0;evil\007 hello\n'; done"#;
    let session = fixture.connect(fixture.script(rubbish));
    let why = session.away().await;
    assert!(why.contains("hello") && why.contains("not messages") && !why.contains('\u{1b}'), "{why}");
}

#[tokio::test]
async fn a_few_lines_of_rubbish_are_skipped() {
    let fixture = Fixture::new();
    let session =
        fixture.connect(fixture.script("echo 'Server listening on stdio'; echo '{\"level\":\"info\"}'\nserve"));
    session.ready().await;
}

// promise mcp.bounded: What a server sends is limited in size and number: an answer that is too large fails its call
//   and no other.
#[tokio::test]
async fn answer_of_100_mb_fails_its_call_alone() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    case $line in
        *'"name":"huge"'*)
            printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$i"
            head -c 104857600 /dev/zero | tr '\0' x
            say '"}]}}' ;;
        *) text "small" ;;
    esac
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let error = session.call("huge").await.expect_err("it is too large");
    assert!(matches!(&error, McpError::Protocol(why) if why.contains("over 24 MiB")), "{error:?}");
    assert_eq!(text(&session.call("echo").await.expect("the server lives")), "small");
}

// promise mcp.bounded
#[tokio::test]
async fn flood_of_announced_changes_costs_nothing() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    n=0
    while [ $n -lt 20000 ]; do
        say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        n=$((n + 1))
    done
    text "done"
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "done");
    let read = session.sent().matches("tools/list").count();
    assert!(read <= 20, "the list was read {read} times");
}

// promise mcp.bounded
#[tokio::test]
async fn lists_are_read_page_by_page_and_bounded() {
    let fixture = Fixture::new();
    let script = r#"on_tools() {
    n=${line#*\"cursor\":\"}
    case $n in "$line") n=0 ;; *) n=${n%%\"*} ;; esac
    result '{"tools":[{"name":"t'"$n"'","inputSchema":{"type":"object"}},{"name":"bad'"$n"'"}],"nextCursor":"'$((n + 1))'"}'
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    let status = session.ready().await;
    assert_eq!(status.tools.len(), 100, "one good tool a page, of at most 100 pages");
    assert!(
        status.notes.iter().any(|note| note.contains("`bad0`") && note.contains("inputSchema")),
        "{:?}",
        status.notes
    );
    assert!(status.notes.len() <= 21, "{:?}", status.notes);
}

#[tokio::test]
async fn tools_that_change_at_run_time_are_listed_again() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    tools='[{"name":"other","inputSchema":{"type":"object"}}]'
    say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    text "changed"
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    session.call("echo").await.expect("an answer");
    session.until("changed", |status| status.tools.iter().any(|tool| tool.name == "other")).await;
}

#[tokio::test]
async fn server_with_only_prompts_is_ready() {
    let fixture = Fixture::new();
    let script = r#"capabilities='{"prompts":{}}'
on_tools() { exit 1; }
on_other() { result '{"prompts":[{"name":"p"}]}'; }
serve"#;
    let status = fixture.connect(fixture.script(script)).ready().await;
    assert_eq!((status.tools.len(), status.prompts.len()), (0, 1));
}

#[tokio::test]
async fn only_tools_that_the_user_names_are_used() {
    let fixture = Fixture::new();
    let two = r#"tools='[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{},"annotations":{"readOnlyHint":true}}]'
serve"#;
    let mut server = fixture.script(two);
    server.tools = Some(["b", "c"].map(str::to_owned).into_iter().collect::<BTreeSet<_>>());
    let session = fixture.connect(server.clone());
    let status = session.ready().await;
    assert_eq!(status.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["b"]);
    assert!(status.notes.iter().any(|note| note.contains("no tool `c`")), "{:?}", status.notes);
    assert!(!session.servers.only_reads(&name(), "b"), "a claim counts only if the user says so");
    server.trusts_hints = true;
    let session = fixture.connect(server);
    session.ready().await;
    assert!(session.servers.only_reads(&name(), "b") && !session.servers.only_reads(&name(), "a"));
}

// promise mcp.calls: A call is made once. One that takes too long or is dropped is cancelled at the server; progress
//   keeps it alive.
#[tokio::test]
async fn slow_call_is_kept_alive_by_progress_and_cancelled_by_silence() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    t=${line#*\"progressToken\":}
    t=${t%%[,\}]*}
    case $line in *'"name":"silent"'*) return ;; esac
    for n in 1 2 3 4 5; do
        sleep 0.3
        say '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$t"',"progress":'$n',"total":5,"message":"m"}}'
    done
    text "slow"
}
serve"#;
    let mut server = fixture.script(script);
    server.timeout = Duration::from_secs(1);
    let session = fixture.connect(server);
    session.ready().await;
    let ears = Arc::new(Ears::default());
    let answer = session.call_with("echo", Arc::clone(&ears) as _).await.expect("an answer");
    assert_eq!(text(&answer), "slow");
    assert!(ears.progress.lock().expect("a lock").contains(&"5/Some(5) m".to_owned()), "{:?}", ears.progress);
    let error = session.call("silent").await.expect_err("it is silent");
    assert!(
        matches!(&error, McpError::Unavailable(why) if why.contains("did not answer within 1 second")),
        "{error:?}"
    );
    session.until_sent("notifications/cancelled").await;
    assert_eq!(session.status().state, McpState::Ready);
}

// promise mcp.calls
#[tokio::test]
async fn dropped_call_is_cancelled_at_the_server() {
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.script("on_call() { :; }\nserve"));
    session.ready().await;
    tokio::select! {
        answer = session.call("echo") => panic!("{answer:?}"),
        () = session.until_sent("tools/call") => {}
    }
    session.until_sent("notifications/cancelled").await;
}

// promise mcp.calls
#[tokio::test]
async fn answer_to_another_request_is_not_accepted() {
    let fixture = Fixture::new();
    let mut server = fixture.script("on_call() { i=4711; text lost; }\nserve");
    server.timeout = Duration::from_millis(500);
    let session = fixture.connect(server);
    session.ready().await;
    let error = session.call("echo").await.expect_err("there is no answer");
    assert!(matches!(error, McpError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn tool_that_fails_gives_an_answer_and_an_error_gives_none() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    case $line in
        *'"name":"fails"'*) result '{"isError":true,"content":[{"type":"text","text":"no"}],"structuredContent":{"a":1}}' ;;
        *'"name":"wrong"'*) failed -32602 'bad \u001b[31m arguments' ;;
        *'"name":"nothing"'*) result '{}' ;;
        *) failed -32601 'no such tool' ;;
    esac
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let answer = session.call("fails").await.expect("an answer");
    assert!(answer.is_error && answer.structured == Some(json!({"a": 1})), "{answer:?}");
    let error = session.call("wrong").await.expect_err("it is invalid");
    assert!(matches!(&error, McpError::Invalid(why) if !why.contains('\u{1b}')), "{error:?}");
    assert!(matches!(session.call("gone").await, Err(McpError::NotFound(_))));
    assert!(session.call("nothing").await.expect("an answer").content.is_empty());
}

// promise mcp.questions: A server's question goes to the user of its call, in both eras; a form of any other kind is
//   refused.
#[tokio::test]
async fn question_of_the_older_era_is_asked() {
    let fixture = Fixture::new();
    let script = r#"on_call() {
    call=$i
    say '{"jsonrpc":"2.0","id":99,"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"color":{"type":"string","enum":["red","blue"]}},"required":["color"]}}}'
}
on_answer() { i=$call; case $line in *'"color":"red"'*) text "red" ;; *) text "none" ;; esac; }
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let ears = Arc::new(Ears::answering(json!({"color": "red"})));
    assert_eq!(text(&session.call_with("echo", Arc::clone(&ears) as _).await.expect("an answer")), "red");
    let asked = ears.asked.lock().expect("a lock").remove(0);
    let ElicitationForm::Fields(fields) = &asked.form else { panic!("{asked:?}") };
    assert!(
        asked.message == "Which?" && matches!(&fields[0].kind, ElicitationKind::Choice(choices) if choices.len() == 2)
    );
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "none", "it was declined");
}

// promise mcp.questions
#[tokio::test]
async fn question_of_the_stateless_era_is_asked_and_the_request_repeated_with_the_answer() {
    let fixture = Fixture::new();
    let script = r#"on_discover() { discovered; }
on_call() {
    case $line in
        *'"name":"endless"'*) result '{"resultType":"input_required","requestState":"s"}' ;;
        *'"inputResponses":{"q":{"action":"accept","content":{"name":"Ada"}'*'"requestState":"opaque"'*) text "Ada" ;;
        *) result '{"resultType":"input_required","requestState":"opaque","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}}' ;;
    esac
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let ears = Arc::new(Ears::answering(json!({"name": "Ada"})));
    assert_eq!(text(&session.call_with("echo", Arc::clone(&ears) as _).await.expect("an answer")), "Ada");
    assert_eq!(ears.asked.lock().expect("a lock").len(), 1);
    let error = session.call("endless").await.expect_err("it never ends");
    assert!(matches!(&error, McpError::Protocol(why) if why.contains("over 10 times")), "{error:?}");
}

#[tokio::test]
async fn call_that_becomes_a_task_is_polled_to_its_end_and_cancelled_with_the_call() {
    let fixture = Fixture::new();
    let script = r#"on_discover() { discovered; }
task='"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":100'
polls=0
on_call() {
    case $line in *'"name":"endless"'*) polls=-1000000 ;; esac
    result '{"resultType":"task","status":"working","statusMessage":"begun",'"$task"'}'
}
on_other() {
    case $line in
        *tasks/get*)
            polls=$((polls + 1))
            if [ $polls -gt 2 ]; then
                result '{"resultType":"complete","status":"completed",'"$task"',"result":{"content":[{"type":"text","text":"late"}]}}'
            else
                result '{"resultType":"complete","status":"working",'"$task"'}'
            fi ;;
        *) result '{"resultType":"complete"}' ;;
    esac
}
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    let ears = Arc::new(Ears::default());
    assert_eq!(text(&session.call_with("echo", Arc::clone(&ears) as _).await.expect("an answer")), "late");
    assert!(ears.progress.lock().expect("a lock")[0].contains("begun"));
    tokio::select! {
        answer = session.call("endless") => panic!("{answer:?}"),
        () = session.until_sent_often("tasks/get", 5) => {}
    }
    session.until_sent("tasks/cancel").await;
}

// promise mcp.programs: A server that is a program is confined to what its configuration names, gets no secret of the
//   environment, and ends with everything that it started.
#[tokio::test]
async fn programs_of_a_server_end_with_it() {
    let fixture = Fixture::new();
    let session =
        fixture.connect(fixture.script("(trap '' HUP TERM; exec setsid sleep 1000) &\necho $! > \"$LOG.pid\"\nserve"));
    session.ready().await;
    let pid = fixture.path("log.pid");
    until_written(&pid, |pid| pid.ends_with('\n')).await;
    let pid = std::fs::read_to_string(&pid).expect("a pid");
    drop(session);
    until_ended(&pid).await;
}

// promise mcp.programs
#[tokio::test]
async fn confined_server_reads_no_other_file_and_reaches_no_server() {
    if host_process::level().missing().iter().any(|missing| !missing.is_covered) {
        // Without walls there is nothing to break: then it is not started, which the next test tries.
        return;
    }
    // In /tmp it would be hidden by the program's own.
    let secret = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let secret = secret.path().canonicalize().expect("it is there").join("secret");
    std::fs::write(&secret, "SECRET").expect("written");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();

    let mut fixture = Fixture::new();
    let here = fixture.path("").components().collect::<std::path::PathBuf>();
    fixture.access = Some(ProgramAccess {
        walls: ProgramWalls { mode: ConfineMode::Require, is_chosen: true },
        installed: host_process::Places::new(None, Vec::new()),
        writable: vec![here],
        ..ProgramAccess::default()
    });
    let script = format!(
        r#"on_call() {{
    case $line in
        *'"name":"leave"'*) exit 3 ;;
        *'"name":"read"'*) cat '{secret}' >&2; text "$(cat '{secret}' 2>/dev/null || echo denied)" ;;
        *) if (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || curl -s -m 3 http://127.0.0.1:{port}/ 2>/dev/null; then text reached; else text denied; fi ;;
    esac
}}
serve"#,
        secret = secret.display()
    );
    let mut server = fixture.script(&script);
    let session = fixture.connect(server.clone());
    session.ready().await;
    assert_eq!(text(&session.call("read").await.expect("an answer")), "denied");
    assert_eq!(text(&session.call("reach").await.expect("an answer")), "denied");
    session.call("leave").await.expect_err("it is away");
    let why = session.away().await;
    assert!(why.contains("this program is confined") && why.contains("[mcp.fake]"), "{why}");
    listener.set_nonblocking(true).expect("set");
    assert!(listener.accept().is_err(), "nobody connected");
    drop(session);

    // With the grant it reads, so that the wall was what kept it from that.
    if let McpTransport::Program(program) = &mut server.transport {
        program.resources.reads.push(secret);
    }
    let session = fixture.connect(server);
    session.ready().await;
    assert_eq!(text(&session.call("read").await.expect("an answer")), "SECRET");
}

// promise mcp.programs
#[tokio::test]
async fn server_gets_its_own_variables_and_no_secret_of_the_environment() {
    let fixture = Fixture::new();
    let script = r#"on_call() { text "${GITHUB_TOKEN:-none} ${LOG:+own}"; }
serve"#;
    let session = fixture.connect(fixture.script(script));
    session.ready().await;
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "none own");
}
