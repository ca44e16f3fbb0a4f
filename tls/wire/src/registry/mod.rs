//! The numbers that IANA assigns, as types: every number is a value, those on the list also have a name.

mod alert;
mod cipher_suite;
mod compression_algorithm;
mod content_type;
mod extension_type;
mod handshake_type;
mod named_group;
mod protocol_version;
mod psk_key_exchange_mode;
mod signature_scheme;

pub use alert::{AlertDescription, AlertLevel};
pub use cipher_suite::CipherSuite;
pub use compression_algorithm::CertificateCompressionAlgorithm;
pub use content_type::ContentType;
pub use extension_type::ExtensionType;
pub use handshake_type::HandshakeType;
pub use named_group::NamedGroup;
pub use protocol_version::ProtocolVersion;
pub use psk_key_exchange_mode::PskKeyExchangeMode;
pub use signature_scheme::SignatureScheme;

/// Defines one registry: `CONSTANT = value, "IANA name" | "alias"…;`, the name left out where the constant is it.
macro_rules! registry {
    (
        $(#[$doc:meta])*
        pub struct $Type:ident(pub $int:ty) {
            $($CONSTANT:ident = $value:literal $(, $name:literal)? $(| $alias:literal)*;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Type(pub $int);

        impl $Type {
            $(
                #[doc = concat!("`", registry!(@name $CONSTANT $($name)?), "`, ", stringify!($value), ".")]
                pub const $CONSTANT: Self = Self($value);
            )*

            /// Every value that has a name, in the order of the list.
            pub const NAMED: &[Self] = &[$(Self::$CONSTANT),*];

            /// The registered name; `None` if the value is not on our list.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(registry!(@name $CONSTANT $($name)?)),)*
                    _ => None,
                }
            }

            /// The value of a registered name or of one of its aliases; upper and lower case are the same.
            pub fn from_name(name: &str) -> Option<Self> {
                [$((Self::$CONSTANT, &[registry!(@name $CONSTANT $($name)?), $($alias),*] as &[&str])),*]
                    .iter()
                    .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
                    .map(|&(value, _)| value)
            }
        }

        impl From<$int> for $Type {
            fn from(value: $int) -> Self {
                Self(value)
            }
        }

        impl From<$Type> for $int {
            fn from(value: $Type) -> Self {
                value.0
            }
        }

        /// The name, or the number in hexadecimal where there is none.
        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => write!(f, "0x{:0width$x}", self.0, width = 2 * size_of::<$int>()),
                }
            }
        }

        impl std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
    (@name $CONSTANT:ident) => { stringify!($CONSTANT) };
    (@name $CONSTANT:ident $name:literal) => { $name };
}

use registry;

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name leads back to its own value: so no name, no alias and no value stands in a list twice.
    macro_rules! names_lead_back {
        ($($test:ident: $Type:ty;)*) => {
            $(
                #[test]
                fn $test() {
                    for &value in <$Type>::NAMED {
                        let name = value.name().unwrap();
                        assert_eq!(<$Type>::from_name(name), Some(value), "{name}");
                        assert_eq!(value.to_string(), name);
                    }
                }
            )*
        };
    }

    names_lead_back! {
        alert_levels: AlertLevel;
        alert_descriptions: AlertDescription;
        cipher_suites: CipherSuite;
        compression_algorithms: CertificateCompressionAlgorithm;
        content_types: ContentType;
        extension_types: ExtensionType;
        handshake_types: HandshakeType;
        named_groups: NamedGroup;
        protocol_versions: ProtocolVersion;
        psk_key_exchange_modes: PskKeyExchangeMode;
        signature_schemes: SignatureScheme;
    }

    #[test]
    fn what_has_no_name_shows_its_number() {
        assert_eq!(CipherSuite(0x0a0a).to_string(), "0x0a0a");
        assert_eq!(AlertDescription(7).to_string(), "0x07");
        assert_eq!(format!("{:?}", NamedGroup::X25519), "x25519");
    }

    #[test]
    fn openssl_names_are_understood() {
        let suite = CipherSuite::from_name("ECDHE-RSA-AES128-GCM-SHA256");
        assert_eq!(suite, Some(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256));
        for name in ["P-256", "prime256v1", "secp256r1"] {
            assert_eq!(NamedGroup::from_name(name), Some(NamedGroup::SECP256R1));
        }
        assert_eq!(NamedGroup::from_name("X25519"), Some(NamedGroup::X25519));
        assert_eq!(NamedGroup::from_name("P-257"), None);
    }
}
