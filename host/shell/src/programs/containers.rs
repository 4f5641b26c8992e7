//! Containers. What `docker run` or `kubectl exec` runs is elsewhere, so it is not followed: a rule has to name it.

use super::Program;

pub(super) const ROWS: &[Program] = &[
    Program { needs_literals: true, has_commands: true, ..Program::named(&["docker", "podman", "kubectl"]) },
    Program { has_commands: true, ..Program::named(&["helm"]) },
];
