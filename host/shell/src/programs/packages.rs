//! Programs that build, test and install packages. The files that control them are not read here.

use super::{Program, Understood};
use crate::hazard::{Hazard, RISKY_OPTION};
use crate::usage::Usage;
use crate::word::{UNKNOWN, Word};

/// A program with a table of its subcommands and options.
const fn with_table(names: &'static [&'static str], table: &'static str) -> Program {
    Program { understood: Understood::Table(table), ..Program::named(names) }
}

pub(super) const ROWS: &[Program] = &[
    with_table(&["cargo"], CARGO),
    with_table(&["rustup"], RUSTUP),
    with_table(&["go"], GO),
    with_table(&["npm"], NPM),
    with_table(&["pnpm"], PNPM),
    with_table(&["yarn"], YARN),
    with_table(&["make", "gmake"], MAKE),
    with_table(&["just"], ". -q -v -l -n --list --summary --dry-run --quiet --verbose : targets\n"),
    Program { hazards: Some(of_pytest), ..with_table(&["pytest"], PYTEST) },
    with_table(&["pip", "pip3"], PIP),
];

const CARGO: &str = "\
. -V --version --list : none
build -q -v -r -j= -p= -F= --quiet --verbose --release --package= --workspace --all --exclude= --lib --bin= --bins
    --example= --examples --test= --tests --bench= --benches --all-targets --features= --all-features
    --no-default-features --profile= --jobs= --keep-going --locked --offline --frozen --timings --color= : none
b -q -v -r -j= -p= -F= --release --package= --workspace --all-targets --features= --locked --offline : none
check -q -v -r -j= -p= -F= --quiet --verbose --release --package= --workspace --all --exclude= --lib --bin= --bins
    --example= --examples --test= --tests --bench= --benches --all-targets --features= --all-features
    --no-default-features --profile= --jobs= --keep-going --locked --offline --frozen --message-format= --color= : none
c -q -v -r -j= -p= -F= --release --package= --workspace --all-targets --features= --locked --offline : none
clippy -q -v -r -j= -p= -F= --quiet --verbose --release --package= --workspace --all --exclude= --lib --bin= --bins
    --example= --examples --test= --tests --bench= --benches --all-targets --features= --all-features
    --no-default-features --profile= --jobs= --keep-going --locked --offline --frozen --no-deps --message-format=
    --color= : none -- -D= -W= -A=
test -q -v -r -j= -p= -F= --quiet --verbose --release --package= --workspace --all --exclude= --lib --bin= --bins
    --example= --examples --test= --tests --bench= --benches --all-targets --doc --features= --all-features
    --no-default-features --profile= --jobs= --keep-going --no-run --no-fail-fast --locked --offline --frozen --timings
    --message-format= --color= : files -- -q --quiet --nocapture --no-capture --show-output --exact --ignored
    --include-ignored --list --skip= --test-threads= --color= --format=
t -q -v -r -j= -p= -F= --release --package= --workspace --lib --test= --features= --locked --offline : files
    -- -q --nocapture --exact --ignored --skip= --test-threads=
nextest run -j= -p= -F= --release --package= --workspace --all-targets --lib --test= --features= --all-features
    --no-fail-fast --locked --offline --retries= --test-threads= : files
bench -q -v -j= -p= -F= --quiet --verbose --package= --workspace --bench= --benches --features= --no-run
    --no-fail-fast --locked --offline --frozen : files
doc -q -v -j= -p= -F= --quiet --verbose --release --package= --workspace --no-deps --document-private-items --features=
    --all-features --lib --bins --locked --offline --frozen : none
fmt -q -v -p= --all --check --quiet --verbose --package= : none -- --check
run -q -v -r -j= -p= -F= --quiet --verbose --release --package= --bin= --example= --features= --all-features
    --no-default-features --profile= --locked --offline --frozen : none
tree -e= -i= -p= -d --edges= --invert= --package= --workspace --depth= --prune= --duplicates --no-dedupe --features=
    --all-features --no-default-features --prefix= --charset= --format= --locked --offline --frozen : none
metadata --format-version= --no-deps --features= --all-features --locked --offline --frozen --filter-platform= : none
search -q --limit= --quiet : names
info -q -v --quiet : names
update -q -v -p= -w --package= --precise= --recursive --dry-run --workspace --locked --offline : names
add -F= -p= --dev --build --features= --no-default-features --optional --package= --dry-run --rename= --locked
    --offline : names
