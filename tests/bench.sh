#!/usr/bin/env bash
# How fast it is: builds the release binary, measures, and prints one table.
#
#   tests/bench.sh             all of it: about three minutes behind the build
#   RUNS=31 tests/bench.sh     more runs of each kind (15 when nothing is said)
#   HOST=target/x86_64-unknown-linux-musl/dist/host tests/bench.sh
#                              whole processes of a binary that is there, such as a release (docs/releasing.md)
#
# It is a measurement and no test: a value over its target is marked, and the exit code is 0 unless something did not
# run. Whatever is compared takes turns, so that a machine that is busy for a while spoils both alike; shown are the
# median and the least. Its files lie in a folder of their own, which is removed.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
runs=${RUNS:-15}
files=20000
huge_files=68000
small_files=20

need() {
    command -v "$1" >/dev/null || { echo "error: \`$1\` is not installed; $2" >&2; exit 1; }
}
need cargo "see rust-toolchain.toml"
need rg "it is what \`grep\` is measured against: install ripgrep"
# Debian gives it another name.
fd=$(command -v fd || command -v fdfind) || need fd "it is what \`glob\` is measured against: install fd-find"
if ! command -v hyperfine >/dev/null; then
    echo "hyperfine is not installed: the shell takes the times itself, with about a millisecond of its own in each" >&2
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home"

# A tree of $2 files in $1, some 7.8 KB each, that looks like source code; the same at each run. Of its folders
# `target` is ignored. `TODO` stands in about one line of 1,000, `legacy_timeout` in one of 100,000.
tree() {
    mkdir -p "$1"
    awk -v top="$1" -v files="$2" '
        # Lehmer'"'"'s generator: the same numbers with every awk.
        function next_random(below) { state = (state * 16807) % 2147483647; return state % below }
        BEGIN {
            state = 20261120
            split("request reply buffer cursor handle session token window layout parser", noun)
            split("read write flush check merge split encode decode open close", verb)
            for (i = 0; i < 600; i++) {
                n = noun[next_random(10) + 1]; v = verb[next_random(10) + 1]; m = noun[next_random(10) + 1]
                kind = next_random(6)
                if (kind == 0) line[i] = "    let " n "_" m " = self." v "_" n "(&" m ", options)?;"
                else if (kind == 1) line[i] = "    // The " n " is kept until its " m " was told, or else " v " would wait."
                else if (kind == 2) line[i] = "pub fn " v "_" n "(" m ": &mut Vec<u8>) -> Result<usize, Error> {"
                else if (kind == 3) line[i] = "        Some(" n ") if " n ".len() > " next_random(4096) " => " m ".push(" n "),"
                else if (kind == 4) line[i] = "    assert_eq!(" v "(" n "), " m ", \"" n " and " m " differ\");"
                else line[i] = "}"
            }
            for (file = 0; file < files; file++) {
                dir = top "/" (file % 20 == 19 ? "target" : "crate_" int(file / 400)) "/" noun[int(file / 40) % 10 + 1]
                if (!(dir in made)) { made[dir] = 1; system("mkdir -p " dir) }
                path = dir "/" verb[file % 10 + 1] "_" file ".rs"
                for (i = 0; i < 140; i++) {
                    at = next_random(100000)
                    if (at < 100) print "    // TODO: " line[at] > path
                    else if (at == 100) print "    let legacy_timeout = " file ";" > path
                    else print line[at % 600] > path
                }
                close(path)
            }
        }'
    printf 'target\n*.log\n' >"$1/.gitignore"
    mkdir "$1/.git"
}

# A few files in $1 whose lines are as long as those of minified code, 350 KB each; `TODO` stands in one of four.
long_lines() {
    mkdir -p "$1"
    awk -v top="$1" 'BEGIN {
        for (file = 0; file < 400; file++) {
            path = top "/bundle_" file ".js"
            for (i = 0; i < 10000; i++) printf "function f%d(a,b){return a[%d]+b.x}", i, file > path
            if (file % 4 == 0) printf "/*TODO*/" > path
            print "" > path
            close(path)
        }
    }'
    mkdir "$1/.git"
}

# Times commands in turn: `race NAME COMMAND [NAME COMMAND]...`. Leaves `MEDIAN MINIMUM`, in milliseconds, in
# $folder/NAME. Output goes through a pipe: searchers notice /dev/null and stop at the first hit.
race() {
    local round i names=() commands=()
    while (($#)); do
        names+=("$1") commands+=("$2")
        : >"$folder/$1.times"
        shift 2
    done
    for ((round = 0; round <= runs; round++)); do
        for i in "${!names[@]}"; do
            # The first round warms.
            time_once "${commands[i]}" >"$folder/once"
            ((round == 0)) || cat "$folder/once" >>"$folder/${names[i]}.times"
        done
    done
    for i in "${!names[@]}"; do
        sort -n "$folder/${names[i]}.times" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)], t[1] }' >"$folder/${names[i]}"
    done
}

