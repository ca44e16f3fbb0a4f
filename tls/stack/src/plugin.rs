//! A C library that was loaded at run time.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use reprise_connection::{Detail, End, Endpoint, EndpointEvent, Fault};
use reprise_model::{Facts, FaultName, Nanos};
use sha2::{Digest, Sha256};

use crate::ffi::{self, RawConnection, RawContext, RawPrimitive, RawSession, Table};
use crate::optimised::optimised;
use crate::session::LibrarySession;
use crate::{
    Ability, About, Context, ContextOptions, PrimitiveOptions, ReadyPrimitive, SessionPlan, Side, Stack, StackAccount,
    StackEndpoint, StackError, StackSession, StackSessions, closed, receive_each,
};

/// A C library that was loaded at run time, and stays loaded.
pub struct Plugin {
    table: Table,
    about: About,
}

impl Plugin {
    /// Loads it: its code runs in this process.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn load(path: &Path) -> Result<Self, StackError> {
        let bytes = std::fs::read(path).map_err(|source| StackError::Unreadable { path: path.to_owned(), source })?;
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let (table, said) = ffi::load(path)?;
        let ffi::Said { name, version, flags, abilities } = said;
        let optimised = optimised(&bytes);
        Ok(Self { table, about: About { name, version, flags, optimised, abilities, sha256: Some(sha256) } })
    }
}

impl Stack for Plugin {
    fn about(&self) -> &About {
        &self.about
    }

    fn context(&self, options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError> {
        self.context_of(RawContext::new(self.table, options, false)?)
    }

    fn primitive(&self, options: &PrimitiveOptions<'_>) -> Result<Box<dyn ReadyPrimitive>, StackError> {
        RawPrimitive::new(self.table, options).map(|primitive| Box::new(primitive) as Box<dyn ReadyPrimitive>)
    }

    fn context_with_library(&self, options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError> {
        if !self.about.abilities.has(Ability::LibraryContext) {
            return Err(StackError::unsupported(format!(
                "{} has no library context that a program could create again",
                self.about.name
            )));
        }
        self.context_of(RawContext::new(self.table, options, true)?)
    }
}

impl Plugin {
    fn context_of(&self, raw: Arc<RawContext>) -> Result<Box<dyn Context>, StackError> {
        Ok(Box::new(PluginContext { raw, is_shareable: self.about.abilities.has(Ability::SharedContext) }))
    }
}

#[derive(Clone)]
struct PluginContext {
    raw: Arc<RawContext>,
    /// Whether the plugin says that several threads may use it at once.
    is_shareable: bool,
}

impl Context for PluginContext {
    fn endpoint(&self) -> Box<dyn StackEndpoint> {
        Box::new(PluginEndpoint {
            context: Arc::clone(&self.raw),
            connection: None,
            early_data: Vec::with_capacity(ffi::ROOM),
            was_ready: false,
        })
    }

    fn import(&self, bytes: &[u8]) -> Result<StackSession, StackError> {
        self.raw.import(bytes).map(|session| StackSession::new(Rc::new(session)))
    }

    fn pregenerate(&self, count: usize) -> Result<(), StackError> {
        self.raw.pregenerate(count)
    }

    fn for_another_thread(&self) -> Result<Box<dyn Context + Send>, StackError> {
        if !self.is_shareable {
            return Err(StackError::unsupported("the plugin does not say that several threads may use one context at once"));
        }
        Ok(Box::new(self.clone()))
    }
}

impl LibrarySession for Rc<RawSession> {
    fn again(&self) -> Option<StackSession> {
        Some(StackSession::new(Self::clone(self)))
    }

    fn export(&self) -> Result<Vec<u8>, StackError> {
        RawSession::export(self)
    }

    /// A box, and what is counted by two numbers.
    fn wrapping(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<usize>() + size_of::<RawSession>()
    }

    fn library(&self) -> &'static str {
        "plugin"
    }
}

struct PluginEndpoint {
    context: Arc<RawContext>,
    connection: Option<RawConnection>,
    early_data: Vec<u8>,
    was_ready: bool,
}

/// Far more than any context here allows.
const MOST_EARLY_DATA: usize = 1 << 20;

impl PluginEndpoint {
    /// Goes on with the handshake, as far as the bytes that are there lead. Whether it is complete.
    fn shake_hands(&mut self, out: &mut Vec<u8>) -> Result<bool, Fault> {
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        loop {
            let returned = connection.handshake();
            let taken = take(connection, out)?;
            read_early(connection, &mut self.early_data)?;
            match returned {
                0 => {
                    self.was_ready = true;
                    return Ok(true);
                }
                ffi::WANT_READ => return Ok(false),
                // It can go on only where something was in its way.
                ffi::WANT_WRITE if taken > 0 => {}
                error => return Err(fault(connection, "handshake", error)),
            }
        }
    }

