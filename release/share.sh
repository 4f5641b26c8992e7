#!/usr/bin/env bash
# Makes the folder `share` of a release: manual pages, completions for shells, and what a desktop shows of a program in a
# terminal. It lies as in /usr/share and ~/.local/share, so a user copies it there as it is.
#
#   release/share.sh target/x86_64-unknown-linux-musl/dist/host target/share
#
# It runs the binary, which says itself what its commands are.
set -euo pipefail

if (($# != 2)) || [[ ! -x $1 ]]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
binary=$(realpath "$1") folder=$2
rm -rf "$folder"
mkdir -p "$folder"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,elvish/lib}
cp -r "$(dirname "$0")/share/." "$folder/"
"$binary" manual --out "$folder/man/man1"
"$binary" completions bash >"$folder/bash-completion/completions/host"
"$binary" completions zsh >"$folder/zsh/site-functions/_host"
"$binary" completions fish >"$folder/fish/vendor_completions.d/host.fish"
"$binary" completions elvish >"$folder/elvish/lib/host.elv"