remove -p= --dev --build --package= --dry-run --locked --offline : names
fetch -q -v --locked --offline --frozen : none
generate-lockfile -q -v --offline : none
locate-project --workspace --message-format= : none
pkgid -p= --package= : names
deny check : names
audit -q : none
";

const RUSTUP: &str = "\
. -V --version : none
show : names
toolchain list -v : none
target list --installed --toolchain= : none
component list --installed --toolchain= : none
which --toolchain= : names
";

/// A package is a folder of the module here, so operands may begin with a point.
const GO: &str = "\
version -m : none
build -v -x -n -a -race -trimpath -p= -tags= -mod= : inside
test -v -x -n -short -race -failfast -json -cover -benchmem -count= -run= -skip= -bench= -benchtime= -cpu= -p= -parallel=
    -timeout= -tags= -mod= -list= : inside
vet -v -x -n -tags= -json : inside
fmt -n -x : inside
list -m -u -e -json -f= -deps -test -versions -tags= -mod= : inside
doc -all -short -src -u -c : names
mod tidy -v -x -diff -compat= : none
mod download -x -json : names
mod graph : none
mod verify : none
mod why -m -vendor : inside
env -json : names
";

const NPM: &str = "\
. -v --version : none
test -s --silent --if-present --workspaces : none
t -s --silent : none
run -s --silent --if-present --workspaces : targets
run-script -s --silent --if-present --workspaces : targets
start -s --silent : none
ci --no-audit --no-fund --ignore-scripts --prefer-offline --omit= : none
install -D -E -S -O --save-dev --save-exact --save --save-optional --no-save --no-audit --no-fund --ignore-scripts
    --prefer-offline --omit= --legacy-peer-deps : packages
i -D -E -S --save-dev --save-exact --no-audit --no-fund --ignore-scripts : packages
ls -a --all --depth= --json --long --prod : names
list -a --all --depth= --json --long --prod : names
outdated --json --long : names
view --json : names
audit --json --omit= : none
explain --json : names
";

const PNPM: &str = "\
. -v --version : none
test -s --silent --if-present : none
run -s --silent --if-present : targets
start -s --silent : none
install -D -E -P --frozen-lockfile --offline --prefer-offline --ignore-scripts --lockfile-only : none
i -D -P --frozen-lockfile --offline --ignore-scripts : none
add -D -E -O --save-dev --save-exact --save-optional --ignore-scripts : packages
list --depth= --json --long --prod --dev : names
ls --depth= --json --long --prod --dev : names
outdated --long : names
why : names
";

const YARN: &str = "\
. -v --version : none
test -s --silent : none
run -s --silent : targets
build -s --silent : none
start -s --silent : none
install --frozen-lockfile --immutable --offline --ignore-scripts --check-files : none
add -D -E -O --dev --exact --optional --ignore-scripts : packages
list --depth= --pattern= : none
outdated : names
why : names
";

const MAKE: &str = "\
. -j= -j -k -B -n -s -w -i -q -l= --jobs= --keep-going --always-make --dry-run --just-print --silent --quiet
    --print-directory --no-print-directory --ignore-errors --question --version : targets
";

const PYTEST: &str = "\
. -v -vv -q -s -x -l -k= -m= -n= -r= --verbose --quiet --exitfirst --lf --last-failed --ff --failed-first --nf --sw
    --stepwise --maxfail= --tb= --durations= --collect-only --co --no-header --no-summary --showlocals --capture=
    --color= --markers --fixtures --version --cov= : inside
";

/// Returns the tests, which may lead out of the workspace through a link, and the words that begin with `@`: pytest
/// reads more words from the file that they name.
fn of_pytest(words: &[Word]) -> Vec<Hazard> {
    let from_file = |at: &usize| words[*at].text.starts_with(['@', UNKNOWN]);
    let files = (1..words.len()).filter(from_file).map(|at| Hazard::new(at, RISKY_OPTION));
    let operands = Usage::find(PYTEST, words, 1).map(|usage| usage.read(words, 1).operands).unwrap_or_default();
    // `a.py::Class::test` is a test in a file.
    files.chain(operands.into_iter().map(Hazard::folder)).collect()
}

const PIP: &str = "\
. -V --version : none
list -o -u --outdated --uptodate --editable --user --format= : none
show -f --files : names
freeze -l --local --user --all : none
check : none
install -q -v -U --quiet --verbose --upgrade --no-deps --user --pre --dry-run : packages
";
