#!/usr/bin/env bash
# Tries what we speak of the Model Context Protocol with the programs of others: the conformance suite for servers and for
# clients in both revisions, two reference servers, the command line of the inspector, and two agents, Gemini CLI and Codex, whose
# model is a script on this machine.
#
#   tests/interop.sh                        with a debug build
#   HOST_TEST_BINARY=PATH tests/interop.sh  with this binary
#
# What it fetches has pinned versions and goes to a folder of its own, which is removed. When the registry does not
# answer, it says so and ends with 0: nothing was tried. A check that fails, and is not in tests/interop/, ends it with 1.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
repository=$PWD
node=node@22.23.3
conformance=@modelcontextprotocol/conformance@0.2.0-alpha.12
inspector=@modelcontextprotocol/inspector@2.12.0
gemini=@google/gemini-cli@0.61.0
codex=@openai/codex@0.169.0
everything=@modelcontextprotocol/server-everything@2026.8.31
files=@modelcontextprotocol/server-filesystem@2026.8.31

need() {
    command -v "$1" >/dev/null || { echo "error: \`$1\` is not installed; $2" >&2; exit 1; }
}
if ! command -v npm >/dev/null; then
    echo "nothing was tried: npm is not installed, which fetches the suite" >&2
    exit 0
fi
need cargo "see rust-toolchain.toml"

folder=$(mktemp -d)
server='' proxy='' model=''
finish() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    [[ -z $proxy ]] || kill "$proxy" 2>/dev/null || true
    [[ -z $model ]] || kill "$model" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

# A registry may also be silent.
if ! (cd "$folder" && timeout 300 npm install --no-audit --no-fund --loglevel=error "$node" "$conformance" "$inspector" \
    "$gemini" "$codex" "$everything" "$files" >npm.log 2>&1); then
    echo "nothing was tried: the npm registry did not answer" >&2
    tail -3 "$folder/npm.log" >&2
    exit 0
fi
# The suite needs a newer Node than many machines have.
export PATH="$folder/node_modules/node/bin:$PATH"

if [[ -z ${HOST_TEST_BINARY:-} ]]; then
    echo "building" >&2
    cargo build --quiet --locked --bin host
    HOST_TEST_BINARY="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/host"
fi
host=$(realpath "$HOST_TEST_BINARY")
"$host" plugin build tests/guests/conformance --out "$folder/plugins" >"$folder/build.log" 2>&1 ||
    { cat "$folder/build.log" >&2; exit 1; }
mkdir "$folder/home" "$folder/work" && git init --quiet "$folder/work"

failed=0
check() {
    echo "== $1" >&2
    shift
    "$@" || { echo "failed: $*" >&2; failed=1; }
}

# The suite sends no token, so a proxy adds it.
HOST_MCP_TOKEN=$(head -c 24 /dev/urandom | base64 | tr -d '+/=')
export HOST_MCP_TOKEN
mkfifo "$folder/address"
env -i PATH="$PATH" HOME="$folder/home" HOST_MCP_TOKEN="$HOST_MCP_TOKEN" "$host" mcp serve -C "$folder/work" --plugin "$folder/plugins/conformance.wasm" \
    --http 127.0.0.1:0 >"$folder/address" 2>"$folder/server.log" &
server=$!
read -r address <"$folder/address" || { cat "$folder/server.log" >&2; exit 1; }
mkfifo "$folder/port"
node "$repository/tests/interop/proxy.mjs" "$address" >"$folder/port" &
proxy=$!
read -r port <"$folder/port"

for revision in 2025-11-25 2026-07-28; do
    check "conformance suite, $revision" env -C "$folder" node node_modules/@modelcontextprotocol/conformance/dist/index.js \
        server --url "http://127.0.0.1:$port/mcp" --requirements "$revision" \
        --expected-failures "$repository/tests/interop/server-$revision.yaml"
done

# The client of servers, driven by an example of its crate, which `cargo test` builds as well.
client="$(dirname "$host")/examples/conformance_client"
if [[ ! -x $client ]]; then
    echo "building the client" >&2
    cargo build --quiet --locked --workspace --examples
    client="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/examples/conformance_client"
