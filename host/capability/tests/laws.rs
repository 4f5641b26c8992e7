//! Checks that grants are a lattice, and that the lattice agrees with the permits: for all grants and all requests.
//!
//! Scopes and requests are drawn from few and overlapping pieces, so that most pairs are related; random ones would be
//! disjoint, and every law would hold trivially.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use host_capability::{Authority, Capability, Grants, McpServerName, PluginName, Scope, StateAccess};
use host_text::Wording;
use proptest::prelude::*;
use proptest::sample::select;

const PATHS: &[&str] = &["/", "/a", "/a/b", "/a/b/c", "/a/c", "/b", "/b/a", "/b/a/c"];
const DENIES: &[&str] = &["a", "b", "*/c", "/a/b", "/a/**/c", "/b/*", "**/a/c", "/*/c", "{b,c}"];
const WORDS: &[&str] = &["git", "push", "-f", "git x"];
const HOSTS: &[&str] = &["a", "b", "a.b", "c.a.b", "x.b", "127.0.0.1"];
const PATTERNS: &[&str] = &["*", "*.b", "*.a.b"];
const MCP_TOOLS: &[&str] = &["a/x", "a/y", "b/x"];
const METHODS: &[&str] = &["GET", "HEAD", "POST"];
const PORTS: &[u16] = &[443, 80];

/// One thing that a plugin may want.
#[derive(Clone, Debug)]
enum Request {
    Read(PathBuf),
    Write(PathBuf),
    Process(Vec<String>),
    Server(Vec<String>, Authority, IpAddr),
    Http(&'static str, Authority, IpAddr),
    State(StateAccess),
    Mcp(&'static str, bool),
}

/// Returns whether the grants permit all of it, including the resolved address.
fn permits(grants: &Grants, request: &Request) -> bool {
    let plugin = PluginName::new("p");
    match request {
        Request::Read(path) => grants.permit_read(&plugin, path).is_ok(),
        Request::Write(path) => grants.permit_write(&plugin, path).is_ok(),
        Request::Process(argv) => grants.permit_process(&plugin, argv).is_ok(),
        Request::Server(argv, to, address) => grants
            .permit_process(&plugin, argv)
            .and_then(|permit| permit.permit_server(to))
            .is_ok_and(|permit| permit.permit_address(*address).is_ok()),
        Request::Http(method, to, address) => {
            grants.permit_http(&plugin, method, to).is_ok_and(|permit| permit.permit_address(*address).is_ok())
        }
        Request::State(access) => grants.permit_state(&plugin, *access).is_ok(),
        Request::Mcp(tool, reads) => {
            let (server, tool) = tool.split_once('/').expect("SERVER/TOOL");
            let server = McpServerName::parse(server).expect("a name");
            grants.permit_mcp(&plugin, &server, tool, *reads).is_ok()
        }
    }
}

fn path() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(select(&["a", "b", "c"][..]), 0..5).prop_map(|parts| Path::new("/").join(parts.join("/")))
}

fn argv() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(select(WORDS).prop_map(str::to_owned), 0..4)
}

fn request() -> impl Strategy<Value = Request> {
    let authority =
        || (select(HOSTS), select(PORTS)).prop_map(|(host, port)| Authority::new(host, port).expect("they are hosts"));
    let address = || select(vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8))]);
    prop_oneof![
        3 => path().prop_map(Request::Read),
        1 => path().prop_map(Request::Write),
        2 => argv().prop_map(Request::Process),
        3 => (argv(), authority(), address()).prop_map(|(argv, to, address)| Request::Server(argv, to, address)),
        3 => (select(METHODS), authority(), address()).prop_map(|(method, to, address)| Request::Http(method, to, address)),
        1 => select(vec![StateAccess::Read, StateAccess::Write]).prop_map(Request::State),
        2 => (select(MCP_TOOLS), any::<bool>()).prop_map(|(tool, reads)| Request::Mcp(tool, reads)),
    ]
}

fn joined(item: impl Strategy<Value = String>, separator: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(item, 1..4).prop_map(move |items| items.join(separator))
}

fn paths_text() -> impl Strategy<Value = String> {
    let roots = joined(select(PATHS).prop_map(str::to_owned), ",");
    let denies = prop::collection::vec(select(DENIES), 0..3);
    let list = (roots, denies).prop_map(|(roots, denies)| denies.iter().fold(roots, |text, deny| text + ",!" + deny));
    joined(list, ";")
}

