//! `process`: a program is what a test says that it prints.

use host_sdk::background::{self, Input, TerminalError};
use host_sdk::fake::{FakeHost, Printed};
use host_sdk::process::{self, Command, Error, Source, TerminalSize};

#[test]
fn fake_host_program_prints_what_the_test_defines_and_its_command_is_recorded() {
    let printed = Printed::new().stdout("out").stderr("err").code(3);
    let host = FakeHost::new().program(["git", "status"], printed).program(["true"], "");
    host.run(|| {
        let child = process::spawn(&Command::new(["git", "status"])).expect("it runs");
        let chunks: Vec<_> = std::iter::from_fn(|| child.read()).map(|chunk| (chunk.source, chunk.data)).collect();
        assert_eq!(chunks, [(Source::Stdout, b"out".to_vec()), (Source::Stderr, b"err".to_vec())]);
        assert_eq!(child.wait().code, Some(3));
        assert_eq!(process::spawn(&Command::new(["true"])).expect("it runs").wait().code, Some(0));
    });
    let commands: Vec<_> = host.commands().into_iter().map(|command| command.argv.join(" ")).collect();
    assert_eq!(commands, ["git status", "true"]);
}

#[test]
fn output_comes_in_pieces_of_the_hosts_size() {
    let host = FakeHost::new().program(["yes"], "y".repeat(100 << 10));
    host.run(|| {
        let child = process::spawn(&Command::new(["yes"])).expect("it runs");
        assert_eq!(child.read().map(|chunk| chunk.data.len()), Some(64 << 10));
        child.kill();
        assert_eq!(child.read(), None);
        assert_eq!((child.wait().code, child.wait().signal), (None, Some(15)));
    });
}

#[test]
fn fake_host_timeout_and_background_processes_are_reported() {
    let host =
        FakeHost::new().program(["sleep"], Printed::new().timed_out()).program(["bg"], Printed::new().background([7]));
    host.run(|| {
        assert!(process::spawn(&Command::new(["sleep"])).expect("it runs").wait().timed_out);
        assert_eq!(process::spawn(&Command::new(["bg"])).expect("it runs").wait().background, [7]);
    });
}

#[test]
fn fake_host_program_that_does_not_run_is_reported_with_the_reason() {
    let host = FakeHost::new().program(["git", "status"], "").file("a.txt", "");
    host.run(|| {
        let spawn = |command: &Command| process::spawn(command).map(drop).expect_err("it does not run");
        assert_eq!(spawn(&Command::new(["hg"])), Error::NotFound("hg".to_owned()));
        let unknown = spawn(&Command::new(["git", "log"]));
        assert!(matches!(unknown, Error::Io(why) if why.contains(".program(")), "the test forgot to say");
        assert!(matches!(spawn(&Command::new(["a\0b"])), Error::Invalid(_)));
        let nowhere = Command { directory: "none".to_owned(), ..Command::new(["git", "status"]) };
        assert_eq!(spawn(&nowhere), Error::NotFound("none".to_owned()));
        let outside = Command { directory: "/".to_owned(), ..Command::new(["git", "status"]) };
        assert!(matches!(spawn(&outside), Error::Denied(_)));
    });
    assert!(host.commands().is_empty(), "nothing ran");
}

#[test]
fn a_grant_names_programs_and_their_first_words() {
    let host = FakeHost::new().program(["git", "log"], "").program(["git", "push"], "").grant("process=git log");
    host.run(|| {
        assert!(process::spawn(&Command::new(["git", "log"])).is_ok());
        let pushed = process::spawn(&Command::new(["git", "push"]));
        assert!(matches!(pushed, Err(Error::Denied(denial)) if denial.help.contains("git push")));
        let variable = ("GIT_DIR".to_owned(), "/".to_owned());
        let set = Command { environment: vec![variable], ..Command::new(["git", "log"]) };
        assert!(matches!(process::spawn(&set), Err(Error::Denied(denial)) if denial.wanted.contains("GIT_DIR")));
    });
    assert_eq!(host.commands().len(), 1);
}

#[test]
fn fake_host_program_that_runs_longer_than_it_may_has_expired() {
    let host = FakeHost::new().program(["build"], Printed::new().stdout("begun").runs_for(5_000));
    host.run(|| {
        for (longest, expired) in [(4_999, true), (5_000, false)] {
            let child = process::spawn(&Command::new(["build"])).expect("it runs");
            child.end_after(longest);
            assert_eq!(child.read().map(|chunk| chunk.data), Some(b"begun".to_vec()));
            assert_eq!((child.read(), child.has_expired()), (None, expired));
            assert_eq!(child.wait().signal, expired.then_some(15));
        }
    });
}

#[test]
fn fake_host_terminal_shows_what_the_test_answers_to_what_is_typed() {
    let python = Printed::new().stdout(">>>\n").answering("1 + 1<enter>", "2\n");
    let host = FakeHost::new().program(["python3"], python).program(["serve"], "");
    host.run(|| {
        background::announce_terminal();
        let size = |columns, rows| TerminalSize { columns, rows };
        let command = Command::new(["python3"]);
        assert!(matches!(process::spawn_terminal(&command, size(10, 10)), Err(Error::Invalid(_))));
        let id = process::spawn_terminal(&command, size(80, 24)).expect("it runs");
        background::send(&id, &[Input::Text("1 + 1".to_owned()), Input::Key("enter".to_owned())]).expect("typed");
        let screen = background::view(&id, 100, 1_000).expect("it has one");
        assert_eq!((screen.text.as_str(), screen.columns, screen.rows), (">>>\n2\n", 80, 24));
        background::resize(&id, 100, 30).expect("it has another size");
        assert_eq!(background::view(&id, 0, 0).map(|screen| screen.columns), Ok(100));
        background::stop(&id).expect("it runs");
        assert_eq!(background::send(&id, &[Input::Text("x".to_owned())]), Err(TerminalError::Ended));
        let other = process::spawn_background(&Command::new(["serve"])).expect("it runs");
        assert_eq!(background::view(&other, 0, 0).map(drop), Err(TerminalError::NoTerminal));
        assert_eq!(background::view("p9", 0, 0).map(drop), Err(TerminalError::NotFound));
    });
    assert!(host.announced_terminal() && !host.announced());
    assert_eq!(host.typed(), [("p1".to_owned(), "1 + 1<enter>".to_owned())]);
}