time_once() {
    # What the host keeps goes to the folder; cargo still needs the home of whoever called this.
    local -x HOME="$folder/home" XDG_CACHE_HOME= XDG_CONFIG_HOME= XDG_DATA_HOME= XDG_STATE_HOME= RIPGREP_CONFIG_PATH=
    if command -v hyperfine >/dev/null; then
        hyperfine -N ${may_fail:+-i} --runs 1 --style none --output pipe --export-csv "$folder/csv" "$1" \
            >/dev/null 2>"$folder/said" ||
            { cat "$folder/said" >&2; return 1; }
        # The command may have commas; six columns follow the mean.
        awk -F, 'END { print $(NF - 6) * 1000 }' "$folder/csv"
    else
        local words from
        eval "words=($1)"
        from=$EPOCHREALTIME
        "${words[@]}" | cat >/dev/null || [[ -n ${may_fail:-} ]]
        awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { print (to - from) * 1000 }'
    fi
}

# The median and the least time of one of criterion's measurements, in microseconds.
criterion() {
    local sample="${CARGO_TARGET_DIR:-target}/criterion/$1/new/sample.json"
    local list
    for list in iters times; do
        sed "s/.*\"$list\":\[\([^]]*\)\].*/\1/" "$sample" | tr ',' '\n' >"$folder/$list"
    done
    paste "$folder/times" "$folder/iters" | awk '{ print $1 / $2 / 1000 }' | sort -n |
        awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)], t[1] }'
}

# One line of the table: `row WHAT UNIT TARGET MEDIAN LEAST`; a target of `-` is none.
row() {
    awk -v what="$1" -v unit="$2" -v target="$3" -v median="$4" -v least="$5" 'BEGIN {
        verdict = target == "-" ? "" : (median + 0 <= target + 0 ? "ok" : "over")
        bound = target == "-" ? "" : "<= " target
        printf "%-58s %9.2f %9.2f %-3s %9s  %s\n", what, median, least, unit, bound, verdict
    }'
}

# A measurement of `runs`, by its name: its median and its least.
of_runs() {
    awk -F '\t' -v name="$1" '$1 == name { print $2, $3; found = 1 } END { exit !found }' "$folder/runs"
}

# What one costs beside another: `beside OP A B` on files of `MEDIAN MINIMUM`.
beside() {
    paste "$2" "$3" | awk -v op="$1" '{ if (op == "/") print $1 / $3, $2 / $4; else print $1 - $3, $2 - $4 }'
}

echo "building" >&2
if [[ -z ${HOST:-} ]]; then
    cargo build --quiet --release -p host
    HOST=${CARGO_TARGET_DIR:-target}/release/host
fi
# Copied, as an installation does: of a file that a linker has just written, the system has small pieces in memory, and
# takes longer to map them.
host=$folder/host
cp "$HOST" "$host"
cargo bench --quiet -p host-benches --no-run

echo "making $((files + huge_files)) files" >&2
tree "$folder/large" "$files"
tree "$folder/huge" "$huge_files"
tree "$folder/small" "$small_files"
long_lines "$folder/long"

echo "calls in one process" >&2
cargo bench --quiet -p host-benches --bench calls >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }

echo "whole runs" >&2
HOST_TEST_BINARY="$host" cargo bench --quiet -p host-benches --bench runs -- "$host" "$runs" >"$folder/runs"

echo "one long run" >&2
cargo bench --quiet -p host-benches --bench turns >"$folder/turns"
cat "$folder/turns" >>"$folder/runs"

echo "many calls" >&2
cargo bench --quiet -p host-benches --bench many >>"$folder/runs"

echo "languages" >&2
HOST_TEST_BINARY="$host" cargo bench --quiet -p host-benches --bench languages >"$folder/languages"

echo "programs" >&2
cargo bench --quiet -p host-benches --bench programs >>"$folder/runs"

echo "serving the tools" >&2
cargo bench --quiet -p host-benches --bench mcp -- "$host" "$runs" >>"$folder/runs"

