//! Who we are to a proxy.

use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

/// A user name and a password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) user: Zeroizing<Vec<u8>>,
    pub(super) password: Zeroizing<Vec<u8>>,
}

impl Credentials {
    /// `user:password`, each with percent-encoding, as a URL has them. `None` where a proxy cannot be told: RFC 1929 has one
    /// byte for the length of each, and a colon separates the two in HTTP.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let decoded = |text| Zeroizing::new(percent_decode_str(text).collect::<Vec<u8>>());
        let (user, password) = (decoded(user), decoded(password));
        let is_sound = (1..=255).contains(&user.len()) && !user.contains(&b':') && password.len() <= 255;
        is_sound.then_some(Self { user, password })
    }
}
