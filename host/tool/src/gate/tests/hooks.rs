//! What an answer of hooks does to a call, whatever it says.

use super::*;
use crate::hooks::{ChangedArguments, HookAnswer, HookAsker, HookDecision, HookEvent, HookInput, HookText, Hooks};

/// Answers each event by its input.
struct Answering<F>(F, Mutex<Vec<String>>);

impl<F: Fn(&HookInput<'_>) -> HookAnswer + Send + Sync> Hooks for Answering<F> {
    fn listens(&self, event: HookEvent) -> bool {
        event != HookEvent::Notification
    }

    fn ask<'a>(&'a self, _: HookAsker<'a>, input: HookInput<'a>) -> BoxFuture<'a, HookAnswer> {
        let call = input.call().map(|call| Value::Object(call.arguments.clone()).to_string()).unwrap_or_default();
        self.1.lock().expect("no test panics with it").push(format!("{} {call}", input.event().name()));
        let answer = (self.0)(&input);
        async move { answer }.boxed()
    }

    fn notify(&self, _: HookAsker<'_>, _: HookInput<'_>) {}
}

fn said(decision: HookDecision, reason: &str) -> HookAnswer {
    HookAnswer { decision: Some((decision, HookText::new("h", reason))), ..HookAnswer::default() }
}

fn changed(arguments: Value, decision: Option<HookDecision>) -> HookAnswer {
    let arguments = arguments.as_object().cloned().expect("an object");
    HookAnswer {
        arguments: Some(ChangedArguments { hook: "h".to_owned(), arguments }),
        ..decision.map(|decision| said(decision, "")).unwrap_or_default()
    }
}

fn hooked<F>(policy: Policy, queue: &ApprovalQueue, answer: F) -> (Gate, Arc<Answering<F>>)
where
    F: Fn(&HookInput<'_>) -> HookAnswer + Send + Sync + 'static,
{
    let hooks = Arc::new(Answering(answer, Mutex::default()));
    (gate(policy, queue).with_hooks(Some(Arc::clone(&hooks) as Arc<dyn Hooks>)), hooks)
}

/// Returns an answer for one event, and nothing for the others.
fn only(event: HookEvent, answer: HookAnswer) -> impl Fn(&HookInput<'_>) -> HookAnswer + Send + Sync + 'static {
    move |input| if input.event() == event { answer.clone() } else { HookAnswer::default() }
}

/// Hooks that deny every call before it is decided.
pub(super) fn denying() -> Arc<dyn Hooks> {
    Arc::new(Answering(only(HookEvent::PreToolUse, said(HookDecision::Deny, "no")), Mutex::default()))
}

// promise hooks.deny: A hook denies a call with a reason, which the model gets; the user is not asked about it.
#[tokio::test]
async fn gate_denial_of_a_hook_wins_over_everything() {
    for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest] {
        let queue = ApprovalQueue::new();
        let (gate, _) = hooked(rules(""), &queue, only(event, said(HookDecision::Deny, "no \u{1b}[2Jway")));
        let (settled, asked) = run(&gate, &queue, &[command("make")], &[]).await;
        assert_eq!(words(&settled), ["Denied Denied: `run` was not run: the hook `h` denied it: no \u{1b}[2Jway"]);
        assert!(asked.is_empty());
    }
    let queue = ApprovalQueue::new();
    let (gate, _) = hooked(rules(""), &queue, only(HookEvent::PreToolUse, said(HookDecision::Deny, "")));
    let (settled, _) = run(&gate.in_mode(ApprovalMode::Yolo), &queue, &[command("git status")], &[]).await;
    assert_eq!(words(&settled), ["Denied Denied: `run` was not run: the hook `h` denied it"]);
}

// promise hooks.allow: A hook's allowance skips only a question about what is granted; a rule that denies or asks wins,
//   and what is not granted is asked about.
#[tokio::test]
async fn gate_allowance_of_a_hook_reaches_only_as_far_as_the_grants() {
    let allow = || said(HookDecision::Allow, "");
    for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest] {
        let queue = ApprovalQueue::new();
        let check = async |rule: &str, line: &str, expected: &str, questions: usize| {
            let (gate, _) = hooked(rules(rule), &queue, only(event, allow()));
            let answers = vec![cancel(None); questions];
            let (settled, asked) = run(&gate, &queue, &[command(line)], &answers).await;
            let words = words(&settled);
            assert!(words[0].starts_with(expected), "{event:?} {line}: {words:?}");
            assert_eq!(asked.len(), questions, "{event:?} {line}");
        };
        let asks = "[[rule]]\ndecision = \"ask\"";
        let denies = "[[rule]]\ndecision = \"deny\"";
        // It may do more than the part that is granted.
        check("", "git status --foo=$(x)", "Rejected", 1).await;
        check("", "make", "Rejected", 1).await;
        check("", "git status > /etc/passwd", "Rejected", 1).await;
        check(asks, "git status", "Rejected", 1).await;
        check(denies, "git status", "Denied", 0).await;
        check("", "echo x > .host/config.toml", "Denied", 0).await;
    }
}

