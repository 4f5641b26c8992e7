#!/usr/bin/env python3
"""How much of each request an agent sends again as it was: what a model's service can take from its cache.

    tests/prefix.py record FILE -- COMMAND…    runs a command with a model that a script plays, and appends each request
                                               to FILE, one JSON body on a line
    tests/prefix.py share FILE…                says which share of each recorded request the next one begins with

The model speaks the Responses API, chat completions and Anthropic's messages at one address, which the command gets as
`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and `MODEL_URL`. To each prompt it answers with a call of the agent's tool for
commands, and to the result with a text. Requests without tools (titles, summaries) are answered and not recorded.
"""
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMAND = "cat notes.txt"
SHELLS = ["shell", "shell_command", "exec_command", "Bash", "bash", "run_shell_command", "exec"]


def canonical(body):
    """The request as a service caches it: tools, instructions, messages, without the marks about the cache."""
    body = unmarked(body)
    messages = body.get("input") or body.get("messages") or []
    system = body.get("instructions") or body.get("system") or ""
    return "".join(json.dumps(part, ensure_ascii=False) + "\n" for part in [*body.get("tools", []), system, *messages])


def unmarked(value):
    if isinstance(value, dict):
        return {name: unmarked(field) for name, field in value.items() if name != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def shared(one, other):
    return len(os.path.commonprefix([one.encode(), other.encode()]))


def share(path):
    with open(path) as file:
        requests = [canonical(json.loads(line)) for line in file]
    pairs = list(zip(requests, requests[1:]))
    parts = [(shared(one, other), len(one.encode())) for one, other in pairs]
    if not parts:
        return f"{path}: fewer than two requests"
    each = ", ".join(f"{100 * common / size:.1f}" for common, size in parts)
    whole = 100 * sum(common for common, _ in parts) / sum(size for _, size in parts)
    return f"{path}: {whole:.1f} % of {sum(size for _, size in parts)} bytes; request by request: {each}"


def arguments(schema):
    """The arguments with which a tool of this schema runs the command."""
    known = schema.get("properties", {})
    name = next((name for name in ["command", "cmd"] if name in known), "command")
    is_list = known.get(name, {}).get("type") == "array"
    given = {name: ["sh", "-c", COMMAND] if is_list else COMMAND}
    given.update({need: "Reads the notes." for need in schema.get("required", []) if need not in given})
    return given


def all_tools(tools, messages):
    """The tools of a request, with those that Codex declares among its messages."""
    added = [tool for message in messages if message.get("type") == "additional_tools" for tool in message["tools"]]
    for tool in [*tools, *added]:
        yield from tool["tools"] if tool.get("type") == "namespace" else [tool]


def has_result(message):
    """Whether a message is the outcome of a call."""
    if message.get("type") in ("function_call_output", "custom_tool_call_output") or message.get("role") == "tool":
        return True
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", b'{"object": "list", "data": [], "models": []}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        tools = body.get("tools") or []
        if self.path.split("?")[0].endswith("count_tokens"):
            return self.answer("application/json", b'{"input_tokens": 100}')
        messages = body.get("input") or body.get("messages") or []
        named = {tool.get("name") or tool.get("function", {}).get("name"): tool for tool in all_tools(tools, messages)}
        shell = next((name for name in SHELLS if name in named), None)
        # What an agent adds behind an outcome is no new prompt.
        since = [m for m in messages[last_reply(messages) :]]
        call = None
        if shell and not any(has_result(message) for message in since):
            tool = named[shell]
            schema = tool.get("parameters") or tool.get("input_schema") or tool.get("function", {}).get("parameters", {})
            call = (shell, json.dumps(arguments(schema)), tool.get("type") == "custom")
            if call[2]:
                call = (shell, f"await tools.exec_command({json.dumps({'cmd': COMMAND})})", True)
        if shell:
            with self.server.lock, open(self.server.record, "a") as file:
                file.write(json.dumps(body) + "\n")
                self.server.number += 1
        stream = self.wire()(self.server.number, call)
        if body.get("stream"):
            return self.answer("text/event-stream", "".join(stream).encode())
        self.answer("application/json", b'{"content": [{"type": "text", "text": "Notes"}], "usage": {}}')

    def wire(self):
        path = self.path.split("?")[0]
        return responses if path.endswith("/responses") else messages_api if path.endswith("/messages") else chat

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def last_reply(messages):
    """The place behind the last message of the model's."""
    own = [
        at
        for at, message in enumerate(messages)
        if message.get("role") == "assistant" or message.get("type") in ("function_call", "custom_tool_call", "reasoning")
    ]
    return own[-1] + 1 if own else 0


def event(data, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def responses(number, call):
    if call:
        kind, field = ("custom_tool_call", "input") if call[2] else ("function_call", "arguments")
        item = {"type": kind, "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0], field: call[1],
                "status": "completed"}
    else:
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": f"Read {number}.", "annotations": []}]}
    usage = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
    yield event({"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}, "response.created")
    if not call:
        delta = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": item["id"],
                 "delta": f"Read {number}."}
        added = {**item, "content": [], "status": "in_progress"}
        yield event({"type": "response.output_item.added", "output_index": 0, "item": added}, "response.output_item.added")
        yield event(delta, "response.output_text.delta")
    yield event({"type": "response.output_item.done", "output_index": 0, "item": item}, "response.output_item.done")
    yield event({"type": "response.completed", "response": whole}, "response.completed")


def messages_api(number, call):
    usage = {"input_tokens": 100, "output_tokens": 1}
    yield event({"type": "message_start", "message": {"id": f"msg_{number}", "type": "message", "role": "assistant",
                 "model": "m", "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}}, "message_start")
    if call:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call[1]}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": f"Read {number}."}
    yield event({"type": "content_block_start", "index": 0, "content_block": block}, "content_block_start")
    yield event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    reason = "tool_use" if call else "end_turn"
    yield event({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                 "usage": {"output_tokens": 5}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def chat(number, call):
    head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    if call:
        function = {"name": call[0], "arguments": call[1]}
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
    else:
        delta = {"role": "assistant", "content": f"Read {number}."}
    yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    end = [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    yield event({**head, "choices": end, "usage": usage})
    yield "data: [DONE]\n\n"


def record(path, command):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.record, server.number, server.lock = path, 0, threading.Lock()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    keys = {"OPENAI_API_KEY": "sk-none", "ANTHROPIC_API_KEY": "sk-ant-none"}
    addresses = {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url, "MODEL_URL": url}
    code = subprocess.run(command, env={**os.environ, **keys, **addresses}).returncode
    server.shutdown()
    return code


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["share", *paths] if paths:
            print("\n".join(share(path) for path in paths))
        case ["record", path, "--", *command] if command:
            sys.exit(record(path, command))
        case _:
            sys.exit(__doc__)