    /// Hands over what the peer sent.
    fn feed(&mut self, records: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut fed = 0;
        while let Some(rest) = records.get(fed..).filter(|rest| !rest.is_empty()) {
            let connection = self.connection.as_mut().ok_or_else(closed)?;
            match connection.feed(rest) {
                count @ 1.. => fed += count as usize,
                // The library has room for a part of a record only: it acts on what it has.
                ffi::WANT_READ if fed > 0 && !self.was_ready => {
                    self.shake_hands(out)?;
                }
                ffi::WANT_WRITE if take(connection, out)? > 0 => {}
                error => return Err(fault(connection, "feed", error)),
            }
        }
        Ok(())
    }

    /// What came after the handshake, with application data in the front of `record`.
    fn heard<'r>(&mut self, record: &'r mut [u8], out: &mut Vec<u8>) -> Result<EndpointEvent<'r>, Fault> {
        Ok(match self.read(record, out)? {
            None => EndpointEvent::Closed,
            Some(0) => EndpointEvent::Nothing,
            Some(length) => EndpointEvent::Data(record.get(..length).unwrap_or_default()),
        })
    }

    /// Reads application data into the front of `record`: how much there was; `None` once the peer has closed. Where there is
    /// room, one call gives all of a record: a second would only say so.
    fn read(&mut self, record: &mut [u8], out: &mut Vec<u8>) -> Result<Option<usize>, Fault> {
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        let mut length = 0;
        while let Some(room) = record.get_mut(length..).filter(|room| !room.is_empty()) {
            let returned = connection.read(room);
            // What it answers is to what is no data.
            if let 1.. = returned {
                let is_all = (returned as usize) < room.len();
                length += returned as usize;
                if is_all {
                    break;
                }
                continue;
            }
            let taken = take(connection, out)?;
            match returned {
                ffi::WANT_READ => break,
                ffi::WANT_WRITE if taken > 0 => {}
                ffi::CLOSED if length == 0 => return Ok(None),
                ffi::CLOSED => break,
                error => return Err(fault(connection, "read", error)),
            }
        }
        Ok(Some(length))
    }
}

impl Endpoint for PluginEndpoint {
    type Shared = StackSessions;
    type Plan = SessionPlan;

    fn begin(
        &mut self,
        _shared: &mut StackSessions,
        plan: SessionPlan,
        _now: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.was_ready = false;
        self.connection = None;
        self.early_data.clear();
        let session: Option<Rc<RawSession>> = plan.session.map(StackSession::into_own).transpose()?;
        let connection = self.context.connect(session.as_deref());
        let connection =
            connection.map_err(|error| Fault::new(FaultName::Crypto).with(Detail::Said(error.to_string().into_bytes())))?;
        let connection = self.connection.insert(connection);
        if let Some(data) = &plan.early_data {
            let returned = connection.early_write(data);
            take(connection, out)?;
            if returned < 0 {
                return Err(fault(connection, "early_write", returned));
            }
        }
        // A client speaks first; a server has nothing to do yet.
        match self.context.side() {
            Side::Client => self.shake_hands(out).map(drop),
            Side::Server => Ok(()),
        }
    }

