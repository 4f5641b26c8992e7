//! Attacks by programs that the tool `shell` starts with `--confine require`; each works with `--confine off`.

mod folders;
mod kernel;
mod lasting;
mod processes;
mod published;
mod sockets;
mod world;

/// An attack by a program.
struct Attack {
    name: &'static str,
    how: How,
    outcome: Outcome,
    control: Control,
    /// Where it is tried.
    place: Place,
}

/// A script that ends without an error only if it got what it wanted. It runs in the repository and knows `WORK`,
/// `OUT`, `HOME`, `TWIN`, `SERVICES`, `VICTIM`, `ABSTRACT`, `PORT`, `UDP`, `HOST_PID` and `SHARED`.
#[derive(Clone, Copy, Debug)]
enum How {
    Shell(&'static str),
    Python(&'static str),
}

/// How it must end behind the walls.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// It fails, and shows one of these reasons, separated by `|`.
    Refused(&'static str),
    /// Whatever it did, this file of the repository is not there after the call.
    Undone(&'static str),
    /// Whatever it did, what others obey is as it was after the call, which is looked at for all rows at once.
    Kept,
}

/// What shows that the attack works without the walls.
#[derive(Clone, Copy, Debug)]
enum Control {
    /// The same attack, unconfined.
    Same,
    /// The same, if the tests are run by root.
    Root,
    /// This one, because the same would harm this machine or end the test.
    Other(How),
    /// Nothing, for this reason, which the test prints.
    Without(&'static str),
}

/// Where an attack is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Everywhere,
    /// Only by root's programs: a user's right does not suffice.
    ByRoot,
    /// Only in a user namespace.
    ByUser,
}

impl Attack {
    fn fits(&self, is_root: bool) -> bool {
        match self.place {
            Place::Everywhere => true,
            Place::ByRoot => is_root,
            Place::ByUser => !is_root,
        }
    }

    fn control(&self, is_root: bool) -> Option<How> {
        match self.control {
            Control::Same => Some(self.how),
            Control::Root => is_root.then_some(self.how),
            Control::Other(how) => Some(how),
            Control::Without(_) => None,
        }
    }

    const fn controlled(self, control: Control) -> Self {
        Self { control, ..self }
    }

    const fn only(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

/// A script of the shell.
const fn shell(name: &'static str, script: &'static str, reason: &'static str) -> Attack {
    let (how, outcome) = (How::Shell(script), Outcome::Refused(reason));
    Attack { name, how, outcome, control: Control::Same, place: Place::Everywhere }
}

/// A script of Python.
const fn python(name: &'static str, script: &'static str, reason: &'static str) -> Attack {
    let (how, outcome) = (How::Python(script), Outcome::Refused(reason));
    Attack { name, how, outcome, control: Control::Same, place: Place::Everywhere }
}

/// A script of the shell that may succeed while the call runs, but leaves nothing at this path.
const fn undone(name: &'static str, script: &'static str, path: &'static str) -> Attack {
    Attack { outcome: Outcome::Undone(path), ..shell(name, script, "") }
}

/// A script of the shell that may succeed while the call runs, but leaves nothing that others obey.
const fn kept(name: &'static str, script: &'static str) -> Attack {
    Attack { outcome: Outcome::Kept, ..shell(name, script, "") }
}
