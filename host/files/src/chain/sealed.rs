//! Whether a whole file is as it was written, without a look at each of its lines.
//!
//! A link covers all bytes before it, the links of the lines before included. So the last one alone says whether
//! anything was changed, and the bytes between two blocks' ends are hashed many at once, which one line after the other
//! cannot be. Only if that link is not what it should be, the lines are examined one by one, to find which one was
//! changed.

use std::io::{self, Read, Seek, SeekFrom};

use super::examine::{BUFFER, link, state};
use super::{ChainError, ChainFault, ChainStore, LINK, LineState};

impl ChainStore {
    /// Returns what is wrong with the file with this name, from where it is read now: the faults that
    /// [`examine`](Self::examine) finds, in less time.
    ///
    /// # Errors
    ///
    /// When the file or its head cannot be read.
    pub fn faults(&self, name: &str, mut file: impl Read + Seek, limit: u64) -> Result<Vec<ChainFault>, ChainError> {
        let failed = |cause| ChainError::Io { path: self.folder.join(name), cause };
        let begin = file.stream_position().map_err(failed)?;
        if self.is_sealed(name, &mut file, limit)? {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(begin)).map_err(failed)?;
        Ok(self.examine(name, file, limit, |_, _, _| {})?.faults())
    }

    /// Returns whether the last line that ends is intact, and is the one that the head counts if there is a head. A
    /// line that is longer than the limit is never read to its end, so that it is not.
    fn is_sealed(&self, name: &str, mut file: impl Read, limit: u64) -> Result<bool, ChainError> {
        // Before the file, which grows first.
        let head = self.head(name)?;
        let (mut hasher, key_id) = (self.hasher(name), self.key_id());
        let (mut lines, mut last) = (0, None::<(blake3::Hash, [u8; LINK])>);
        // Whole lines are taken from its front; what follows them stays.
        let (mut buffer, mut filled) = (vec![0; BUFFER], 0);
        loop {
            if filled == buffer.len() {
                // A line that fills the buffer and more than the limit is longer than any line may be.
                if filled as u64 > limit {
                    return Ok(false);
                }
                buffer.resize(2 * filled, 0);
            }
            let count = match file.read(buffer.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(ChainError::Io { path: self.folder.join(name), cause }),
            };
            let read = buffer.get(..filled + count).unwrap_or_default();
            let (mut line, mut end) = (0, 0);
            // What was there before has no line end.
            for at in memchr::memchr_iter(b'\n', read.get(filled..).unwrap_or_default()) {
                (line, end) = (end, filled + at + 1);
                if (end - line) as u64 > limit {
                    return Ok(false);
                }
                lines += 1;
            }
            filled = read.len();
            if end == 0 {
                continue;
            }
            let whole = read.get(..end).unwrap_or_default();
            let linked = whole.get(line..).and_then(link);
            // Of all lines in this block only the last link is compared; it covers the others.
            let (body, rest) = whole.split_at(linked.map_or(end, |(at, _)| line + at));
            hasher.update(body);
            last = linked.and_then(|(_, link)| Some((hasher.finalize(), link.try_into().ok()?)));
            hasher.update(rest);
            buffer.copy_within(end..filled, 0);
            filled -= end;
        }
        // The same comparison as for each line, so that both ways judge alike.
        let is_intact = |(hash, link): &(blake3::Hash, [u8; LINK])| state(link, &key_id, *hash) == LineState::Intact;
        // A file that was cut at a line's end is intact up to there; only the head knows of the rest.
        let is_head = |link: &[u8]| head.is_none_or(|head| head.lines == lines && head.link.as_bytes() == link);
        Ok(filled as u64 <= limit && last.filter(is_intact).is_some_and(|(_, link)| is_head(&link)))
    }
}
