#!/usr/bin/env bash
# Makes release/order.txt again: the functions that a run executes, which a release for Linux has side by side. The list ages
# slowly, since a function that it does not name only stays where the linker puts it.
#
#   release/order.sh            # needs valgrind, and builds the two stages of a release for this system
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "error: \`valgrind\` is not installed" >&2; exit 1; }
target=$(rustc -vV | sed -n 's/^host: //p')
# The first stage would refuse a list that is too old.
old=$(cat release/order.txt)
restore() { printf '%s\n' "$old" >release/order.txt; }
trap restore EXIT
: >release/order.txt
folder=$(release/precompile.sh "$target" dist)
HOST_PRECOMPILED=$folder cargo rustc --profile dist --locked --package host --bin host --target "$target" -- -C strip=none
binary=$(realpath "${CARGO_TARGET_DIR:-target}/$target/dist/host")
new=$(HOST_TEST_BINARY=$binary cargo bench --quiet -p host-benches --bench runs -- "$binary" executed)
trap - EXIT
printf '%s\n' "$new" >release/order.txt
echo "$(wc -l <release/order.txt) functions" >&2
