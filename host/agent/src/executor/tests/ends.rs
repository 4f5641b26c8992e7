//! The six ends, and the two ways to the good one.

use super::*;
use host_journal::TerminateReason::*;

#[tokio::test(start_paused = true)]
async fn a_text_agent_is_done_with_its_first_reply_without_a_call() {
    let mut bench = bench(definition(Completion::Text), [calls([("read", json!({}))]), text("found")]);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("found"), None, 2));
    assert_eq!(bench.model.sent(), ["Do: tests", "read did it"]);
    assert_eq!(bench.model.tools(), "read look write wait ask work long");
    assert_eq!((result.usage.input, result.usage.output, result.finish), (20, 2, Some(FinishReason::Stop)));
    assert_eq!(result.recovered_from, None);
}

#[tokio::test(start_paused = true)]
async fn a_tool_agent_is_done_when_it_completes_its_task() {
    let mut bench = bench(definition(Completion::Tool), [calls([("look", json!({}))]), complete("found")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("found"), None, 2));
    assert_eq!(bench.model.tools(), "read look write wait ask work long complete_task");
}

#[tokio::test(start_paused = true)]
async fn other_calls_beside_complete_task_still_run() {
    let beside = calls([
        ("read", json!({})),
        ("complete_task", json!({"result": "one"})),
        ("complete_task", json!({"result": "two"})),
        ("write", json!({})),
    ]);
    let mut bench = bench(definition(Completion::Tool), [beside]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("one"), None, 1));
    let contents = bench.executor.history().contents();
    let told: Vec<_> = contents.last().expect("outcomes").function_responses().map(|one| one.body.text()).collect();
    assert_eq!(told[0], "read did it");
    assert!(told[2].starts_with("the task is completed already"), "{}", told[2]);
    assert_eq!(told[3], "write did it");
}

#[tokio::test(start_paused = true)]
async fn executor_invalid_result_is_reported_and_can_be_corrected() {
    let output = OutputConfig {
        name: "report".to_owned(),
        description: "what was found".to_owned(),
        schema: json!({"type": "object", "required": ["files"]}),
        transform: None,
    };
    let definition = AgentDefinition { output: Some(output), ..definition(Completion::Tool) };
    let replies = [
        calls([("complete_task", json!({"report": {}}))]),
        calls([("complete_task", json!({}))]),
        calls([("complete_task", json!({"report": {"files": [1]}}))]),
    ];
    let mut bench = bench(definition, replies);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("{\n  \"files\": [\n    1\n  ]\n}"), None, 3));
    let sent = bench.model.sent();
    assert!(sent[1].contains("at `/report`: \"files\" is a required property"), "{}", sent[1]);
    assert!(sent[2].contains("\"report\" is a required property"), "{}", sent[2]);
}

#[tokio::test(start_paused = true)]
async fn executor_next_run_continues_the_conversation() {
    let mut bench = bench(
        AgentDefinition {
            prompt: PromptConfig {
                initial_messages: vec![crate::InitialMessage { role: Role::Model, text: "Ready for ${task}.".into() }],
                ..definition(Completion::Text).prompt
            },
            ..definition(Completion::Text)
        },
        [calls([("read", json!({}))]), text("one"), calls([("read", json!({}))]), text("two")],
    );
    assert_eq!(came_to(&bench.run().await), (Goal, Some("one"), None, 2));
    assert_eq!(came_to(&bench.run().await), (Goal, Some("two"), None, 2));
    let contents = bench.model.last();
    assert_eq!(contents.len(), 8);
    assert_eq!(contents[0], Content::model("Ready for tests."));
    let ids: Vec<_> = contents.iter().flat_map(Content::function_calls).map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["main#0-0", "main#2-0"], "ids are never used twice");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_ends_the_run_as_an_error_with_what_it_said() {
    let mut bench = bench(definition(Completion::Text), [calls([("read", json!({}))]), breaks("half an ans")]);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Error, None, Some("half an ans"), 2));
    assert!(matches!(result.error, Some(RunError::Model(ModelError::MissingKey { .. }))), "{:?}", result.error);
    let contents = bench.executor.history().contents();
    assert_eq!((contents.len(), contents.last()), (4, Some(&Content::model("half an ans"))), "all of it is kept");
}

