#!/usr/bin/env bash
# Installs the program as users without Rust do: from a wheel by pip and uv, from packages by npm (with and without scripts),
# pnpm and bun, each in an empty folder and home, from files. Each installation must have the archive's very binary, answer a
# prompt with the model `offline`, know how it was installed, and leave nothing when it is removed. The packages are made
# twice and compared.
#
#   tests/install.sh target/debug/host
#
# An installer that is not there and not on its registry is named and left out. Prints how long the first answer takes.
set -euo pipefail

if (($# != 1)) || [[ ! -x $1 ]]; then
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
given=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
name=$(<"$here/release/package-name")
case $(uname -s)-$(uname -m) in
Linux-x86_64) platform=$name-linux-x64 ;;
Linux-aarch64) platform=$name-linux-arm64 ;;
Darwin-x86_64) platform=$name-darwin-x64 ;;
*) platform=$name-darwin-arm64 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

# An archive as `dist build` makes it. What is stripped is smaller, and the same program.
target=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p')
[[ -n $target ]] || target=$(uname -m)-unknown-linux-gnu
top=$folder/host-$target
mkdir "$top"
strip -o "$top/host" "$given" 2>/dev/null || cp "$given" "$top/host"
cp "$here"/{README.md,LICENSE,CHANGELOG.md} "$top/"
"$here/release/share.sh" "$top/host" "$top/share"
tar -C "$folder" -czf "$folder/host-$target.tar.gz" "host-$target"
digest=$(sha256sum <"$top/host")
[[ $(find "$top/share" -type f | wc -l) -gt 20 ]] || fail "the folder share has too few files"

for round in 1 2; do
    "$here/release/wheel.py" "$folder/packages$round" "$folder/host-$target.tar.gz" >"$folder/wheels"
    if command -v npm >/dev/null; then
        "$here/release/npm.sh" "$folder/packages$round" "$folder/host-$target.tar.gz" >"$folder/archives"
    fi
done
diff -r "$folder/packages1" "$folder/packages2" || fail "the packages of two rounds differ"
wheel=$(<"$folder/wheels")

python3 -m venv "$folder/python"
pip=$folder/python/bin/pip
"$pip" install --quiet uv twine 2>"$folder/output" || echo "NOT TESTED: uv and twine: $(tail -n 1 "$folder/output")"
if [[ -x $folder/python/bin/twine ]]; then
    "$folder/python/bin/twine" check --strict "$wheel" >"$folder/output" || { cat "$folder/output"; fail "twine check"; }
fi

# Runs a command as a new user: nothing of this one's environment but the programs.
as_new_user() { (cd "$folder/work" && env -i PATH="$PATH" HOME="$folder/home" TERM=dumb "$@"); }

# Checks an installation: $1 what installed it, $2 the program, $3 what the doctor says, then the command that removes it.
check() {
    local by=$1 program=$2 said=$3
    shift 3
    local began answer took doctor real
    began=$(date +%s%N)
    if ! answer=$(as_new_user "$program" run --model offline "Survey this repository" 2>"$folder/output"); then
        cat "$folder/output" >&2
        fail "$by: the first run failed"
    fi
    took=$((($(date +%s%N) - began) / 1000000))
    [[ -n $answer ]] || fail "$by: the first run answered nothing"
    doctor=$(as_new_user "$program" doctor 2>&1 | grep '^good  installation' || true)
    [[ $doctor == *"$said"* ]] || fail "$by: the doctor says \`$doctor\`, not \`$said\`"
    # A script of node starts the binary that is in the package for this platform.
    real=$(realpath "$program")
    if [[ $(head -c 2 "$real") == '#!' ]]; then
        real=$(find "$folder/project" "$folder/home" -path "*$platform*/bin/host" -type f | head -n 1)
    fi
    [[ $(sha256sum <"$real") == "$digest" ]] || fail "$by: $real is not the binary of the archive"
    printf '%-28s first answer after %5d ms: %s\n' "$by" "$took" "${doctor#good  installation     }"
    as_new_user "$@" >"$folder/output" 2>&1 || { cat "$folder/output" >&2; fail "$by: removing failed"; }
    [[ ! -e $program ]] || fail "$by: removing left $program"
}
fresh() {
    rm -rf "$folder/home" "$folder/work" "$folder/project"
    mkdir -p "$folder/home" "$folder/work/.git" "$folder/project"
    echo '{"private": true}' >"$folder/project/package.json"
    echo "TODO: try it" >"$folder/work/notes.txt"
}

