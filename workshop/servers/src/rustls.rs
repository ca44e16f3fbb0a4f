//! The lab's embedded server as one among the real ones: rustls over a socket, with rustls' own account.

use reprise_lab::EmbeddedServer;

use super::{Account, RealServer, RunningServer};
use crate::Result;

impl RealServer for EmbeddedServer {
    /// It runs within this process.
    fn running(&self) -> RunningServer {
        RunningServer { program: "rustls", address: self.address(), pid: std::process::id() }
    }

    /// rustls' `handshake_kind()`.
    fn accounts(&mut self) -> Result<Vec<Account>> {
        let told = EmbeddedServer::accounts(self).into_iter().map(|account| Account {
            client_port: account.peer_port,
            resumed: account.resumed,
            version: account.version,
            cipher: Some(account.cipher),
            group: account.group,
            client_verify: None,
            early_data: Some(account.early_data.is_some()),
        });
        Ok(told.collect())
    }
}
