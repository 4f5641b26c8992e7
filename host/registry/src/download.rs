//! Downloads the archive of a bundle from any web server.
//!
//! An interrupted download resumes, as far as the server supports it (RFC 9110, 14.2 and 13.1.5). Only a complete
//! archive is read, and one that was put together from two transfers and is invalid is fetched once more from its
//! beginning: the server may have a different file by then, or someone else may have written the first half.

use std::path::Path;

use futures::StreamExt as _;
use host_bundle::{Bundle, MAX_BUNDLE, OciDigest};
use host_http::is_safe;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE, LAST_MODIFIED, RANGE};
use reqwest::{Response, StatusCode, Url};

use crate::client::{Http, refused};
use crate::pace::{Timer, within};
use crate::part::{ATTEMPTS, Part};
use crate::{Pace, Progress, RegistryError, Transfer};

/// The headers of an archive: 512 bytes before each file and up to 511 after it.
const FRAME: u64 = 1 << 20;

/// The largest archive.
const MAX_ARCHIVE: u64 = MAX_BUNDLE + FRAME;

/// The longest validator of a file, with its address. Protects the request that sends it back.
const MAX_NOTE: u64 = 8 << 10;

/// The address of a download, and the expected archive.
struct Wanted<'a> {
    address: &'a Url,
    server: String,
    digest: &'a OciDigest,
}

/// How an attempt ended.
enum Came {
    /// It is complete.
    Whole,
    /// Something is missing; the total size, if the server reported it.
    Half(Option<u64>),
}

/// Gets the archive at an address, which has to be `https` or on this machine. Only the digest identifies the expected
/// bundle, since an address does not identify its author. An interrupted download is kept in the folder `downloads`,
/// and the next call resumes it.
///
/// # Errors
///
/// If the server does not send it, or it is not a bundle, or not the expected one.
pub async fn download(
    url: &str,
    wanted: &OciDigest,
    downloads: &Path,
    pace: Pace,
    progress: Progress<'_>,
) -> Result<Bundle, RegistryError> {
    let protocol = |why: String| RegistryError::Protocol { registry: url.to_owned(), why };
    let address = Url::parse(url).map_err(|error| protocol(error.to_string()))?;
    let server = address.host_str().unwrap_or_default().to_owned();
    if !is_safe(&address) {
        return Err(RegistryError::Insecure { registry: server, url: url.to_owned() });
    }
    let wanted = Wanted { address: &address, server, digest: wanted };
    let http = Http::new()?;
    let part = wanted.open(downloads)?;
    let is_of_two = part.done > 0;
    match wanted.read(wanted.get_within(pace, &http, part, progress).await?) {
        // It is fetched again, from its beginning.
        Err(_) if is_of_two => wanted.read(wanted.get_within(pace, &http, wanted.open(downloads)?, progress).await?),
        ended => ended,
    }
}

