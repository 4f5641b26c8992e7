#!/usr/bin/env bash
# The day of a developer with the real programs behind the walls: packages that are fetched, tests, a virtual
# environment, git to a folder and over http and https, a signed commit, a server for the next call, a scratch file, and
# the 205 calls of a whole day, each of which must end behind the walls as it ends without them.
# Each task is done in `default` and in `auto`, by a script in place of a model and a client that answers every question.
# A table has how many questions there were.
#
#   tests/day.sh                        with a debug build
#   HOST_TEST_BINARY=PATH tests/day.sh  with this binary
#   tests/day.sh WORD...                only tasks whose names contain one of these
#
# A task fails if there are fewer or more questions than its line expects, if it ends otherwise, if something is asked
# again after a yes, or if the wrong thing is blamed. `HOST_DAY_VERBOSE=1` prints the questions and answers of the other
# tasks as well. A task whose programs or registry are not there is not tried, which is printed. Everything is made in
# a folder that is removed at the end. The mirror of a registry may be in a private network: each server is asked about
# once more then, which the lines allow for.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
repository=$PWD
need() {
    command -v "$1" >/dev/null || { echo "error: \`$1\` is not installed; $2" >&2; exit 1; }
}
need python3 "the client of this script is written in it"
need git "the tasks use it"

if [[ -z ${HOST_TEST_BINARY:-} ]]; then
    echo "building" >&2
    cargo build --quiet --locked --bin host
    HOST_TEST_BINARY="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/host"
fi
host=$(realpath "$HOST_TEST_BINARY")

# Confined programs have a folder of their own for /tmp.
folder=$(mktemp -d /var/tmp/host-day.XXXXXX)
server='' gnupg=''
# Ends what the tasks started outside of the host.
ends() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    # Never the agent of the user: this one has a folder of its own.
    [[ -z $gnupg ]] || GNUPGHOME=$gnupg gpgconf --kill all 2>/dev/null || true
    server='' gnupg=''
}
finish() {
    ends
    rm -rf "$folder"
}
trap finish EXIT

# A Python and a Rust that work with another home.
python=$(command -v /usr/bin/python3 || command -v python3)
path=$(dirname "$(command -v cargo || command -v git)"):/usr/local/bin:/usr/bin:/bin
for program in npm node; do
    found=$(command -v "$program" || true)
    [[ -z $found ]] || path=$path:$(dirname "$found")
done
kept=(PATH="$path" GIT_CONFIG_NOSYSTEM=1)
# Where a machine keeps its toolchain, and how it reaches registries.
[[ -z ${RUSTUP_HOME:-}$(command -v rustup || true) ]] || kept+=(RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}")
for name in HTTPS_PROXY HTTP_PROXY NO_PROXY SSL_CERT_FILE PIP_CERT PIP_INDEX_URL NODE_EXTRA_CA_CERTS \
    npm_config_registry; do
    [[ -z ${!name:-} ]] || kept+=("$name=${!name}")
done

failed=0 work='' home=''
declare -a names=("$@") rows=()

# What each task has: a home, and a repository with one commit in it.
begin() {
    rm -rf "$folder/task"
    mkdir -p "$folder/task/home" "$folder/task/work"
    home=$folder/task/home work=$folder/task/work
    # The components of the tools are compiled once.
    mkdir -p "$folder/cache/host" "$home/.cache"
    ln -s "$folder/cache/host" "$home/.cache/host"
    git config -f "$home/.gitconfig" user.name Ada
    git config -f "$home/.gitconfig" user.email ada@example.com
    git config -f "$home/.gitconfig" init.defaultBranch main
    outside git init -q .
    outside git commit -q --allow-empty -m First
}
# Runs a program in the workspace with what the user has.
outside() {
    (cd "$work" && env -i "${kept[@]}" HOME="$home" GNUPGHOME="$gnupg" "$@")
}

# The words that are looked for: what must be in what the calls answered, and what must not.
must='' never=''

