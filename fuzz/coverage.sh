#!/usr/bin/env bash
# Calls the compiler for cargo (`RUSTC_WRAPPER`), and adds libFuzzer's coverage to our own crates. wasmtime and the rest stay
# as they are: with coverage they would take long to build and draw the search to themselves, and those that are part of a
# macro could not be loaded.
set -euo pipefail

crate='' has_coverage=''
for ((at = 1; at <= $#; at++)); do
    case ${!at} in
        --crate-name) next=$((at + 1)) && crate=${!next} ;;
        *sanitizer-coverage*) has_coverage=1 ;;
    esac
done
case $crate in
    host_message | host_text | host_files | host_schema | host_http | host_capability | host_process | host_plugin | \
    host_manifest | host_bundle | host_registry | host_model | host_shell | host_tool | host_agent | host_terminal | \
    host_settings | host_extensions | host_sessions | host_app)
        if [[ -z $has_coverage ]]; then
            exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1
        fi ;;
esac
exec "$@"
