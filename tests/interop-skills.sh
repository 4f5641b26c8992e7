#!/usr/bin/env bash
# Checks the skills of the tests with the validator of agentskills.io, `skills-ref`, and that `host skill check` agrees with it
# about valid and invalid ones.
#
#   tests/interop-skills.sh                        with a debug build
#   HOST_TEST_BINARY=PATH tests/interop-skills.sh  with this binary
#
# The validator has a pinned version and goes to a folder of its own, which is removed. When it cannot be installed, the script
# says so and ends with 0: nothing was tried. A skill about which the two differ ends it with 1.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.."
validator=skills-ref==0.1.1

if ! command -v python3 >/dev/null; then
    echo "nothing was tried: python3 is not installed, which runs the validator" >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! (python3 -m venv "$folder/venv" && timeout 300 "$folder/venv/bin/pip" install --quiet "$validator") >"$folder/pip.log" 2>&1; then
    echo "nothing was tried: $validator cannot be installed" >&2
    tail -3 "$folder/pip.log" >&2
    exit 0
fi

if [[ -z ${HOST_TEST_BINARY:-} ]]; then
    echo "building" >&2
    cargo build --quiet --locked --bin host
    HOST_TEST_BINARY="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/host"
fi
host=$(realpath "$HOST_TEST_BINARY")

# A folder of skills that are invalid, each in one way.
make() {
    mkdir -p "$folder/invalid/$1"
    printf -- '---\n%b\n---\n\nInstructions.\n' "$2" >"$folder/invalid/$1/SKILL.md"
}
make Upper 'name: Upper\ndescription: x'
make -begins 'name: -begins\ndescription: x'
make two--hyphens 'name: two--hyphens\ndescription: x'
make other-name 'name: another\ndescription: x'
make no-description 'name: no-description'
make no-name 'description: x'
make long "name: long\ndescription: $(printf 'x%.0s' {1..1025})"
mkdir "$folder/invalid/no-file"

failed=0
expect() {
    local expected=$1 skill=$2 theirs=valid ours=valid
    "$folder/venv/bin/agentskills" validate -- "$skill" >"$folder/theirs.log" 2>&1 || theirs=invalid
    "$host" skill check -- "$skill" >"$folder/ours.log" 2>&1 || ours=invalid
    echo "$(basename "$skill"): $ours here, $theirs by the validator" >&2
    if [[ $ours != "$expected" || $theirs != "$expected" ]]; then
        cat "$folder/theirs.log" "$folder/ours.log" >&2
        failed=1
    fi
}
expect valid tests/e2e/skills/release-notes
for skill in "$folder"/invalid/*; do
    expect invalid "$skill"
done
exit "$failed"
