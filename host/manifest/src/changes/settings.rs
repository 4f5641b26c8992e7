//! Differences in the settings of a plugin.

use super::{Change, Weight, push};
use crate::manifest::Manifest;

/// Compares the keys of the configuration: a value that was set must stay valid.
pub(super) fn config(old: &Manifest, new: &Manifest, found: &mut Vec<Change>) {
    for (name, key) in &new.config {
        let Some(before) = old.config.get(name) else {
            let (weight, what) = match key.required {
                true => (Weight::Breaking, "has to be set"),
                false => (Weight::Addition, "can be set"),
            };
            push(found, weight, format!("`{name}` {what} in its configuration"));
            continue;
        };
        if before.kind != key.kind {
            let (was, is) = (before.kind.name(), key.kind.name());
            push(found, Weight::Breaking, format!("`{name}` of its configuration is a `{is}` instead of a `{was}`"));
        }
        match (before.required, key.required) {
            (false, true) => {
                push(found, Weight::Breaking, format!("`{name}` has to be set in its configuration"));
            }
            (true, false) => {
                push(
                    found,
                    Weight::Addition,
                    format!("`{name}` does not have to be set in its configuration any more"),
                );
            }
            (true, true) | (false, false) if before.default != key.default => {
                push(found, Weight::Breaking, format!("`{name}` of its configuration has a different default"));
            }
            (true, true) | (false, false) => {}
        }
        if before.description != key.description {
            push(found, Weight::Fix, format!("`{name}` of its configuration is described in other words"));
        }
    }
    for name in old.config.keys().filter(|name| !new.config.contains_key(*name)) {
        push(found, Weight::Breaking, format!("`{name}` cannot be set in its configuration any more"));
    }
}

/// Compares the secrets: to send one to more servers is to request more.
pub(super) fn secrets(old: &Manifest, new: &Manifest, found: &mut Vec<Change>) {
    for (name, secret) in &new.secrets {
        let servers = secret.servers.join(", ");
        let Some(before) = old.secrets.get(name) else {
            let (weight, what) = match secret.optional {
                true => (Weight::Addition, "can be given"),
                false => (Weight::Breaking, "has to be given"),
            };
            push(found, weight, format!("the secret `{name}` {what}, which it sends to {servers}"));
            continue;
        };
        if !secret.reaches_no_more_than(before) {
            let was = before.servers.join(", ");
            push(found, Weight::Breaking, format!("it sends the secret `{name}` to {servers} instead of {was}"));
        } else if !before.reaches_no_more_than(secret) {
            push(found, Weight::Addition, format!("it sends the secret `{name}` to {servers} alone"));
        }
        if (&before.header, before.format()) != (&secret.header, secret.format()) {
            let what = format!("it sends the secret `{name}` as `{}: {}`", secret.header, secret.format());
            push(found, Weight::Breaking, what);
        }
        match (before.optional, secret.optional) {
            (true, false) => push(found, Weight::Breaking, format!("the secret `{name}` has to be given")),
            (false, true) => push(found, Weight::Addition, format!("the secret `{name}` need not be given any more")),
            (true, true) | (false, false) => {}
        }
        if before.description != secret.description {
            push(found, Weight::Fix, format!("the secret `{name}` is described in other words"));
        }
    }
    for name in old.secrets.keys().filter(|name| !new.secrets.contains_key(*name)) {
        push(found, Weight::Breaking, format!("the secret `{name}` is not taken any more"));
    }
}
