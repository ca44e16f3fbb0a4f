//! Nothing is said: handshake, wait for tickets, close.

use super::{Exchange, Reply};
use crate::fault::Fault;

/// Asks nothing, and takes no notice of what is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Exchange for Silent {
    fn begin(&mut self, _: Option<&[u8]>) -> Result<(), Fault> {
        Ok(())
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        Ok(&[])
    }

    fn receive(&mut self, _: &[u8]) -> Result<Reply, Fault> {
        Ok(Reply::Awaited)
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        Ok(Reply::Done)
    }

    fn keeps_alive(&self) -> bool {
        false
    }
}
