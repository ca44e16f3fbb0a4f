//! FTP's data channel (RFC 4217 §9): a server may ask that data connections resume the session of their control connection, so that
//! nobody else takes them. Transfers with and without it show whether this one does.

mod control;
mod tls_stream;

use reprise_connection::Fault;
use reprise_model::{FaultName, Version};

use self::control::transfer;
use super::EarlyEnd;
use super::rate_limited_connector::RateLimitedConnector;
use crate::options::FtpLogin;
use crate::plan::VersionPlan;

/// A transfer and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataTransfer {
    /// The version of both connections.
    pub tls: Version,
    /// Whether the data connection offered the session of the control connection.
    pub offers_session: bool,
    /// Whether that was resumed; `None` where the handshake did not come so far.
    pub is_resumed: Option<bool>,
    /// Whether the server says that it is complete.
    pub is_complete: bool,
    /// The last line of the server's last reply to it.
    pub reply: String,
}

/// Why there was no transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTransfer {
    /// The server lets nobody of this name in: its reply.
    Login(String),
    /// It refuses a command that a transfer takes: the command and the reply.
    Refused(&'static str, String),
    /// It answers outside of TLS: the reply.
    InTheClear(String),
    /// A connection failed.
    Failed(Fault),
}

/// The transfers of a diagnosis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataChannel {
    /// In the order of time.
    pub transfers: Vec<DataTransfer>,
    /// Why there were not more.
    pub ended_by: Option<NoTransfer>,
}

/// So often each is tried: a session that is missing once may be chance.
const TIMES: usize = 2;

/// A control connection and a data connection each.
const CONNECTIONS: u32 = 2;

/// Transfers a listing under each version, without and with the control connection's session. What ended all stands beside it.
pub(super) fn try_transfers(
    limited: &mut RateLimitedConnector<'_>,
    plans: &[&VersionPlan],
    login: &FtpLogin,
) -> (DataChannel, Result<(), EarlyEnd>) {
    let mut found = DataChannel::default();
    for plan in plans {
        for offers_session in [false, true].repeat(TIMES) {
            if !limited.allows(CONNECTIONS) {
                return (found, Err(EarlyEnd::Limit));
            }
            match limited.converse(|connector| transfer(connector, plan, login, offers_session)) {
                Ok(Ok(transfer)) => found.transfers.push(transfer),
                Ok(Err(NoTransfer::Failed(fault))) if fault.name == FaultName::Interrupted => {
                    return (found, Err(EarlyEnd::Interrupted));
                }
                Ok(Err(why)) => {
                    found.ended_by = Some(why);
                    return (found, Ok(()));
                }
                Err(ended) => return (found, Err(ended)),
            }
        }
    }
    (found, Ok(()))
}

impl From<Fault> for NoTransfer {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}
