//! Joins parts of a filter to one program, which finds the part for a call by a tree over the numbers of calls.
//!
//! Each part is a program of its own and ends with what happens to the call. Jumps are relative, so it can stand
//! anywhere.

use seccompiler::{BpfProgram, sock_filter};

/// A part of a filter.
#[derive(Debug)]
pub(super) struct Part {
    /// The first number of a call that it is for; those of the next part end it.
    pub(super) first: u32,
    pub(super) program: BpfProgram,
}

const LOAD: u16 = 0x20;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP: u16 = 0x05;

// Where the number of a call is in what the kernel gives a filter.
const NUMBER: u32 = 0;

/// Returns the program; `None` if there are no parts, or more than the jumps of a tree reach over. The parts are in
/// the order of their numbers; the first has those below as well.
pub(super) fn joined(parts: &[Part]) -> Option<BpfProgram> {
    let mut starts = Vec::with_capacity(parts.len());
    // A tree has a jump to each part and a comparison between each two.
    let mut length = (2 * parts.len()).checked_sub(1)?;
    for part in parts {
        starts.push(length);
        length += part.program.len();
    }
    let mut joined = vec![instruction(LOAD, 0, 0, NUMBER)];
    add_tree(&mut joined, parts, &starts)?;
    joined.extend(parts.iter().flat_map(|part| part.program.iter().cloned()));
    Some(joined)
}

/// Adds the tree over these parts, which start at these places behind the first instruction.
fn add_tree(joined: &mut BpfProgram, parts: &[Part], starts: &[usize]) -> Option<()> {
    if let [start] = starts {
        // A jump is from the next instruction, and the first one loads the number.
        joined.push(instruction(JUMP, 0, 0, u32::try_from(start.checked_sub(joined.len())?).ok()?));
        return Some(());
    }
    let half = parts.len() / 2;
    let (lower, higher) = (parts.get(..half)?, parts.get(half..)?);
    let over = u8::try_from(2 * half - 1).ok()?;
    joined.push(instruction(JUMP_IF_AT_LEAST, over, 0, higher.first()?.first));
    add_tree(joined, lower, starts.get(..half)?)?;
    add_tree(joined, higher, starts.get(half..)?)
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}
