//! Whether the server's key pairs come as they were asked for, by the public keys on the wire.

use std::collections::BTreeSet;

use reprise_model::KeyPairs;

use crate::failed::{Failed, FailureKind};

/// The last bytes of each public key of a server: no two keys share them by chance.
#[derive(Default)]
pub(crate) struct Shares {
    last: Option<u64>,
    /// Of pairs that were made ahead, each.
    seen: BTreeSet<u64>,
}

impl Shares {
    /// One more connection's.
    pub(crate) fn check(&mut self, key_pairs: KeyPairs, share: u64) -> Result<(), Failed> {
        let before = self.last.replace(share);
        let is_known = before == Some(share);
        let contradicts = |what: &str| Err(Failed::new(FailureKind::Contradicted, what));
        match key_pairs {
            KeyPairs::Fresh if is_known => contradicts("the server uses a key pair twice where each is to be fresh"),
            KeyPairs::Ahead if !self.seen.insert(share) => {
                contradicts("the server uses a key pair twice that was made ahead")
            }
            KeyPairs::Reused if before.is_some() && !is_known => {
                contradicts("the server uses another key pair where one was to be reused")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_held_against_the_wire() {
        let fails = |key_pairs, all: [u64; 3]| {
            let mut shares = Shares::default();
            all.into_iter().any(|share| shares.check(key_pairs, share).is_err())
        };
        assert!(!fails(KeyPairs::Fresh, [1, 2, 3]) && fails(KeyPairs::Fresh, [1, 2, 2]));
        assert!(!fails(KeyPairs::Ahead, [1, 2, 3]) && fails(KeyPairs::Ahead, [1, 2, 1]));
        assert!(!fails(KeyPairs::Reused, [1, 1, 1]) && fails(KeyPairs::Reused, [1, 1, 2]));
    }
}
