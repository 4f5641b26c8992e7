#!/usr/bin/env bash
# Runs the property tests of all crates with new seeds. `cargo test` always has the same cases; this finds others.
#
#   fuzz/properties.sh              ten rounds: a minute or two each behind the build
#   ROUNDS=200 fuzz/properties.sh   a night
#
# Ends with an error at the first round that fails, and says with which seed it fails again. proptest also writes the
# smallest failing case into a file `*.proptest-regressions`: make it a test of its own, and remove the file.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${ROUNDS:-10}
for ((round = 1; round <= rounds; round++)); do
    seed=$((RANDOM << 30 | RANDOM << 15 | RANDOM))
    echo "round $round of $rounds, seed $seed" >&2
    # Whole test programs: which tests have properties is known to them alone. The promises to users have none.
    PROPTEST_RNG_SEED=$seed cargo test --workspace --quiet --no-fail-fast --exclude host || {
        echo "error: failed with a seed; again: PROPTEST_RNG_SEED=$seed cargo test --workspace --exclude host" >&2
        exit 1
    }
done
