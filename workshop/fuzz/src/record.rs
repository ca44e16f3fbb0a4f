//! A stream of records, whole or cut: what is accepted is emitted again byte for byte.

use reprise_wire::{Alert, ChangeCipherSpec, ContentType, Handshake, Record, frame};

pub(crate) fn run(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((record, consumed))) = Record::parse(rest) {
        let mut emitted = Vec::new();
        record.emit(&mut emitted);
        assert_eq!(emitted, rest[..consumed]);
        rest = &rest[consumed..];

        match record.content_type {
            ContentType::ALERT => drop(Alert::parse(record.fragment)),
            ContentType::CHANGE_CIPHER_SPEC => drop(ChangeCipherSpec::parse(record.fragment)),
            ContentType::HANDSHAKE => each_message_is_framed_again(record.fragment),
            _ => {}
        }
    }
}

fn each_message_is_framed_again(mut fragment: &[u8]) {
    while let Ok(Some((message, consumed))) = Handshake::parse(fragment) {
        let mut emitted = Vec::new();
        frame(&mut emitted, message.msg_type, |out| out.extend_from_slice(message.body));
        assert_eq!(emitted, fragment[..consumed]);
        fragment = &fragment[consumed..];
    }
}
