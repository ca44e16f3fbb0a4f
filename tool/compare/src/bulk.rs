//! Application data in bulk: what its records cost who sends them and who receives them.

use std::fmt;

use reprise_model::document::{BulkSender, CompareBulk, ComparedStack};
use reprise_model::{Kind, Nanos};
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, check};
use crate::message::{Batch, Failed};
use crate::pair::{Connected, Says};
use crate::stacks::StackRef;

/// Data that one side sends to the other, in records of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bulk {
    /// Who sends it.
    pub sender: BulkSender,
    /// Bytes of data in each record: 1 to [`LARGEST_RECORD`].
    pub record: u16,
    /// Whether the library may use what this CPU has for AES.
    pub hardware: bool,
}

/// What a record may have of data (RFC 9846 §5.1).
pub const LARGEST_RECORD: u16 = 1 << 14;

/// Bytes of one transfer, all of which are on their way before the first is received: few enough for the caches that a core has to itself.
const TRANSFER: usize = 1 << 16;

/// How many transfers say what one costs.
const WARM_UP_TRANSFERS: u32 = 16;

impl Bulk {
    /// Bytes of one transfer: whole records, at least one.
    pub(crate) fn bytes(self) -> usize {
        let record = usize::from(self.record);
        (TRANSFER / record).max(1) * record
    }

    /// As documents have it.
    pub(crate) fn document(self) -> CompareBulk {
        let Self { sender, record, hardware } = self;
        CompareBulk { sender, bytes: self.bytes() as u64, record: u64::from(record), hardware }
    }
}

impl fmt::Display for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hardware = if self.hardware { "" } else { ", without AES instructions" };
        write!(f, "the {} sends records of {} bytes{hardware}", self.sender, self.record)
    }
}

/// Transfers over one connection.
struct Transferred {
    batch: Batch,
    /// On the wire, of one transfer: of the client, and of the server.
    bytes: [u64; 2],
}

impl Cell {
    /// So many transfers that are counted, after one that is checked in whole and is not.
    pub(crate) fn transfer(&mut self, bulk: Bulk, transfers: u32) -> Result<Batch, Failed> {
        self.transfers(bulk, transfers).map(|done| done.batch)
    }

    /// What one transfer costs both sides, and its bytes.
    pub(crate) fn warm_up_transfers(&mut self, bulk: Bulk) -> Result<(Nanos, Connected), Failed> {
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

/// By which variables of its environment a library leaves the AES instructions of this CPU alone, or why it cannot be told to. Each is read
/// when the library is initialised.
pub(crate) fn without_aes_instructions(at: &StackRef, info: &ComparedStack) -> Result<Switch, Failed> {
    // OPENSSL_ia32cap(3): PCLMULQDQ is bit 33, AES-NI bit 57; VAES is used with AES-NI alone.
    switch(at, info, &[("OPENSSL_ia32cap", "~0x200000200000000")])
}

/// The same of those for AES and for SHA.
pub(crate) fn without_cpu_instructions(at: &StackRef, info: &ComparedStack) -> Result<Switch, Failed> {
    // Of the second number SHA is bit 29.
    switch(at, info, &[("OPENSSL_ia32cap", "~0x200000200000000:~0x20000000")])
}

/// Variables of an environment, and what they are set to.
type Switch = &'static [(&'static str, &'static str)];

fn switch(at: &StackRef, info: &ComparedStack, of_openssl: Switch) -> Result<Switch, Failed> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failed::unsupported("how libraries are kept from this CPU's instructions is known of x86-64 alone"));
    }
    let name = match at {
        StackRef::BuiltIn(name) => name.as_str(),
        StackRef::Plugin(_) => info.library.as_str(),
    };
    match name {
        "OpenSSL" | "AWS-LC" | "BoringSSL" | "s2n-tls" | "rustls-aws-lc" | "engine" => Ok(of_openssl),
        // GnuTLS has code of its own and otherwise Nettle's, which has some too.
        "GnuTLS" => Ok(&[("GNUTLS_CPUID_OVERRIDE", "0x1"), ("NETTLE_FAT_OVERRIDE", "vendor:other")]),
        _ => Err(Failed::unsupported(format!("{name} has no switch for the AES instructions of this CPU"))),
    }
}
