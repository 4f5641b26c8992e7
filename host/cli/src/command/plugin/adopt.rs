//! `host plugin adopt` and `host plugin wit`: for components that the plain tools of a language build.

use host_devkit::{AdoptError, AdoptOptions, PlainContract};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, visible_line};
use tokio_util::sync::CancellationToken;

use super::build;
use crate::arguments::adopt::{Adopt, Wit};
use crate::exit::Code;
use crate::printer::Out;

/// Describes a component, writes its manifest, and prints what it requests.
pub(super) async fn run(adopt: Adopt, environment: &Environment) -> Result<Code, Failure> {
    let Adopt { component, out, manifest, name, version, license, description, scopes, reasons } = adopt;
    let (scopes, reasons) = (scopes.into_iter().collect(), reasons.into_iter().collect());
    let options = AdoptOptions { manifest, name, version, license, description, scopes, reasons };
    let runtime = build::runtime(environment);
    let output = host_devkit::adopt(&component, options, &runtime).await.map_err(failed)?;
    output.write(&out).map_err(build::failed)?;
    let mut text = String::new();
    for (name, entry) in &output.provenance.plugins {
        text.push_str(&format!("{name}  {} bytes  SHA-256 {}\n", entry.size, entry.sha256));
    }
    for plugin in &output.plugins {
        for tool in &plugin.manifest.tools {
            text.push_str(&format!("  tool      {}\n", tool.spec.name));
        }
        for (capability, declared) in &plugin.manifest.capabilities {
            let asks = format!("{capability} = {}: {}", declared.scope, declared.reason);
            text.push_str(&format!("  requests  {}\n", visible_line(&asks)));
        }
    }
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// Writes the contract into a folder.
pub(super) fn wit(wit: &Wit) -> Result<Code, Failure> {
    let contract = PlainContract::new(&wit.capabilities);
    contract.write(&wit.out).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let (shown, count) = (wit.out.display(), contract.files().len());
    let text = format!("{shown}: {count} files, with the world `{}`\n", PlainContract::WORLD);
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

fn failed(error: AdoptError) -> Failure {
    let help = error.help().map(Advice::from);
    Failure { help, ..Failure::from_error(ErrorKind::Input, &error) }
}