# task NAME ANSWER DEFAULT AUTO LINE...: DEFAULT and AUTO are `QUESTIONS ENDED`: the fewest and the most questions, as
# in `1-2`, and `ok` or the exit code of the line that fails. `available` says once whether it can be tried, `prepare`
# makes what it needs in the workspace.
task() {
    local name=$1 answer=$2 expected_default=$3 expected_auto=$4 cells=()
    shift 4
    if ((${#names[@]})); then
        local wanted='' one
        for one in "${names[@]}"; do [[ $name != *"$one"* ]] || wanted=1; done
        [[ -n $wanted ]] || return 0
    fi
    local mode expected status
    if ! available >"$folder/prepared" 2>&1; then
        echo "NOT TRIED: $name: $(tail -1 "$folder/prepared")" >&2
        return 0
    fi
    for mode in default auto; do
        [[ $mode = auto ]] && expected=$expected_auto || expected=$expected_default
        begin
        if ! prepare >"$folder/prepared" 2>&1; then
            echo "FAILED: $name in $mode could not be prepared: $(tail -1 "$folder/prepared")" >&2
            failed=1 cells+=("failed")
            continue
        fi
        status=0
        outside "$python" "$repository/tests/day/client.py" "$host" "$mode" "$answer" "$work" \
            "$folder/task/result.json" "$@" 2>"$folder/task/errors" || status=$?
        ends
        if ((status != 0)); then
            echo "FAILED: $name in $mode: the client ended with $status" >&2
            cat "$folder/task/errors" >&2
            failed=1 cells+=("failed")
            continue
        fi
        status=0
        MUST=$must NEVER=$never "$python" "$repository/tests/day/judge.py" "$folder/task/result.json" "$expected" \
            >"$folder/task/cell" 2>"$folder/task/errors" || status=$?
        if ((status != 0)) || [[ -n ${HOST_DAY_VERBOSE:-} ]]; then
            { echo "== $name in $mode"; cat "$folder/task/errors"; } >&2
        fi
        ((status == 0)) || failed=1
        cells+=("$(cat "$folder/task/cell")")
    done
    rows+=("$(printf '%-52s %-22s %-22s' "$name" "${cells[0]}" "${cells[1]}")")
    must='' never=''
}

# Whether a program fetches something here, with a home of its own.
fetches() {
    rm -rf "$folder/probe" && mkdir "$folder/probe" && (cd "$folder/probe" &&
        env -i "${kept[@]}" HOME="$folder/probe" timeout 120 "$@") || { echo "the registry does not answer"; return 1; }
}
has() {
    command -v "$1" >/dev/null || { echo "\`$1\` is not installed"; return 1; }
}

# --- Packages. One question more where the mirror of a registry is in a private network.

crate() {
    mkdir "$1/src" && echo 'fn main() { println!("{}", itoa::Buffer::new().format(7)); }' >"$1/src/main.rs" &&
        printf '[package]\nname = "seven"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "=1.0.15"\n' \
            >"$1/Cargo.toml"
}
available() {
    has cargo && mkdir -p "$folder/crate" && crate "$folder/crate" &&
        fetches cargo fetch --manifest-path "$folder/crate/Cargo.toml"
}
prepare() {
    crate "$work"
}
must='Downloaded itoa' never='Read-only file system|Permission denied|--grant'
task "cargo build with a crate to fetch, cargo run" session "3-4 ok" "1-2 ok" "cargo build 2>&1" "cargo run --quiet"

available() {
    has npm && fetches npm view left-pad@1.3.0 version
}
prepare() {
    mkdir "$work/test" &&
        echo 'require("node:test")("pads", () => { require("left-pad")(1, 2); });' >"$work/test/a.test.js" &&
        printf '{"name": "x", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {%s}}\n' \
            '"left-pad": "1.3.0"' >"$work/package.json"
}
must='# pass 1' never='MODULE_NOT_FOUND|ENOENT|EACCES|EROFS|--grant'
task "npm install, npm test" session "3-4 ok" "1-2 ok" "npm install" "npm test"

available() {
    "$python" -c 'import venv, ensurepip' && rm -rf "$folder/venv" && "$python" -m venv "$folder/venv" &&
        fetches "$folder/venv/bin/pip" download --no-deps iniconfig==2.1.0
}
prepare() {
    true
}
must='Successfully installed iniconfig' never='Permission denied|Read-only|not writable|--grant'
task "pip install into a virtual environment" session "4-5 ok" "1-2 ok" "$python -m venv .venv" \
    ".venv/bin/pip install iniconfig==2.1.0" ".venv/bin/python -c 'import iniconfig'"

# --- git

available() {
    true
}
prepare() {
    echo one >"$work/file" && git init --quiet --bare "$folder/task/bare.git" &&
        outside git remote add origin "$folder/task/bare.git"
}
must='\[main [0-9a-f]+\] Second' never='--grant'
task "git commit" session "1 ok" "0 ok" "git add file && git commit -m Second"

# What a folder beside the workspace needs is the user's to allow: by the answer in `default`, in `[confine]` in `auto`.
must='main -> main|if it needs `.*bare\.git`, add that to' never='Could not resolve|--grant'
task "git push to a folder, answer o" walls "1 ok" "0 exit 128" "git push -u origin main"

prepare() {
    git init --quiet --bare "$folder/task/bare.git" && outside git remote add origin "$folder/task/bare.git" &&
        mkdir -p "$home/.config/host" &&
        printf '[confine]\nwritable = ["%s"]\n' "$folder/task/bare.git" >"$home/.config/host/config.toml"
}
must='main -> main' never='does not appear|--grant'
task "git push to a folder that [confine] names" session "1 ok" "0 ok" "git push -u origin main"

serves_git() {
    address=$(hostname -I 2>/dev/null | cut -d' ' -f1)
    [[ -n $address ]] || { echo "this machine has no address beside the loopback device"; return 1; }
    [[ -x $(git --exec-path)/git-http-backend ]] || { echo "git http-backend is not installed"; return 1; }
}
available() {
    serves_git
}
prepare() {
    git init --quiet --bare "$folder/task/served.git" && git -C "$folder/task/served.git" config http.receivepack true
    mkfifo "$folder/task/port"
    "$python" "$repository/tests/day/served.py" "$folder/task" "$address" >"$folder/task/port" 2>"$folder/served.log" &
    server=$!
    read -r port <"$folder/task/port" && outside git remote add origin "http://$address:$port/served.git"
}
must='main -> main' never='Could not resolve|--grant'
task "git push over http" session "2-3 ok" "1-2 ok" "git push -u origin main"

# A server with the certificate of a company: its file is the user's to make readable, as `http.sslCAInfo` names it.
available() {
    serves_git && has openssl
}
prepare() {
    git init --quiet --bare "$folder/task/served.git" && git -C "$folder/task/served.git" config http.receivepack true
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=day -addext "subjectAltName=IP:$address" \
        -keyout "$folder/task/key.pem" -out "$home/ca.pem"
    mkfifo "$folder/task/port"
    "$python" "$repository/tests/day/served.py" "$folder/task" "$address" "$home/ca.pem" "$folder/task/key.pem" \
        >"$folder/task/port" 2>"$folder/served.log" &
    server=$!
    outside git config --global http.sslCAInfo "$home/ca.pem" && mkdir -p "$home/.config/host" &&
        printf '[confine]\nreadable = ["%s"]\n' "$home/ca.pem" >"$home/.config/host/config.toml"
    read -r port <"$folder/task/port" && outside git remote add origin "https://$address:$port/served.git"
}
must='main -> main' never='Could not resolve|certificate|--grant'
task "git push over https" session "2-3 ok" "1-2 ok" "git push -u origin main"

available() {
    has gpg
}
prepare() {
    gnupg=$home/keys && mkdir -m 700 "$gnupg" && outside gpg --batch --quiet --passphrase '' \
        --quick-generate-key 'Ada <ada@example.com>' ed25519 sign never && outside git config commit.gpgsign true
}
must='\[main [0-9a-f]+\] Signed|failed to sign' never='--grant|you need to set'
task "a signed commit, answer o" walls "1 ok" "0 exit 128" "git commit --allow-empty -m Signed"

# --- Servers and files between calls

available() {
    has curl
}
prepare() {
    echo 'from the server' >"$work/page"
}
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
must='from the server' never='--grant'
task "a server in the background, curl in the next call" session "2 ok" "0 ok" "& $python -m http.server $port" \
    "curl -s --retry 50 --retry-connrefused --retry-delay 0 --retry-max-time 30 http://localhost:$port/page"

prepare() {
    true
}
must='noted' never='Read-only|No such file|--grant'
task "a scratch file in /tmp, read in the next call" session "2 ok" "0 ok" "echo noted > /tmp/host-day-$port" \
    "cat /tmp/host-day-$port"

# --- The whole day: what `tests/e2e/run/approvals/day.txt` has, with the programs that are here

# whole_day DEFAULT AUTO: the fewest and the most questions, as in `70-80`.
whole_day() {
    local name="a whole day, 205 calls" cells=() mode expected status program
    if ((${#names[@]})); then
        local wanted='' one
        for one in "${names[@]}"; do [[ $name != *"$one"* ]] || wanted=1; done
        [[ -n $wanted ]] || return 0
    fi
    if ! available >"$folder/prepared" 2>&1; then
        echo "NOT TRIED: $name: $(tail -1 "$folder/prepared")" >&2
        return 0
    fi
    for program in rg gh jq bc make perl strings nm ldd xxd file; do
        command -v "$program" >/dev/null || echo "the day has no \`$program\` here" >&2
    done
    begin
    prepare >"$folder/prepared" 2>&1 || { echo "FAILED: $name: $(tail -1 "$folder/prepared")" >&2; failed=1; return 0; }
    [[ ! -e /tmp/try ]] || { echo "NOT TRIED: $name: it would write to /tmp/try, which is there" >&2; return 0; }
    outside "$python" "$repository/tests/day/whole.py" plain "$work" "$folder/plain.json"
    rm -rf /tmp/try
    "$python" "$repository/tests/day/whole.py" calls "$folder/calls.json"
    for mode in default auto; do
        [[ $mode = auto ]] && expected=$2 || expected=$1
        begin
        prepare >"$folder/prepared" 2>&1
        status=0
        outside LIMIT=1500 "$python" "$repository/tests/day/client.py" "$host" "$mode" session "$work" \
            "$folder/task/result.json" "@$folder/calls.json" 2>"$folder/task/errors" &&
            "$python" "$repository/tests/day/whole.py" judge "$folder/task/result.json" "$folder/plain.json" "$expected" \
                >"$folder/task/cell" 2>"$folder/task/errors" || status=$?
        if ((status != 0)) || [[ -n ${HOST_DAY_VERBOSE:-} ]]; then
            { echo "== $name in $mode"; cat "$folder/task/errors"; } >&2
        fi
        ((status == 0)) || failed=1
        cells+=("$(cat "$folder/task/cell" 2>/dev/null || echo failed)")
    done
    rows+=("$(printf '%-52s %-22s %-22s' "$name" "${cells[@]}")")
}
available() {
    has cargo && has npm && "$python" "$repository/tests/day/whole.py" files "$folder/whole" &&
        fetches cargo fetch --manifest-path "$folder/whole/Cargo.toml" &&
        fetches npm view prettier@3.6.2 version
}
# What a developer has when the day begins: a clone with what it needs, fetched, and a server to push to.
prepare() {
    "$python" "$repository/tests/day/whole.py" files "$work" && git init --quiet --bare "$folder/task/bare.git" &&
        mkdir -p "$home/.config/host" &&
        printf '[confine]\nwritable = ["%s"]\n' "$folder/task/bare.git" >"$home/.config/host/config.toml" &&
        git config -f "$home/.gitconfig" push.autoSetupRemote true &&
        outside cargo generate-lockfile && outside cargo fetch &&
        outside npm --prefix web install --no-audit --no-fund --no-update-notifier &&
        outside git add -A && outside git commit -qm "Begin" && outside git tag v0.2.0 &&
        outside git remote add origin "$folder/task/bare.git" && outside git push -q -u origin main
}
whole_day "70-82" "5-9"

printf '%-52s %-22s %-22s\n' task default auto
((${#rows[@]} == 0)) || printf '%s\n' "${rows[@]}"
exit "$failed"
