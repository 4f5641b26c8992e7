//! The fake host, through each capability: that it answers as the real one does, and that what it denies cannot be seen.

mod denied;
mod fetching;
mod ignoring;
mod line;
mod reading;
mod remembering;
mod running;
mod writing;
