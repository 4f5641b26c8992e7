"""Does one task with `host acp`, as an editor whose user answers every question in the same way.

Usage: client.py HOST MODE ANSWER WORK RESULT LINE..., in the environment of the host. The model is a script that runs
one line after the other; a line that begins with `& ` runs in the background, and `@FILE` stands for the calls in it. ANSWER is `session` (the answer that
holds for the session, else once) or `walls` (without walls where that is offered, else once). RESULT gets the
questions, how each line ended, and what was asked again after a yes that covers it.
"""

import json, os, subprocess, sys, threading

LIMIT = int(os.environ.get("LIMIT") or 300)  # seconds for a task


def script(path, lines):
    """Writes what the model does."""
    with open(path, "w") as file:
        for line in lines:
            if line.startswith("@"):
                for call in json.load(open(line[1:])):
                    file.write(json.dumps({"chunks": [{"call": call}]}) + "\n")
                continue
            arguments = {"command": line.removeprefix("& ")}
            if line.startswith("& "):
                arguments["background"] = True
            file.write(json.dumps({"chunks": [{"call": {"name": "shell", "arguments": arguments}}]}) + "\n")
        file.write(json.dumps({"chunks": [{"text": "Done."}]}) + "\n")


def texts(value):
    """All texts in a value of the protocol."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in ([inner] if key == "text" else texts(inner))]
    return [text for inner in value for text in texts(inner)] if isinstance(value, list) else []


def chosen(options, answer):
    """The option that the user takes, and whether it holds for more than this once."""
    wanted = {"session": "Yes, for this session", "walls": "Yes, this once, without walls"}.get(answer)
    for option in options:
        if wanted and option["name"].startswith(wanted):
            return option, answer == "session"
    return next(option for option in options if option["kind"] == "allow_once"), False


class Client:
    def __init__(self, host, mode, model, work):
        command = [host, "acp", "--approval-mode", mode, "--model", f"scripted:{model}"]
        self.agent = subprocess.Popen(command, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next, self.questions, self.covered, self.again = 0, [], set(), []

    def send(self, **message):
        self.agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.agent.stdin.flush()

    def call(self, method, answer, **params):
        """Sends a request, answers questions until there is its response, and returns that."""
        self.next += 1
        self.send(id=self.next, method=method, params=params)
        for line in self.agent.stdout:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.question(message, answer)
            elif "method" not in message and message["id"] == self.next:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
        raise SystemExit(f"{method}: the host ended")

    def question(self, message, answer):
        call = message["params"]["toolCall"]
        asked = "\n".join([call.get("title") or "", *texts(call.get("content"))])
        option, lasts = chosen(message["params"]["options"], answer)
        # A yes for the session covers the next one, and a yes to this call covers the call.
        for covered in (asked, (call["toolCallId"], asked)):
            if covered in self.covered:
                self.again.append(asked)
                break
        self.covered.add(asked if lasts else (call["toolCallId"], asked))
        self.questions.append({"asked": asked, "answer": option["name"]})
        self.send(id=message["id"], result={"outcome": {"outcome": "selected", "optionId": option["optionId"]}})


def ended(home):
    """How each call ended: its exit code, if it has one, and what it answered."""
    folder = os.path.join(home, ".local/state/host/sessions")
    logs = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jsonl")]
    calls = []
    for line in open(logs[0]):
        entry = json.loads(line)
        if entry["type"] == "call_settled":
            body = entry["parts"][0]["function_response"]["body"]
            code = entry.get("report", {}).get("command", {}).get("code")
            calls.append({"status": entry["status"], "code": code, "said": "\n".join(map(str, body.values()))})
    return calls


def main():
    host, mode, answer, work, result = sys.argv[1:6]
    model = os.path.join(os.path.dirname(result), "model.jsonl")
    script(model, sys.argv[6:])
    client = Client(host, mode, model, work)
    timer = threading.Timer(LIMIT, client.agent.kill)
    timer.start()
    client.call("initialize", answer, protocolVersion=1, clientCapabilities={})
    session = client.call("session/new", answer, cwd=work, mcpServers=[])["sessionId"]
    prompt = [{"type": "text", "text": "Work"}]
    stopped = client.call("session/prompt", answer, sessionId=session, prompt=prompt)["stopReason"]
    client.agent.stdin.close()
    client.agent.wait()
    timer.cancel()
    calls = ended(os.environ["HOME"])
    found = {"questions": client.questions, "again": client.again, "stopped": stopped, "calls": calls}
    with open(result, "w") as file:
        json.dump(found, file, indent=1)


main()
