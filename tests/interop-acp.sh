#!/bin/sh
# `host acp` with clients of others: acpx (npm) and the Python package agent-client-protocol. Everything is fetched into a
# temporary folder. Ends with 0 if the checks pass, or if a registry does not answer, which it says; with 1 if one fails.
#
#   tests/interop-acp.sh [PATH-OF-HOST]
set -eu

host=${1:-target/release/host}
[ -x "$host" ] || { echo "there is no program $host; build it first, or name it" >&2; exit 1; }
host=$(cd "$(dirname "$host")" && pwd)/$(basename "$host")

ACPX=0.19.1
NODE=22.23.3
PYTHON_CLIENT=0.12.1
# How long a client, or fetching it, may take, in seconds.
LIMIT=120

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
repository=$folder/repository
mkdir -p "$repository/.git" "$folder/home"
HOME_OF_CLIENT=$folder/home
failed=0

# The script of a model: it writes the file $1, and says $2 then.
script() {
    printf '{"chunks": [{"text": "I write. "}, {"call": {"name": "write_file", "arguments": {"path": "%s", "content": "hello\\n"}}}]}\n' "$1"
    printf '{"chunks": [{"text": "%s"}]}\n' "$2"
}

# check NAME COMMAND...: reports whether the command succeeds.
check() {
    name=$1
    shift
    if "$@"; then echo "ok      $name"; else echo "FAILED  $name"; failed=1; fi
}

acpx() {
    if ! (cd "$folder" && timeout "$LIMIT" npm install --silent --no-fund --no-audit --prefix "$folder/npm" "node@$NODE" "acpx@$ACPX" >"$folder/npm.log" 2>&1); then
        echo "skipped acpx: the npm registry does not answer, or has no acpx $ACPX (see below)"
        tail -n 3 "$folder/npm.log"
        return
    fi
    run() { # POLICY SCRIPT
        (cd "$repository" && HOME=$HOME_OF_CLIENT PATH="$folder/npm/node_modules/.bin:$PATH" timeout "$LIMIT" \
            acpx --agent "$host acp --approval-mode default --model scripted:$2" --format json "$1" exec "write it" >"$folder/acpx.out" 2>"$folder/acpx.err") || true
    }
    script approved.txt "It is written." >"$folder/approved.jsonl"
    run --approve-all "$folder/approved.jsonl"
    check "acpx: an approved call writes its file" test -f "$repository/approved.txt"
    check "acpx: the answer arrives" grep -q "It is written." "$folder/acpx.out"
    script denied.txt "It is not written." >"$folder/denied.jsonl"
    run --deny-all "$folder/denied.jsonl"
    check "acpx: a denied call writes nothing" test ! -e "$repository/denied.txt"
    check "acpx: the model is told" grep -q "It is not written." "$folder/acpx.out"
    if [ "$failed" = 1 ]; then tail -n 20 "$folder/acpx.out" "$folder/acpx.err"; fi
}

python() {
    if ! (python3 -m venv "$folder/venv" && timeout "$LIMIT" "$folder/venv/bin/pip" install --quiet "agent-client-protocol==$PYTHON_CLIENT") >"$folder/pip.log" 2>&1; then
        echo "skipped the Python client: the registry does not answer, or has no agent-client-protocol $PYTHON_CLIENT"
        tail -n 3 "$folder/pip.log"
        return
    fi
    script python.txt "Python is answered." >"$folder/python.jsonl"
    cat >"$folder/client.py" <<'PYTHON'
import asyncio
import sys

from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, RequestPermissionResponse


class Editor(Client):
    def __init__(self):
        self.text = ""
        self.asked = 0

    async def request_permission(self, options, session_id, tool_call, **_):
        self.asked += 1
        option = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(option_id=option.option_id, outcome="selected"))

    async def session_update(self, session_id, update, **_):
        if update.session_update == "agent_message_chunk":
            self.text += update.content.text


async def main(host, model, folder):
    editor = Editor()
    async with spawn_agent_process(
        editor, host, "acp", "--approval-mode", "default", "--model", model, cwd=folder
    ) as (agent, _process):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = await agent.new_session(cwd=folder, mcp_servers=[])
        response = await agent.prompt(session_id=session.session_id, prompt=[text_block("write it")])
        listed = await agent.list_sessions(cwd=folder)
        assert session.session_id in [one.session_id for one in listed.sessions], listed
    assert response.stop_reason == "end_turn", response
    assert editor.asked == 1 and editor.text.endswith("Python is answered."), (editor.asked, editor.text)


asyncio.run(main(*sys.argv[1:]))
PYTHON
    run() {
        HOME=$HOME_OF_CLIENT timeout "$LIMIT" "$folder/venv/bin/python" "$folder/client.py" "$host" "scripted:$folder/python.jsonl" "$repository"
    }
    check "Python: a session with an approved call" run
    check "Python: its file is written" test -f "$repository/python.txt"
}

acpx
python
exit "$failed"
