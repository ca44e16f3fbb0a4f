//! JA4, the fingerprint of a ClientHello, and the same without what a resumption changes.

use aws_lc_rs::digest::{SHA256, digest};
use reprise_engine::is_grease;
use reprise_model::Fingerprint;
use reprise_wire::extensions::{ProtocolNameList, SignatureAlgorithms, SupportedVersions};
use reprise_wire::{ClientHello, ExtensionType, ProtocolVersion};

/// What a ClientHello is carried by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TLS over TCP.
    Tcp,
    /// QUIC.
    Quic,
}

/// The extensions that the stable form leaves out.
const UNSTABLE: [ExtensionType; 5] = [
    ExtensionType::PADDING,
    ExtensionType::SESSION_TICKET,
    ExtensionType::PRE_SHARED_KEY,
    ExtensionType::EARLY_DATA,
    ExtensionType::COOKIE,
];

/// The fingerprints of a ClientHello.
pub fn fingerprint(hello: &ClientHello<'_>, transport: Transport) -> Fingerprint {
    let extensions: Vec<u16> =
        hello.extensions.unwrap_or_default().iter().map(|(extension, _)| extension.0).filter(|it| !is_grease(*it)).collect();
    let stable: Vec<u16> =
        extensions.iter().copied().filter(|extension| !UNSTABLE.contains(&ExtensionType(*extension))).collect();
    Fingerprint { ja4: ja4(hello, transport, &extensions), stable: ja4(hello, transport, &stable) }
}

fn ja4(hello: &ClientHello<'_>, transport: Transport, extensions: &[u16]) -> String {
    let mut suites: Vec<u16> = hello.cipher_suites.iter().map(|suite| suite.0).filter(|it| !is_grease(*it)).collect();
    let transport = match transport {
        Transport::Tcp => 't',
        Transport::Quic => 'q',
    };
    let name = if extensions.contains(&ExtensionType::SERVER_NAME.0) { 'd' } else { 'i' };
    let (version, alpn) = (version(hello), alpn(hello));
    let (suite_count, extension_count) = (suites.len().min(99), extensions.len().min(99));

    suites.sort_unstable();
    let mut hashed: Vec<u16> = extensions.to_vec();
    hashed.retain(|extension| ![ExtensionType::SERVER_NAME.0, ExtensionType::ALPN.0].contains(extension));
    hashed.sort_unstable();
    let schemes = hello.extensions.unwrap_or_default().find(ExtensionType::SIGNATURE_ALGORITHMS);
    let schemes = schemes.and_then(|data| SignatureAlgorithms::parse(data).ok());
    let schemes: Vec<u16> =
        schemes.iter().flat_map(|list| list.values.iter()).map(|scheme| scheme.0).filter(|it| !is_grease(*it)).collect();
    let extensions_and_schemes =
        if schemes.is_empty() { listed(&hashed) } else { format!("{}_{}", listed(&hashed), listed(&schemes)) };
    let (of_suites, of_extensions) = (hash(&suites, &listed(&suites)), hash(&hashed, &extensions_and_schemes));
    format!("{transport}{version}{name}{suite_count:02}{extension_count:02}{alpn}_{of_suites}_{of_extensions}")
}

