#!/usr/bin/env bash
# Builds the release binary of the last commit twice, in different folders, homes and surroundings, and compares the
# bytes. Each build has the two stages of a release and takes a little longer than a first release build; both use the crates
# that `cargo fetch` has loaded.
#
#   tests/reproducible.sh            # needs about 3 GB in TMPDIR, which it removes afterwards
#   TARGET=x86_64-unknown-linux-musl tests/reproducible.sh
#
# Deliberately not here: a target of another system, whose tools are compiled there; another machine, another linker or
# another compiler, which make other bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
epoch=$(git log -1 --format=%ct)
work=$(mktemp -d "${TMPDIR:-/tmp}/reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [[ -n $(git status --porcelain) ]]; then
    echo "note: the last commit is built, without the changes that are not committed" >&2
fi
cargo fetch --locked --quiet

# Builds the last commit in the folder $2 with the home $1, and everything else of the environment as the rest says.
build() {
    local home=$1 source=$2
    shift 2
    mkdir -p "$home/.cargo/registry" "$source"
    git archive HEAD | tar -x -C "$source"
    # Each build unpacks the crates into its own home: their paths are what a binary would contain.
    cp -R "$cargo_home/registry/index" "$cargo_home/registry/cache" "$home/.cargo/registry/"
    if [[ -f $cargo_home/config.toml ]]; then cp "$cargo_home/config.toml" "$home/.cargo/"; fi
    (
        cd "$source"
        flags=$(HOME=$home CARGO_HOME=$home/.cargo release/flags.sh)
        env -i PATH="$PATH" HOME="$home" CARGO_HOME="$home/.cargo" RUSTUP_HOME="$rustup_home" CARGO_NET_OFFLINE=true \
            SOURCE_DATE_EPOCH="$epoch" RUSTFLAGS="$flags" CARGO_TERM_QUIET=true TARGET="$target" "$@" bash -c '
                set -e
                folder=$(release/precompile.sh "$TARGET" release)
                HOST_PRECOMPILED=$folder cargo build --release --locked --package host --target "$TARGET"
            '
    )
    mv "$source/target/$target/release/host" "$work/host.$(basename "$home")"
    rm -rf "$source" "$home"
}

(umask 022 && build "$work/home/first" "$work/first" LANG=C TZ=UTC)
mkdir -p "$work/another/place"
(umask 077 && build "$work/another/place/second" "$work/another/place/of/the/sources" LANG=C.UTF-8 TZ=Asia/Tokyo USER=other)

for binary in host.first host.second; do
    if grep -qaF "$work" "$work/$binary"; then
        echo "FAILED: $binary contains the folder that it was built in:" >&2
        grep -aoE "$work[[:print:]]{0,80}" "$work/$binary" | sort | uniq -c | sort -rn | head -20 >&2
        failed=1
    fi
done
if ! cmp "$work/host.first" "$work/host.second"; then
    echo "FAILED: the binaries differ in $(cmp -l "$work/host.first" "$work/host.second" | wc -l) bytes" >&2
    failed=1
fi
if [[ -n ${failed:-} ]]; then
    # They are evidence: kept, and named.
    kept=$(mktemp -d "${TMPDIR:-/tmp}/differing.XXXXXX")
    mv "$work/host.first" "$work/host.second" "$kept"
    echo "both are in $kept" >&2
    exit 1
fi
openssl dgst -sha256 "$work/host.first" 2>/dev/null | sed 's/.*= //' || true
echo "the same $(wc -c <"$work/host.first") bytes, twice"
