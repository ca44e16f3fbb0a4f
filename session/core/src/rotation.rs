use std::time::Duration;

use rustls_pki_types::UnixTime;

use crate::key::KeyTimes;

/// How keys follow one another.
///
/// ```text
///            published   not_before      encrypt_until   decrypt_until
///               |-- ahead --|---- period ----|-- lifetime --|
///                        next:  |-- ahead --|---- period ----|-- lifetime --|
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    lifetime: Duration,
    period: Duration,
    ahead: Duration,
}

/// Why keys cannot rotate so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RotationError {
    /// RFC 9846 §4.7.1 allows seven days; times are whole seconds.
    #[error("a ticket lives from 1 second to 7 days, not {0:?}")]
    Lifetime(Duration),
    /// A ticket must live at most half as long as its key can decrypt (RFC 9325 §3.4).
    #[error("a key must encrypt for at least as long as its tickets live, {lifetime:?}, not {period:?}")]
    Period {
        /// What was asked for.
        period: Duration,
        /// The tickets' life.
        lifetime: Duration,
    },
}

impl Rotation {
    const LONGEST: Duration = Duration::from_secs(7 * 86_400);

    /// Tickets of this lifetime; a new key as often; published half a lifetime before it is used.
    ///
    /// # Errors
    /// [`RotationError::Lifetime`].
    pub fn new(lifetime: Duration) -> Result<Self, RotationError> {
        let lifetime_is_right = (Duration::from_secs(1)..=Self::LONGEST).contains(&lifetime) && lifetime.subsec_nanos() == 0;
        if !lifetime_is_right {
            return Err(RotationError::Lifetime(lifetime));
        }
        Ok(Self { lifetime, period: lifetime, ahead: lifetime / 2 })
    }

    /// A new key every `period` instead.
    ///
    /// # Errors
    /// [`RotationError::Period`] if it is shorter than the tickets' lifetime.
    pub fn with_period(self, period: Duration) -> Result<Self, RotationError> {
        if period < self.lifetime {
            return Err(RotationError::Period { period, lifetime: self.lifetime });
        }
        Ok(Self { period, ahead: period / 2, ..self })
    }

    /// How long a ticket lives at most.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// How long a key encrypts.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// How long before its use a key is published, so that every node can decrypt what the first one encrypts.
    pub fn ahead(&self) -> Duration {
        self.ahead
    }

    /// The times of a key that begins to encrypt at `not_before`.
    pub fn times(&self, not_before: UnixTime) -> KeyTimes {
        let encrypt_until = after(not_before, self.period);
        KeyTimes { not_before, encrypt_until, decrypt_until: after(encrypt_until, self.lifetime) }
    }
}

/// `duration` after `time`, in whole seconds.
pub(crate) fn after(time: UnixTime, duration: Duration) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(time.as_secs()).saturating_add(duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_lives_half_as_long_as_its_key() {
        let lifetime = Duration::from_secs(600);
        let rotation = Rotation::new(lifetime).unwrap();
        assert!(rotation.times(UnixTime::since_unix_epoch(lifetime)).span() >= 2 * lifetime);
        assert!(matches!(rotation.with_period(Duration::from_secs(599)), Err(RotationError::Period { .. })));
    }

    #[test]
    fn no_ticket_lives_for_ever_or_not_at_all() {
        for lifetime in [Duration::ZERO, Duration::from_millis(1500), Duration::from_secs(604_801)] {
            assert_eq!(Rotation::new(lifetime), Err(RotationError::Lifetime(lifetime)));
        }
    }
}