#[tokio::test(start_paused = true)]
async fn executor_attachments_follow_the_query_unchanged() {
    let mut bench = bench(definition(Completion::Text), [text("seen")]);
    let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
    let attached = vec![Part::text("a file with ${task} in it")];
    let result = bench.executor.run_with(&inputs, attached, &bench.cancel).await;
    assert_eq!(came_to(&result), (Goal, Some("seen"), None, 1));
    let parts: Vec<_> = bench.model.last()[0].parts.iter().filter_map(Part::as_text).map(str::to_owned).collect();
    assert_eq!(parts, ["Do: tests", "a file with ${task} in it"]);
    let call = vec![call("read", json!({}))];
    let result = bench.executor.run_with(&inputs, call, &bench.cancel).await;
    assert!(matches!(result.error, Some(RunError::History(_))), "{:?}", result.error);
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_to_outcomes_is_an_empty_answer() {
    let mut bench = bench(definition(Completion::Text), [calls([("read", json!({}))]), text("")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some(""), None, 2));
}

#[tokio::test(start_paused = true)]
async fn executor_invalid_inputs_are_reported_before_any_request() {
    let mut bench = bench(definition(Completion::Text), []);
    let result = bench.executor.run(&Map::new(), &bench.cancel).await;
    assert_eq!(came_to(&result), (Error, None, None, 0));
    assert!(matches!(result.error, Some(RunError::Inputs(_))));
    assert_eq!(bench.watcher.types(), ["run_requested", "error", "run_ended"]);
}

// promise model.calls
#[tokio::test(start_paused = true)]
async fn tools_that_are_not_the_agents_do_not_run() {
    let tools = ToolConfig::Only(vec!["look".to_owned()]);
    let definition = AgentDefinition { tools, ..definition(Completion::Text) };
    let mut bench = bench(definition, [calls([("write", json!({})), ("lok", json!({}))]), text("so be it")]);
    assert_eq!(bench.run().await.terminate_reason, Goal);
    assert_eq!(bench.model.tools(), "look");
    assert_eq!(
        bench.model.sent()[1],
        "the tool `write` is not available to this agent | \
         there is no tool `lok`; did you mean `look`?"
    );
}

#[test]
fn a_definition_that_cannot_run_is_refused() {
    let refused = |definition: AgentDefinition, tools: Registry| {
        let setup = Setup {
            budget: Budget::new(AgentId::new("main"), TreeLimits::default()),
            provider: Model::new([]),
            tools,
            responder: Responder::default(),
            observer: Arc::new(Watcher::default()),
            session: None,
            run_clock: PausableClock::default(),
            gate: None,
        };
        Executor::new(definition, setup).map(|_| ()).expect_err("it is refused")
    };
    let unknown = ToolConfig::Only(vec!["shell".to_owned()]);
    let error = refused(AgentDefinition { tools: unknown, ..definition(Completion::Text) }, Registry::new());
    assert_eq!(error.to_string(), "invalid tools of the agent `tester`");
    let mut taken = Registry::new();
    taken.register(Named::tool("complete_task")).expect("it is the first");
    assert!(matches!(refused(definition(Completion::Tool), taken), SetupError::Tools { .. }));
    let output = OutputConfig {
        name: "report".to_owned(),
        description: String::new(),
        schema: json!({"type": "objekt"}),
        transform: None,
    };
    let bad = AgentDefinition { output: Some(output), ..definition(Completion::Tool) };
    assert!(matches!(refused(bad, Registry::new()), SetupError::Output { .. }));
}

#[test]
fn the_ends_have_stable_names() {
    let names = [Goal, Timeout, MaxTurns, Aborted, Error, ErrorNoCompleteTaskCall]
        .map(|reason| serde_json::to_value(reason).expect("a word"));
    assert_eq!(names, ["GOAL", "TIMEOUT", "MAX_TURNS", "ABORTED", "ERROR", "ERROR_NO_COMPLETE_TASK_CALL"]);
}