fn programs_text() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(select(WORDS).prop_map(|word| format!("'{word}'")), 1..4);
    let then = prop_oneof![3 => Just(""), 1 => Just(" $")];
    let command = (words, then).prop_map(|(words, then)| words.join(" ") + then);
    let commands = joined(prop_oneof![6 => command, 1 => Just("*".to_owned())], ",");
    let host = prop_oneof![select(HOSTS), select(PATTERNS)];
    let port = prop_oneof![Just(""), Just(":80"), Just(":*")];
    let reach = prop_oneof![2 => Just(""), 1 => Just(" +private")];
    let server = (host, port, reach).prop_map(|(host, port, reach)| [host, port, reach].concat());
    let path = || joined(select(&["/", "/a", "/a/b", "'/a b'", "/c"][..]).prop_map(str::to_owned), ",");
    let besides = (prop::option::of(joined(server, ",")), prop::option::of(path()), prop::option::of(path()));
    let list = (commands, besides).prop_map(|(commands, (servers, reads, writes))| {
        let lists = [("net", servers), ("read", reads), ("write", writes)];
        let named = lists.into_iter().filter_map(|(key, list)| Some(format!(";{key}={}", list?)));
        named.fold(commands, |text, list| text + &list)
    });
    joined(list, ";")
}

fn mcp_text() -> impl Strategy<Value = String> {
    let item = prop_oneof![4 => select(MCP_TOOLS), 2 => select(&["a", "b"][..]), 1 => Just("*")];
    let item = (item, prop_oneof![Just(""), Just(" read")]).prop_map(|(item, read)| [item, read].concat());
    joined(item, ",")
}

fn authorities_text() -> impl Strategy<Value = String> {
    let host = prop_oneof![select(HOSTS), select(PATTERNS)];
    let methods = prop_oneof![Just(""), Just("* "), Just("POST "), Just("GET+POST "), Just("HEAD ")];
    let port = prop_oneof![Just(""), Just(":80"), Just(":*")];
    let reach = prop_oneof![2 => Just(""), 1 => Just(" +private"), 1 => Just(" -private")];
    let item =
        (methods, host, port, reach).prop_map(|(method, host, port, reach)| [method, host, port, reach].concat());
    joined(item, ",")
}

fn scope() -> impl Strategy<Value = Scope> {
    let text = prop_oneof![
        3 => paths_text().prop_map(|text| (Capability::FsRead, text)),
        1 => paths_text().prop_map(|text| (Capability::FsWrite, text)),
        2 => programs_text().prop_map(|text| (Capability::Process, text)),
        3 => authorities_text().prop_map(|text| (Capability::Http, text)),
        2 => mcp_text().prop_map(|text| (Capability::Mcp, text)),
        1 => select(&["read", "write"][..]).prop_map(|text| (Capability::State, text.to_owned())),
    ];
    text.prop_map(|(capability, text)| {
        Scope::parse(capability, &text, Path::new("/w")).unwrap_or_else(|error| panic!("{text}: {error}"))
    })
}

