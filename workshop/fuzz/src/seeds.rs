//! What fuzzing begins with: honest servers, and each thing that can go wrong, once.

use reprise_engine::{Session, Tls13Ticket};
use reprise_lab::{KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_scripted::certificates::authority;
use reprise_scripted::host::Wording;
use reprise_scripted::play::{Act, Deviation, Edit, Play};
use reprise_scripted::setting::{ConnectionEnd, Line, Setting};
use reprise_scripted::{NOW, tls12, tls13};
use reprise_servers::Actor;
use reprise_wire::codec::{vec16, vec24};
use reprise_wire::{ContentType, HandshakeType, Record};

use crate::script::Script;
use crate::{handshake, session, stream};

type Seeds = Vec<(String, Vec<u8>)>;

/// What a client and a server say in the clear.
pub fn records() -> Seeds {
    let said = |(name, setting): (String, Setting)| {
        let mut client = setting.client();
        let hello = client.take_outgoing(NOW);
        let mut play = Play::honest(setting);
        play.hear(&hello);
        let Act::Send(answer) = play.act() else { panic!("a server does not answer") };
        [(format!("{name}-client"), hello), (format!("{name}-server"), answer)]
    };
    let mut seeds: Seeds = settings().into_iter().flat_map(said).collect();
    seeds.push(("alert".to_owned(), vec![21, 3, 3, 0, 2, 2, 40]));
    seeds.push(("change".to_owned(), tls12::CHANGE_CIPHER_SPEC.to_vec()));
    distinct(seeds)
}

/// Each message, and each extension in them, for each parser that takes it.
pub fn messages() -> Seeds {
    let mut bodies = Vec::new();
    for (_, bytes) in records() {
        let mut rest = &bytes[..];
        while let Ok(Some((record, consumed))) = Record::parse(rest) {
            if record.content_type == ContentType::HANDSHAKE {
                bodies.push(reprise_scripted::body_of(record.fragment).to_vec());
            }
            rest = &rest[consumed..];
        }
    }
    let mut client = Setting::full(Version::Tls13).client();
    let mut server = tls13::greeted(&mut client);
    let heard = server.heard.message.clone();
    let mut said = server.flight();
    said.push(server.certificate_request(&[]));
    said.push(tls13::new_session_ticket(&[1], b"ticket"));
    let mut client = Setting::full(Version::Tls12).client();
    let mut server = tls12::greeted_with(&mut client, |_| {});
    said.extend(server.flight());
    said.extend([server.certificate_request(), server.ticket(b"ticket")]);
    bodies.extend(said.iter().map(|message| reprise_scripted::body_of(message).to_vec()));
    let hello = reprise_wire::ClientHello::parse(reprise_scripted::body_of(&heard)).unwrap();
    bodies.extend(hello.extensions.iter().flat_map(|list| list.iter()).map(|(_, data)| data.to_vec()));
    let accepting = bodies.iter().flat_map(|body| handshake::accepting(body));
    let mut seeds = distinct(accepting.collect());
    // One is enough where a parser takes anything.
    seeds.dedup_by_key(|(name, _)| name[..2].to_owned());
    seeds
}

/// A certificate of each kind, as each role.
pub fn certificates() -> Seeds {
    let kinds = [KeyKind::Rsa2048, KeyKind::P256, KeyKind::P384, KeyKind::Ed25519];
    let leaves =
        kinds.map(|kind| (kind.to_string(), authority().server(&ServerSpec::new(kind)).unwrap().chain()[0].to_vec()));
    let root = ("root".to_owned(), authority().certificate().to_vec());
    let roles = |(name, der): (String, Vec<u8>)| {
        [0_u8, 1, 2, 3, 6, 8].map(|how| (format!("{name}-{how}"), [&[how], &der[..]].concat()))
    };
    leaves.into_iter().chain([root]).flat_map(roles).collect()
}

/// What an honest server of each version leaves behind, one of them with early data, as it is saved.
pub fn sessions() -> Seeds {
    let mut client = Setting::full(Version::Tls13).client();
    let mut server = tls13::connected(&mut client);
    let ticket = tls13::new_session_ticket(&[1], b"ticket");
    client.receive(NOW, &server.handshake(&[ticket])).unwrap();
    let mut sessions = client.take_sessions();
    let Some(Session::Tls13(ticket)) = sessions.first() else { panic!("no ticket") };
    sessions.push(Session::Tls13(Tls13Ticket {
        max_early_data: Some(16_384),
        alpn: Some(b"http/1.1".to_vec()),
        ..ticket.clone()
    }));
    let mut client = Setting::full(Version::Tls12).client();
    let mut server = tls12::half_done(&mut client, |hello| hello.session_id = vec![7; 32]);
    client.receive(NOW, &server.end()).unwrap();
    sessions.extend(client.take_sessions());
    let saved = sessions.iter().map(|session| session.encode(session::SERVER, NOW, session::date()).to_vec());
    saved.enumerate().map(|(number, bytes)| (number.to_string(), bytes)).collect()
}

/// Honest servers in every setting, and each deviation at some line.
pub fn scripts() -> Seeds {
    let mut seeds = Vec::new();
    let mut push = |name: String, setting: Setting, deviations: Vec<(usize, Deviation)>| {
        let script = Script { setting, deviations };
        seeds.push((name, script.write().unwrap_or_else(|| panic!("no bytes read as {script:?}"))));
    };
    for (name, setting) in settings() {
        push(format!("{name}-honest"), setting, Vec::new());
    }
    for version in [Version::Tls12, Version::Tls13] {
        let setting = Setting::full(version);
        let lines = setting.lines().len();
        for (number, (name, deviation)) in deviations().into_iter().enumerate() {
            // Each kind at a line of its own, and at two others.
            for step in 0..3 {
                let place = (number + step * 3) % lines;
                let name = format!("{}-{name}-{place}", version.number());
                push(name, setting, vec![(place, deviation.clone())]);
            }
        }
    }
    distinct(seeds)
}

/// Nothing, garbage and another record after each part of an honest server's first flight.
pub fn streams() -> Seeds {
    let mut seeds = Vec::new();
    for which in 0..8_u8 {
        let recording = stream::recording(which);
        let mut place = 0;
        let mut places = vec![0];
        while let Ok(Some((_, consumed))) = Record::parse(&recording[place..]) {
            place += consumed;
            places.push(place);
        }
        for (number, place) in places.iter().enumerate() {
            let [high, low] = u16::try_from(*place).unwrap_or(u16::MAX).to_be_bytes();
            let after = [&[21, 3, 3, 0, 2, 1, 90][..], &tls12::CHANGE_CIPHER_SPEC, b"HTTP/1.1 400"][number % 3];
            seeds.push((format!("{which}-after-{number}"), [&[which, high, low], after].concat()));
        }
    }
    seeds
}

/// Targets, and what is none.
pub fn targets() -> Seeds {
    let texts = [
        "example.org",
        "Example.ORG.:8443",
        "https://example.org/a?b=c#d",
        "[::1]:8443/x",
        "::1",
        "127.0.0.1:1",
        "http://example.org",
        "user@example.org",
        "example.org:65536",
        "xn--bcher-kva.example",
        "a_b.example/%20",
        "HTTPS://[fe80::1%25eth0]/",
    ];
    texts.iter().enumerate().map(|(number, text)| (format!("{number:02}"), text.as_bytes().to_vec())).collect()
}

/// Files of sessions without their sums: an open one for each seed of a session, and the head of a sealed one.
pub fn session_files() -> Seeds {
    const HEAD: &[u8] = b"reprise sessions\n\x01";
    let open = |session: &[u8]| {
        let mut file = [HEAD, &[0]].concat();
        vec16(&mut file, |out| out.extend_from_slice(session::SERVER.as_bytes()));
        file.push(1);
        vec24(&mut file, |out| out.extend_from_slice(session));
        file
    };
    let mut files: Seeds = sessions().into_iter().map(|(name, session)| (format!("open-{name}"), open(&session))).collect();
    files.push(("sealed".to_owned(), [HEAD, &[1, 17], &[7; 16 + 12 + 40]].concat()));
    files
}

/// Conditions, and what is none.
pub fn conditions() -> Seeds {
    let texts = [
        "tls.resumed.ratio < 1.5",
        "tls.full.median > 20ms",
        "failed > 0",
        "1.3.full.tls.p99 > 5s",
        "baseline.tls.change.low > 10%",
        "kinds.ticket < 100%",
        "tls..ratio < 1",
        "< 1",
        "tls.full.median > 5parsecs",
        "findings.fault.likely > 0",
        "finding.not-offered",
        "load.ticket.latency.p999 > 20ms",
        "status.5xx > 0.1%",
        "full.rate < 500/s",
    ];
    texts.iter().enumerate().map(|(number, text)| (format!("{number:02}"), text.as_bytes().to_vec())).collect()
}

fn settings() -> Vec<(String, Setting)> {
    let mut settings = Vec::new();
    for version in [Version::Tls12, Version::Tls13] {
        let full = Setting::full(version);
        let named = [
            ("full", full),
            ("id", Setting { kind: Kind::Id, ..full }),
            ("ticket", Setting { kind: Kind::Ticket, ..full }),
            ("retry", Setting { retry: true, ..full }),
            ("ticket-retry", Setting { kind: Kind::Ticket, retry: true, ..full }),
            ("asked", Setting { asks_certificate: true, ..full }),
            ("client-certificate", Setting { asks_certificate: true, has_certificate: true, ..full }),
            ("alpn", Setting { alpn: true, ..full }),
            ("both", Setting { offers_both: true, ..full }),
            ("no-ticket", Setting { gives_ticket: false, ..full }),
        ];
        settings.extend(named.map(|(name, setting)| (format!("{}-{name}", version.number()), setting)));
    }
    let rsa = reprise_wire::CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256;
    settings.push(("1.2-rsa".to_owned(), Setting { suite: rsa, ..Setting::full(Version::Tls12) }));
    settings
}

fn deviations() -> Vec<(&'static str, Deviation)> {
    use Deviation as D;
    vec![
        ("flip", D::EditBody(Edit::Flip(20_000, 1))),
        ("set", D::Edit(Edit::Set(9, 255))),
        ("insert", D::EditBody(Edit::Insert(40_000, vec![0, 0]))),
        ("remove", D::EditBody(Edit::Remove(30_000, 3))),
        ("double", D::EditBody(Edit::Double(10_000, 8))),
        ("truncate", D::EditBody(Edit::Truncate(32_768))),
        ("omit", D::Omit),
        ("repeat", D::Repeat(2)),
        ("before", D::Before(Line::HelloRequest)),
        ("instead", D::Instead(Line::Finished)),
        ("warnings", D::ForEver(Line::Alert(1, 90))),
        ("updates", D::ForEver(Line::KeyUpdate(true))),
        ("tickets", D::ForEver(Line::Ticket)),
        ("empty", D::ForEver(Line::Data(Vec::new()))),
        ("changes", D::ForEver(Line::ChangeCipherSpec)),
        ("requests", D::ForEver(Line::HelloRequest)),
        ("fragment", D::Fragment(7)),
        ("together", D::Together),
        ("between", D::Between(Line::Alert(1, 90))),
        ("clear", D::Clear),
        ("as", D::As(23)),
        ("bytes", D::ByteByByte),
        ("close", D::Cut(9, ConnectionEnd::Close)),
        ("reset", D::Cut(0, ConnectionEnd::Reset)),
        ("silence", D::Cut(3, ConnectionEnd::Silence)),
        ("wire", D::Wire(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())),
        ("extension", D::Say(Wording::Extension(35, Vec::new()))),
        ("no-extension", D::Say(Wording::NoExtension(51))),
        ("suite", D::Say(Wording::Suite(0x1302))),
        ("version", D::Say(Wording::Version(0x0301))),
        ("session-id", D::Say(Wording::SessionId(vec![1; 32]))),
        ("compression", D::Say(Wording::Compression(1))),
        ("downgrade", D::Say(Wording::Random(*b"ABCDEFGHIJKLMNOPQRSTUVWXDOWNGRD\x01"))),
        (
            "compressed",
            D::Instead(Line::Message(HandshakeType::COMPRESSED_CERTIFICATE, vec![0, 1, 255, 255, 255, 0, 0, 1, 0])),
        ),
        ("long", D::Instead(Line::LongCertificate(2048))),
        ("retry", D::Before(Line::Retry)),
    ]
}

fn distinct(mut seeds: Seeds) -> Seeds {
    seeds.sort();
    seeds.dedup_by(|one, other| one.1 == other.1);
    seeds
}
