//! A password: from a terminal, where it is not shown, or from a file.
//!
//! Deliberately not here: a password in an argument or in the environment, where every process of the user sees it, and
//! the keys that are typed (`host_terminal::SecretPrompt`).

use std::io::Read;
use std::path::Path;

use host_files::{Access, Input};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_terminal::{SecretPrompt, TypedSecret};

/// The longest password: minisign takes none that is longer.
const MAX_PASSWORD: usize = 1024;

/// The number of times that a password is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Once: it opens something.
    Once,
    /// Twice: it is a new one, and a slip would lose what it protects.
    Twice,
}

/// The password out of a file's first line, or what a user types.
pub(crate) fn read(what: &str, file: Option<&Path>, ask: Ask, environment: &Environment) -> Result<String, Failure> {
    let password = match file {
        Some(file) => of_file(file)?,
        None if environment.stdin_is_terminal && environment.stderr_is_terminal => typed(what, ask)?,
        None => {
            return Err(Failure::input(format!("cannot ask for the password of {what}: there is no terminal"))
                .help("add --password-file FILE, whose first line is the password"));
        }
    };
    if password.is_empty() {
        return Err(Failure::input(format!("the password of {what} is empty")));
    }
    if password.len() > MAX_PASSWORD {
        return Err(Failure::input(format!("the password of {what} is over the limit of {MAX_PASSWORD} bytes")));
    }
    Ok(password)
}

/// A terminal on which a user types or pastes secrets; see [`SecretPrompt`].
pub(crate) struct Secrets(SecretPrompt);

impl Secrets {
    pub(crate) fn open() -> Result<Self, Failure> {
        SecretPrompt::open(MAX_PASSWORD).map(Self).map_err(cannot_ask)
    }

    /// Asks for a secret. What was typed before the question is not an answer.
    pub(crate) fn ask(&self, words: &str) -> Result<String, Failure> {
        of_typed(self.0.ask(words))
    }

    /// The same, and shows how many characters have arrived: who pastes a long key sees that it is there.
    pub(crate) fn ask_counted(&self, words: &str) -> Result<String, Failure> {
        of_typed(self.0.ask_counted(words))
    }
}

fn of_typed(typed: std::io::Result<TypedSecret>) -> Result<String, Failure> {
    match typed.map_err(cannot_ask)? {
        TypedSecret::Line(bytes) => String::from_utf8(bytes).map_err(|_| Failure::input("the password is not UTF-8")),
        TypedSecret::Cancelled => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        TypedSecret::TooLong => Err(Failure::input(format!("the password is over the limit of {MAX_PASSWORD} bytes"))),
    }
}

fn cannot_ask(error: std::io::Error) -> Failure {
    Failure::input(format!("cannot ask on the terminal: {error}"))
        .help("add --password-file FILE, whose first line is the password")
}

fn typed(what: &str, ask: Ask) -> Result<String, Failure> {
    let secrets = Secrets::open()?;
    let password = secrets.ask(&format!("Password of {what}: "))?;
    if ask == Ask::Twice && !password.is_empty() && secrets.ask("Repeat the password: ")? != password {
        return Err(Failure::input("the passwords do not match").help("run the command again"));
    }
    Ok(password)
}

fn of_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::input(format!("the password file `{}` cannot be read: {error}", path.display()))
    };
    let file = Input::open(path).map_err(|error| failed(error.into()))?;
    let about = file.metadata().map_err(failed)?;
    // A pipe, such as a shell makes for `<(…)`, is not accessible to other users.
    if about.is_file()
        && let Err(how) = host_files::check(&about, Access::ReadOrWrite)
    {
        let path = path.display();
        return Err(Failure::input(format!("the password file `{path}` is not used: {how}"))
            .help(format!("chmod 600 '{path}'")));
    }
    let mut text = String::new();
    // Of a longer file the first line is enough.
    file.take(MAX_PASSWORD as u64 + 3).read_to_string(&mut text).map_err(failed)?;
    let line = text.split('\n').next().unwrap_or_default();
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}
