//! From records to states.

use std::ops::Range;

use reprise_model::{Direction, Version, What};
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ChangeCipherSpec, ContentType, HEADER_LEN, HandshakeType, HelloRequest,
    MAX_PLAINTEXT,
};

use super::Connection;
use crate::core::Core;
use crate::deframer::Deframer;
use crate::error::{Error, Misbehaviour};
use crate::handshake::State;
use crate::joiner::Joiner;

impl Connection {
    /// Takes all whole records, up to the server's close_notify.
    pub(super) fn take_records(&mut self) -> Result<(), Error> {
        // Apart from the rest of the connection while its records are opened in place.
        let mut deframer = std::mem::take(&mut self.deframer);
        let result = self.take_records_of(&mut deframer);
        self.deframer = deframer;
        result
    }

    fn take_records_of(&mut self, deframer: &mut Deframer) -> Result<(), Error> {
        while !self.peer_closed
            && let Some(record) = deframer.next_record()?
        {
            if let Some(place) = self.take_record(record)? {
                self.core.application_data.extend_from_slice(record.get(place).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Takes one whole record, and says where in it application data stands.
    pub(super) fn take_record(&mut self, record: &mut [u8]) -> Result<Option<Range<usize>>, Error> {
        self.core.heard_record = true;
        let traffic = self.state.as_ref().is_some_and(State::is_traffic);
        let Opened { content_type, place, is_protected } = open(&mut self.core, record, traffic)?;
        let fragment = record.get(place.clone()).unwrap_or_default();
        if fragment.len() > MAX_PLAINTEXT {
            return Err(Error::TooLarge { what: "record", limit: MAX_PLAINTEXT });
        }
        match content_type {
            ContentType::HANDSHAKE if fragment.is_empty() => return Err(Misbehaviour::EmptyFragment.into()),
            ContentType::HANDSHAKE => {
                self.joiner.push(fragment);
                self.take_messages()?;
            }
            ContentType::ALERT => {
                let alert = Alert::parse(fragment).map_err(Error::malformed("alert"))?;
                // An alert that ends the connection is worth more than where it stands.
                self.take_alert(alert, is_protected)?;
                between_messages(&self.joiner)?;
            }
            ContentType::CHANGE_CIPHER_SPEC => {
                between_messages(&self.joiner)?;
                ChangeCipherSpec::parse(fragment).map_err(Error::malformed("ChangeCipherSpec"))?;
                self.core.observe_record(Direction::Received, What::ChangeCipherSpec, fragment.len(), is_protected);
                self.core.change_cipher_spec_received = true;
                self.take_change_cipher_spec(is_protected)?;
            }
            ContentType::APPLICATION_DATA if traffic => {
                between_messages(&self.joiner)?;
                if fragment.is_empty() {
                    self.core.count_idle("empty records")?;
                } else {
                    self.core.forgive_idle();
                }
                self.core.confirmed = true;
                self.core.observe(Direction::Received, What::ApplicationData, fragment.len());
                return Ok(Some(place));
            }
            other => return Err(self.unexpected(other)),
        }
        Ok(None)
    }

    fn take_messages(&mut self) -> Result<(), Error> {
        while let Some(message) = self.joiner.next_message()? {
            if message.msg_type == HandshakeType::HELLO_REQUEST && may_be_tls12(&self.core) {
                HelloRequest::parse(message.body).map_err(Error::malformed("HelloRequest"))?;
                self.core.observe_message(Direction::Received, &message);
                self.core.count_idle("HelloRequest")?;
                if self.state.as_ref().is_some_and(State::is_traffic) && !self.core.closed {
                    // RFC 5246 §7.4.1.1: during a handshake it is ignored, afterwards it may be declined.
                    self.core.send_alert(AlertLevel::WARNING, AlertDescription::NO_RENEGOTIATION)?;
                }
                continue;
            }
            let state = self.state.take().ok_or(Error::Closed)?;
            self.state = Some(state.handle(&mut self.core, &message)?);
        }
        Ok(())
    }

    fn take_change_cipher_spec(&mut self, is_protected: bool) -> Result<(), Error> {
        let traffic = self.state.as_ref().is_some_and(State::is_traffic);
        match self.core.version {
            Some(Version::Tls12) => {
                let state = self.state.take().ok_or(Error::Closed)?;
                self.state = Some(state.handle_change_cipher_spec(&mut self.core)?);
                Ok(())
            }
            // RFC 9846 §5: sent for middleboxes between the ClientHello and the server's Finished, and never protected,
            // it means nothing.
            _ if !is_protected && !traffic && self.core.config.versions.contains(&Version::Tls13) => {
                self.core.count_idle("ChangeCipherSpec")
            }
            _ => Err(self.unexpected(ContentType::CHANGE_CIPHER_SPEC)),
        }
    }

    fn take_alert(&mut self, alert: Alert, is_protected: bool) -> Result<(), Error> {
        self.core.observe_alert(Direction::Received, alert.description, is_protected);
        let traffic = self.state.as_ref().is_some_and(State::is_traffic);
        match alert.description {
            AlertDescription::CLOSE_NOTIFY => {
                self.peer_closed = true;
                if traffic {
                    // An alert under the application keys proves as much as data does.
                    self.core.confirmed = true;
                    return Ok(());
                }
                Err(Error::AlertReceived(alert.description))
            }
            AlertDescription::USER_CANCELED => self.core.count_idle("warning alerts"),
            // TLS 1.2 knows warnings that change nothing; in TLS 1.3 every alert ends the connection (RFC 9846 §6).
            _ if alert.level == AlertLevel::WARNING && self.core.version != Some(Version::Tls13) => {
                self.core.count_idle("warning alerts")
            }
            description => {
                self.peer_closed = true;
                Err(Error::AlertReceived(description))
            }
        }
    }

    fn unexpected(&self, received: ContentType) -> Error {
        let expected = self.state.as_ref().map_or("nothing", State::expected);
        Misbehaviour::UnexpectedRecord { received, expected }.into()
    }
}

fn may_be_tls12(core: &Core) -> bool {
    core.version.map_or_else(|| core.config.versions.contains(&Version::Tls12), |version| version == Version::Tls12)
}

/// RFC 9846 §5.1: no other record stands between the fragments of a handshake message.
fn between_messages(joiner: &Joiner) -> Result<(), Error> {
    if joiner.is_aligned() { Ok(()) } else { Err(Misbehaviour::InterleavedMessage.into()) }
}

/// What a record is, and where in it the content stands.
struct Opened {
    content_type: ContentType,
    place: Range<usize>,
    is_protected: bool,
}

/// Opens a record in place, if it is one to be opened.
fn open(core: &mut Core, record: &mut [u8], traffic: bool) -> Result<Opened, Error> {
    let outer = ContentType(record.first().copied().unwrap_or_default());
    let unprotected = Opened { content_type: outer, place: HEADER_LEN..record.len(), is_protected: false };
    let Some(opener) = &mut core.opener else { return Ok(unprotected) };
    if core.version == Some(Version::Tls13) {
        match outer {
            ContentType::APPLICATION_DATA => {}
            ContentType::CHANGE_CIPHER_SPEC => return Ok(unprotected),
            // A server that cannot go on before it has used its keys may say so in the clear. Such an alert is anyone's,
            // so it must not pass once a record under the keys has been seen.
            ContentType::ALERT if !traffic && opener.is_unused() && record.len() == HEADER_LEN + 2 => {
                return Ok(unprotected);
            }
            _ => {
                let expected = "a protected record";
                return Err(Misbehaviour::UnexpectedRecord { received: outer, expected }.into());
            }
        }
    }
    let (content_type, place) = opener.open(record)?;
    Ok(Opened { content_type, place, is_protected: true })
}
