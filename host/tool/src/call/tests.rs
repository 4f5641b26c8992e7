use futures::future::BoxFuture;
use host_message::{AgentId, Output, ToolSpec};
use host_plugin::Confirmation;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Map;

use super::*;
use crate::{ApprovalMode, CallContext, CallFailure, FailureKind};

struct Never;

impl Tool for Never {
    fn spec(&self) -> &ToolSpec {
        unreachable!("the states do not look into the tool")
    }

    fn call<'a>(&'a self, _: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
        unreachable!("the states do not run the tool")
    }

    fn title(&self, call: &FunctionCall) -> String {
        format!("titled with {} arguments", call.arguments.len())
    }
}

fn call() -> FunctionCall {
    FunctionCall::new(CallId::new("1"), ToolName::new("t"), Map::new())
}

fn question() -> Question {
    Question {
        agent: "main".to_owned(),
        agent_id: AgentId::new("main"),
        call: Arc::new(call()),
        origin: None,
        confirmation: Confirmation::Call,
        about: crate::About::Call,
        commands: Vec::new(),
        effects: Vec::new(),
        touches: host_capability::Grants::none(),
        reasons: Vec::new(),
        not_undone: Vec::new(),
        can_leave_walls: false,
        mode: ApprovalMode::Default,
        switches: Vec::new(),
        always: Vec::new(),
        objection: None,
    }
}

fn settle(outcome: Outcome) -> Step {
    Step::Settle { outcome, decided: None }
}

/// Returns a step by its letter: `a`dmit, as`k`, sche`d`ule, `s`tart, and the ends: `+` success, `-` error, `x`
/// cancelled.
fn step(letter: char) -> Step {
    match letter {
        'a' => Step::Admit(Arc::new(Never)),
        'k' => Step::Ask(Arc::new(question())),
        'd' => Step::Schedule { call: Arc::new(call()), allowance: Arc::default(), decided: Decided::Approved },
        's' => Step::Start(LiveOutput::nowhere()),
        '+' => settle(Outcome::Success(Output::default())),
        '-' => settle(CallFailure::new(FailureKind::Failed, "").into()),
        _ => settle(Outcome::Cancelled { reason: String::new(), partial: None }),
    }
}

/// Takes steps and compares the state after each.
fn check(steps: &str, want: &[&str]) {
    let mut state = CallState::new(call());
    let got: Vec<_> = steps
        .chars()
        .map(|letter| {
            state.step(step(letter));
            state.word()
        })
        .collect();
    assert_eq!(got, want, "{steps}");
}

#[test]
fn a_call_goes_forward_only() {
    check("ads+", &["validating", "scheduled", "executing", "success"]);
    check("akds-", &["validating", "awaiting_approval", "scheduled", "executing", "error"]);
    check("akkx", &["validating", "awaiting_approval", "awaiting_approval", "cancelled"]);
    // No call is asked about, scheduled or started before its tool is known.
    check("kdsa", &["validating"; 4]);
    check("adakd", &["validating", "scheduled", "scheduled", "scheduled", "scheduled"]);
    check("adsadk", &["validating", "scheduled", "executing", "executing", "executing", "executing"]);
    check("-ads", &["error"; 4]);
    check("as", &["validating"; 2]);
}

/// The title of a call that settled after these steps; it runs `make` where `d` is written as `c`.
fn title_after(steps: &str) -> String {
    let command = ["make", "-j2"].map(str::to_owned).to_vec();
    let shown =
        Confirmation::Exec { argv: command, directory: ".".to_owned(), input: None, ground: host_plugin::Ground::Call };
    let allowance = Allowance { shown: Some(Arc::new(shown)), ..Allowance::default() };
    let arguments = Map::from_iter([("a".to_owned(), "first".into())]);
    let mut state = CallState::new(FunctionCall { arguments: arguments.clone(), ..call() });
    for letter in steps.chars() {
        state.step(match letter {
            'c' => Step::Schedule {
                call: Arc::new(FunctionCall { arguments: arguments.clone(), ..call() }),
                allowance: Arc::new(allowance.clone()),
                decided: Decided::Changed,
            },
            letter => step(letter),
        });
    }
    let CallState::Settled(settled) = state else { panic!("{steps} ends") };
    settled.title.to_string()
}

