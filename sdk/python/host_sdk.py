"""What a plugin for `host` is written with in Python.

A plugin is a module `plugin` with `Tool = export(...)`, given one or more functions that `tool` has described. A
function takes the arguments, a dict that met the tool's schema, and returns an `Answer` or text; it fails by raising a
`Failure`. What a capability refuses is raised as a `Failure` too, and a function that does not catch it passes it on.

The capabilities are `fs_read`, `fs_write`, `process`, `http`, `state`, `mcp` and `tools`: the generated modules of those that
plugin.toml declares, None for the others. With `process` there is `background`, for programs that go on after the call, and with
`fs_write` `file_changes`, for previews of several changes.

The plugin is a snapshot taken when its imports have run, and those that its functions make: there are no files to import
from afterwards, and what a module computes while it is imported is the same in each call. There are a clock and random
numbers; what is printed goes to the host's log; there are no files, threads or sockets.
"""

import functools
import importlib
import json
import random
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Optional

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import context
from wit_world.imports import tool_types as types


def _capability(name: str) -> Any:
    """The generated module of a capability, its errors turned into failures; None when it is not declared."""
    try:
        module = importlib.import_module("wit_world.imports." + name)
    except ModuleNotFoundError:
        return None
    for key, value in list(vars(module).items()):
        # Functions of the interface, and the methods of its resources.
        if callable(value) and not isinstance(value, type) and getattr(value, "__module__", None) == module.__name__:
            setattr(module, key, _translated(value))
        elif isinstance(value, type) and hasattr(value, "__exit__"):
            for method, code in list(vars(value).items()):
                if callable(code) and not method.startswith("_"):
                    setattr(value, method, _translated(code))
    return module


def _translated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Err as error:
            raise Failure.of(error.value) from None

    return call


class Failure(Exception):
    """How a call failed: one of the cases of the contract, which the model reads."""

    def __init__(self, case: Any, cause: Any = None):
        super().__init__(getattr(case.value, "help", case.value))
        self.case = case
        """The case as the contract has it: `types.Failure_NotFound("…")`."""
        self.cause = cause
        """What a capability said, where this came from one: `fs_read.Error_NotFound("…")`."""

    @staticmethod
    def invalid_arguments(why: str) -> "Failure":
        """The arguments meet the schema and still make no sense."""
        return Failure(types.Failure_InvalidArguments(why))

    @staticmethod
    def not_found(what: str) -> "Failure":
        """What was named is not there."""
        return Failure(types.Failure_NotFound(what))

    @staticmethod
    def conflict(why: str) -> "Failure":
        """The world is not as the call assumed."""
        return Failure(types.Failure_Conflict(why))

    @staticmethod
    def unavailable(why: str) -> "Failure":
        """It may work later."""
        return Failure(types.Failure_Unavailable(why))

    @staticmethod
    def cancelled(until_then: str) -> "Failure":
        """The call was told to stop, and stopped; with what it had until then."""
        return Failure(types.Failure_Cancelled(until_then))

    @staticmethod
    def failed(why: str) -> "Failure":
        """Anything else."""
        return Failure(types.Failure_Failed(why))

    @staticmethod
    def of(error: Any) -> "Failure":
        """What a capability said, as the failure of the call."""
        case = type(error).__name__.removeprefix("Terminal").removeprefix("Error_")
        value = getattr(error, "value", None)
        if case in ("Denied", "RedirectDenied"):
            return Failure(types.Failure_Denied(types.Denial(value.capability, value.wanted, value.help)), error)
        if case == "TooLarge":
            return Failure(types.Failure_Failed(f"it has {value} bytes, which is too large"), error)
        if case == "Changed":
            return Failure(types.Failure_Conflict("what is there is not what was expected"), error)
        if case == "TimedOut":
            return Failure(types.Failure_Unavailable("the time limit passed"), error)
        terminal = {
            "NotFound": (types.Failure_NotFound, "there is no such program in the background"),
            "NoTerminal": (types.Failure_Failed, "this program has no terminal"),
            "Ended": (types.Failure_Conflict, "this program has ended"),
            "Busy": (types.Failure_Unavailable, "this program does not read what is typed"),
        }
        if value is None and case in terminal:
            kind, words = terminal[case]
            return Failure(kind(words), error)
        kind = {
            "NotFound": types.Failure_NotFound,
            "IsDirectory": types.Failure_InvalidArguments,
            "NotDirectory": types.Failure_InvalidArguments,
            "Invalid": types.Failure_InvalidArguments,
            "Exists": types.Failure_Conflict,
            "Unavailable": types.Failure_Unavailable,
        }.get(case, types.Failure_Failed)
        return Failure(kind(str(value)), error)


@dataclass
class Answer:
    """How a call ended well."""

    text: str
    """For the model."""
    structured: Any = None
    """The same as a value that JSON has, for a tool with an output schema."""
    summary: Optional[str] = None
    """One line for the user."""


