//! Archives: programs that pack and unpack files.

use super::{Program, Writes};
use crate::Word;
use crate::hazard::Hazard;
use crate::named_path::NamedPath;
use crate::usage::{Usage, not_understood};

pub(super) const ROWS: &[Program] =
    &[Program { hazards: Some(hazards), writes: Writes::Archive, ..Program::named(&["tar", "gtar", "bsdtar"]) }];

const TABLE: &str = "\
. -c -t -x -r -u -v -z -j -J -p -k -O -m -f= --create --list --extract --verbose --gzip --bzip2 --xz --file= --exclude=
    --strip-components= --keep-old-files --no-same-owner --to-stdout --auto-compress -a : files
";

/// Returns the words with a dash before the options: the first word has them even without one.
fn with_dash(words: &[Word]) -> Option<Vec<Word>> {
    let first = words.get(1)?;
    if first.text.starts_with('-') {
        return Some(words.to_vec());
    }
    // Without a dash the values of all letters follow in order, so only one at the end means the same with it.
    let letters = first.literal()?;
    let is_same = !letters.is_empty() && letters.find('f').is_none_or(|at| at + 1 == letters.len());
    let mut words = words.to_vec();
    words[1].text = format!("-{letters}");
    is_same.then_some(words)
}

fn hazards(words: &[Word]) -> Vec<Hazard> {
    let unknown = |at: usize| vec![Hazard::unknown_word(words.len() - 1, &words[at])];
    if words.len() < 2 {
        return Vec::new();
    }
    let Some(dashed) = with_dash(words) else { return unknown(1) };
    // `host:file` is fetched by a program.
    let remote = (1..words.len()).find(|at| words[*at].text.contains(':'));
    remote.map(unknown).unwrap_or_else(|| not_understood(TABLE, &dashed, 1).into_iter().collect())
}

/// Returns the archives that are written, and the folders into which others are unpacked.
pub(super) fn written(words: &[Word]) -> Vec<NamedPath> {
    let mut written = folders(words);
    let named = |word: &Word| NamedPath::new(word.text.as_str(), word);
    let Some((words, usage)) = with_dash(words).and_then(|words| Some((words.clone(), Usage::find(TABLE, &words, 1)?)))
    else {
        written.extend(words.iter().skip(1).map(named));
        return written;
    };
    let options = usage.read(&words, 1).options;
    let has = |known: &[&str]| options.iter().any(|(name, _)| known.contains(&name.as_str()));
    if has(&["-c", "-r", "-u", "--create"]) {
        let files = options.iter().filter(|(name, _)| matches!(name.as_str(), "-f" | "--file"));
        written.extend(files.filter_map(|(_, file)| Some(NamedPath { path: file.clone()?, glob: false })));
    }
    if has(&["-x", "--extract"]) && written.is_empty() {
        written.push(NamedPath { path: ".".to_owned(), glob: false });
    }
    written
}

/// Returns the folders that options name, written out, abbreviated or in a bundle.
fn folders(words: &[Word]) -> Vec<NamedPath> {
    let folder = |(at, word): (usize, &Word)| {
        let next = || words.get(at + 1).map(|word| NamedPath::new(word.text.as_str(), word));
        let text = word.text.as_str();
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let names_folder =
                name.len() > 1 && ["directory", "one-top-level"].iter().any(|known| known.starts_with(name));
            return names_folder.then(|| value.map_or_else(next, |value| Some(NamedPath::new(value, word)))).flatten();
        }
        // The first word has options even without a dash.
        let letters = text.strip_prefix('-').or((at == 1).then_some(text))?;
        match letters.split_once('C')? {
            (_, "") => next(),
            (_, folder) => Some(NamedPath::new(folder, word)),
        }
    };
    words.iter().enumerate().skip(1).filter_map(folder).collect()
}
