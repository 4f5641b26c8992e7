#!/usr/bin/env bash
# Prints the RUSTFLAGS of a release: they take this machine's folders out of the binary, where messages of panics would
# name them, so that everybody who builds the same sources gets the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo_home=${CARGO_HOME:-$HOME/.cargo}
if [[ "$cargo_home$PWD" == *[[:space:]]* ]]; then
    echo "$0: RUSTFLAGS cannot name a folder with white space: $cargo_home, $PWD" >&2
    exit 1
fi
# The last one that fits counts, and either folder may lie in the other.
remaps=("$cargo_home=/cargo" "$PWD=/host")
if [[ "$cargo_home" == "$PWD"/* ]]; then
    remaps=("$PWD=/host" "$cargo_home=/cargo")
fi
printf -- '--remap-path-prefix=%s ' "${remaps[@]}"
echo
