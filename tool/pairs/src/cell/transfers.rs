//! Transfers of data in bulk over one connection: what its records cost who sends them and who receives them.

use reprise_model::document::BulkSender;
use reprise_model::{Kind, Nanos};

use super::Cell;
use super::agreed::check;
use crate::batch::Batch;
use crate::bulk::Bulk;
use crate::failed::Failed;
use crate::transport::{Connected, Says};

/// How many transfers say what one costs.
const WARM_UP_TRANSFERS: u32 = 16;

/// Transfers over one connection.
struct Transferred {
    batch: Batch,
    /// On the wire, of one transfer: of the client, and of the server.
    bytes: [u64; 2],
}

impl Cell {
    /// So many transfers that are counted, after one that is checked in whole and is not.
    pub(super) fn transfer(&mut self, bulk: Bulk, transfers: u32) -> Result<Batch, Failed> {
        self.transfers(bulk, transfers).map(|done| done.batch)
    }

    /// What one transfer costs both sides, and its bytes.
    pub(super) fn warm_up_transfers(&mut self, bulk: Bulk) -> Result<(Nanos, Connected), Failed> {
        let done = self.transfers(bulk, WARM_UP_TRANSFERS)?;
        let cost = (done.batch.client_ns + done.batch.server_ns) / u64::from(WARM_UP_TRANSFERS);
        let [sent, received] = done.bytes;
        Ok((Nanos(cost), Connected { sent, received, ..Connected::default() }))
    }

    fn transfers(&mut self, bulk: Bulk, transfers: u32) -> Result<Transferred, Failed> {
        let data: Vec<u8> = (0..bulk.bytes()).map(|index| index as u8).collect();
        let (mut batch, mut wire) = (Batch::default(), 0);
        let connected = self.transport.connect_and(None, Says::Nothing, |pair| {
            wire = pair.transfer_checked(bulk, &data)?;
            let clock = pair.clock;
            let mut thread = Nanos(0);
            clock.time(&mut thread, || (0..transfers).try_for_each(|_| pair.transfer(bulk, &data)))?;
            let [client, server] = pair.take_spent();
            (batch.client_ns, batch.server_ns) = (client.0, server.0);
            // Each transfer is a turn of each side.
            batch.thread_ns = thread.0.saturating_sub(clock.readings(2 * u64::from(transfers)).0);
            Ok(())
        })?;
        if let Some(seen) = connected.observed {
            check(self.case, seen, connected.accounts, false)?;
        }
        batch.charged_ns = batch.client_ns + batch.server_ns;
        batch.kinds = vec![(Kind::Full, transfers)];
        let bytes = if bulk.sender == BulkSender::Client { [wire, 0] } else { [0, wire] };
        Ok(Transferred { batch, bytes })
    }
}
