//! `host plugin verify`: what is in a bundle, and who signed it.

use std::fmt::Write as _;

use host_bundle::{Bundle, Pattern, Refusal, Trust, TrustStore, Verdict};
use host_extensions::install;
use host_manifest::Declared;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{exact, visible_line};
use jiff::Timestamp;
use serde_json::{Value, json};
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
        Some(key) => only(key, &bundle, &trust, now)?,
        None => trust,
    };
    let verdict = trust.check(&bundle, now);
    let out = Out::new(CancellationToken::new());
    if verify.json {
        tool::print_json(&described(&bundle, &verdict), &out)?;
    } else {
        out.write_entries(&shown(&bundle, &verdict));
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
        Err(refusal) => Err(refused().cause(refusal.to_string())),
    }
}

/// Returns a trust in this key alone, for this plugin; revocations stay in force.
fn only(key: &str, bundle: &Bundle, known: &Trust, now: Timestamp) -> Result<Trust, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::from_error(ErrorKind::Input, error);
    let pattern: Pattern = bundle.manifest().name.parse().map_err(|_| {
        Failure::new(
            ErrorKind::Untrusted,
            format!("`{}` has no publisher, so no key can sign it", bundle.manifest().name),
        )
        .help("its name has to be PUBLISHER/NAME")
    })?;
    let key = keys::public(key)?;
    let mut trust = Trust::default();
    for revocation in known.revoked() {
        trust.revoke(revocation.what.clone(), &revocation.reason, now).map_err(|error| failed(&error))?;
    }
    trust.trust(key, vec![pattern], None, now).map_err(|error| Failure::from_error(ErrorKind::Untrusted, &error))?;
    Ok(trust)
}

fn shown(bundle: &Bundle, verdict: &Result<Verdict, Refusal>) -> String {
    let manifest = bundle.manifest();
    let mut text = format!("{} {}  {}\n", exact(&manifest.name), manifest.version, bundle.digest());
    // A string takes everything.
    if let Some(description) = &manifest.description {
        let _ = writeln!(text, "{}", visible_line(description));
    }
    let tools: Vec<&str> = manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect();
    if !tools.is_empty() {
        let _ = writeln!(text, "tools: {}", exact(&tools.join(", ")));
    }
    for (kind, name) in manifest.files.items() {
        let _ = writeln!(text, "brings the {kind} {}", exact(&name));
    }
    for (capability, Declared { scope, reason, optional }) in manifest.requests() {
        let optional = if *optional { " (optional)" } else { "" };
        let (scope, reason) = (exact(scope), visible_line(reason.trim_start_matches("to ")));
        let _ = writeln!(text, "asks for {}{optional}: {scope}, to {reason}", exact(capability));
    }
    for (name, secret) in &manifest.secrets {
        let _ = writeln!(text, "sends your secret {}: to {}", exact(name), exact(&secret.servers.join(", ")));
    }
    if let Ok(Verdict::Signed { by, not_counted }) = verdict {
        let by: Vec<String> = by.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "signed by {}", by.join(", "));
        for refusal in not_counted {
            let _ = writeln!(text, "not counted: {}", visible_line(&refusal.to_string()));
        }
    }
    text
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

fn described(bundle: &Bundle, verdict: &Result<Verdict, Refusal>) -> Value {
    let (word, by, not_counted, refused) = match verdict {
        Ok(Verdict::Signed { by, not_counted }) => ("signed", by.clone(), not_counted.clone(), None),
        Ok(Verdict::Unsigned) => ("unsigned", Vec::new(), Vec::new(), None),
        Err(refusal) => ("refused", Vec::new(), Vec::new(), Some(refusal.to_string())),
    };
    let manifest = bundle.manifest();
    json!({
        "plugin": manifest.name,
        "version": manifest.version,
        "digest": bundle.digest(),
        "component": bundle.component_digest(),
        "verdict": word,
        "signed_by": by,
        "not_counted": not_counted.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "refused": refused,
        "capabilities": manifest.capabilities,
        "tools": manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>(),
        "files": manifest.files.iter().map(|(path, _)| path).collect::<Vec<_>>(),
    })
}
