#!/usr/bin/env bash
# Checks that the binary of a release brings its built-in tools compiled: calls some of them, each as the first call after an
# installation, and fails if one takes as long as compiling would. A binary whose code is not used works, only slower, so
# that nothing else would show it. Then it has the component of a plugin compiled in a process with limits, which the
# allocator has to keep to: that of a release for Linux is not the one that the tests run with.
#
#   release/check.sh target/x86_64-unknown-linux-musl/dist/host
set -euo pipefail

if (($# != 1)) || [[ ! -x $1 ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
binary=$(realpath "$1")
component=$(realpath "$(dirname "$0")/../plugins/dist/ls.wasm")

# How many times as much processor time as a second call a first one may take. With code it is up to twice, and with the
# compiler more than fifteen times.
most=5

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/work/.git"
echo needle >"$folder/work/a.txt"
cd "$folder/work"

# Prints the processor time of a command, in milliseconds, with the home $1.
time_of() {
    local home=$1 user system
    shift
    mkdir -p "$home"
    TIMEFORMAT='%3U %3S'
    { time env -i PATH="$PATH" HOME="$home" "$@" >"$folder/output" 2>&1; } 2>"$folder/time" ||
        { cat "$folder/output" >&2; return 1; }
    read -r user system <"$folder/time"
    echo $((10#${user/./} + 10#${system/./}))
}

first() {
    local tool=$1 arguments=$2 cold warm
    cold=$(time_of "$folder/home.$tool" "$binary" tool call "$tool" "$arguments")
    warm=$(time_of "$folder/home.$tool" "$binary" tool call "$tool" "$arguments")
    printf '%-10s  first call %4d ms of processor time, second %4d ms\n' "$tool" "$cold" "$warm"
    if ((cold > most * warm)); then
        echo "FAILED: the first call of \`$tool\` took as long as compiling it; was HOST_PRECOMPILED set?" >&2
        failed=1
    fi
}
first read_file '{"path": "a.txt"}'
first grep '{"pattern": "needle"}'
first glob '{"pattern": "*.txt"}'

if ! env -i PATH="$PATH" HOME="$folder/home.adopted" "$binary" plugin adopt "$component" --name adopted --license MIT \
    --out "$folder/adopted" >"$folder/output" 2>&1; then
    cat "$folder/output" >&2
    echo "FAILED: the component of a plugin is not compiled" >&2
    failed=1
fi
exit "${failed:-0}"
