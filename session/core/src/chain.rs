//! The one-way chain that the keys of a ring come from, so that nodes which cannot talk to one another make the same ones.

use aws_lc_rs::hmac;
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::key::{KeyError, KeyName, TicketKey};
use crate::random::Random;
use crate::rotation::Rotation;

/// What the next key is derived from.
///
/// ```text
/// name of the key that begins at t   HMAC-SHA256(secret, "name" ‖ t), 16 bytes
/// its material                       HMAC-SHA256(secret, "key 1" ‖ t) ‖ HMAC-SHA256(secret, "key 2" ‖ t)
/// the secret after it                HMAC-SHA256(secret, "chain" ‖ t)
/// with fresh randomness r            HMAC-SHA256(secret, "mix" ‖ r)
/// ```
///
/// A secret tells the keys that follow, until randomness is mixed in, and none that came before.
pub(crate) struct Chain {
    secret: Zeroizing<[u8; Chain::SECRET_LEN]>,
    begins: UnixTime,
}

impl Chain {
    pub(crate) const SECRET_LEN: usize = 32;

    /// A chain whose first key begins at `begins`.
    pub(crate) fn begin(begins: UnixTime, random: &dyn Random) -> Result<Self, KeyError> {
        let mut secret = Zeroizing::new([0; Self::SECRET_LEN]);
        random.fill(&mut *secret)?;
        Ok(Self { secret, begins })
    }

    pub(crate) fn from_parts(secret: &[u8; Self::SECRET_LEN], begins: UnixTime) -> Self {
        Self { secret: Zeroizing::new(*secret), begins }
    }

    pub(crate) fn secret(&self) -> &[u8; Self::SECRET_LEN] {
        &self.secret
    }

    /// When the next key begins to encrypt.
    pub(crate) fn begins(&self) -> UnixTime {
        self.begins
    }

    /// The next key, and the chain after it.
    pub(crate) fn step(&self, rotation: &Rotation) -> Result<(TicketKey, Self), KeyError> {
        let times = rotation.times(self.begins);
        let begins = self.begins.as_secs().to_be_bytes();
        let mut name = [0; KeyName::LEN];
        name.iter_mut().zip(self.block(b"name", &begins).iter()).for_each(|(to, from)| *to = *from);
        let mut material = Zeroizing::new([0; TicketKey::MATERIAL_LEN]);
        let halves = [self.block(b"key 1", &begins), self.block(b"key 2", &begins)];
        material.iter_mut().zip(halves.iter().flat_map(|half| half.iter())).for_each(|(to, from)| *to = *from);
        let next = Self { secret: self.block(b"chain", &begins), begins: times.encrypt_until };
        Ok((TicketKey::new(KeyName(name), &*material, times)?, next))
    }

    /// The same chain with fresh randomness: whoever knew the secret does not know what follows.
    pub(crate) fn mixed(&self, random: &dyn Random) -> Result<Self, KeyError> {
        let mut fresh = Zeroizing::new([0; Self::SECRET_LEN]);
        random.fill(&mut *fresh)?;
        Ok(Self { secret: self.block(b"mix", &*fresh), begins: self.begins })
    }

    fn block(&self, label: &[u8], what: &[u8]) -> Zeroizing<[u8; Self::SECRET_LEN]> {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &*self.secret));
        context.update(label);
        context.update(what);
        let mut block = Zeroizing::new([0; Self::SECRET_LEN]);
        block.iter_mut().zip(context.sign().as_ref()).for_each(|(to, from)| *to = *from);
        block
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").field("begins", &self.begins).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::at;
    use crate::random::SystemRandom;

    #[test]
    fn chains_of_one_secret_agree_until_one_is_mixed() {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let one = Chain::begin(at(1000), &SystemRandom).unwrap();
        let other = Chain::from_parts(one.secret(), one.begins());
        let ((first, one), (same, other)) = (one.step(&rotation).unwrap(), other.step(&rotation).unwrap());
        assert_eq!((first.name(), first.material(), first.times()), (same.name(), same.material(), same.times()));
        assert_eq!((one.begins(), one.secret()), (at(1100), other.secret()));
        let mixed = one.mixed(&SystemRandom).unwrap();
        assert_ne!(mixed.step(&rotation).unwrap().0.name(), other.step(&rotation).unwrap().0.name());
        assert_eq!(mixed.begins(), other.begins());
    }

    /// HMAC is one-way; what could undo that is a secret that stays, or two labels that say the same.
    #[test]
    fn no_two_blocks_are_alike_and_none_is_the_secret() {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let chain = Chain::begin(at(0), &SystemRandom).unwrap();
        let (key, next) = chain.step(&rotation).unwrap();
        let (later, _) = next.step(&rotation).unwrap();
        let halves = |key: &TicketKey| key.material().chunks(32).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let mut blocks = [halves(&key), halves(&later)].concat();
        blocks.extend([chain.secret().to_vec(), next.secret().to_vec()]);
        let count = blocks.len();
        blocks.sort();
        blocks.dedup();
        assert_eq!(blocks.len(), count);
        assert!(!blocks.iter().any(|block| block.starts_with(&key.name().0)));
    }
}
