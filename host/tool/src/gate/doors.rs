//! Asks whether a confined program may reach a server, while the program waits.
//!
//! Promises: a question about a server that a package manager downloads from is about all of its servers, so that a
//! build is asked about once; every answer names the servers exactly; a lasting one is a rule about servers for this
//! program in this folder, which lets no command run.
//!
//! Deliberately not here: the walls, and resolving names: nothing about a server is looked up before the answer.

use host_capability::Grants;
use host_shell::{Registry, registry_of};
use host_text::exact;

use super::questions::CallQuestions;
use super::{Gate, NOT_OFFERED};
use crate::policy::Who;
use crate::{
    About, Always, Answer, CommandPrefix, Decision, Lasting, NobodyListens, Origin, Question, ReachAnswer, Rule,
    RuleSource, Tier, Until, commands_in, simple_commands,
};

/// What a program wants to reach, as the question is about it.
struct Wanted {
    /// The program, as a rule names it: the one of a known family, or else the first of the line.
    program: String,
    registry: Option<&'static Registry>,
    servers: Vec<String>,
}

impl Wanted {
    /// `server` is what one program asked for; of a known family all of its servers are asked about.
    fn new(argv: &[String], commands: &[Vec<String>], server: &str) -> Self {
        let host = server.strip_suffix(":443").or_else(|| server.strip_suffix(":443 +private")).unwrap_or_default();
        let registry = registry_of(host);
        let reach = if server.ends_with(" +private") { " +private" } else { "" };
        let servers = match registry {
            Some(row) => row.servers.iter().map(|host| format!("{host}:443{reach}")).collect(),
            None => vec![server.to_owned()],
        };
        let of_family = registry.and_then(|row| row.program_in(commands.iter().map(Vec::as_slice)));
        // The shell that reads a line is not what reaches the server.
        let shown = simple_commands(argv);
        let named = shown.first().and_then(|command| command.words.first()).and_then(Option::as_deref);
        let first = || named.or_else(|| argv.first().map(String::as_str)).unwrap_or_default();
        let program = of_family.unwrap_or_else(first);
        Self { program: program.rsplit('/').next().unwrap_or(program).to_owned(), registry, servers }
    }
}

/// A server without the usual port, and in words what git does over ssh and what reaches this machine or a private
/// network.
fn named(server: &str) -> String {
    let (name, network) = match server.strip_suffix(" +private") {
        Some(name) => (name, " on a private network"),
        None => (server, ""),
    };
    let Some(remote) = name.strip_prefix("ssh://") else {
        return format!("{}{network}", name.strip_suffix(":443").unwrap_or(name));
    };
    match remote.strip_suffix(" +push") {
        Some(remote) => format!("{remote}{network} over ssh to send and to fetch"),
        None => format!("{remote}{network} over ssh to fetch"),
    }
}

impl CallQuestions {
    pub(super) async fn ask_to_reach(&self, argv: &[String], server: &str, origin: Option<Origin>) -> ReachAnswer {
        let gate = &self.gate;
        // By the commands in the line, so that an answer about `cargo` holds for `cd x && cargo build`.
        let commands = match commands_in(argv) {
            found if found.is_empty() => vec![argv.to_vec()],
            found => found,
        };
        let wanted = Wanted::new(argv, &commands, server);
        // Rules, grants and earlier answers, before the clock stops.
        if gate.opens(&commands, &wanted.servers, self.call.name.as_str(), origin.as_ref()) {
            return ReachAnswer::Allowed(wanted.servers);
        }
        if !gate.asking.queue.is_heard() {
            return ReachAnswer::NotAsked;
        }
        // The program waits at its proxy for as long as the user thinks.
        let _asking = self.run_clock.pause();
        let _one_at_a_time = gate.asking.turn.acquire().await;
        // The answer to a call beside this one may have opened it meanwhile.
        if gate.opens(&commands, &wanted.servers, self.call.name.as_str(), origin.as_ref()) {
            return ReachAnswer::Allowed(wanted.servers);
        }
        let words = || {
            let names: Vec<String> = wanted.servers.iter().map(|server| named(server)).collect();
            format!("`{}` reaches {}", exact(&wanted.program), names.join(", "))
        };
        // An answer about servers never lets a command run: the two are asked about apart.
        let offer = |until| Always { answer: Lasting::Always, until, words: words() };
        let offered = [Until::SessionEnds, Until::TakenBack].map(offer).to_vec();
        let about = About::Reaching {
            program: wanted.program.clone(),
            what: wanted.registry.map(|row| row.what),
            servers: wanted.servers.clone(),
        };
        let mut question = Question { about, always: offered, ..self.question(origin.clone(), Grants::none()) };
        loop {
            self.asked.send(question.clone()).await;
            match gate.asking.queue.ask(question.clone()).await {
                Err(NobodyListens) => return ReachAnswer::NotAsked,
                Ok(Answer::ProceedOnce) => return ReachAnswer::Allowed(wanted.servers),
                Ok(Answer::Proceed { lasting: Lasting::Always, until }) => {
                    let rule = gate.door(&wanted, until, self.call.name.as_str(), origin.as_ref());
                    match gate.keep(rule, until, None) {
                        Ok(()) => return ReachAnswer::Allowed(wanted.servers),
                        Err(why) => question.objection = Some(why),
                    }
                }
                Ok(Answer::Cancel { .. }) => return ReachAnswer::Rejected(wanted.servers),
                Ok(
                    // Not an answer to this question: the program runs already, behind its walls.
                    Answer::ProceedWithoutWalls
                    | Answer::Proceed { .. }
                    | Answer::Modify { .. }
                    | Answer::Switch { .. },
                ) => question.objection = Some(NOT_OFFERED.to_owned()),
            }
        }
    }
}

impl Gate {
    /// Whether an earlier answer or a rule lets these commands reach all of these servers.
    fn opens(&self, commands: &[Vec<String>], servers: &[String], tool: &str, origin: Option<&Origin>) -> bool {
        let policy = self.policy();
        let who = Who {
            tool,
            plugin: origin.map(|origin| origin.plugin.as_str()),
            digest: origin.map(|origin| origin.digest.as_str()),
            agent: &self.agent,
            mode: self.mode,
            workspace: &self.shared.workspace,
        };
        servers.iter().all(|server| policy.rules().iter().any(|rule| rule.opens(&who, commands, server)))
    }

    /// Returns the rule that an answer makes.
    fn door(&self, wanted: &Wanted, until: Until, tool: &str, origin: Option<&Origin>) -> Rule {
        Rule {
            tool: vec![tool.to_owned()],
            plugin: origin.map(|origin| origin.plugin.as_str().to_owned()),
            digest: origin.map(|origin| origin.digest.clone()).into_iter().collect(),
            workspace: Some(self.shared.workspace.clone()),
            agent: match until {
                Until::SessionEnds => vec![self.agent.clone()],
                Until::TakenBack => Vec::new(),
            },
            command: vec![CommandPrefix::from(vec![wanted.program.clone()])],
            net: wanted.servers.clone(),
            ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User))
        }
    }
}
