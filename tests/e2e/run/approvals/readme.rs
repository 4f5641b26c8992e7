//! The screens that README.md shows are what the program prints.

use host_tests::repository;

use super::*;

/// The text with each time in it as `0 ms` or `0.0 s`.
fn timeless(text: &str) -> String {
    let words = text.split_inclusive(' ').map(|word| {
        let bare = word.trim_start_matches('(').trim_end();
        let is_time = bare.parse::<f64>().is_ok();
        let masked = if bare.contains('.') { "0.0" } else { "0" };
        if is_time { word.replace(bare, masked) } else { word.to_owned() }
    });
    words.collect()
}

/// The rows of a screen without their ends, and without what turns.
fn rows(text: &str) -> String {
    let rows = text.lines().filter(|row| !row.starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c)));
    rows.map(|row| format!("{}\n", row.trim_end())).collect::<String>().trim().to_owned()
}

#[test]
fn the_readme_shows_a_question_and_a_run_as_they_are_printed() {
    let replies = [
        json!({"chunks": [call("ls", json!({})), edit("greeting.txt", "hello", "hello, world")]}),
        json!({"chunks": [{"text": "`greeting.txt` greets the world now."}, {"usage": {"input": 1400, "output": 60}}]}),
    ];
    let host = Host::scripted(&replies, &[]).file("greeting.txt", "hello\n");
    let mut pty = begin_as(&host, Way::Task, 80, 40, &[("NO_COLOR", "1")]);
    pty.sees(LISTENS).sees("Esc: none of these");
    let question = rows(&pty.screen()[pty.screen().find("? edit").expect("it is asked")..]);
    pty.types("y").saw("2 turns");
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    let run = rows(&all[all.find("› Yes, this once").expect("it was answered")..]);
    let run = run.split_once('\n').map_or(run.clone(), |(_, run)| run.to_owned());
    let all_of_it = [("the question", question), ("the run", run)];
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("it is there");
    for (what, screen) in all_of_it {
        let is_there = timeless(&readme).contains(&timeless(&screen));
        assert!(is_there, "README.md shows {what} otherwise than it is printed:\n{screen}\n");
    }
}
