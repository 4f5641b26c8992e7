#!/usr/bin/env bash
# Checks what the host is built from: licences, sources, versions and advisories of every crate (deny.toml), in each
# workspace that ends in a release. Writes the list of what is built in (SBOM) to target/sbom.
#
#   tests/supply-chain.sh
#
# It installs nothing, and says of each check that could not run why. Those that could not run do not fail it, except with
# STRICT=1, which is for a machine that makes releases.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=() skipped=()
of_plugins=$(mktemp)
trap 'rm -f "$of_plugins"' EXIT
sed 's/^    #plugins /    /' deny.toml >"$of_plugins"
skip() {
    echo "NOT CHECKED: $1" >&2
    skipped+=("$1")
}

if command -v cargo-deny >/dev/null; then
    for workspace in . plugins; do
        echo "== licences, sources and versions of $workspace"
        # Its list of crates holds those of every target, which a build for one has not downloaded.
        if ! cargo fetch --quiet --locked --manifest-path "$workspace/Cargo.toml"; then
            skip "licences, sources and versions of $workspace: the crates of other targets cannot be downloaded"
            continue
        fi
        # An exception that is of no use any more has to go; the plugins use only some.
        unused=-A config=$of_plugins
        if [[ $workspace == . ]]; then unused=-D config=deny.toml; fi
        cargo deny --manifest-path "$workspace/Cargo.toml" --config "$config" --offline --locked check \
            --hide-inclusion-graph "$unused" unmatched-skip "$unused" license-exception-not-encountered \
            "$unused" license-not-encountered bans licenses sources || failed+=("cargo deny in $workspace")
    done
    echo "== advisories"
    # They are a git repository on the net: fetched when it can be reached, and otherwise as old as the last time.
    if cargo deny fetch db >/dev/null 2>&1; then
        for workspace in . plugins; do
            cargo deny --manifest-path "$workspace/Cargo.toml" --config deny.toml --locked check advisories ||
                failed+=("advisories of $workspace")
        done
    else
        skip "advisories: the database at github.com/RustSec/advisory-db cannot be reached from here"
    fi
else
    skip "licences, sources, versions and advisories: cargo-deny is missing; cargo install cargo-deny --locked"
fi

if cargo cyclonedx --version >/dev/null 2>&1; then
    echo "== SBOM"
    mkdir -p target/sbom
    # One is written beside the manifest of each crate, with the time and the folder of the machine in it.
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
        cargo cyclonedx --quiet --manifest-path host/cli/Cargo.toml --format json --spec-version 1.5 --no-build-deps \
        --override-filename host.cdx
    sed "s|$PWD|/host|g" host/cli/host.cdx.json >target/sbom/host.cdx.json
    git ls-files '*Cargo.toml' | sed 's|Cargo.toml$|host.cdx.json|' | xargs rm -f
    echo "target/sbom/host.cdx.json: $(grep -c '"bom-ref": "registry' target/sbom/host.cdx.json) crates"
else
    skip "SBOM: cargo-cyclonedx is missing; cargo install cargo-cyclonedx --locked"
fi

((${#failed[@]} == 0)) || printf 'FAILED: %s\n' "${failed[@]}" >&2
((${#failed[@]} == 0)) && [[ ${#skipped[@]} == 0 || -z ${STRICT:-} ]]
