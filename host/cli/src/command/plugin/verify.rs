//! `host plugin verify`: what is in a bundle, and who signed it.

use std::fmt::Write as _;

use host_bundle::{Bundle, TrustStore, Verdict};
use host_extensions::install::{self, verified};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::arguments::bundles::Verify;
use crate::command::{keys, tool};
use crate::exit::Code;
use crate::printer::{self, Out};

pub(super) fn run(verify: &Verify, environment: &Environment) -> Result<Code, Failure> {
    let bundle = install::read_bundle(&verify.file)?;
    let now = Timestamp::now();
    let store = TrustStore::at(environment.folders()?.keys);
    let trust = store.load().map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))?;
    let trust = match &verify.key {
        Some(key) => verified::only(keys::public(key)?, &bundle, &trust, now)?,
        None => trust,
    };
    let verdict = trust.check(&bundle, now);
    let out = Out::new(CancellationToken::new());
    if verify.json {
        tool::print_json(&verified::json(&bundle, &verdict), &out)?;
    } else {
        out.write_entries(&verified::text(&bundle, &verdict));
        if verify.files {
            out.write_entries(&texts(&bundle));
        }
    }
    let refused = || {
        Failure::new(ErrorKind::Untrusted, format!("`{}` is not signed by a key that you trust", verify.file.display()))
    };
    match verdict {
        Ok(Verdict::Signed { .. }) => Ok(Code::Done),
        Ok(Verdict::Unsigned) => Err(refused()
            .cause("it has no signature")
            .help("ask its publisher for a signed one; what it may touch is bounded by your grants either way")),
        Err(refusal) => Err(refused().cause(refusal.notice())),
    }
}

/// The files that it brings, behind a bar that no text of them can imitate.
fn texts(bundle: &Bundle) -> String {
    let mut text = String::new();
    for (path, content) in bundle.manifest().files.iter() {
        // A string takes everything.
        let _ = writeln!(text, "\n{path}");
        match std::str::from_utf8(content) {
            Ok(content) => text.push_str(&printer::barred(content)),
            Err(_) => {
                let _ = writeln!(text, "{} bytes that are not text", content.len());
            }
        }
    }
    text
}
