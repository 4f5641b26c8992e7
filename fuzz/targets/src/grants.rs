//! Grants in words, and their lattice.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use host_capability::{Authority, Capability, Grants, McpServerName, PluginName, Scope, StateAccess};

use crate::shown;

/// Lines such as `a fs-read=/w,!.env` are grants of `a`, `b` or `c`; lines such as `http GET example.com:443` are uses
/// of them. A scope reads as it is shown, the laws of a lattice hold, and `a` met with `b` permits exactly what both
/// permit.
pub fn grants(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut all = [Grants::none(), Grants::none(), Grants::none()];
    let mut uses = Vec::new();
    for line in text.lines().take(40) {
        let Some((word, rest)) = line.split_once(' ') else { continue };
        match ["a", "b", "c"].iter().position(|name| *name == word) {
            Some(at) => {
                if let Some(scope) = scope(rest) {
                    all[at] = std::mem::take(&mut all[at]).with(scope);
                }
            }
            None => uses.push((word, rest)),
        }
    }
    check_laws(&all);
    let [a, b, _] = &all;
    let (met, joined) = (a.meet(b), a.join(b));
    for (word, rest) in uses {
        let Some([by_a, by_b, by_met, by_joined]) = permits([a, b, &met, &joined], word, rest) else { continue };
        assert_eq!(by_met, by_a && by_b, "{word} {rest}: {a:?} and {b:?}");
        assert!(by_joined || !(by_a || by_b), "{word} {rest}: {a:?} or {b:?}");
    }
}

fn scope(text: &str) -> Option<Scope> {
    let (capability, text) = text.split_once('=')?;
    let capability: Capability = capability.parse().ok()?;
    match Scope::parse(capability, text, Path::new("/w")) {
        Ok(scope) => {
            let words = scope.to_string();
            assert_eq!(
                Scope::parse_absolute(capability, &words).as_ref(),
                Ok(&scope),
                "{text:?} is shown as {words:?}"
            );
            assert!(scope.le(&scope) && scope.clone().requested().le(&scope.clone().requested()));
            Some(scope)
        }
        Err(error) => {
            shown::line(&error.to_string());
            None
        }
    }
}

fn check_laws([a, b, c]: &[Grants; 3]) {
    let (met, joined) = (a.meet(b), a.join(b));
    assert_eq!(a.meet(a), *a);
    assert_eq!(a.join(a), *a);
    assert_eq!(met, b.meet(a));
    assert_eq!(joined, b.join(a));
    assert_eq!(met.meet(c), a.meet(&b.meet(c)));
    assert_eq!(joined.join(c), a.join(&b.join(c)));
    assert!(met.le(a) && met.le(b) && a.le(&joined) && b.le(&joined));
    assert_eq!(a.le(b), met == *a);
    assert_eq!(c.le(a) && c.le(b), c.le(&met));
    assert!(a.reading().le(a) && !a.reading().capabilities().iter().any(Capability::changes));
    let json = serde_json::to_string(a).expect("grants are text");
    assert_eq!(serde_json::from_str::<Grants>(&json).expect("they were just written"), *a);
}

/// Whether each of the grants permits a use; `None` for a line that is no use.
fn permits<const N: usize>(grants: [&Grants; N], word: &str, rest: &str) -> Option<[bool; N]> {
    let plugin = PluginName::new("p");
    let address =
        IpAddr::V4(if rest.len().is_multiple_of(2) { Ipv4Addr::LOCALHOST } else { Ipv4Addr::new(8, 8, 8, 8) });
    let authority = |text: &str| {
        let (host, port) = text.rsplit_once(':')?;
        Authority::new(host, port.parse().ok()?).ok()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    Some(match word {
        "read" | "write" => {
            let path = Path::new("/").join(rest);
            match word {
                "read" => grants.map(|grants| grants.permit_read(&plugin, &path).is_ok()),
                _ => grants.map(|grants| grants.permit_write(&plugin, &path).is_ok()),
            }
        }
        "run" => {
            let argv = words(rest);
            grants.map(|grants| grants.permit_process(&plugin, &argv).is_ok())
        }
        "http" => {
            let (method, to) = rest.split_once(' ')?;
            let to = authority(to)?;
            grants.map(|grants| {
                grants.permit_http(&plugin, method, &to).is_ok_and(|permit| permit.permit_address(address).is_ok())
            })
        }
        "reach" => {
            let (to, line) = rest.split_once(' ')?;
            let (to, argv) = (authority(to)?, words(line));
            grants.map(|grants| {
                let server = grants.permit_process(&plugin, &argv).and_then(|permit| permit.permit_server(&to));
                server.is_ok_and(|permit| permit.permit_address(address).is_ok())
            })
        }
        "state" => {
            let access = if rest == "write" { StateAccess::Write } else { StateAccess::Read };
            grants.map(|grants| grants.permit_state(&plugin, access).is_ok())
        }
        "mcp" => {
            let (server, tool) = rest.split_once('/')?;
            let server = McpServerName::parse(server).ok()?;
            let (tool, reads) = tool.strip_suffix(" read").map_or((tool, false), |tool| (tool, true));
            grants.map(|grants| grants.permit_mcp(&plugin, &server, tool, reads).is_ok())
        }
        _ => return None,
    })
}
