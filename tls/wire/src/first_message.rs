use crate::{ContentType, Error, Handshake, ProtocolVersion, Record};

/// The first handshake message of a connection, framed, and the version in the header of its first record: the ClientHello in the
/// clear, in however many records it stands. `None`: more bytes are needed.
///
/// A message may claim up to 16 MiB: the caller bounds what it collects.
///
/// # Errors
/// If a record is none of TLS, or not of a handshake.
pub fn first_message(mut received: &[u8]) -> Result<Option<(ProtocolVersion, Vec<u8>)>, Error> {
    let mut message = Vec::new();
    let mut version = None;
    loop {
        if let (Some(version), Some((_, length))) = (version, Handshake::announced(&message))
            && message.len() >= length
        {
            message.truncate(length);
            return Ok(Some((version, message)));
        }
        let Some((record, consumed)) = Record::parse(received)? else { return Ok(None) };
        if record.content_type != ContentType::HANDSHAKE {
            return Err(Error::UnknownContentType(record.content_type));
        }
        version.get_or_insert(record.version);
        message.extend_from_slice(record.fragment);
        received = received.get(consumed..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HandshakeType, frame};

    #[test]
    fn a_message_in_several_records_is_joined() {
        let mut message = Vec::new();
        frame(&mut message, HandshakeType::CLIENT_HELLO, |out| out.extend_from_slice(&[7; 100]));
        let mut records = Vec::new();
        for (place, fragment) in message.chunks(40).enumerate() {
            let version = if place == 0 { ProtocolVersion::TLS_1_0 } else { ProtocolVersion::TLS_1_2 };
            Record { content_type: ContentType::HANDSHAKE, version, fragment }.emit(&mut records);
        }
        for cut in 0..records.len() {
            assert_eq!(first_message(&records[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(first_message(&records), Ok(Some((ProtocolVersion::TLS_1_0, message))));
        assert!(first_message(&[21, 3, 3, 0, 2, 1, 0]).is_err());
    }
}
