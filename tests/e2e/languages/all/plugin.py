from host_sdk import Need, background, config, export, file_changes, fs_write, http, mcp, process, state, tool, types

SCHEMA = {"type": "object"}


def needs(name, scope):
    return (Need(name, scope, "to try it"),)


def edit(values):
    text = values["text"]
    return types.Confirmation_Edit(types.FileDifference(values["path"], "+" + text, text))


def other(values, text):
    return {"path": values["path"], "text": text}


@tool("note", "Tries.", SCHEMA, needs=needs("fs-write", "*"), preview=edit, revise=other)
def note(values):
    fs_write.write(values["path"], values["text"].encode(), fs_write.Expected_Absent())
    return "noted"


def execute(values):
    return types.Confirmation_Exec(types.ExecConfirmation(values["argv"], "."))


@tool("run", "Tries.", SCHEMA, needs=needs("process", "*"), preview=execute)
def run(values):
    child = process.spawn(process.Command(values["argv"], ".", [], b"from stdin", None))
    printed = b""
    while (chunk := child.read()) is not None:
        printed += chunk.data
    return f"{printed.decode()}, {child.wait().code}"


def execute_on_terminal(values):
    background.announce_terminal()
    return execute(values)


@tool("talk", "Tries.", SCHEMA, needs=needs("process", "*"), preview=execute_on_terminal)
def talk(values):
    command = process.Command(values["argv"], ".", [], None, None)
    id = process.spawn_terminal(command, process.TerminalSize(40, 10))
    background.send(id, [background.Input_Text("typed"), background.Input_Key(values["key"])])
    screen = background.view(id, 300, 10_000)
    return f"{screen.text}{screen.columns}"


def changes(values):
    file_changes.write(types.FileDifference(values["path"], "+new", "new"))
    file_changes.remove("old.txt")
    return types.Confirmation_Call()


@tool("patch", "Tries.", SCHEMA, needs=needs("fs-write", "*"), preview=changes)
def patch(values):
    return "patched"


def info(values):
    return types.Confirmation_Info(types.InfoConfirmation("fetches", [types.HttpRequest("GET", values["url"])], []))


@tool("fetch", "Tries.", SCHEMA, needs=needs("http", "*"), preview=info)
def fetch(values):
    request = http.Request("GET", values["url"], [("x-who", "me")], None, None, 1000)
    answer = http.fetch_with_secrets(request, ["token"])
    return f"{answer.status} {answer.body.decode()}"


@tool("keep", "Tries.", SCHEMA, needs=needs("state", "write"))
def keep(values):
    before = state.get(values["key"])
    state.put(values["key"], b"kept", state.Expected_Anything())
    return f"{'nothing' if before is None else before.value.decode()}, {config('greeting') or 'no greeting'}"


@tool("ask", "Tries.", SCHEMA, needs=needs("mcp", "*"))
def ask(values):
    answer = mcp.call("files", values["tool"], '{"a":1}')
    return answer.content[0].value


Tool = export(note, run, talk, patch, fetch, keep, ask)
