//! Plans: shown to the user in the mode `plan`, approved in another mode, changed, or not approved.

use super::*;

fn present(plan: &str) -> Value {
    call("present_plan", json!({ "plan": plan }))
}

fn plan(replies: &[Value], way: Way) -> (Host, Pty) {
    let host = Host::scripted(replies, &["--approval-mode", "plan"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let pty = match way {
        Way::Task => {
            command.arg("Do it");
            Pty::start(command, 80, 30)
        }
        Way::Talk => {
            let mut pty = Pty::start(command, 80, 30);
            pty.sees("plan › ").types("Do it\r");
            pty
        }
    };
    (host, pty)
}

/// Waits for the plan with this in it, and answers.
fn answered(pty: &mut Pty, plan: &str, keys: &str) {
    let listens = |screen: &str| screen.contains("Yes, and ask before each change") && screen.contains("↑↓ and Enter");
    pty.until(plan, |screen| screen.contains(plan) && listens(screen)).types(keys);
    pty.until("the answer", |screen| !screen.contains("↑↓ and Enter"));
}

// promise plan.approved: A plan that the user approves is carried out in the mode that they choose.
#[test]
fn approvals_plan_that_is_approved_switches_the_mode_and_is_carried_out() {
    for way in WAYS {
        let replies = [
            json!({"expect": {"tools": ["present_plan"]}, "chunks": [present("1. Write a.txt")]}),
            json!({
                "expect": {"responses": ["The user approved the plan. The approval mode is now `auto-edit`"], "tools": ["write_file"]},
                "chunks": [write("a.txt", "1"), shell("touch b.txt")],
            }),
            json!({"expect": {"responses": ["a.txt", DECLINED]}, "chunks": [{"text": "All is done."}]}),
        ];
        let (host, mut pty) = plan(&replies, way);
        answered(&mut pty, "│ 1. Write a.txt", "a");
        // What the mode does not allow is asked about.
        answers(&mut pty, "│ touch b.txt", "n");
        pty.saw("All is done.");
        if way == Way::Talk {
            pty.sees("auto-edit › ").types("\u{4}");
        }
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert_eq!((file(&host, "a.txt").as_deref(), file(&host, "b.txt")), (Some("1"), None));
    }
}

// promise plan.approved
#[test]
fn approvals_plan_is_rendered_and_carried_out_in_auto_where_programs_are_confined() {
    let replies = [
        // Nothing is changed in the meantime, and the refusal says how to leave the mode.
        json!({"chunks": [shell("touch a.txt")]}),
        json!({
            "expect": {"responses": ["plan mode only reads; the user can leave it with Shift-Tab or /mode"]},
            "chunks": [present("1. **Touch** b.txt")],
        }),
        json!({
            "expect": {"responses": ["The approval mode is now `auto`"]},
            "chunks": [shell("touch b.txt")],
        }),
        json!({"chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "plan", "--confine", "auto", "Do it"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 30);
    pty.sees("3 c  Yes, and run confined programs without asking, too");
    answered(&mut pty, "│ 1. Touch b.txt", "c");
    pty.saw("All is done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert_eq!((file(&host, "a.txt"), file(&host, "b.txt").as_deref()), (None, Some("")), "{}", pty.everything());
}

// promise plan.approved
#[test]
fn approvals_plan_that_is_not_approved_changes_no_mode() {
    let replies = [
        json!({"chunks": [present("1. Burn"), write("a.txt", "1")]}),
        json!({
            "expect": {"responses": ["says: land first", ""]},
            "chunks": [present("1. Land\n\u{1b}[2J2. Burn")],
        }),
        json!({"expect": {"responses": ["did not approve the plan"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let (host, mut pty) = plan(&replies, Way::Talk);
    answered(&mut pty, "│ 1. Burn", "r");
    pty.sees("why › ").types("land first\r");
    answered(&mut pty, "│ 1. Land", "n");
    pty.saw("All is done.").sees("plan › ").types("\u{4}");
    assert_eq!((pty.ends(), file(&host, "a.txt")), (Some(0), None), "{}", pty.everything());
    assert!(!pty.written().contains("\u{1b}[2J2. Burn") && pty.everything().contains("\\u{1b}[2J2. Burn"));
}

#[test]
fn approvals_plan_is_kept_as_a_file_and_can_be_changed_in_the_editor() {
    let replies = [
        json!({"chunks": [present("1. Burn")]}),
        json!({"expect": {"responses": ["says: The plan should be this:\n\n1. Land"]}, "chunks": [present("1. Land")]}),
        json!({"expect": {"responses": ["The user approved the plan"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "plan"]).env("EDITOR", "sed -i -e s/Burn/Land/");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 30);
    pty.sees("plan › ").types("Do it\r");
    answered(&mut pty, "│ 1. Burn", "e");
    answered(&mut pty, "│ 1. Land", "y");
    pty.saw("All is done.").saw("the plan is in").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let [log] = &host.logs()[..] else { panic!("one session") };
    let kept = std::fs::read_to_string(log.with_extension("outputs").join("plan.md"));
    assert_eq!(kept.expect("it is kept"), "1. Land");
}

#[test]
fn approvals_plan_is_presented_by_no_tool_where_nobody_is_asked_and_in_no_other_mode() {
    let declared = |arguments: &[&str]| {
        let reply = json!({"expect": {"tools": ["present_plan"]}, "chunks": [{"text": "All is done."}]});
        Host::scripted(&[reply], &[arguments, &["Do it"]].concat()).run().code == Some(0)
    };
    assert!(!declared(&["--approval-mode", "plan"]) && !declared(&[]));
    let replies = [
        json!({"chunks": [present("1. Write")]}),
        json!({"expect": {"responses": ["present_plan"]}, "chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, &[]);
    let mut pty = begin(&host, Way::Task, 80, 30);
    done(&mut pty, Way::Task);
    assert!(!pty.everything().contains("ask before each change"), "{}", pty.everything());
}
