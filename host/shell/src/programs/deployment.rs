//! Programs that deploy, publish, and run things elsewhere: on other machines, in containers, in the name of the user.
//! What they do cannot be taken back, and no lasting answer is offered for them.

use super::{Irreversible, Program};

pub(super) const ROWS: &[Program] = &[Program {
    irreversible: Irreversible::Always,
    ..Program::named(&[
        "ansible",
        "ansible-playbook",
        "aws",
        "az",
        "bunx",
        "cdk",
        "crontab",
        "docker",
        "docker-compose",
        "doctl",
        "eb",
        "firebase",
        "fly",
        "flyctl",
        "gcloud",
        "gh",
        "glab",
        "gsutil",
        "helm",
        "heroku",
        "kubectl",
        "launchctl",
        "netlify",
        "npx",
        "oc",
        "pipx",
        "pnpx",
        "podman",
        "pulumi",
        "railway",
        "sam",
        "serverless",
        "terraform",
        "tofu",
        "twine",
        "uvx",
        "vagrant",
        "vercel",
        "wrangler",
    ])
}];