// promise hooks.changed: Arguments that a hook changed are checked, previewed and decided about again, and the question
//   says who changed them.
#[tokio::test]
async fn gate_arguments_that_a_hook_changed_are_asked_about_again() {
    let queue = ApprovalQueue::new();
    let rewrite = |to: Value, decision: Option<HookDecision>| {
        move |input: &HookInput<'_>| match input.event() {
            HookEvent::PreToolUse => changed(to.clone(), decision),
            _ => HookAnswer::default(),
        }
    };
    // What was granted is asked about, since the model did not write it.
    let (gate, hooks) = hooked(rules(""), &queue, rewrite(json!({"command": "git status"}), None));
    let (settled, asked) = run(&gate, &queue, &[command("make")], &[Answer::ProceedOnce]).await;
    assert!(words(&settled)[0].starts_with("Approved {\"command\":\"git status\"}"), "{settled:?}");
    assert_eq!(asked[0].call.arguments["command"], "git status");
    assert_eq!(asked[0].reasons, ["the hook `h` changed the arguments", OFF]);
    let seen = hooks.1.lock().expect("no test panics with it").clone();
    assert_eq!(seen[..2], ["PreToolUse {\"command\":\"make\"}", "PreToolUse {\"command\":\"git status\"}"]);
    // Allowed by the same hook, as far as the grants reach.
    let (gate, _) = hooked(rules(""), &queue, rewrite(json!({"command": "git status"}), Some(HookDecision::Allow)));
    let (settled, asked) = run(&gate, &queue, &[command("make")], &[]).await;
    assert!(words(&settled)[0].starts_with("Allowed {\"command\":\"git status\"}") && asked.is_empty(), "{settled:?}");
    let Outcome::Success(output) = &settled[0].outcome else { panic!("{settled:?}") };
    assert!(format!("{:?}", output.content[1]).contains("changed the arguments of this call"), "{output:?}");
    let (gate, _) = hooked(rules(""), &queue, rewrite(json!({"command": "make"}), Some(HookDecision::Allow)));
    let (settled, asked) = run(&gate, &queue, &[command("git status")], &[cancel(None)]).await;
    assert!(words(&settled)[0].starts_with("Rejected") && asked.len() == 1, "what is not granted is asked about");
    // Invalid, protected, and back and forth.
    for (to, why) in [
        (json!({"command": 7}), "the hook `h` changed its arguments, and they cannot be used"),
        (json!({"command": "echo x > .host/config.toml"}), "was not run: "),
    ] {
        let (gate, _) = hooked(rules(""), &queue, rewrite(to, Some(HookDecision::Allow)));
        let (settled, asked) = run(&gate, &queue, &[command("git status")], &[]).await;
        assert!(words(&settled)[0].starts_with("Denied Denied") && words(&settled)[0].contains(why), "{settled:?}");
        assert!(asked.is_empty());
    }
    let (gate, _) = hooked(rules(""), &queue, |input: &HookInput<'_>| {
        let line = input.call().and_then(|call| call.arguments["command"].as_str()).unwrap_or_default().to_owned();
        changed(json!({"command": format!("{line}x")}), Some(HookDecision::Allow))
    });
    let (settled, _) = run(&gate, &queue, &[command("git status")], &[]).await;
    assert!(words(&settled)[0].contains("hooks keep changing its arguments"), "{settled:?}");
}

#[tokio::test]
async fn gate_hook_sees_what_runs_also_when_the_user_or_another_hook_changed_it() {
    let queue = ApprovalQueue::new();
    let (gate, _) = hooked(rules(""), &queue, |input: &HookInput<'_>| {
        let line = input.call().and_then(|call| call.arguments["command"].as_str()).unwrap_or_default();
        match (input.event(), line.contains("rm")) {
            (HookEvent::PreToolUse, true) => said(HookDecision::Deny, "no rm"),
            _ => HookAnswer::default(),
        }
    });
    let answers = [Answer::Modify { text: "rm -rf x".to_owned() }, cancel(None)];
    let (settled, asked) = run(&gate, &queue, &[command("make")], &answers).await;
    assert!(words(&settled)[0].starts_with("Rejected"), "{settled:?}");
    assert!(asked[1].objection.as_ref().is_some_and(|why| why.contains("no rm")), "{asked:?}");
}

#[tokio::test]
async fn gate_hook_that_asks_asks_the_user_about_a_granted_call() {
    let queue = ApprovalQueue::new();
    let (gate, _) = hooked(rules(""), &queue, only(HookEvent::PreToolUse, said(HookDecision::Ask, "sure?")));
    let (settled, asked) = run(&gate, &queue, &[command("git status")], &[Answer::ProceedOnce]).await;
    assert_eq!(asked[0].reasons, ["the hook `h` asks for your approval: sure?", OFF]);
    assert_eq!(settled[0].decided, Some(Decided::Approved));
}

// promise hooks.stop: A hook can end the run; calls beside it do not run.
#[tokio::test]
async fn gate_hook_that_ends_the_run_cancels_the_calls_after_it() {
    let queue = ApprovalQueue::new();
    let stop = HookAnswer { stop: Some(HookText::new("h", "enough")), ..HookAnswer::default() };
    let (gate, _) = hooked(rules(""), &queue, only(HookEvent::PreToolUse, stop));
    let (settled, _) = run(&gate, &queue, &[command("git status"), command("git status")], &[]).await;
    let words = words(&settled);
    assert!(words.iter().all(|word| word.contains("cancelled: the hook `h` ended the run: enough")), "{words:?}");
}

#[tokio::test]
async fn gate_hooks_add_context_and_replace_an_output() {
    let queue = ApprovalQueue::new();
    let (gate, _) = hooked(rules(""), &queue, |input: &HookInput<'_>| match input.event() {
        HookEvent::PreToolUse => HookAnswer { context: vec![HookText::new("h", "before")], ..HookAnswer::default() },
        HookEvent::PostToolUse => {
            HookAnswer { output: Some(HookText::new("h", "[hidden]")), ..said(HookDecision::Deny, "lint failed") }
        }
        _ => HookAnswer::default(),
    });
    let (settled, _) = run(&gate, &queue, &[command("git status")], &[]).await;
    let Outcome::Success(output) = &settled[0].outcome else { panic!("{settled:?}") };
    let text = format!("{:?}", output.content);
    for expected in ["[hidden]", "before", "lint failed", "the user's hook `h`"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("git status"), "{text}");
}