fresh
python3 -m venv "$folder/project/env"
as_new_user "$folder/project/env/bin/pip" install --quiet --no-index "$wheel" 2>"$folder/output" ||
    { cat "$folder/output" >&2; fail "pip cannot install the wheel"; }
check pip "$folder/project/env/bin/host" "installed by pip, as the package \`$name\`" \
    "$folder/project/env/bin/pip" uninstall --quiet --yes "$name"
left=$(find "$folder/project/env" -iname '*host*' -not -path '*/site-packages/pip/*' -not -path '*/setuptools/*' \
    -not -path '*/pkg_resources/*' | head -n 3)
[[ -z $left ]] || fail "pip: removing left $left"

if [[ -x $folder/python/bin/uv ]]; then
    fresh
    as_new_user "$folder/python/bin/uv" tool install --quiet --offline "$wheel" || fail "uv cannot install the wheel"
    check "uv tool" "$folder/home/.local/bin/host" "installed by uv, as the package \`$name\`" \
        "$folder/python/bin/uv" tool uninstall --quiet "$name"
fi

if command -v npm >/dev/null; then
    mapfile -t archives <"$folder/archives"
    cd "$folder"
    for archive in "${archives[@]}"; do
        npm publish --dry-run --silent "$archive" >"$folder/output" 2>&1 || npm pack --dry-run --silent "$archive" >/dev/null
    done
    quiet=(--silent --no-audit --no-fund --offline)
    said="installed by npm for one project, as the package \`$name\`"
    for scripts in "" --ignore-scripts; do
        fresh
        as_new_user npm install --prefix "$folder/project" ${scripts:+"$scripts"} "${quiet[@]}" "${archives[@]}" ||
            fail "npm cannot install the packages"
        kind=$(head -c 2 "$folder/project/node_modules/.bin/host")
        case "$scripts,$kind" in
        ',#!') fail "npm: the binary did not take the place of the script" ;;
        '--ignore-scripts,#!' | ,*) ;;
        *) fail "npm $scripts: there is no script that starts the binary" ;;
        esac
        check "npm $scripts" "$folder/project/node_modules/.bin/host" "$said" \
            npm uninstall --prefix "$folder/project" "${quiet[@]}" "$name" "$platform"
    done
    fresh
    as_new_user npm install --global --prefix "$folder/home/npm" "${quiet[@]}" "${archives[@]}" ||
        fail "npm cannot install the packages for all projects"
    check "npm -g" "$folder/home/npm/bin/host" "installed by npm for all projects, as the package \`$name\`" \
        npm uninstall --global --prefix "$folder/home/npm" "${quiet[@]}" "$name" "$platform"

    # The script passes on the exit code, and names the package that is missing.
    fresh
    as_new_user npm install --prefix "$folder/project" --ignore-scripts "${quiet[@]}" "${archives[@]}"
    code=0
    as_new_user "$folder/project/node_modules/.bin/host" --no-such-flag >/dev/null 2>&1 || code=$?
    [[ $code == 42 ]] || fail "npm: the script ends with $code for a wrong flag"
    rm -r "$folder/project/node_modules/$name-"*
    as_new_user "$folder/project/node_modules/.bin/host" --version >"$folder/output" 2>&1 && fail "npm: it starts nothing"
    grep -q "the package \`$name-.*\` is not installed" "$folder/output" || fail "npm: $(<"$folder/output")"

    # The pnpm that an older node runs, too.
    for package in pnpm@9 bun@1; do
        manager=${package%@*}
        if ! npm install --loglevel=error --no-audit --no-fund --prefix "$folder/$manager" "$package" 2>"$folder/output"; then
            echo "NOT TESTED: $manager: $(tail -n 1 "$folder/output")"
            continue
        fi
        fresh
        # Not from a registry: the package for the platform stands in for the one that the other asks for.
        cat >"$folder/project/package.json" <<JSON
{ "private": true, "pnpm": { "overrides": { "$platform": "file:${archives[0]}" } }, "overrides": { "$platform": "file:${archives[0]}" } }
JSON
        if (cd "$folder/project" && env -i PATH="$PATH" HOME="$folder/home" "$folder/$manager/node_modules/.bin/$manager" \
            add "${archives[@]}" >"$folder/output" 2>&1); then
            check "$manager" "$folder/project/node_modules/.bin/host" "installed by $manager for one project" \
                env --chdir="$folder/project" "$folder/$manager/node_modules/.bin/$manager" remove "$name" "$platform"
        else
            cat "$folder/output" >&2
            fail "$manager cannot install the packages"
        fi
    done
fi
exit "$failed"
