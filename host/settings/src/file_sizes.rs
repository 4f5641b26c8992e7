//! How large files may be that the host reads whole: skills, commands, and the programs that it starts.

/// The largest `SKILL.md`, in bytes: its instructions are one response to the model, which is not cut up to this size.
/// The specification recommends 500 lines. Protects the model's window.
pub(crate) const MAX_SKILL_FILE: u64 = 36 << 10;

/// The largest file of a command, in bytes. Protects the model's window: all of it becomes a prompt.
pub(crate) const MAX_COMMAND_FILE: u64 = 64 << 10;

/// The largest program that is read before it starts, in bytes: to copy it, or to see that it is the one that was
/// trusted. Scripts are small; a compiled one may be some megabytes. Protects memory.
pub const MAX_PROGRAM: u64 = 16 << 20;
