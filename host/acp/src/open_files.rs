//! The texts of the files that the user has open in the editor, asked for with `fs/read_text_file`.
//!
//! Deliberately not here: which files are asked about, and what an answer is used for (`host_plugin::OpenFiles`).

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{ReadTextFileRequest, SessionId};
use futures::future::BoxFuture;
use host_app::session::Session;
use host_plugin::OpenFiles;

use crate::connection::Connection;

/// The editor of one session.
struct Editor {
    connection: Connection,
    session: SessionId,
}

/// Lets the tools of a session read what its editor has.
pub(crate) fn connect(session: &Session, connection: &Connection, id: &SessionId) {
    let editor = Editor { connection: connection.clone(), session: id.clone() };
    session.app().runtime().set_open_files(Arc::new(editor));
}

impl OpenFiles for Editor {
    fn text<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let request = ReadTextFileRequest::new(self.session.clone(), path);
            match self.connection.send_request(request).block_task().await {
                Ok(response) => Some(response.content),
                Err(error) => {
                    // Many editors answer so for a file that is not open.
                    tracing::debug!(file = %path.display(), message = error.message, "the editor has no text");
                    None
                }
            }
        })
    }
}
