//! The evaluations of the agent against their recordings: each task can be done here, and is judged rightly.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use host_evals::{Case, Setup, judge, run};
use host_tests::host::binary;
use host_tests::{cache, repository};

/// How many run at once: a case mostly waits for programs.
const AT_ONCE: usize = 4;

fn cases() -> Vec<Case> {
    Case::all(&repository().join("evals/cases")).expect("they can be read")
}

fn setup() -> Setup {
    Setup {
        host: binary().to_owned(),
        model: None,
        recordings: repository().join("evals/recordings"),
        record: false,
        limit: Duration::from_secs(120),
        cache: cache(),
    }
}

#[test]
fn evals_pass_against_their_recordings() {
    let (cases, setup) = (Mutex::new(cases()), setup());
    let failed = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(case) = cases.lock().expect("no case panics").pop() else { break };
                    let finished = run::run(&case, &setup).expect("it runs");
                    let wrong = judge(&case, &finished).expect("it is judged");
                    if !wrong.is_empty() {
                        failed.lock().expect("no case panics").insert(case.name, (wrong, finished.errors));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no case panics");
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn evals_cover_each_kind_of_work_and_say_who_wrote_each_recording() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    for kind in [
        "edit",
        "refactoring",
        "bug",
        "review",
        "question",
        "git",
        "dirty tree",
        "wrong premise",
        "missing tool",
        "long output",
        "injected text",
        "plan mode",
        "stop and continue",
        "large file",
        "languages",
    ] {
        let of_kind = cases.iter().filter(|case| case.tags.iter().any(|tag| tag == kind)).count();
        assert!(of_kind >= 1, "no case is about {kind}");
    }
    for case in &cases {
        // A recording of a model names it by its id.
        assert!(case.recorded == "by hand" || case.recorded.contains('/'), "{}: {}", case.name, case.recorded);
        let file = repository().join(format!("evals/recordings/{}.jsonl", case.name));
        assert!(file.is_file(), "{} has no recording", case.name);
    }
}

/// A task that is done in another way than asked fails.
#[test]
fn evals_fail_a_recording_of_another_case() {
    let mut case = cases().into_iter().find(|case| case.name == "edit_one_line").expect("it is there");
    case.name = "question_changes_nothing".to_owned();
    let finished = run::run(&case, &setup()).expect("it runs");
    let wrong = judge(&case, &finished).expect("it is judged");
    assert!(wrong.iter().any(|wrong| wrong == "`greet.py` did not change"), "{wrong:?}");
}
