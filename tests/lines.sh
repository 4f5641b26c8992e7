#!/usr/bin/env bash
# Whether shell lines that run unasked touch nothing: generates lines, and executes those that the policy lets through
# unasked, without walls, in a scratch home with canaries and a hostile workspace. `cargo test` does it with 400 lines.
#
#   tests/lines.sh            20,000 lines
#   tests/lines.sh 2000       another number of them
set -euo pipefail
cd "$(dirname "$0")/.."
HOST_LINES="${1:-20000}" exec cargo test --lib policy_generated_lines
