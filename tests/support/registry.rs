//! Debian's `docker-registry` on this machine, on a port that the system chose; it ends with the test.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::debian;

/// The name and the password that a registry with a login takes.
pub const LOGIN: (&str, &str) = ("somebody", "correct horse");

/// `LOGIN` as the registry keeps it: bcrypt, of the fewest rounds.
const HTPASSWD: &str = "$2b$04$AK8Hf5hyhIVjiLmzDOumDuQKtcdewz4xUfChosGOCAlx9qAUWYSWW";

/// A registry. Dropping it ends it.
#[derive(Debug)]
pub struct DockerRegistry {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl DockerRegistry {
    /// A registry that takes whatever anybody brings, or wants [`LOGIN`] first.
    pub fn start(with_login: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let auth = match with_login {
            true => format!("auth: {{htpasswd: {{realm: tests, path: '{}'}}}}\n", at("htpasswd").display()),
            false => String::new(),
        };
        std::fs::write(at("htpasswd"), format!("{}:{HTPASSWD}\n", LOGIN.0)).expect("written");
        let storage = at("storage").display().to_string();
        let config = format!(
            "version: 0.1\nlog: {{level: info, formatter: text}}\nstorage: {{filesystem: {{rootdirectory: '{storage}'}}}}\n\
             http: {{addr: '127.0.0.1:0'}}\n{auth}"
        );
        std::fs::write(at("config.yml"), config).expect("written");
        let mut command = debian::program("docker-registry").expect("it can be had").command();
        command.arg("serve").arg(at("config.yml")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut said = Vec::new();
        let port = loop {
            let Some(Ok(line)) = lines.next() else { panic!("the registry ended: {said:#?}") };
            if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                break digits.parse().expect("a port");
            }
            said.push(line);
        };
        // Its log is read on, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port, _folder: folder }
    }

    /// The name of a repository there.
    pub fn name(&self, repository: &str) -> String {
        format!("127.0.0.1:{}/{repository}", self.port)
    }
}
