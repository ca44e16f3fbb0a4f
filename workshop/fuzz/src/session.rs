//! A saved session: any bytes are one or an error, and one that is loaded can be offered and is saved as it was.

use std::time::{Duration, SystemTime};

use reprise_engine::{Error, Offer, Session};
use reprise_model::Nanos;
use reprise_scripted::{NOW, client};

/// The server of the seeds.
pub(crate) const SERVER: &str = "localhost:443";

/// The moment of loading, and of saving the seeds.
pub(crate) fn date() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

pub(crate) fn run(bytes: &[u8]) {
    let Ok(session) = Session::decode(bytes, SERVER, Nanos(0), date()) else { return };
    let saved = session.encode(SERVER, Nanos(0), date());
    let again = Session::decode(&saved, SERVER, Nanos(0), date()).unwrap();
    assert_eq!(format!("{session:?}"), format!("{again:?}"));
    // One of the first format says nothing of the server's certificate: a length more.
    assert!(saved.len() <= bytes.len() + 1);

    let mut config = client::trusting_client();
    let offer = match session {
        Session::Tls13(ticket) if ticket.max_early_data.is_some() => {
            config.alpn.extend(ticket.alpn.clone());
            Offer::Early(ticket)
        }
        Session::Tls13(ticket) => Offer::Ticket(ticket),
        Session::Tls12(session) if session.ticket.is_some() => Offer::SessionTicket(session),
        Session::Tls12(session) => Offer::SessionId(session),
    };
    match client::start(&config.into(), offer, NOW) {
        Ok(mut client) => assert!(!client.take_outgoing(NOW).is_empty()),
        // A session may have neither an ID nor a ticket, and a ticket may be too long for a hello.
        Err(Error::NothingToOffer(_) | Error::TooLarge { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}