/// The newest version that is offered.
fn version(hello: &ClientHello<'_>) -> &'static str {
    let listed = hello.extensions.unwrap_or_default().find(ExtensionType::SUPPORTED_VERSIONS);
    let listed = listed.and_then(|data| SupportedVersions::parse(data).ok());
    let newest = listed.and_then(|list| list.values.iter().filter(|version| !is_grease(version.0)).max());
    match newest.unwrap_or(hello.legacy_version) {
        ProtocolVersion::TLS_1_3 => "13",
        ProtocolVersion::TLS_1_2 => "12",
        ProtocolVersion::TLS_1_1 => "11",
        ProtocolVersion::TLS_1_0 => "10",
        ProtocolVersion::SSL_3_0 => "s3",
        _ => "00",
    }
}

/// The first and the last character of the first protocol of ALPN; of what is not alphanumeric the hexadecimal digits.
fn alpn(hello: &ClientHello<'_>) -> String {
    let protocols = hello.extensions.unwrap_or_default().find(ExtensionType::ALPN);
    let protocols = protocols.and_then(|data| ProtocolNameList::parse(data).ok());
    let first = protocols.and_then(|list| list.iter().next().map(<[u8]>::to_vec)).unwrap_or_default();
    let (Some(&begin), Some(&end)) = (first.first(), first.last()) else { return "00".to_owned() };
    if begin.is_ascii_alphanumeric() && end.is_ascii_alphanumeric() {
        return [begin, end].map(char::from).iter().collect();
    }
    format!("{:x}{:x}", begin >> 4, end & 0x0f)
}

fn listed(numbers: &[u16]) -> String {
    numbers.iter().map(|number| format!("{number:04x}")).collect::<Vec<_>>().join(",")
}

/// The first twelve digits of the list's SHA-256; zeros, where there is nothing on it.
fn hash(numbers: &[u16], text: &str) -> String {
    if numbers.is_empty() {
        return "0".repeat(12);
    }
    digest(&SHA256, text.as_bytes()).as_ref().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use reprise_wire::extensions::{ServerNameEntry, ServerNameList};
    use reprise_wire::{CipherSuite, ExtensionsBuilder, List16, SignatureScheme};

    use super::*;

    /// The lists of the example in the definition of JA4, out of order and with GREASE between them.
    fn example(further: &[u16]) -> Fingerprint {
        let mut suites = Vec::new();
        let numbers = [
            0x2a2a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c, 0x009d,
            0x002f, 0x0035,
        ];
        List16::encode(&numbers.map(CipherSuite), &mut suites);
        let mut extensions = ExtensionsBuilder::new();
        for number in [0x1a1a, 0x001b, 0x0033, 0x4469, 0x0017, 0x002d, 0x000b, 0xff01, 0x0023, 0x0005, 0x0012, 0x000a] {
            extensions.push(ExtensionType(number), |_| {});
        }
        extensions
            .push(ExtensionType::SERVER_NAME, |out| ServerNameList::encode([ServerNameEntry::host_name(b"a.example")], out));
        extensions.push(ExtensionType::ALPN, |out| ProtocolNameList::encode([&b"h2"[..], b"http/1.1"], out));
        let versions = [ProtocolVersion(0x3a3a), ProtocolVersion::TLS_1_3, ProtocolVersion::TLS_1_2];
        extensions.push(ExtensionType::SUPPORTED_VERSIONS, |out| SupportedVersions::encode(&versions, out));
        let schemes = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601].map(SignatureScheme);
        extensions.push(ExtensionType::SIGNATURE_ALGORITHMS, |out| SignatureAlgorithms::encode(&schemes, out));
        for number in further {
            extensions.push(ExtensionType(*number), |_| {});
        }
        let hello = ClientHello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random: &[7; 32],
            session_id: &[],
            cipher_suites: List16::from_bytes(&suites).unwrap(),
            compression_methods: &[0],
            extensions: Some(extensions.view()),
        };
        fingerprint(&hello, Transport::Tcp)
    }

    #[test]
    fn the_example_of_the_definition_comes_out() {
        assert_eq!(example(&[0x0015]).ja4, "t13d1516h2_8daaf6152771_e5627efa2ab1");
    }

    #[test]
    fn a_resumed_hello_has_another_ja4_and_the_same_stable_form() {
        let (full, resumed) = (example(&[]), example(&[0x0029]));
        assert_ne!(full.ja4, resumed.ja4);
        assert_eq!(full.stable, resumed.stable);
        assert_eq!(full.stable, example(&[0x0015, 0x002a, 0x0029]).stable);
    }
}
