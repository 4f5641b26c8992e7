//! Shell lines, read by the grammar and by the machine's own shells.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use host_shell::{Line, analyse, analyse_line, quote, read};

/// The most commands that an analysis may find.
const COMMANDS: usize = 1024;

/// What a line may consist of that a shell is given to run. Without `;`, `&`, `|`, `(`, `<`, `>`, a backtick and a line
/// end there is no way to begin another command or to open a file.
const HARMLESS: &str = " \t'\"\\=,.-_+:@%^#!~{}*?[]$/";

/// Prints the words of each line that it is given, after the shell has read them.
const PRINTS_WORDS: &str = r#"for line; do eval "printf '%s\0' $line"; printf '\1\0'; done"#;

/// Reading ends for any line. A word that is quoted is read as that word, and so is a whole command whose words are
/// known.
pub fn shell(data: &[u8]) {
    let line = &*String::from_utf8_lossy(data);
    let found = read(line);
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let as_argument = ["sh", "-c", line].map(str::to_owned);
    for analysis in [analyse_line(line), analyse(&argv), analyse(&as_argument)] {
        assert!(analysis.commands.len() <= COMMANDS);
        let fits = |(at, command): (usize, &host_shell::Command)| command.outer.is_none_or(|(outer, _)| outer < at);
        assert!(analysis.commands.iter().enumerate().all(fits), "{line:?}");
    }
    if !line.contains('\0') {
        let quoted = read(&quote(line));
        if quoted.unclear.is_empty() {
            assert_eq!(words(&quoted).as_deref(), Some(&[line.to_owned()][..]), "{:?}", quote(line));
        }
    }
    if let Some(words) = words(&found) {
        let again: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let again = again.join(" ");
        assert_eq!(self::words(&read(&again)).as_deref(), Some(&words[..]), "{line:?} as {again:?}");
    }
}

/// Every line that the grammar calls clear is one that dash and bash can read. They only read it: `-n` runs nothing.
pub fn shell_syntax(data: &[u8]) {
    let Ok(line) = str::from_utf8(data) else { return };
    if line.contains('\0') || !read(line).unclear.is_empty() {
        return;
    }
    for shell in shells() {
        let status = started(shell).args(["-n", "-c", "--", line]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.expect("a shell").success(), "{} does not read {line:?}", shell.display());
    }
}

/// Of every command whose words the grammar knows, dash and bash make the same words. Only commands run whose text
/// cannot begin another one, and only as the arguments of `printf`.
pub fn shell_words(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = Vec::new();
    let mut expected = Vec::new();
    for line in text.lines().filter(|line| line.chars().all(|c| c.is_alphanumeric() || HARMLESS.contains(c))) {
        // As an argument, `!` is no reserved word.
        let found = read(line);
        if let Some(words) = words(&found).filter(|_| found.unclear.is_empty() && !line.trim_start().starts_with('!')) {
            lines.push(line);
            expected.extend(words);
            expected.push("\u{1}".to_owned());
        }
    }
    if lines.is_empty() {
        return;
    }
    for shell in shells() {
        let mut process = started(shell)
            .args(["-f", "-c", PRINTS_WORDS, "sh"])
            .args(&lines)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut printed = Vec::new();
        process.stdout.take().expect("it is piped").read_to_end(&mut printed).expect("its output");
        process.wait().expect("its end");
        let mut found: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        found.pop();
        let found: Vec<_> = found.into_iter().map(String::from_utf8_lossy).collect();
        assert_eq!(found, expected, "{} reads {lines:?} otherwise", shell.display());
    }
}

/// The words of a line that is one simple command and nothing else, if all of them are known.
fn words(found: &Line) -> Option<Vec<String>> {
    let [command] = found.commands.as_slice() else { return None };
    let simple = command.assignments.is_empty() && command.redirects.is_empty() && !command.words.is_empty();
    let words = command.words.iter().map(|word| word.literal().map(str::to_owned));
    words.collect::<Option<Vec<_>>>().filter(|_| simple && found.unclear.is_empty())
}

/// The shells of this machine; a machine may have none, and then nothing is compared.
fn shells() -> &'static [PathBuf] {
    static SHELLS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    SHELLS.get_or_init(|| {
        let known = ["dash", "bash"].map(|name| ["/bin", "/usr/bin"].map(|folder| PathBuf::from(folder).join(name)));
        known.into_iter().filter_map(|paths| paths.into_iter().find(|path| path.is_file())).collect()
    })
}

/// A shell that finds no program.
fn started(shell: &PathBuf) -> Command {
    let mut command = Command::new(shell);
    command.env_clear().env("PATH", "/nonexistent").current_dir("/").stdin(Stdio::null());
    command
}