    fn receive<'r>(
        &mut self,
        _shared: &mut StackSessions,
        _now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        self.feed(record, out)?;
        if !self.was_ready {
            return Ok(if self.shake_hands(out)? { EndpointEvent::Ready } else { EndpointEvent::Nothing });
        }
        self.heard(record, out)
    }

    fn receive_end(&mut self, _now: Nanos, _in_record: bool, _out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.was_ready { Ok(()) } else { Err(Fault::new(FaultName::ClosedEarly)) }
    }

    fn send(&mut self, _now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        let mut sent = 0;
        while let Some(rest) = data.get(sent..).filter(|rest| !rest.is_empty()) {
            let returned = connection.write(rest);
            let taken = take(connection, out)?;
            match returned {
                1.. => sent += returned as usize,
                ffi::WANT_WRITE if taken > 0 => {}
                error => return Err(fault(connection, "write", error)),
            }
        }
        Ok(())
    }

    fn close(&mut self, _now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        let returned = connection.close();
        take(connection, out)?;
        if returned < 0 { Err(fault(connection, "close", returned)) } else { Ok(()) }
    }

    /// A library may not tell how it resumed, and then nothing is claimed: [`StackEndpoint::account`] says what it tells.
    fn facts(&self) -> Option<Facts> {
        None
    }

    fn is_confirmed(&self) -> bool {
        self.was_ready
    }

    fn end(&mut self, shared: &mut StackSessions, how: End) {
        let Some(mut connection) = self.connection.take() else { return };
        if how == End::Completed
            && let Ok(Some(session)) = connection.session()
        {
            shared.push(StackSession::new(Rc::new(session)));
        }
    }
}

impl StackEndpoint for PluginEndpoint {
    fn early_data(&self) -> &[u8] {
        &self.early_data
    }

    /// A flight of the handshake is read as from a socket, where one call gives all of it.
    fn receive_all(
        &mut self,
        sessions: &mut StackSessions,
        records: &mut [u8],
        out: &mut Vec<u8>,
        hear: &mut dyn FnMut(EndpointEvent<'_>),
    ) -> Result<(), Fault> {
        if self.was_ready {
            return receive_each(self, sessions, records, out, hear);
        }
        self.feed(records, out)?;
        if self.shake_hands(out)? {
            hear(EndpointEvent::Ready);
            // A ticket or data may have come with the peer's Finished.
            hear(self.heard(records, out)?);
        }
        Ok(())
    }

    fn account(&self) -> Result<StackAccount, StackError> {
        self.connection.as_ref().ok_or(StackError::refused("facts", "there is no connection"))?.account()
    }
}

/// Moves what the library wants to send to `out`: how much that was.
fn take(connection: &mut RawConnection, out: &mut Vec<u8>) -> Result<usize, Fault> {
    let before = out.len();
    loop {
        match connection.take(out) {
            0.. if out.len() == out.capacity() => {}
            0.. => return Ok(out.len() - before),
            error => return Err(fault(connection, "take", error)),
        }
    }
}

/// Moves the early data that the server has accepted to `early_data`.
fn read_early(connection: &mut RawConnection, early_data: &mut Vec<u8>) -> Result<(), Fault> {
    loop {
        match connection.early_read(early_data) {
            0 => return Ok(()),
            1.. if early_data.len() > MOST_EARLY_DATA => return Err(Fault::new(FaultName::TooLarge)),
            1.. => {}
            error => return Err(fault(connection, "early_read", error)),
        }
    }
}

/// What a call came to that failed; the library's alert, if it made one, was taken already or is never sent.
fn fault(connection: &RawConnection, call: &'static str, returned: isize) -> Fault {
    let name = match returned {
        ffi::UNSUPPORTED => FaultName::Unspoken,
        ffi::BAD_CERTIFICATE => FaultName::BadCertificate,
        ffi::CLOSED => FaultName::ClosedEarly,
        ..=-100 => FaultName::PeerMisbehaved,
        // The contract of the header is broken: the library is stuck, or counts what cannot be.
        _ => FaultName::Crypto,
    };
    Fault::new(name).with(Detail::Said(connection.context().said(call, returned).into_bytes()))
}
