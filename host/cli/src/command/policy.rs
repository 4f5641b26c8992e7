//! `host policy`: the decision about a call, and the rule that makes it, without running the call.

use host_app::app::project;
use host_app::single_call;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::policies::listed::{ListedRules, quoted, with_folder};
use host_settings::{denied_files, folder, permissions, policies};
use host_text::{exact, visible};
use host_tool::permissions_in;
use tokio_util::sync::CancellationToken;

use super::tool::{call_of, open, print_json};
use crate::arguments::Policy;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(crate) async fn run(policy: Policy, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    match policy {
        Policy::Check { tool, arguments, agent, place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            let call = call_of(tool, arguments)?;
            let decided = single_call::decided(&place, &call, &agent, &stop).await?;
            match json {
                true => print_json(&decided.json(), &out),
                false => {
                    out.write(&visible(&decided.text()));
                    Ok(Code::Done)
                }
            }
        }
        Policy::List { place, json } => {
            let folders = environment.folders()?;
            let project = project(&folder::configured(place.request(), &environment)?, &folders)?;
            printer::notes(project.note().as_slice(), &environment);
            let policies = policies::read(&folders, &project.files().policies)?;
            printer::notes(&policies.notes, &environment);
            let answers = permissions_in(&policies.policy, &policies::answers(&folders));
            let files = project.files();
            let denied = Configuration::read(&environment, &folders, files.configuration.as_ref())?.deny.read;
            let listed = ListedRules { rules: policies.policy.rules(), answers: &answers, denied: &denied };
            match json {
                true => print_json(&listed.json(), &out),
                false => {
                    out.write(&visible(&listed.to_string()));
                    Ok(Code::Done)
                }
            }
        }
        Policy::Deny { globs } => {
            let file = denied_files::deny(&globs, &environment)?;
            out.write(&visible(&format!("kept from all tools and programs: {}\n", quoted(&globs))));
            printer::notes(&[format!("saved as `[deny]` in {}", exact(&file.display().to_string()))], &environment);
            Ok(Code::Done)
        }
        Policy::Allow { globs } => {
            denied_files::allow(&globs, &environment)?;
            out.write(&visible(&format!("no longer kept from tools and programs: {}\n", quoted(&globs))));
            Ok(Code::Done)
        }
        Policy::Forget { what } => {
            let folders = environment.folders()?;
            let forgotten = permissions::forget_stored(&folders, &what.join(" "))?;
            out.write(&visible(&format!("no longer allowed: {}\n", with_folder(&forgotten))));
            Ok(Code::Done)
        }
    }
}
