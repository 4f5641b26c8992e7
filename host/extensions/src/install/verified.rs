//! What is in a bundle and who signed it, as a text and as data.
//!
//! Deliberately not here: the verdict (`host_bundle`), and the contents of the files that it brings.

use std::fmt::Write as _;

use host_bundle::{Bundle, Pattern, PublicKey, Refusal, Trust, Verdict};
use host_manifest::Declared;
use host_settings::error::{ErrorKind, Failure};
use host_text::{exact, visible_line};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Returns a trust in this key alone, for this plugin; revocations stay in force.
///
/// # Errors
///
/// If the plugin has no publisher, or the key is revoked.
pub fn only(key: PublicKey, bundle: &Bundle, known: &Trust, now: Timestamp) -> Result<Trust, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::from_error(ErrorKind::Input, error);
    let pattern: Pattern = bundle.manifest().name.parse().map_err(|_| {
        Failure::new(
            ErrorKind::Untrusted,
            format!("`{}` has no publisher, so no key can sign it", bundle.manifest().name),
        )
        .help("its name has to be PUBLISHER/NAME")
    })?;
    let mut trust = Trust::default();
    for revocation in known.revoked() {
        trust.revoke(revocation.what.clone(), &revocation.reason, now).map_err(|error| failed(&error))?;
    }
    let trusted = trust.trust(key, vec![pattern], None, now);
    trusted.map_err(|error| Failure::from_error(ErrorKind::Untrusted, &error).help_if(error.help()))?;
    Ok(trust)
}

/// What is in a bundle and who signed it.
pub fn text(bundle: &Bundle, verdict: &Result<Verdict, Refusal>) -> String {
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
            let _ = writeln!(text, "not counted: {}", visible_line(&refusal.notice().to_string()));
        }
    }
    text
}

/// What is in a bundle and who signed it, as data.
pub fn json(bundle: &Bundle, verdict: &Result<Verdict, Refusal>) -> Value {
    let (word, by, not_counted, refused) = match verdict {
        Ok(Verdict::Signed { by, not_counted }) => ("signed", by.clone(), not_counted.clone(), None),
        Ok(Verdict::Unsigned) => ("unsigned", Vec::new(), Vec::new(), None),
        Err(refusal) => ("refused", Vec::new(), Vec::new(), Some(refusal.notice().to_string())),
    };
    let manifest = bundle.manifest();
    json!({
        "plugin": manifest.name,
        "version": manifest.version,
        "digest": bundle.digest(),
        "component": bundle.component_digest(),
        "verdict": word,
        "signed_by": by,
        "not_counted": not_counted.iter().map(|refusal| refusal.notice().to_string()).collect::<Vec<_>>(),
        "refused": refused,
        "capabilities": manifest.capabilities,
        "tools": manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>(),
        "files": manifest.files.iter().map(|(path, _)| path).collect::<Vec<_>>(),
    })
}
