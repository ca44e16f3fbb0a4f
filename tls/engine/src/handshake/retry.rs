//! HelloRetryRequest: the server wants another key share, or its cookie back (RFC 9846 §4.2.4).

use reprise_model::{SharedGroups, Version};
use reprise_wire::extensions::{Cookie, KeyShareHelloRetryRequest};
use reprise_wire::{ExtensionType, ServerHello};

use super::State;
use super::checks::{Place, check_group, chosen_suite, only_permitted, read};
use super::first_flight::{ExpectServerHello, Retry};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::joiner::Message;
use crate::offer::Offer;
use crate::transcript::Transcript;

impl ExpectServerHello {
    pub(super) fn retry(
        mut self,
        core: &mut Core,
        message: &Message<'_>,
        hello: &ServerHello<'_>,
        version: Version,
    ) -> Result<State, Error> {
        if self.retried.is_some() {
            return Err(Misbehaviour::SecondRetry.into());
        }
        message.ends_record()?;
        if version != Version::Tls13 {
            return Err(Misbehaviour::IllegalRetry("it is not of TLS 1.3").into());
        }
        let suite = chosen_suite(core, hello, version)?;
        self.check_echo(hello)?;
        let extensions = hello.extensions.unwrap_or_default();
        only_permitted(core, extensions, Place::HelloRetryRequest)?;
        let selected = read(extensions, ExtensionType::KEY_SHARE, KeyShareHelloRetryRequest::parse)?;
        let group = selected.map(|selected| selected.selected_group);
        let cookie = read(extensions, ExtensionType::COOKIE, Cookie::parse)?.map(|cookie| cookie.cookie);
        if group.is_none() && cookie.is_none() {
            return Err(Misbehaviour::IllegalRetry("it asks for nothing").into());
        }
        let shared = SharedGroups::of(self.key_shares.iter().map(|share| share.group().0));
        if let Some(group) = group {
            check_group(core, group)?;
            if self.key_shares.iter().any(|share| share.group() == group) {
                return Err(Misbehaviour::IllegalRetry("it asks for the group whose share it has").into());
            }
            if core.config.answers_retry {
                self.key_shares = vec![core.config.key_shares.share(group)?];
            }
        }
        if !core.config.answers_retry {
            return Err(Error::RetryRequested(group));
        }

        // RFC 9846 §4.3.10: a HelloRetryRequest rejects early data; the second ClientHello is in the clear again.
        core.reject_early_data();
        core.send_in_the_clear();
        self.offer = self.offer.without_early_data();

        // A PSK whose hash is not the suite's cannot be used any more (RFC 9846 §4.2.4).
        if self.offer.psk().is_some_and(|psk| psk.hash() != suite.hash) {
            self.offer = Offer::Full { session_ticket: false };
            self.early = None;
        }
        let mut transcript = Transcript::after_retry(suite.hash, core.offered.message());
        transcript.add(message.raw);
        self.retried = Some(Retry { suite, group, shared, transcript });
        core.send_change_cipher_spec();
        self.send_hello(core, cookie)?;
        Ok(State::ServerHello(Box::new(self)))
    }
}
