#!/usr/bin/env bash
# The first stage of a release: builds the host and what compiles for it, compiles the built-in tools, and prints the folder
# of their machine code, which the second stage takes. For Linux it also has the order in which the linker puts the
# functions that a run executes side by side.
#
#   folder=$(release/precompile.sh x86_64-unknown-linux-musl dist)
#   HOST_PRECOMPILED=$folder cargo build --profile dist --locked --package host --target x86_64-unknown-linux-musl
#
# It runs what it built, so it must run on a system with the target's processor: the engine of wasmtime's compiler is built
# for one kind of processor.
set -euo pipefail
cd "$(dirname "$0")/.."

if (($# != 2)); then
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
target=$1 profile=$2

# The processor and the system of a target, without its vendor and its C library.
system() {
    case $1 in
    *-linux-*) echo "${1%%-*} linux" ;;
    *-darwin) echo "${1%%-*} darwin" ;;
    *) echo "$1" ;;
    esac
}
here=$(rustc -vV | sed -n 's/^host: //p')
if [[ $(system "$target") != "$(system "$here")" ]]; then
    echo "error: the built-in tools for $target are compiled on that system, and this is $here" >&2
    exit 1
fi

build=${CARGO_TARGET_DIR:-target}/$target/$profile
mkdir -p "$build"
build=$(cd "$build" && pwd)
HOST_LINK_MAP=$build/host.map cargo build --profile "$profile" --locked --package host --package host-precompile \
    --target "$target" >&2
"$build/host-precompile" plugins/dist "$build/precompiled" >&2
if [[ $(system "$target") == *" linux" ]]; then
    "$build/host-precompile" --order release/order.txt "$build/host.map" "$build/precompiled/order" >&2
fi
echo "$build/precompiled"