fi
for revision in 2025-11-25 2026-07-28; do
    check "conformance suite for clients, $revision" env -C "$folder" \
        node node_modules/@modelcontextprotocol/conformance/dist/index.js \
        client --command "$client" --requirements "$revision"
done

# Two reference servers as a user has them.
mkdir -p "$folder/client/.config/host"
cat >"$folder/client/.config/host/config.toml" <<END
[mcp.everything]
command = "$folder/node_modules/.bin/mcp-server-everything"
[mcp.files]
command = "$folder/node_modules/.bin/mcp-server-filesystem"
args = ["$folder/work"]
END
of_client() {
    (cd "$folder/work" && env -i PATH="$PATH" HOME="$folder/client" "$host" "$@" 2>"$folder/client.log") || { cat "$folder/client.log" >&2; return 1; }
}
lists_servers() {
    of_client mcp list --json >"$folder/servers.json" && [[ $(grep -c '"state": "ready"' "$folder/servers.json") = 2 ]] ||
        { cat "$folder/servers.json" >&2; return 1; }
}
calls_everything() {
    of_client tool call everything__echo '{"message": "hello"}' --grant mcp:mcp=everything | grep -q 'hello'
}
calls_files() {
    printf 'a line of a file\n' >"$folder/work/b.txt"
    of_client tool call files__read_text_file "{\"path\": \"$folder/work/b.txt\"}" --grant mcp:mcp=files | grep -q 'a line of a file'
}
denies_files() {
    ! of_client tool call files__write_file "{\"path\": \"$folder/work/c.txt\", \"content\": \"x\"}" 2>/dev/null && [[ ! -e $folder/work/c.txt ]]
}
check "reference servers, host mcp list" lists_servers
check "server-everything, a call" calls_everything
check "server-filesystem, a call" calls_files
check "server-filesystem, a call that is not granted" denies_files

inspect() {
    (cd "$folder/work" && env -i PATH="$PATH" HOME="$folder/home" "$folder/node_modules/.bin/mcp-inspector" --cli "$host" mcp serve \
        --plugin "$folder/plugins/conformance.wasm" --method "$@")
}
lists_tools() {
    inspect tools/list >"$folder/tools.json" && grep -q '"name": "read_file"' "$folder/tools.json"
}
calls_a_tool() {
    inspect tools/call --tool-name add --tool-arg a=2 --tool-arg b=3 >"$folder/called.json" &&
        grep -q '"sum": 5' "$folder/called.json"
}
check "inspector, tools/list" lists_tools
check "inspector, tools/call" calls_a_tool
# Both agents get a model that calls one tool of ours and repeats what it said.
mkdir -p "$folder/home/.gemini" "$folder/home/.codex"
printf 'a line that only the file has\n' >"$folder/work/a.txt"
mkfifo "$folder/model"
node "$repository/tests/interop/model.mjs" read_file '{"path":"a.txt"}' >"$folder/model" &
model=$!
read -r model_port <"$folder/model"
cat >"$folder/home/.gemini/settings.json" <<END
{"security": {"auth": {"selectedType": "gemini-api-key"}},
 "mcpServers": {"host": {"command": "$host", "args": ["mcp", "serve", "-C", "$folder/work"]}}}
END
cat >"$folder/home/.codex/config.toml" <<END
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:$model_port/v1"
wire_api = "responses"
[mcp_servers.host]
command = "$host"
args = ["mcp", "serve", "-C", "$folder/work"]
END
agent() {
    (cd "$folder/work" && timeout 120 env -i PATH="$PATH" HOME="$folder/home" GEMINI_API_KEY=none NO_COLOR=1 \
        GEMINI_CLI_TRUST_WORKSPACE=true GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$model_port" "$@" \
        </dev/null >"$folder/agent.log" 2>&1) || { cat "$folder/agent.log" >&2; return 1; }
    grep -q 'THE TOOL SAID.*a line that only the file has' "$folder/agent.log" || { cat "$folder/agent.log" >&2; return 1; }
}
check "Gemini CLI calls a tool" agent "$folder/node_modules/.bin/gemini" --model gemini-2.5-pro --approval-mode yolo -p "Read it"
check "Codex calls a tool" agent "$folder/node_modules/.bin/codex" exec --skip-git-repo-check "Read it"

((failed == 0)) && echo "all of it works" >&2
exit "$failed"