fn grants() -> impl Strategy<Value = Grants> {
    prop::collection::vec(scope(), 0..8).prop_map(|scopes| scopes.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    // promise plugin.meet
    #[test]
    fn a_meet_is_the_greatest_of_what_is_below_both(a in grants(), b in grants(), c in grants()) {
        let met = a.meet(&b);
        prop_assert!(met.le(&a) && met.le(&b));
        prop_assert_eq!(&met, &b.meet(&a));
        prop_assert_eq!(met.meet(&c), a.meet(&b.meet(&c)));
        prop_assert_eq!(&a.meet(&a), &a);
        let below = met.meet(&c);
        prop_assert!(below.le(&met));
        prop_assert_eq!(c.le(&a) && c.le(&b), c.le(&met));
        prop_assert_eq!(a.le(&b), met == a);
    }

    #[test]
    fn a_join_is_the_least_of_what_is_above_both(a in grants(), b in grants(), c in grants()) {
        let join = a.join(&b);
        prop_assert!(a.le(&join) && b.le(&join));
        prop_assert_eq!(&join, &b.join(&a));
        prop_assert_eq!(join.join(&c), a.join(&b.join(&c)));
        prop_assert_eq!(&a.join(&a), &a);
        prop_assert_eq!(&a.join(&a.meet(&b)), &a);
        prop_assert_eq!(&a.meet(&join), &a);
        prop_assert_eq!(c.meet(&join), c.meet(&a).join(&c.meet(&b)));
    }

    #[test]
    fn being_permitted_less_is_a_partial_order(a in grants(), b in grants(), c in grants()) {
        prop_assert!(a.le(&a));
        prop_assert!(Grants::none().le(&a));
        if a.le(&b) && b.le(&a) {
            prop_assert_eq!(&a, &b);
        }
        // Unrelated grants would make the rule empty: these are related.
        let (low, high) = (a.meet(&b), a.join(&c));
        prop_assert!(low.le(&a) && a.le(&high) && low.le(&high));
        prop_assert!(!high.le(&low) || high == low);
        if a.le(&b) && b.le(&c) {
            prop_assert!(a.le(&c));
        }
    }

    // promise plugin.meet
    #[test]
    fn grants_below_others_permit_nothing_more(
        a in grants(), b in grants(), requests in prop::collection::vec(request(), 32),
    ) {
        for request in &requests {
            prop_assert!(!permits(&a, request) || permits(&a.join(&b), request), "{:?}", request);
            if a.le(&b) {
                prop_assert!(!permits(&a, request) || permits(&b, request), "{:?}", request);
            }
        }
    }

    // promise plugin.meet: Grants only shrink on the way to a call; a `meet` permits nothing that either side does not.
    #[test]
    fn a_meet_permits_exactly_what_both_permit(
        a in grants(), b in grants(), requests in prop::collection::vec(request(), 32),
    ) {
        let met = a.meet(&b);
        for request in &requests {
            prop_assert_eq!(permits(&met, request), permits(&a, request) && permits(&b, request), "{:?}", request);
        }
    }

    #[test]
    fn a_join_of_files_and_servers_permits_exactly_what_either_permits(
        a in grants(), b in grants(), requests in prop::collection::vec(request(), 32),
    ) {
        let join = a.join(&b);
        for request in &requests {
            prop_assert_eq!(permits(&join, request), permits(&a, request) || permits(&b, request), "{:?}", request);
        }
    }

    #[test]
    fn permit_recheck_agrees_for_the_same_path_and_allows_no_more_for_a_different_one(
        a in grants(), path in path(), real in path(),
    ) {
        let plugin = PluginName::new("p");
        if let Ok(permit) = a.permit_read(&plugin, &path) {
            prop_assert_eq!(&permit.root().join(permit.relative()), &path);
            prop_assert!(permit.recheck(&path).is_ok() && permit.recheck(permit.relative()).is_ok());
            prop_assert!(permit.recheck(&real).is_err() || a.permit_read(&plugin, &real).is_ok());
            prop_assert_eq!(permit.recheck(&real).is_ok(), real.starts_with(permit.root()) && !permit.denies(&real));
        }
    }

    // promise files.deny
    #[test]
    fn a_denied_directory_denies_all_beneath_it(a in grants(), path in path(), deeper in path()) {
        let plugin = PluginName::new("p");
        if let Ok(permit) = a.permit_read(&plugin, &path) {
            let beneath = path.join(deeper.strip_prefix("/").expect("it is absolute"));
            let above = beneath.ancestors().any(|above| permit.denies(above));
            prop_assert_eq!(permit.denies(&beneath), above);
        }
    }

    #[test]
    fn a_scope_is_read_back_as_it_was_shown(a in scope()) {
        prop_assert_eq!(Scope::parse_absolute(a.capability(), &a.to_string()), Ok(a.clone()));
        prop_assert_eq!(Scope::parse(a.capability(), &a.to_string(), Path::new("/elsewhere")), Ok(a));
    }

    #[test]
    fn grants_are_read_back_from_json(a in grants()) {
        let json = serde_json::to_string(&a).expect("they are text");
        prop_assert_eq!(serde_json::from_str::<Grants>(&json).expect("as they were"), a);
    }

    #[test]
    fn reading_is_less_and_changes_nothing(a in grants(), b in grants(), request in request()) {
        let reading = a.reading();
        prop_assert!(reading.le(&a));
        prop_assert!(!reading.capabilities().iter().any(Capability::changes));
        prop_assert_eq!(&reading.reading(), &reading);
        prop_assert_eq!(a.meet(&b).reading(), reading.meet(&b.reading()));
        let changes = match &request {
            Request::Write(_) | Request::Server(..) | Request::Process(_) | Request::Http(..) | Request::State(StateAccess::Write) => true,
            Request::Read(_) | Request::State(StateAccess::Read) => false,
            Request::Mcp(_, reads) => !reads,
        };
        prop_assert_eq!(permits(&reading, &request), permits(&a, &request) && !changes);
    }

    // promise plugin.messages
    #[test]
    fn no_text_makes_the_parser_panic_and_no_message_is_unsafe(text in "[ -~ä\u{1b}\u{202e}\n]{0,60}", path in ".{0,40}") {
        for capability in Capability::ALL {
            match Scope::parse(capability, &text, Path::new("/w")) {
                Ok(scope) => {
                    prop_assert_eq!(Scope::parse_absolute(capability, &scope.to_string()), Ok(scope));
                }
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(!message.contains(['\u{1b}', '\u{202e}', '\n']), "{}", message);
                }
            }
        }
        let no = Grants::none().permit_read(&PluginName::new("p"), Path::new(&path)).expect_err("nothing is granted");
        prop_assert!(!no.explain(Wording::default()).chars().any(char::is_control));
    }
}