@dataclass
class Need:
    """A capability that a tool needs, as plugin.toml declares it."""

    capability: str
    scope: str
    reason: str


@dataclass
class Described:
    """A tool: what the model is told, and the code behind it."""

    definition: types.ToolDef
    call: Callable[[dict], Any]
    preview: Optional[Callable[[dict], Any]]
    revise: Optional[Callable[[dict, str], dict]]


MOST_CAREFUL = types.Annotations(read_only=False, destructive=True, idempotent=False, open_world=True)
READ_ONLY = types.Annotations(read_only=True, destructive=False, idempotent=True, open_world=False)


def tool(
    name: str,
    description: str,
    input_schema: dict,
    *,
    title: Optional[str] = None,
    output_schema: Optional[dict] = None,
    annotations: types.Annotations = MOST_CAREFUL,
    needs: tuple[Need, ...] = (),
    preview: Optional[Callable[[dict], Any]] = None,
    revise: Optional[Callable[[dict, str], dict]] = None,
) -> Callable[[Callable[[dict], Any]], Described]:
    """Describes the function below it as a tool.

    `preview` takes the arguments too and returns what the call would do, a `types.Confirmation_…`, or None when there is
    nothing to ask. Without it a call of a tool that needs more than reading is asked about by name and arguments.

    `revise` takes the arguments and a text that the user wrote in the place of what the preview proposed (of an edit) or
    of the command line (of an exec), and returns the arguments of the call that does that. Without it a call is allowed
    or refused.
    """

    def described(call: Callable[[dict], Any]) -> Described:
        definition = types.ToolDef(
            name=name,
            title=title,
            description=description,
            input_schema=json.dumps(input_schema),
            output_schema=None if output_schema is None else json.dumps(output_schema),
            annotations=annotations,
            capabilities=[types.CapabilityNeed(need.capability, need.scope, need.reason) for need in needs],
        )
        return Described(definition, call, preview, revise)

    return described


def log(level: str, message: str) -> None:
    """A line in the host's log; the level is trace, debug, info, warn or error."""
    context.log(context.Level[level.upper()], message)


def emit(output: str) -> None:
    """Live output for the user; no part of the answer."""
    context.emit(output)


def progress(done: int, total: Optional[int] = None, message: str = "") -> None:
    """How far the call is, in a unit that the message names."""
    context.progress(done, total, message)


def should_stop() -> bool:
    """Whether the call has been told to stop."""
    return context.should_stop()


def config(key: str) -> Any:
    """A value of the plugin's own configuration; None when it was not set."""
    value = context.config(key)
    return None if value is None else json.loads(value)


def export(*tools: Described) -> type:
    """What the module `plugin` exports as `Tool`."""
    by_name = {one.definition.name: one for one in tools}

    def answered(call: types.ToolCall, work: Callable[[Described, dict], Any]) -> Any:
        # The generator was seeded when the snapshot was taken.
        random.seed()
        try:
            one = by_name.get(call.tool)
            if one is None:
                raise Failure.invalid_arguments(f"this plugin has no tool `{call.tool}`")
            return work(one, json.loads(call.arguments))
        except Failure as failure:
            raise Err(failure.case) from None
        except Exception as error:
            log("error", traceback.format_exc())
            raise Err(types.Failure_Failed(f"{type(error).__name__}: {error}")) from None

    def only_reads(needs: list) -> bool:
        return all(n.name == "fs-read" or (n.name == "state" and n.scope == "read") for n in needs)

    def preview_of(one: Described, arguments: dict) -> Any:
        if one.preview is not None:
            return one.preview(arguments)
        return None if only_reads(one.definition.capabilities) else types.Confirmation_Call()

    def revised(one: Described, arguments: dict, text: str) -> str:
        if one.revise is None:
            raise Failure.invalid_arguments(f"a call of `{one.definition.name}` can be allowed or refused, not changed")
        return json.dumps(one.revise(arguments, text))

    def outcome_of(one: Described, arguments: dict) -> types.Outcome:
        answer = one.call(arguments)
        if not isinstance(answer, Answer):
            answer = Answer(str(answer))
        return types.Outcome(
            content=[types.Content_Text(answer.text)],
            structured=None if answer.structured is None else json.dumps(answer.structured),
            display=None if answer.summary is None else types.Display_Summary(answer.summary),
        )

    class Exported(exports.Tool):
        def describe(self) -> list:
            return [one.definition for one in tools]

        def preview(self, call: types.ToolCall) -> Any:
            return answered(call, preview_of)

        def revise(self, call: types.ToolCall, text: str) -> str:
            return answered(call, lambda one, arguments: revised(one, arguments, text))

        def call(self, call: types.ToolCall) -> types.Outcome:
            return answered(call, outcome_of)

    return Exported


fs_read = _capability("fs_read")
fs_write = _capability("fs_write")
process = _capability("process")
background = _capability("background")
file_changes = _capability("file_changes")
http = _capability("http")
state = _capability("state")
mcp = _capability("mcp")
tools = _capability("tools")