echo "grep and rg" >&2
# Each kind of search: its name, the tool's arguments, and those of `rg`.
searches=(
    "a common word" '{"pattern":"TODO"}' "TODO"
    "a rare word" '{"pattern":"legacy_timeout"}' "legacy_timeout"
    "no match" '{"pattern":"no_such_word_anywhere"}' "no_such_word_anywhere"
    "a regular expression" '{"pattern":"let\\s\\w+_timeout\\s"}' "'let\s\w+_timeout\s'"
    "a regular expression without a text" '{"pattern":"[A-Z]{4}:\\s+p"}' "'[A-Z]{4}:\s+p'"
    "ignoring case" '{"pattern":"Legacy_Timeout","ignore_case":true}' "-i Legacy_Timeout"
)
# `search NAME TREE ARGUMENTS RG`: one kind in one tree.
search() {
    local found="$host tool call grep '$3' -C $folder/$2"
    time_once "$found" >/dev/null
    # `rg` ends with 1 when it finds nothing.
    may_fail=1 race "host_$1" "$found" "rg_$1" "rg -n $4 $folder/$2"
}
for ((at = 0; at < ${#searches[@]}; at += 3)); do
    for tree in large huge; do
        search "${tree}_$at" "$tree" "${searches[at + 1]}" "${searches[at + 2]}"
    done
done
search long long '{"pattern":"TODO"}' TODO
race host_small "$host tool call grep '${searches[1]}' -C $folder/small" rg_small "rg -n TODO $folder/small" rg_start "rg --version"
race host_glob "$host tool call glob '{\"pattern\":\"**/flush_*7.rs\"}' -C $folder/large" \
    fd_glob "$fd -p -g '**/flush_*7.rs' $folder/large"
# As many files as `calls` reads in a running host, in one folder like there.
mkdir "$folder/flat"
find "$folder/small" -name '*.rs' -exec cp {} "$folder/flat" \;
race fd "$fd -g '*_?.rs' $folder/flat" ls "ls -l $folder/flat" cat "cat $(echo "$folder"/flat/*.rs)"

hits=$( (cd "$folder/large" && rg -c TODO --no-filename || true) | awk '{ n += $1 } END { print n + 0 }')
size=$(du -sm --apparent-size "$folder/large" 2>/dev/null || du -sm "$folder/large")
echo
echo "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) cores, $runs runs of each kind; large tree: $files files, ${size%%[!0-9]*} MB, $hits lines with TODO"
printf '%-58s %9s %9s %-3s %9s\n' measurement median least "" target
echo "one call in a running host"
row "  a call that does nothing" us 40 $(criterion empty\ call)
row "  read_file of 13 KB" us - $(criterion read_file)
# `in_host TOOL WHAT COMMAND RACED`: a call of a tool, and the command that does the same.
in_host() {
    criterion "$1" >"$folder/in_host"
    awk '{ print $1 * 1000, $2 * 1000 }' "$folder/$4" >"$folder/command"
    row "  $1 $2" us - $(<"$folder/in_host")
    row "    of $3" x 1 $(beside / "$folder/in_host" "$folder/command")
}
in_host grep "in 20 files" "starting \`rg\` there" rg_small
in_host glob "in 22 entries" "starting \`fd\` there" fd
in_host ls "of 22 entries" "starting \`ls\` there" ls
in_host read_many_files "of 20 files" "starting \`cat\` there" cat
echo "the loop, 2,000 turns with a call each"
row "  a turn, of the first quarter" us - $(of_runs "turn, first quarter (us)")
row "  a turn, of the last quarter" us - $(of_runs "turn, last quarter (us)")
row "    of one of the first" x 1.2 $(of_runs "turn, last to first (x)")
row "  a session of 100 MB, read again" MB/s - $(of_runs "session of 100 MB read again (MB/s)")
row "    memory, of its size" x 2 $(of_runs "session of 100 MB read again, memory of its size (x)")
echo "many calls that do nothing"
row "  1,000 at once" ms - $(of_runs "1,000 calls at once (ms)")
row "    growth of memory" MB 1 $(of_runs "1,000 calls at once, growth of memory (MB)")
row "  a second, on one core" "" - $(of_runs "calls a second on one core")
row "  a second, on two cores" "" - $(of_runs "calls a second on two cores")
row "  on one of two cores, 99th percentile" us 60 $(of_runs "call on one of two cores, 99th percentile (us)")
echo "a tool in each language in a running host, and the same started as a program"
while IFS=$'\t' read -r what median least; do
    row "  ${what% (ms)}" ms - "$median" "$least"
done <"$folder/languages"
echo "a program that does nothing, from its start to its end"
row "  with the standard library" ms - $(of_runs "program with the standard library (ms)")
row "  with host" ms - $(of_runs "program (ms)")
row "  confined" ms - $(of_runs "confined program (ms)")
of_runs "program (ms)" >"$folder/program"
of_runs "confined program (ms)" >"$folder/confined"
row "    more than that" ms 3 $(beside - "$folder/confined" "$folder/program")
echo "host tool call grep, whole process"
searched() {
    row "  $2" ms - $(<"$folder/host_$1")
    row "    of \`rg\`, which takes $(cut -d' ' -f1 "$folder/rg_$1") ms" x 1 $(beside / "$folder/host_$1" "$folder/rg_$1")
}
for ((at = 0; at < ${#searches[@]}; at += 3)); do
    searched "large_$at" "${searches[at]}, $files files"
    searched "huge_$at" "${searches[at]}, $huge_files files"
done
searched long "long lines, 140 MB"
row "  a common word, 20 files" ms - $(<"$folder/host_small")
row "    rg" ms - $(<"$folder/rg_small")
row "    rg --version" ms - $(<"$folder/rg_start")
echo "host tool call glob, whole process"
row "  in $files files" ms - $(<"$folder/host_glob")
row "    of \`fd\`" x 1 $(beside / "$folder/host_glob" "$folder/fd_glob")
echo "host run, whole process"
row "  from the start to the first request" ms 6 $(of_runs "first request (ms)")
row "    with 20 installed plugins, one of them in Python" ms 12 $(of_runs "first request with 20 plugins (ms)")
row "  from a reply to the next request, with the first read_file" ms - $(of_runs "first call between requests (ms)")
row "    when the model took 50 ms to begin its reply" ms 3 $(of_runs "first call after a pause (ms)")
row "    with the second one" ms - $(of_runs "second call between requests (ms)")
row "    with a later one" ms 0.5 $(of_runs "later call between requests (ms)")
row "  8 calls of read_file in one reply, more than one" ms 2 $(of_runs "8 calls in one reply, over one (ms)")
row "  100 turns with a read_file each, processor time" ms 150 $(of_runs "processor time of 100 turns (ms)")
row "  peak memory of one turn" MB 28 $(of_runs "peak memory of one turn (MB)")
row "    with 20 installed plugins" MB - $(of_runs "peak memory with 20 plugins (MB)")
row "    with two calls" MB 60 $(of_runs "peak memory with two calls (MB)")
row "  a run with an empty answer" ms - $(of_runs "run with an empty answer (ms)")
of_runs "run with an empty answer (ms)" >"$folder/empty"
echo "host mcp serve, on standard streams, with all built-in tools (one component of 1.8 MB)"
row "  from the start to the first answer" ms 25 $(of_runs "MCP server, to its first answer (ms)")
row "  peak memory after a list of the tools" MB 40 $(of_runs "MCP server, peak memory after a list (MB)")
row "    after a call" MB 40 $(of_runs "MCP server, peak memory after a call (MB)")
for what in ping "list of the tools" call; do
    of_runs "MCP $what (us)" >"$folder/mcp_$what"
    row "  $what" us - $(cat "$folder/mcp_$what")
done
row "    a call more than the list before it" us 25 $(of_runs "MCP call, over the list before it (us)")
row "    a call more than a ping" us - $(beside - "$folder/mcp_call" "$folder/mcp_ping")
row "  8 calls under way, each" us - $(of_runs "MCP calls, 8 under way, each (us)")
echo "a conversation, from the start of the process"
row "  to the first prompt on the terminal" ms 60 $(of_runs "start to the first prompt on a terminal (ms)")
echo "a key in a conversation, until its echo was read from the terminal"
row "  at rest" ms 5 $(of_runs "echo of a key at rest (ms)")
row "  while 200 KB stream" ms 5 $(of_runs "echo of a key while an answer streams (ms)")
row "    the slowest of 60 keys" ms - $(of_runs "slowest echo of 60 keys while an answer streams (ms)")
for where in "on a terminal" "in a file"; do
    of_runs "processor time $where, long answer (ms)" >"$folder/long_answer"
    of_runs "processor time $where, empty answer (ms)" >"$folder/empty_there"
    beside - "$folder/long_answer" "$folder/empty_there" >"$folder/more $where"
done
row "  200 KB rendered on a terminal: more processor time" ms - $(cat "$folder/more on a terminal")
row "    than in a file" ms 30 $(beside - "$folder/more on a terminal" "$folder/more in a file")
for how in "" ", event by event"; do
    of_runs "run with a long answer$how (ms)" >"$folder/long_answer"
    row "  200 KB in 8,000 events$how: more than that" ms "$([[ -z $how ]] && echo 30 || echo -)" $(beside - "$folder/long_answer" "$folder/empty")
done
echo "200 KB in 8,000 events of each wire format: more processor time than an empty answer"
for provider in openai openai-responses anthropic gemini ollama; do
    of_runs "processor time with $provider, long answer (ms)" >"$folder/long_answer"
    of_runs "processor time with $provider, empty answer (ms)" >"$folder/empty_there"
    row "  $provider" ms 20 $(beside - "$folder/long_answer" "$folder/empty_there")
done
