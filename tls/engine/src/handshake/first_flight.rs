//! The client's first flight: a ClientHello, and the keys of early data where that is offered.

use reprise_model::{SharedGroups, Version};
use reprise_wire::{NamedGroup, ServerHello};

use crate::client_hello::{Hello, binder_start};
use crate::core::Core;
use crate::early_data::EarlyData;
use crate::error::{Error, Misbehaviour};
use crate::hello_form::GREASE;
use crate::key_schedule::tls13::EarlySecret;
use crate::key_share::KeyShare;
use crate::offer::Offer;
use crate::offered::Offered;
use crate::protection::Sealer;
use crate::suite::Suite;
use crate::transcript::{Transcript, hash_of};

/// The ClientHello is sent; the server chooses.
pub(crate) struct ExpectServerHello {
    pub(super) offer: Offer,
    /// Whether the first ClientHello offered a session; the second may not any more.
    pub(super) session_offered: bool,
    pub(super) client_random: [u8; 32],
    pub(super) session_id: Vec<u8>,
    /// One of each group that was shared; after a retry that of the group that was asked for.
    pub(super) key_shares: Vec<Box<dyn KeyShare>>,
    /// The early secret of the offered PSK.
    pub(super) early: Option<EarlySecret>,
    /// What a HelloRetryRequest has fixed.
    pub(super) retried: Option<Retry>,
}

/// What a HelloRetryRequest has fixed.
pub(crate) struct Retry {
    pub(super) suite: &'static Suite,
    /// The group, if it asked for one.
    pub(super) group: Option<NamedGroup>,
    /// The groups of the shares before.
    pub(super) shared: SharedGroups,
    /// All messages so far.
    pub(super) transcript: Transcript,
}

impl ExpectServerHello {
    pub(super) fn start(core: &mut Core, offer: Offer) -> Result<Self, Error> {
        let config = core.config.clone();
        if config.versions.is_empty() {
            return Err(Error::NothingToOffer("no version"));
        }
        offer.check(&config)?;
        let tls13 = config.versions.contains(&Version::Tls13);
        let mut client_random = [0; 32];
        config.entropy.fill(&mut client_random)?;
        let session_id = match &offer {
            Offer::SessionId(session) => session.session_id.clone(),
            // RFC 5077 §3.4: the echo of a fresh ID tells that the ticket was taken.
            Offer::SessionTicket(_) => random_session_id(core)?,
            // RFC 9846 §4.2.2: middlebox compatibility.
            _ if tls13 && core.config.is_compatible() => random_session_id(core)?,
            _ => Vec::new(),
        };
        if tls13 && config.groups.is_empty() {
            return Err(Error::NothingToOffer("no group"));
        }
        let shared = config.shared_groups().iter().filter(|group| tls13 && config.shape.key_share && group.0 != GREASE);
        let key_shares = shared.map(|&group| config.key_shares.share(group)).collect::<Result<_, _>>()?;

        let session_offered = !matches!(offer, Offer::Full { .. });
        let (early, retried) = (None, None);
        let mut state = Self { offer, session_offered, client_random, session_id, key_shares, early, retried };
        state.send_hello(core, None)?;
        state.begin_early_data(core)?;
        Ok(state)
    }

    /// Where early data is offered, it follows the ClientHello under keys of its own.
    fn begin_early_data(&self, core: &mut Core) -> Result<(), Error> {
        let (Offer::Early(ticket), Some(early)) = (&self.offer, &self.early) else { return Ok(()) };
        let hello = hash_of(ticket.suite.hash, core.offered.message());
        let secret = early.client_early_traffic(hello.as_ref())?;
        core.log_secret("CLIENT_EARLY_TRAFFIC_SECRET", &self.client_random, secret.as_bytes());
        core.send_change_cipher_spec();
        core.send_under(Sealer::tls13(ticket.suite, &secret)?);
        core.early_data = EarlyData::offered(ticket);
        Ok(())
    }

    /// Sends the first or the second ClientHello, its binder over all that went before.
    pub(super) fn send_hello(&mut self, core: &mut Core, cookie: Option<&[u8]>) -> Result<(), Error> {
        let hello = Hello {
            random: &self.client_random,
            session_id: &self.session_id,
            key_shares: &self.key_shares,
            is_second: self.retried.is_some(),
            cookie,
            offer: &self.offer,
            now: core.now,
        };
        let mut message = hello.emit(&core.config)?;
        if let Some(psk) = self.offer.psk() {
            let early = psk.early_secret()?;
            let start = binder_start(&message, psk, core.config.shape.decoys);
            let (covered, binders) = message.split_at_mut(start);
            let transcript = match &self.retried {
                None => hash_of(psk.hash(), covered),
                Some(retry) => retry.transcript.with(covered),
            };
            let binder = early.binder(psk.binder_label(), transcript.as_ref())?;
            // The last of them: those of the decoys prove nothing.
            let (_, last) = binders.split_at_mut(binders.len().saturating_sub(binder.as_ref().len()));
            last.copy_from_slice(binder.as_ref());
            self.early = Some(early);
        }
        if let Some(retry) = &mut self.retried {
            retry.transcript.add(&message);
        }
        core.send_hello(&message)?;
        core.offered = Offered::by(message);
        Ok(())
    }

    /// As if these ClientHellos, the last of them with this share, had been sent: for traces of others.
    #[cfg(test)]
    pub(super) fn having_sent(
        core: &mut Core,
        offer: Offer,
        key_share: Box<dyn KeyShare>,
        hello: &[u8],
        retried: Option<Retry>,
    ) -> Result<Self, Error> {
        let body = hello.get(reprise_wire::Handshake::HEADER_LEN..).unwrap_or_default();
        let sent = reprise_wire::ClientHello::parse(body).map_err(Error::malformed("ClientHello"))?;
        let early = offer.psk().map(|psk| psk.early_secret()).transpose()?;
        core.send_handshake(hello)?;
        core.offered = Offered::by(hello.to_vec());
        let state = Self {
            session_offered: early.is_some(),
            offer,
            client_random: *sent.random,
            session_id: sent.session_id.to_vec(),
            key_shares: vec![key_share],
            early,
            retried,
        };
        state.begin_early_data(core)?;
        Ok(state)
    }

    pub(super) fn check_echo(&self, hello: &ServerHello<'_>) -> Result<(), Error> {
        if hello.session_id == self.session_id { Ok(()) } else { Err(Misbehaviour::SessionIdNotEchoed.into()) }
    }

    /// The transcript up to and without the ServerHello.
    pub(super) fn transcript(retried: Option<Retry>, core: &Core, suite: &Suite) -> Transcript {
        match retried {
            Some(retry) => retry.transcript,
            None => Transcript::beginning(suite.hash, core.offered.message()),
        }
    }
}

fn random_session_id(core: &Core) -> Result<Vec<u8>, Error> {
    let mut session_id = vec![0; 32];
    core.config.entropy.fill(&mut session_id)?;
    Ok(session_id)
}
