//! Asking a user whether to work in a folder that is not in a repository: once for each folder.
//!
//! Promises: without a user who can be asked, such a folder stays an error, as it always was in a script.

use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::folder::{self, FolderAnswer};
use host_settings::request::FolderRequest;
use host_terminal::{Escape, Question};

use crate::approval::look::Page;
use crate::ask::{Answered, Asker, choice};

/// The meaning of the choices, in their order.
const ANSWERS: [(char, &str, FolderAnswer); 3] = [
    ('y', "Work here, and do not ask again about this folder", FolderAnswer::Always),
    ('o', "Work here this once", FolderAnswer::Once),
    ('n', "Quit", FolderAnswer::Leave),
];

/// Returns the request for the folder, once the user agreed to it if that is necessary and possible.
pub(crate) async fn about(
    place: FolderRequest,
    environment: &Environment,
    folders: &Folders,
    asker: Option<&Asker<'_>>,
) -> Result<FolderRequest, Failure> {
    let place = folder::configured(place, environment)?;
    let Some(asker) = asker else { return Ok(place) };
    let Some(question) = folder::question(&place, folders)? else { return Ok(place) };
    let mut page = Page::new(asker.style(), asker.columns());
    page.title("This folder is not in a repository, so git cannot restore changed files:");
    page.path(&question.folder());
    let choices = ANSWERS.map(|(letter, label, _)| choice(letter, label)).to_vec();
    let answer = match asker
        .ask(Question { lines: page.into_lines(), choices, escape: Escape::Quits, ..Question::default() })
        .await?
    {
        Answered::Choice(at) => ANSWERS.get(at).map_or(FolderAnswer::Leave, |(_, _, answer)| *answer),
        Answered::Dismissed => FolderAnswer::Leave,
    };
    Ok(question.answer(answer, place, folders)?)
}
