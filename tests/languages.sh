#!/usr/bin/env bash
# What a plugin costs in each language: begins, builds and calls the example in all of them, and prints the table of
# docs/plugins.md. Takes HOST=path/of/host; without it the release build of this repository is made and used. Arguments are the
# languages; without any it is all of them.
# Needs node with npm, python3 with venv, and for Rust the target wasm32-unknown-unknown.
set -euo pipefail
cd "$(dirname "$0")/.."

host=${HOST:-}
if [ -z "$host" ]; then
    cargo build --quiet --release --locked -p host
    host=target/release/host
fi
host=$(realpath "$host")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/place"
head -c 200000 Cargo.lock > "$work/place/some.txt"
calls=${CALLS:-21}

# Caches that the user shares between packages.
unset GOCACHE ZIG_GLOBAL_CACHE_DIR

now() { date +%s%N; }
milliseconds() { echo $((($2 - $1) / 1000000)); }
# The files of the tool itself.
sources() {
    find "$1" -maxdepth 2 \( -name plugin.c -o -name plugin.js -o -name plugin.py -o -name plugin.zig -o -name plugin.go \
        -o -path '*/src/lib.rs' \)
}
call() {
    "$host" tool call word_count '{"path": "some.txt"}' --any-folder -C "$work/place" --plugin "$1" \
        --grant words:fs-read=. > "$work/said"
}

echo '| language | lines of the example | from nothing, s | build, ms | component, KB | first use, ms | call, ms |'
echo '|---|---|---|---|---|---|---|'
[ $# -gt 0 ] || set -- $(cd sdk && dirname */template)
for language in "$@"; do
    folder=$work/$language
    begin=$(now)
    "$host" plugin new words --lang "$language" --in "$folder" > /dev/null
    (
        cd "$folder"
        # With caches that are empty: the compiler is fetched, and compiles a C library, a standard library or crates. For Rust
        # the compiler and the crates' sources are there.
        export PIP_CACHE_DIR=$work/downloads npm_config_cache=$work/downloads
        [ ! -f package.json ] || npm install --no-audit --no-fund --loglevel=error > /dev/null
        [ ! -f requirements.txt ] || { python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt; }
        [ ! -f Cargo.toml ] || cargo generate-lockfile --quiet
        XDG_CACHE_HOME=$work/cache-build "$host" plugin build . --out dist > "$folder.log" 2>&1
    )
    nothing=$(($(milliseconds "$begin" "$(now)") / 1000))
    lines=$(sources "$folder" | xargs cat | wc -l)
    # The tool is saved with a change: the build that counts from now on. The change is one of the component, since compilers
    # skip what a comment or an empty line does not change.
    sources "$folder" | xargs sed -i 's/Counts the lines/Counts all lines/'
    begin=$(now)
    (cd "$folder" && XDG_CACHE_HOME=$work/cache-build "$host" plugin build . --out dist > "$folder.log" 2>&1)
    build=$(milliseconds "$begin" "$(now)")
    export XDG_CACHE_HOME=$work/cache-$language
    begin=$(now)
    call "$folder/dist"
    first=$(milliseconds "$begin" "$(now)")
    times=()
    for _ in $(seq "$calls"); do
        begin=$(now)
        call "$folder/dist"
        times+=("$(milliseconds "$begin" "$(now)")")
    done
    unset XDG_CACHE_HOME
    median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$((calls / 2 + 1))p")
    size=$(($(stat -c %s "$folder"/dist/*.wasm) / 1000))
    echo "| $language | $lines | $nothing | $build | $size | $first | $median |"
done
