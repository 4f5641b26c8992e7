//! Hooks that are components: asked about an event of a session in a sandbox of their own.
//!
//! Promises: a hook imports no capability, so that it reaches nothing; each event has a store of its own, which is
//! dropped with it; its memory and its time are limited as those of a call; what it answers is bounded.
//!
//! Deliberately not here: what an answer means, and hooks that are programs (`hook_program`).

use std::sync::Arc;
use std::time::Duration;

use host_capability::{CapabilitySet, Grants, PluginName};
use host_message::{CallId, ToolName};
use tokio::sync::OnceCell;
use wasmtime::component::Linker;

use crate::admission::{self, AdmissionError};
use crate::digest::Digest;
use crate::error::RuntimeError;
use crate::hook_program::MAX_HOOK_OUTPUT;
use crate::limits::Limit;
use crate::missing;
use crate::plugin::Plugin;
use crate::runtime::Runtime;
use crate::store::{Invocation, StoreData};
use crate::workspace::Workspace;

mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit/hook",
        world: "host:hook/hook",
        exports: { default: async },
    });
}

use self::bindings::HookPre;
use self::bindings::exports::host::hook::handler::{Answer, Event};
pub use self::bindings::host::hook::types::Moment as HookMoment;
use self::bindings::host::hook::types::{Decision, ToolCall};

/// A hook as a component. Creating one compiles nothing; that happens at its first event.
pub struct HookComponent {
    plugin: Plugin,
    /// Whether it imports the inert part of WASI, and parts that are traps.
    wasi: bool,
    empty: bool,
    linked: OnceCell<HookPre<StoreData>>,
}

/// A call that a hook is asked about.
#[derive(Clone, Debug)]
pub struct HookToolCall {
    /// Its id.
    pub id: String,
    /// Its tool.
    pub tool: String,
    /// Its arguments, a JSON object as text.
    pub arguments: String,
}

/// An event that a hook is asked about.
#[derive(Clone, Debug)]
pub struct HookQuestion {
    /// What happened.
    pub moment: HookMoment,
    /// The agent's name.
    pub agent: String,
    /// Whether it is a subagent.
    pub subagent: bool,
    /// The approval mode.
    pub mode: String,
    /// The folder to work in.
    pub workspace: String,
    /// The call, for events about one.
    pub call: Option<HookToolCall>,
    /// The text of the event.
    pub text: String,
    /// Whether the agent goes on because of a hook already.
    pub active: bool,
}

/// A decision of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookDecided {
    /// No question is needed.
    Allow,
    /// The user is to be asked.
    Ask,
    /// It must not happen.
    Deny,
}

/// What a hook answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookReply {
    /// Its decision.
    pub decision: Option<HookDecided>,
    /// Why.
    pub reason: String,
    /// The arguments in place of the call's, as text that should be a JSON object.
    pub arguments: Option<String>,
    /// What the model is to know besides.
    pub context: Option<String>,
    /// What the user should read.
    pub message: Option<String>,
}

impl HookComponent {
    /// Reads the imports of a component.
    ///
    /// # Errors
    ///
    /// If it is not a hook, or imports anything that reaches something.
    pub fn new(name: PluginName, component: Vec<u8>) -> Result<Self, AdmissionError> {
        let imports = admission::imports_of_hook(&name, &component)?;
        let (wasi, empty) = (imports.wasi, imports.empty);
        Ok(Self { plugin: Plugin::new(name, component, Grants::none()), wasi, empty, linked: OnceCell::new() })
    }

    /// Returns the digest of the component.
    pub fn digest(&self) -> &Digest {
        self.plugin.digest()
    }
}

impl std::fmt::Debug for HookComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HookComponent({})", self.plugin.name())
    }
}

impl Runtime {
    /// Asks a hook about an event. The error says why it failed. Dropping the future ends it.
    pub async fn ask_hook(
        &self,
        hook: &HookComponent,
        question: HookQuestion,
        limit: Duration,
    ) -> Result<HookReply, String> {
        let words = |error: RuntimeError| host_text::with_causes(&error);
        let pre = hook.linked.get_or_try_init(|| self.link_hook(hook)).await.map_err(words)?;
        // Counted with the calls, since it takes a place of the same pool.
        let _running = self.running.acquire().await.ok();
        let (id, tool) = (CallId::new("hook"), ToolName::new("hook"));
        let (grants, nowhere) = (Arc::new(Grants::none()), Arc::new(Workspace::nowhere()));
        let invocation = Invocation::new(id, tool, String::new(), grants, nowhere);
        let mut store = self.store(&hook.plugin, invocation).map_err(words)?;
        let event = event(question);
        let work = async {
            let instance = pre.instantiate_async(&mut store).await?;
            instance.host_hook_handler().call_handle(&mut store, &event).await
        };
        // The shorter one: a hook that thinks holds up the call that it is asked about.
        let answered = tokio::time::timeout(limit.min(self.limits.time), work).await;
        let Ok(answered) = answered else { return Err("it took too long".to_owned()) };
        match answered {
            Ok(Ok(answer)) => reply(answer),
            Ok(Err(why)) => Err(host_text::one_line(&why, 500)),
            // The guest sees an allocation that failed and traps with its own words; the meter knows the reason.
            Err(error) => Err(match store.into_data().meter.met {
                Some(Limit::Memory) => "it needs more memory than a call may have".to_owned(),
                Some(Limit::Table) => "it needs larger tables than a call may have".to_owned(),
                None => match error.downcast_ref::<wasmtime::Trap>() {
                    Some(trap) => format!("it crashed: {trap}"),
                    None => format!("it crashed: {}", error.root_cause()),
                },
            }),
        }
    }

    async fn link_hook(&self, hook: &HookComponent) -> Result<HookPre<StoreData>, RuntimeError> {
        let component = self.compiled(&hook.plugin).await?;
        let failed = |error| RuntimeError::Instantiate { plugin: hook.plugin.name().to_string(), error };
        let linker = self.linker(CapabilitySet::default(), hook.wasi).map_err(failed)?;
        let pre = if hook.empty {
            let mut linker = Linker::clone(&linker);
            missing::trap(&mut linker, component, |name| admission::is_missing(name, None))
                .and_then(|()| linker.instantiate_pre(component))
        } else {
            linker.instantiate_pre(component)
        };
        pre.and_then(HookPre::new).map_err(failed)
    }
}

fn event(question: HookQuestion) -> Event {
    let HookQuestion { moment, agent, subagent, mode, workspace, call, text, active } = question;
    let call = call.map(|HookToolCall { id, tool, arguments }| ToolCall { id, tool, arguments });
    Event { moment, agent, subagent, mode, workspace, call, text, active }
}

/// Returns an answer if it is small enough.
fn reply(answer: Answer) -> Result<HookReply, String> {
    let Answer { decision, reason, arguments, context, message } = answer;
    let sizes = [Some(&reason), arguments.as_ref(), context.as_ref(), message.as_ref()];
    if sizes.into_iter().flatten().map(String::len).sum::<usize>() > MAX_HOOK_OUTPUT {
        return Err("it answered too much".to_owned());
    }
    let decision = decision.map(|decision| match decision {
        Decision::Allow => HookDecided::Allow,
        Decision::Ask => HookDecided::Ask,
        Decision::Deny => HookDecided::Deny,
    });
    Ok(HookReply { decision, reason, arguments, context, message })
}
