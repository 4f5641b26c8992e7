//! When a conversation is shortened.

/// When and how a conversation is shortened. The default is what Gemini CLI does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressionConfig {
    /// The most tokens that the model takes at once; `None` looks it up by the model's name.
    pub window: Option<u64>,
    /// The most tokens after which it is shortened, whatever share of the window that is: from there on the model works
    /// worse or costs more. `None` if only the share counts.
    pub comfortable: Option<u64>,
    /// From which share of the window on a conversation is shortened before a turn; 0 is never.
    pub threshold: f64,
    /// Share of the characters that the summary replaces.
    pub summarised: f64,
}

impl Default for CompressionConfig {
    fn default() -> Self {
        Self { window: None, comfortable: None, threshold: 0.7, summarised: 0.7 }
    }
}
