//! Answers that switch the approval mode.

use super::*;
use crate::{Effect, ModeSwitch};

const AUTO: Answer = Answer::Switch { mode: ApprovalMode::Auto };

// promise approval.switch: The answer that allows a command and switches to `auto` is offered where the session can
//   have that mode; the mode changes once the calls of the reply are done, and no other answer changes it.
#[tokio::test]
async fn gate_answer_switches_to_a_mode_that_is_offered_and_to_no_other() {
    let queue = ApprovalQueue::new();
    let switch = ModeSwitch::default();
    let gate = gate(rules(""), &queue).switching(switch.clone(), vec![ApprovalMode::Auto]);
    // What is not offered is asked again, and a plain yes changes nothing.
    let yolo = Answer::Switch { mode: ApprovalMode::Yolo };
    let (settled, asked) = run(&gate, &queue, &[command("make")], &[yolo, Answer::ProceedOnce]).await;
    assert_eq!(settled[0].decided, Some(Decided::Approved));
    assert_eq!(asked[0].switches, [ApprovalMode::Auto]);
    assert!(asked[1].objection.is_some() && !switch.is_chosen(), "{asked:?}");
    let (settled, _) = run(&gate, &queue, &[command("make")], &[AUTO]).await;
    assert_eq!((settled[0].decided, switch.take()), (Some(Decided::Approved), Some(ApprovalMode::Auto)));
    // It is for commands, for the main agent, and for a mode that is asked about less.
    let other = AgentId::new("sub/1");
    for (gate, wanted) in [
        (gate.clone(), ("run", json!({"path": "a"}))),
        (gate.for_agent("searcher", &other), command("make")),
        (gate.in_mode(ApprovalMode::Auto), command("make")),
    ] {
        let (_, asked) = run(&gate, &queue, &[wanted], &[AUTO, cancel(None)]).await;
        assert_eq!((asked.len(), asked[0].switches.len()), (2, 0), "{asked:?}");
    }
    assert!(!switch.is_chosen());
}

#[tokio::test]
async fn gate_question_says_what_a_command_does_and_repeats_none_of_it_as_a_reason() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let wanted = [command("make > out && git reset --hard"), command("git push origin HEAD:main")];
    let (_, asked) = run(&gate, &queue, &wanted, &[Answer::ProceedOnce, cancel(None)]).await;
    let destroys = Effect::Destroys { command: "git reset --hard".to_owned(), why: "it discards changes" };
    assert_eq!(asked[0].effects, [destroys, Effect::Writes("out".to_owned())]);
    assert_eq!(asked[0].reasons, [OFF]);
    assert_eq!(asked[1].reasons, [OFF, "not sure what `HEAD:main` does"]);
}
