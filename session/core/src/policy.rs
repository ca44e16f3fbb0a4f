use std::fmt;

use aws_lc_rs::digest;

/// What a session is bound to: a digest of everything that must be the same where it is resumed.
///
/// The adapter for rustls makes it of the certificate, the SNI, the ALPN list, client verification with its CAs and CRLs, and
/// the formats that sessions are written in: of configuration, never of a build. Versions and suites need not be part of it:
/// they are negotiated anew, and a session of others is not resumed. Without a policy, a session of one virtual host opens another: CVE-2025-23419 (nginx),
/// CVE-2025-23048 (Apache), CVE-2025-68121 (Go).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy([u8; 32]);

impl Policy {
    /// The digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The policy of one connection: cheaper than a builder, since it is made for each.
    #[cfg(feature = "rustls")]
    pub(crate) fn of_connection(base: &Self, certificate: &Self, name: Option<&str>) -> Self {
        let mut joined = Vec::with_capacity(32 + 32 + 1 + 256);
        joined.extend_from_slice(&base.0);
        joined.extend_from_slice(&certificate.0);
        joined.push(u8::from(name.is_some()));
        // rustls hands out names in lower case.
        joined.extend_from_slice(name.unwrap_or_default().as_bytes());
        Self(sha256(&joined))
    }

    pub(crate) fn check(&self) -> &[u8; 4] {
        self.0.first_chunk().unwrap_or(&[0; 4])
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.check().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// SHA-256 of these bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}

/// Collects the parts of a [`Policy`]. Every node must add the same fields in the same order.
#[derive(Clone)]
pub struct PolicyBuilder(digest::Context);

impl PolicyBuilder {
    /// Begins with the version of this crate's format.
    pub fn new() -> Self {
        Self(digest::Context::new(&digest::SHA256)).field("reprise-session", b"1")
    }

    /// Adds a named value. Lengths are digested too, so that no two lists of fields look alike.
    #[must_use]
    pub fn field(mut self, name: &str, value: &[u8]) -> Self {
        for part in [name.as_bytes(), value] {
            self.0.update(&(part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
        self
    }

    /// Adds a list, whose order counts.
    #[must_use]
    pub fn list<'a>(self, name: &str, values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let list = values.into_iter().fold(Self(digest::Context::new(&digest::SHA256)), |list, value| list.field("", value));
        self.field(name, list.build().as_bytes())
    }

    /// The policy.
    pub fn build(self) -> Policy {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.finish().as_ref());
        Policy(bytes)
    }
}

impl Default for PolicyBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for PolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PolicyBuilder")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_look_alike() {
        let list = |values: &[&[u8]]| PolicyBuilder::new().list("alpn", values.iter().copied()).build();
        let policies = [list(&[]), list(&[b""]), list(&[b"h2", b"x"]), list(&[b"x", b"h2"]), list(&[b"h2x"])];
        for (index, policy) in policies.iter().enumerate() {
            assert!(!policies[..index].contains(policy), "{index}");
        }
    }
}
