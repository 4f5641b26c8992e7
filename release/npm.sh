#!/usr/bin/env bash
# Makes packages for npm of the archives of a release: one for each platform with its binary, and one that depends on all of
# them, of which npm installs the one that fits. Nothing is built and nothing is downloaded by an installation.
#
#   release/npm.sh FOLDER host-TARGET.tar.gz...
#
# Writes the packages into FOLDER and prints their paths, in the order in which they are published. They have the name in
# release/package-name; the program stays `host`. The same archives give the same bytes with the same npm.
set -euo pipefail

if (($# < 2)) || [[ $1 == -* ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(realpath "$(dirname "$0")")
name=$(<"$here/package-name")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
command -v npm >/dev/null || { echo "error: \`npm\` is not installed; it comes with Node.js" >&2; exit 1; }
mkdir -p "$1"
out=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { (cd "$1" && npm pack --silent --pack-destination "$out" | sed "s|^|$out/|"); }

main=$work/main
dependencies=() systems=() processors=()
for archive in "$@"; do
    target=$(basename "$archive" .tar.gz)
    case ${target#host-} in
    x86_64-*-linux-*) system=linux processor=x64 ;;
    aarch64-*-linux-*) system=linux processor=arm64 ;;
    x86_64-apple-darwin) system=darwin processor=x64 ;;
    aarch64-apple-darwin) system=darwin processor=arm64 ;;
    *) echo "error: \`$archive\` is named for no known target: host-TARGET.tar.gz" >&2; exit 1 ;;
    esac
    platform=$name-$system-$processor folder=$work/$system-$processor
    mkdir -p "$folder/bin" "$work/archive"
    tar -xzf "$archive" -C "$work/archive" --strip-components=1
    install -m 755 "$work/archive/host" "$folder/bin/host"
    cp "$work/archive/LICENSE" "$folder/"
    # What is the same on each platform is in the package that they have in common.
    if [[ ! -d $main ]]; then
        mkdir -p "$main"
        cp -r "$here/npm/." "$main/"
        cp "$work/archive/README.md" "$work/archive/LICENSE" "$main/"
        [[ ! -d $work/archive/share ]] || cp -r "$work/archive/share" "$main/"
    fi
    rm -r "$work/archive"
    printf '# %s\n\nThe binary of [%s](https://www.npmjs.com/package/%s) for one platform.\n' "$platform" "$name" "$name" \
        >"$folder/README.md"
    cat >"$folder/package.json" <<JSON
{
  "name": "$platform",
  "version": "$version",
  "description": "The binary of $name for $system on $processor",
  "license": "Apache-2.0",
  "os": ["$system"],
  "cpu": ["$processor"],
  "preferUnplugged": true,
  "files": ["bin/host"]
}
JSON
    pack "$folder"
    dependencies+=("\"$platform\": \"$version\"") systems+=("\"$system\"") processors+=("\"$processor\"")
done

list() { printf '%s\n' "$@" | sort -u | paste -sd, | sed 's/,/, /g'; }
cat >"$main/package.json" <<JSON
{
  "name": "$name",
  "version": "$version",
  "description": "An LLM agent whose every tool is a WebAssembly component with exactly the capabilities you granted",
  "license": "Apache-2.0",
  "bin": { "host": "bin/host" },
$(if [[ -f $main/share/man/man1/host.1 ]]; then echo '  "man": "share/man/man1/host.1",'; fi)
  "os": [$(list "${systems[@]}")],
  "cpu": [$(list "${processors[@]}")],
  "engines": { "node": ">=16" },
  "scripts": { "postinstall": "node install.js" },
  "files": ["bin/host", "binary.js", "install.js", "share"],
  "optionalDependencies": { $(list "${dependencies[@]}") }
}
JSON
pack "$main"
