#!/usr/bin/env bash
# Whether a long run stays as it is: one agent in one process that takes 10,000 turns with ten calls of plugins each.
# Prints resident memory, threads and descriptors as it goes, and fails when any of them grows.
#
#   tests/soak.sh              some minutes behind the build
#   tests/soak.sh 5000 10      fewer turns, and the calls in each; of a short run the warm-up is a larger part
#
# Takes SOAK=path/of/the/bench; without it the release build of this repository is made and used.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n "${SOAK:-}" ]]; then
    exec "$SOAK" "$@"
fi
echo "building" >&2
exec cargo bench --quiet --locked -p host-benches --bench soak -- "$@"
