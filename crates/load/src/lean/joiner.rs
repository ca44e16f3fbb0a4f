//! Puts handshake messages together that came in several records (RFC 8446 §5.1).

use reprise_wire::Handshake;

use reprise_model::FaultName;

/// No certificate chain that a load is worth measuring with is longer.
const MAX_MESSAGE: usize = 128 * 1024;

/// A message of which the end has not come yet. Its memory is kept.
#[derive(Default)]
pub(crate) struct Joiner {
    partial: Vec<u8>,
}

impl Joiner {
    pub(crate) fn clear(&mut self) {
        self.partial.clear();
    }

    /// Whether keys may change now: no message goes across (RFC 8446 §5.1).
    pub(crate) fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// The whole message that begins in an earlier record, once `fragment` has brought its end, and what is left of
    /// `fragment` then. `None` in the first place: there is none yet.
    pub(crate) fn complete<'a>(&mut self, fragment: &'a [u8]) -> Result<(Option<Vec<u8>>, &'a [u8]), FaultName> {
        if self.partial.is_empty() {
            return Ok((None, fragment));
        }
        let mut rest = fragment;
        let header_missing = Handshake::HEADER_LEN.saturating_sub(self.partial.len()).min(rest.len());
        rest = self.push(rest, header_missing);
        let Some((_, length)) = Handshake::announced(&self.partial) else { return Ok((None, rest)) };
        let missing = check(length)?.saturating_sub(self.partial.len());
        rest = self.push(rest, missing.min(rest.len()));
        let whole = (self.partial.len() >= length).then(|| std::mem::take(&mut self.partial));
        Ok((whole, rest))
    }

    /// Gives the memory of a message back.
    pub(crate) fn take_back(&mut self, mut memory: Vec<u8>) {
        if self.partial.is_empty() {
            memory.clear();
            self.partial = memory;
        }
    }

    /// Keeps the beginning of a message for the next record.
    pub(crate) fn keep(&mut self, beginning: &[u8]) -> Result<(), FaultName> {
        if let Some((_, length)) = Handshake::announced(beginning) {
            check(length)?;
        }
        self.partial.extend_from_slice(beginning);
        Ok(())
    }

    fn push<'a>(&mut self, bytes: &'a [u8], count: usize) -> &'a [u8] {
        let (taken, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        self.partial.extend_from_slice(taken);
        rest
    }
}

fn check(length: usize) -> Result<usize, FaultName> {
    if length > MAX_MESSAGE { Err(FaultName::TooLarge) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_whole_wherever_it_was_cut() {
        let message = [11, 0, 0, 3, 7, 8, 9];
        for cut in 1..message.len() {
            let mut joiner = Joiner::default();
            joiner.keep(&message[..cut]).unwrap();
            let end = [&message[cut..], &[1, 2]].concat();
            let (whole, rest) = joiner.complete(&end).unwrap();
            assert_eq!((whole.as_deref(), rest), (Some(&message[..]), &[1, 2][..]), "cut at {cut}");
            assert!(joiner.is_empty());
        }
    }

    #[test]
    fn an_announced_giant_is_refused_before_it_comes() {
        assert_eq!(Joiner::default().keep(&[11, 0xff, 0, 0]), Err(FaultName::TooLarge));
    }
}
