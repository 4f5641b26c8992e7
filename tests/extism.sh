#!/usr/bin/env bash
# How many calls that do nothing this host makes in a second, beside Extism: one behind the other, and on two cores.
#
#   tests/extism.sh            a minute behind the builds
#   RUNS=9 tests/extism.sh     more rounds (5 when nothing is said)
#
# It is a measurement and no test. Both take turns, so that a machine that is busy for a while spoils both alike; shown are
# the medians over the rounds, and of the ratio within each round. The two are not the same call: Extism loads core modules and
# no components, so its call has neither typed arguments nor a checked result, and here no time limit.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
runs=${RUNS:-5}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "building" >&2
cargo bench --quiet --locked -p host-benches --bench many --no-run
cargo build --quiet --release --locked --manifest-path benches/extism/Cargo.toml

for ((round = 0; round < runs; round++)); do
    echo "round $((round + 1)) of $runs" >&2
    cargo bench --quiet --locked -p host-benches --bench many >"$folder/host" 2>"$folder/said" ||
        { cat "$folder/said" >&2; exit 1; }
    "${CARGO_TARGET_DIR:-benches/extism/target}/release/bench-extism" >"$folder/extism"
    cat "$folder/host" "$folder/extism" |
        awk -F '\t' '{ value[$1] = $2 } END {
            one = value["calls a second on one core"]; two = value["calls a second on two cores"]
            fresh = value["Extism, calls a second on one core"]; both = value["Extism, calls a second on two cores"]
            kept = value["Extism, calls a second on one core, one instance"]
            print one, two, fresh, both, kept, one / fresh, two / both, one / kept
        }' >>"$folder/rounds"
done

median() {
    cut -d ' ' -f "$1" "$folder/rounds" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

echo
printf '%-58s %12s %12s %8s\n' "calls that do nothing, a second" host Extism ratio
printf '%-58s %12.0f %12.0f %7.2fx\n' "one core, a fresh instance for each" "$(median 1)" "$(median 3)" "$(median 6)"
printf '%-58s %12.0f %12.0f %7.2fx\n' "two cores, a fresh instance for each" "$(median 2)" "$(median 4)" "$(median 7)"
printf '%-58s %12.0f %12.0f %7.2fx\n' "one core; Extism with one instance for all" "$(median 1)" "$(median 5)" "$(median 8)"
