#!/usr/bin/env bash
# Signs the artifacts of a release with minisign: a signature beside each file that a user downloads, whose comment names
# the version and the file. Run it on a machine that has the secret key, behind `dist build` on every system.
#
#   release/sign.sh target/distrib ~/keys/host-release.key
#
# The password of the key is asked for by minisign.
set -euo pipefail

if (($# != 2)); then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
folder=$1 key=$2
command -v minisign >/dev/null || { echo "error: \`minisign\` is not installed; it is a package of most systems" >&2; exit 2; }
version=$(cd "$(dirname "$0")/.." && cargo pkgid --package host | sed 's/.*[#@]//')

cd "$folder"
shopt -s nullglob
files=(host-*.tar.gz *.whl *.tgz sha256.sum *.cdx.xml *.cdx.json)
((${#files[@]} > 0)) || { echo "error: \`$folder\` has no artifacts; \`dist build\` makes them" >&2; exit 1; }
# A sum that is wrong now would be signed and stay wrong.
for sum in host-*.tar.gz.sha256; do sha256sum --check --quiet "$sum"; done
for file in "${files[@]}"; do
    minisign -S -s "$key" -m "$file" -t "host $version $file"
done
printf '%s\n' "${files[@]/%/.minisig}"
