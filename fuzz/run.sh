#!/usr/bin/env bash
# Fuzzes the host: each target for a while, then one table. Ends with an error at the first input that breaks a promise,
# and says how to try it again.
#
#   fuzz/run.sh                     every target, a minute each
#   fuzz/run.sh shell text          these targets
#   SECONDS_EACH=3600 fuzz/run.sh shell
#   fuzz/run.sh --keep              also adds to `corpus/` what reached new code, as few inputs as possible
#
# It needs the toolchain that builds the host and a C++ compiler for libFuzzer: no nightly toolchain, no cargo-fuzz. What
# is found meanwhile lies in `work/`, so that the next run begins with it. `cargo fuzz` works too, with
# `--sanitizer none --fuzz-dir fuzz`, and is of use for `tmin`.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"

seconds=${SECONDS_EACH:-60}
keep=''
if [[ ${1:-} == --keep ]]; then
    keep=1
    shift
fi
targets=("$@")
if ((${#targets[@]} == 0)); then
    for program in fuzz_targets/*.rs; do targets+=("$(basename "$program" .rs)"); done
fi
for target in "${targets[@]}"; do
    [[ -f fuzz_targets/$target.rs ]] || { echo "error: no target \`$target\`; fuzz_targets/ lists them" >&2; exit 2; }
done
need() {
    command -v "$1" >/dev/null || { echo "error: \`$1\` is not installed; $2" >&2; exit 2; }
}
need cargo "see rust-toolchain.toml"
need "${CXX:-c++}" "libFuzzer is C++: install g++ or clang"

binaries=()
for target in "${targets[@]}"; do binaries+=(--bin "$target"); done
RUSTC_WRAPPER=$PWD/coverage.sh cargo build --locked --release "${binaries[@]}"

# Whether `$1` says it: what the last line with `$2` has behind it.
told() { sed -n "s/.*$2 *\([0-9][0-9]*\).*/\1/p" "$1" | tail -n 1; }
count() { find "$1" -type f | wc -l; }

table() { printf '%-18s %12s %9s %8s %8s\n' "$@"; }
rows=$(table target runs runs/s new crashes)
for target in "${targets[@]}"; do
    mkdir -p "work/$target" "work/crashes/$target" "corpus/$target"
    before=$(count "work/$target")
    log=work/$target.log
    : >"$log.begun"
    # Longer inputs than these find nothing that shorter ones do not, and slow the search down.
    status=0
    "target/release/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="work/crashes/$target/" -print_final_stats=1 "work/$target" "corpus/$target" \
        >"$log" 2>&1 || status=$?
    runs=$(told "$log" 'stat::number_of_executed_units:')
    rate=$(told "$log" 'stat::average_exec_per_sec:')
    rows+=$'\n'$(table "$target" "${runs:-?}" "${rate:-?}" "$(($(count "work/$target") - before))" "$((status != 0))")
    if ((status != 0)); then
        printf '%s\n\n' "$rows"
        # The newest one; a run that could not start at all leaves none.
        input=$(find "work/crashes/$target" -type f -newer "$log.begun" | head -n 1)
        grep -aE 'panicked at|ERROR: libFuzzer|SUMMARY' -A 4 "$log" | head -n 12 >&2
        echo "error: \`$target\` failed; again: (cd fuzz && target/release/$target ${input:-})" >&2
        echo "Fix it, and put the input into corpus/$target: the tests of the host try it then." >&2
        exit 1
    fi
    if [[ -n $keep ]]; then
        "target/release/$target" -merge=1 -max_len=4096 "corpus/$target" "work/$target" >>"$log" 2>&1
    fi
done
printf '%s\n' "$rows"
