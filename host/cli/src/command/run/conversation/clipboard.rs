//! A text for the terminal's clipboard: OSC 52, which reaches the machine that the user sits at, also over ssh.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_settings::environment::Environment;
use host_settings::error::Failure;

/// The longest text that is handed over, in bytes: what most terminals take.
const MAX_TEXT: usize = 74_000;

/// Returns the sequence that copies the text, wrapped for a multiplexer between this process and the terminal.
pub(super) fn sequence(text: &str, environment: &Environment) -> Result<String, Failure> {
    if text.len() > MAX_TEXT {
        let message = format!("the answer has {} bytes, and a terminal's clipboard takes {MAX_TEXT}", text.len());
        return Err(Failure::input(message).help("use /export to write the session to a file"));
    }
    let sequence = format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text));
    Ok(if environment.variable("TMUX").is_some() {
        // tmux takes it for its own buffer and hands it on with `set -g set-clipboard on`; or lets it through with
        // `allow-passthrough`.
        format!("{sequence}\u{1b}Ptmux;\u{1b}{sequence}\u{1b}\\")
    } else if environment.variable("STY").is_some() {
        format!("\u{1b}P{sequence}\u{1b}\\")
    } else {
        sequence
    })
}