impl Wanted<'_> {
    /// Opens the part that an earlier download from the same address left.
    fn open(&self, downloads: &Path) -> Result<Part, RegistryError> {
        let mut part = Part::open(downloads, &format!("{}.archive", self.digest.digits()), MAX_ARCHIVE)?;
        let from = part.note(MAX_NOTE).unwrap_or_default();
        if part.done > MAX_ARCHIVE || from.lines().next() != Some(self.address.as_str()) {
            part.restart()?;
        }
        Ok(part)
    }

    /// Downloads all of it, in the time for that.
    async fn get_within(
        &self,
        pace: Pace,
        http: &Http,
        part: Part,
        progress: Progress<'_>,
    ) -> Result<Vec<u8>, RegistryError> {
        within(pace, &self.server, |timer| async move { self.get(&timer, http, part, progress).await }).await
    }

    async fn get(
        &self,
        timer: &Timer,
        http: &Http,
        mut part: Part,
        progress: Progress<'_>,
    ) -> Result<Vec<u8>, RegistryError> {
        let mut total = None;
        for _ in 0..ATTEMPTS {
            match self.go_on(timer, http, &mut part, progress).await? {
                Came::Whole => {
                    let size = part.done;
                    return part.finish(size);
                }
                Came::Half(said) => total = said,
            }
        }
        let (registry, digest) = (self.server.clone(), self.digest.clone());
        Err(RegistryError::BrokeOff { registry, digest, done: part.done, total })
    }

    /// Requests what is missing, and receives it.
    async fn go_on(
        &self,
        timer: &Timer,
        http: &Http,
        part: &mut Part,
        progress: Progress<'_>,
    ) -> Result<Came, RegistryError> {
        timer.begin(format!("the bundle {}", self.digest));
        // Ranges are those of the file without an encoding.
        let mut headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
        if part.done > 0
            && let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", part.done))
        {
            headers.insert(RANGE, range);
            let note = part.note(MAX_NOTE).unwrap_or_default();
            if let Some(version) = note.lines().nth(1).and_then(|version| HeaderValue::from_str(version).ok()) {
                // If the file changed since, the server sends all of it and not the rest of another one.
                headers.insert(IF_RANGE, version);
            }
        }
        let answer = timer.send(http.0.get(self.address.clone()).headers(headers)).await?;
        match answer.status() {
            // A range that begins elsewhere would put a hole or a doubled piece into the file.
            StatusCode::PARTIAL_CONTENT if part.done > 0 && begins(&answer) == Some(part.done) => {}
            StatusCode::OK => {
                part.restart()?;
                // Which version the first half is of, for an attempt by another process.
                part.write_down(&format!("{}\n{}\n", self.address, version(&answer).unwrap_or_default()))?;
            }
            // The part belongs to a different file, or is longer than the file: start again.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if part.done > 0 => {
                part.restart()?;
                return Ok(Came::Half(None));
            }
            _ => return Err(refused(&self.server, &format!("`{}`", self.address), answer).await),
        }
        let total = answer.content_length().map(|more| part.done.saturating_add(more));
        // The time grows with the declared size, and no further than with the largest archive.
        timer.expect_all(total.unwrap_or_default().min(MAX_ARCHIVE));
        let report = |done: u64| {
            progress(Transfer { digest: self.digest.clone(), done, total: total.unwrap_or_default() });
        };
        report(part.done);
        let mut stream = answer.bytes_stream();
        while let Some(piece) = stream.next().await {
            // What came so far is kept, and the next attempt resumes.
            let Ok(piece) = piece else { return Ok(Came::Half(total)) };
            if part.done + piece.len() as u64 > MAX_ARCHIVE {
                part.restart()?;
                let (registry, what) = (self.server.clone(), format!("`{}`", self.address));
                return Err(RegistryError::TooLarge { registry, what, limit: MAX_ARCHIVE });
            }
            part.add(&piece)?;
            // Of a file whose size was not declared, what came counts.
            timer.expect_all(part.done);
            report(part.done);
        }
        Ok(Came::Whole)
    }

    fn read(&self, archive: Vec<u8>) -> Result<Bundle, RegistryError> {
        let bundle = Bundle::read_archive(archive.as_slice())?;
        if bundle.digest() != self.digest {
            let (wanted, found) = (self.digest.clone(), bundle.digest().clone());
            return Err(RegistryError::Changed { registry: self.server.clone(), wanted, found });
        }
        Ok(bundle)
    }
}

/// Returns where a part begins (RFC 9110, 14.4).
fn begins(answer: &Response) -> Option<u64> {
    let range = answer.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// Returns the server's validator for the file; `None` if it is not a strong one (RFC 9110, 13.1.5).
fn version(answer: &Response) -> Option<String> {
    let tag = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| !tag.starts_with("W/"));
    let date = || answer.headers().get(LAST_MODIFIED).and_then(|date| date.to_str().ok());
    tag.or_else(date).filter(|version| version.len() as u64 <= MAX_NOTE / 2).map(str::to_owned)
}
