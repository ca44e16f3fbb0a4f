//! A client's whole connection: the protocol in which it asks for TLS, TLS, and what it asks under it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use reprise_connection::ServerReply;
use reprise_model::WatchedEnd;

use super::connection::{Serving, first_of};
use super::data_channel::DataChannel;
use crate::embedded::{End, Moment};
use crate::listener::Guest;

impl Serving {
    /// Serves one connection to its end.
    pub(super) fn serve(&self, guest: &Guest<'_>) {
        let number = self.book.arrive(guest.peer);
        let end = self.converse(guest, number);
        self.end(number, end);
    }

    fn converse(&self, guest: &Guest<'_>, number: u32) -> WatchedEnd {
        let reached = self.reach_tls(&guest.stream).map_err(|end| self.fail(number, &end));
        let mut connection = match reached.and_then(|early| self.begin(&guest.stream, number, early)) {
            Ok(connection) => connection,
            Err(end) => return end,
        };
        connection.looks_before_answering = true;
        let seen = |moment: Moment<'_>| self.book_moment(number, &moment);
        let closed = match self.starttls {
            Some(protocol) => {
                let mut channel = DataChannel::new(self, number, &guest.stream);
                connection.answer_service(protocol, seen, |command| channel.answer(command))
            }
            None => connection.answer_requests(seen),
        };
        self.part(connection, number, closed)
    }

    /// Until the client has asked for TLS. Returns what it sent after that: one of MySQL awaits no consent.
    fn reach_tls(&self, mut socket: &TcpStream) -> Result<Vec<u8>, End> {
        socket.set_read_timeout(Some(self.handshake_timeout))?;
        socket.set_write_timeout(Some(self.handshake_timeout))?;
        let mut heard = Vec::new();
        let Some(protocol) = self.starttls else { return Ok(heard) };
        let deadline = Instant::now() + self.handshake_timeout;
        socket.write_all(protocol.greeting())?;
        let mut buffer = [0; 4096];
        loop {
            match protocol.reply(&mut heard, false) {
                Ok(Some(ServerReply::Say(words))) => socket.write_all(&words)?,
                Ok(Some(ServerReply::StartTls(words))) => {
                    socket.write_all(&words)?;
                    return Ok(heard);
                }
                Ok(Some(ServerReply::Close(words))) => {
                    socket.write_all(&words)?;
                    return Err(End::ClosedInTheClear);
                }
                // No protocol has a data channel before TLS.
                Ok(Some(ServerReply::Data(_))) => return Err(End::ClosedInTheClear),
                Ok(None) if Instant::now() > deadline => return Err(End::TooSlow),
                Ok(None) => match socket.read(&mut buffer)? {
                    0 => return Err(End::ClosedInTheClear),
                    count => heard.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                },
                Err(_) => return Err(End::OtherProtocol(protocol, first_of(&heard))),
            }
        }
    }
}
