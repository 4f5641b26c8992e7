//! `find -exec … ;` and `fd -x …`, which run a command for each file.

use super::{Deletes, Program, Runs, Understood};
use crate::Word;
use crate::hazard::{Hazard, RISKY_OPTION};
use crate::inner::{Inner, Wrapped};

pub(super) const ROWS: &[Program] = &[
    Program {
        runs: Runs::Sometimes(find),
        hazards: Some(find_hazards),
        deletes: Deletes::Found(deleted),
        ..Program::named(&["find"])
    },
    Program { runs: Runs::Sometimes(fd), understood: Understood::Table(FD), ..Program::named(&["fd", "fdfind"]) },
];

const FD: &str = "\
. -H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -e= -t= -E= -d= -S= -c= -j= --hidden --no-ignore --no-ignore-vcs --unrestricted
    --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path
    --print0 --quiet --extension= --type= --exclude= --max-depth= --min-depth= --exact-depth= --size= --changed-within=
    --changed-before= --color= --threads= --max-results= --and= : files
";

/// The tests and actions of `find` that only look and print; those with a `=` take one word. What comes before them,
/// such as folders, does not begin with a dash.
const EXPRESSIONS: &str = "-H -L -P -a -and -o -or -not -true -false -daystart -depth -d -mount -xdev -noleaf -empty \
    -executable -readable -writable -nouser -nogroup -print -print0 -prune -quit -ls -follow -warn -nowarn -maxdepth= \
    -mindepth= -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname= \
    -type= -xtype= -size= -mtime= -mmin= -atime= -amin= -ctime= -cmin= -newer= -anewer= -cnewer= -newermt= -newermm= \
    -user= -group= -uid= -gid= -perm= -links= -inum= -samefile= -used= -fstype= -printf=";

/// Whether the word begins a command that `find` runs.
fn runs(word: &Word) -> bool {
    matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Whether the command that `find` runs ends with this word.
fn ends(words: &[Word], at: usize) -> bool {
    words[at].is(";") || words[at].is("+") && words[at - 1].is("{}")
}

/// Finds the first expression that is not known. The commands that it runs are read by themselves.
fn find_hazards(words: &[Word]) -> Vec<Hazard> {
    let mut at = 1;
    let mut hazards = started_elsewhere(words);
    while let Some(word) = words.get(at) {
        let here = at;
        at += 1;
        // The command within is read by itself, up to its `;` or `+`.
        if runs(word) {
            at = (at..words.len()).find(|end| ends(words, *end)).map_or(words.len(), |end| end + 1);
            continue;
        }
        let is = |valued: bool| {
            EXPRESSIONS.split(' ').any(|known| match known.strip_suffix('=') {
                Some(name) => valued && name == word.text,
                None => !valued && known == word.text,
            })
        };
        match word.literal() {
            Some(text) if !text.starts_with('-') || is(false) => {}
            Some(_) if is(true) && words.get(at).is_some_and(|value| value.literal().is_some()) => at += 1,
            Some(_) | None => {
                // From here on anything may follow, so a rule must name all words.
                hazards.push(Hazard::unknown_word(words.len() - 1, &words[here]));
                return hazards;
            }
        }
    }
    hazards
}

/// Returns a hazard for each folder to start from, if a command runs in the folders beneath it.
fn started_elsewhere(words: &[Word]) -> Vec<Hazard> {
    if !words.iter().any(|word| matches!(word.text.as_str(), "-execdir" | "-okdir")) {
        return Vec::new();
    }
    let follows = |word: &Word| matches!(word.text.as_str(), "-L" | "-follow" | "-files0-from");
    if let Some(at) = words.iter().position(follows) {
        return vec![Hazard::new(at, RISKY_OPTION)];
    }
    let is_start = |word: &&Word| !matches!(word.text.as_str(), "(" | "!") && !word.text.starts_with('-');
    let options = words[1..].iter().take_while(|word| matches!(word.text.as_str(), "-H" | "-P")).count();
    let starts = words[1 + options..].iter().take_while(is_start).count();
    (1 + options..1 + options + starts).map(Hazard::folder).collect()
}

/// Returns the folders in which it deletes what it finds.
fn deleted(words: &[Word]) -> Vec<String> {
    if !words.iter().any(|word| word.text == "-delete") {
        return Vec::new();
    }
    let behind_options = words.iter().skip(1).skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"));
    let is_start = |word: &&Word| !word.text.starts_with('-') && !matches!(word.text.as_str(), "(" | "!" | ",");
    let starts: Vec<String> = behind_options.take_while(is_start).map(|word| word.text.clone()).collect();
    if starts.is_empty() { vec![".".to_owned()] } else { starts }
}

/// Returns the indices of the folders and files that it opens; `None` if it runs or changes something, follows links,
/// or has a word that is not known.
pub(super) fn files(words: &[Word]) -> Option<Vec<usize>> {
    let (mut files, mut at) = (Vec::new(), 1);
    while let Some(word) = words.get(at) {
        let here = at;
        at += 1;
        let text = word.text.as_str();
        if !text.starts_with('-') {
            if !matches!(text, "(" | ")" | "!" | ",") {
                files.push(here);
            }
            continue;
        }
        word.literal()?;
        match EXPRESSIONS.split(' ').find(|known| known.trim_end_matches('=') == text)? {
            // Links lead out of the folders that are named.
            "-L" | "-follow" => return None,
            known if known.ends_with('=') => {
                words.get(at)?.literal()?;
                if matches!(text, "-newer" | "-anewer" | "-cnewer" | "-samefile") {
                    files.push(at);
                }
                at += 1;
            }
            _ => {}
        }
    }
    Some(files)
}

fn find(words: &[Word]) -> Option<Wrapped> {
    commands(words, runs, |at| ends(words, at))
}

fn fd(words: &[Word]) -> Option<Wrapped> {
    let starts = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("--exec") || !text.starts_with("--") && text.starts_with('-') && text.contains(['x', 'X'])
    };
    let mut found = commands(words, starts, |at| words[at].is(";"))?;
    for inner in &mut found.inner {
        let Inner::Command { at, words: inner } = inner else { continue };
        // Without a placeholder, the path is the last argument.
        inner.push(Word::unknown());
        if !matches!(words[*at - 1].text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch") {
            found.unclear.push("an option holds what is run".to_owned());
        }
    }
    Some(found)
}

/// What `find` and `fd` replace with a path or a part of it, the longer ones first.
const PLACEHOLDERS: [&str; 6] = ["{//}", "{/.}", "{/}", "{.}", "{}", "{"];

/// Returns the commands that begin after such a word and end before such an index.
fn commands(words: &[Word], starts: impl Fn(&Word) -> bool, ends: impl Fn(usize) -> bool) -> Option<Wrapped> {
    let (mut found, mut at) = (Wrapped::default(), 1);
    while at < words.len() {
        at += 1;
        if !starts(&words[at - 1]) {
            continue;
        }
        let end = (at..words.len()).find(|end| ends(*end)).unwrap_or(words.len());
        let mut inner = words[at..end].to_vec();
        inner.iter_mut().for_each(|word| PLACEHOLDERS.iter().for_each(|mark| word.replace(mark)));
        found.inner.push(Inner::Command { at, words: inner });
        at = end;
    }
    (!found.inner.is_empty()).then_some(found)
}