#[test]
fn a_call_is_titled_by_what_it_runs() {
    for (steps, title) in [
        ("-", "first"),
        ("ax", "titled with 1 arguments"),
        // The call of the question has no arguments, nor has the one that is scheduled by the letter d.
        ("akx", "titled with 0 arguments"),
        ("ads+", "titled with 0 arguments"),
        ("acs+", "make -j2"),
        ("akcx", "make -j2"),
    ] {
        assert_eq!(title_after(steps), title, "{steps}");
    }
}

#[test]
fn a_call_that_settles_has_the_end_of_its_output_and_of_its_command() {
    let (live, failed) = (LiveOutput::nowhere(), ProgramEnd { code: Some(3), signal: None, timed_out: false });
    let mut state = CallState::new(call());
    ["a", "d"].iter().flat_map(|letters| letters.chars()).for_each(|letter| {
        state.step(step(letter));
    });
    state.step(Step::Start(live.clone()));
    live.output("one\ntwo\n");
    live.command_ended(failed);
    state.step(settle(Outcome::Success(Output::default())));
    // A clone of the handle may outlive the call.
    live.output("three\n");
    state.step(settle(Outcome::Success(Output::default())));
    let CallState::Settled(settled) = state else { panic!("it ended") };
    assert_eq!((settled.command, settled.printed.lines), (Some(failed), 2));
    assert_eq!(settled.printed.tail, ["one", "two"]);
}

#[test]
fn a_call_can_settle_from_each_state() {
    for before in ["", "a", "ak", "ad", "ads"] {
        let mut state = CallState::new(call());
        for letter in before.chars() {
            assert!(state.step(step(letter)), "{before}");
        }
        assert!(state.step(step('x')), "{before}");
        let CallState::Settled(settled) = &state else { panic!("{before}") };
        let decided = before.contains('d').then_some(Decided::Approved);
        assert_eq!(settled.decided, decided, "{before}");
    }
}

// promise session.settled: Each call settles exactly once, also when the run is cancelled or dropped.
#[test]
fn a_settled_call_keeps_its_first_outcome() {
    let mut state = CallState::new(call());
    assert!(state.step(settle(Outcome::Success(Output::text("first")))));
    assert!(!state.step(settle(Outcome::Success(Output::text("second")))));
    let CallState::Settled(settled) = state else { panic!("it was settled") };
    assert_eq!(settled.outcome, Outcome::Success(Output::text("first")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    // promise approval.order: No call runs before it is decided, none runs twice, and a rejected call ends the calls
    //   after it.
    /// Whatever happens in whatever order: a call runs at most once, after it was allowed; it settles at most once; and
    /// nothing changes it after that.
    #[test]
    fn call_state_never_leaves_an_end_or_runs_what_nobody_allowed_in_any_order_of_events(
        letters in prop::collection::vec(select(vec!['a', 'k', 'd', 's', '+', '-', 'x']), 0..24)
    ) {
        const ORDER: [&str; 4] = ["validating", "awaiting_approval", "scheduled", "executing"];
        let mut state = CallState::new(call());
        let (mut allowed, mut ran, mut ended) = (0, 0, None);
        for letter in letters {
            let before = state.word();
            let changed = state.step(step(letter));
            let after = state.word();
            if let Some(end) = ended {
                prop_assert!(!changed && after == end, "{letter} after {end}");
                continue;
            }
            match after {
                _ if !changed => prop_assert_eq!(before, after),
                "scheduled" => allowed += 1,
                "executing" => ran += 1,
                "success" | "error" | "cancelled" => ended = Some(after),
                _ => {}
            }
            let place = |word: &str| ORDER.iter().position(|state| *state == word).unwrap_or(ORDER.len());
            prop_assert!(place(after) >= place(before), "{before} {letter} {after}");
            prop_assert!(allowed <= 1 && ran <= allowed);
        }
    }
}
