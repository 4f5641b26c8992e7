//! What builtins of a shell show of files: `echo /home/*` prints names, and `[ -f /home/a/.ssh/id ]` says whether there
//! is one. No program runs and nothing is opened, so this is easily taken for text.

use crate::named_path::NamedPath;
use crate::word::Word;

/// The operators of `test` before the name of a file.
const OF_FILE: &str = "-b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x";

/// The operators of `test` between the names of two files.
const OF_FILES: &str = "-nt -ot -ef";

/// Returns the files and folders that the builtin shows something of; none for a program.
pub(crate) fn of(name: &str, words: &[Word]) -> Vec<NamedPath> {
    let arguments = words.get(1..).unwrap_or_default();
    let named = |word: &Word| NamedPath::expanded(word);
    let expanded = |word: &&Word| word.glob || word.tilde || word.split || word.brace;
    match name {
        // These read nothing, but what the shell puts in place of a pattern is names of files.
        "true" | "false" | ":" | "echo" | "exit" | "return" | "printf" | "read" | "set" | "export" | "readonly" => {
            arguments.iter().filter(expanded).map(named).collect()
        }
        "test" | "[" => {
            let is = |at: Option<usize>, known: &str| {
                let word = at.and_then(|at| arguments.get(at));
                word.is_some_and(|word| known.split(' ').any(|operator| word.text == operator))
            };
            let is_file = |at: usize| {
                let before = at.checked_sub(1);
                is(before, OF_FILE) || is(before, OF_FILES) || is(Some(at + 1), OF_FILES)
            };
            // Only the operands of operators about files: `[ a = b ]` looks at none.
            let files = arguments.iter().enumerate().filter(|(at, word)| is_file(*at) || expanded(word));
            // The end of `[` is not a file.
            files.filter(|(_, word)| !word.is("]")).map(|(_, word)| named(word)).collect()
        }
        // Of a name without a folder they show what the search path has.
        "type" | "which" | "command" => {
            let files = arguments.iter().filter(|word| expanded(word) || word.text.contains('/'));
            files.map(named).collect()
        }
        _ => Vec::new(),
    }
}
