//! Containers. The commands of `docker run` or `kubectl exec` run elsewhere and are not followed: a rule has to name
//! them.

use super::Program;

pub(super) const ROWS: &[Program] = &[
    Program { needs_literals: true, has_commands: true, ..Program::named(&["docker", "podman", "kubectl"]) },
    Program { has_commands: true, ..Program::named(&["helm"]) },
];
