//! A play as bytes: a fuzzer changes one part of it without moving the others.
//!
//! ```text
//! setting (2) | instruction | instruction | …
//! instruction: place (1) | what (1) | first (2) | second (1) | length (1) | bytes (length)
//! ```
//!
//! Whatever is cut short reads as zeros; all bytes are some play.

use reprise_engine::suite::{Authentication, SUITES, Suite};
use reprise_model::{Kind, Version};
use reprise_scripted::host::Wording;
use reprise_scripted::play::{Deviation, Edit};
use reprise_scripted::setting::{ConnectionEnd, Line, Setting};
use reprise_wire::{CipherSuite, HandshakeType};

/// Instructions that are read: more of them would only take time.
const MAX_INSTRUCTIONS: usize = 12;

/// A setting, and what deviates in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The setting.
    pub setting: Setting,
    /// As for [`reprise_scripted::play::Play::deviating`].
    pub deviations: Vec<(usize, Deviation)>,
}

impl Script {
    /// Reads any bytes.
    pub fn read(bytes: &[u8]) -> Self {
        let mut bytes = bytes.iter().copied();
        let setting = read_setting(bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default());
        let lines = setting.lines().len();
        let mut deviations = Vec::new();
        while let Some(place) = bytes.next()
            && deviations.len() < MAX_INSTRUCTIONS
        {
            let mut next = || bytes.next().unwrap_or_default();
            let (what, first, second) = (next(), u16::from_be_bytes([next(), next()]), next());
            let length = usize::from(next());
            let blob: Vec<u8> = bytes.by_ref().take(length).collect();
            deviations.push((usize::from(place) % lines, Instruction { what, first, second, blob }.deviation()));
        }
        Self { setting, deviations }
    }

    /// Bytes that read as this; `None` where none do.
    pub fn write(&self) -> Option<Vec<u8>> {
        let mut bytes = write_setting(&self.setting)?.to_vec();
        for (place, deviation) in &self.deviations {
            let Instruction { what, first, second, blob } = Instruction::of(deviation)?;
            let [high, low] = first.to_be_bytes();
            bytes.extend([u8::try_from(*place).ok()?, what, high, low, second, u8::try_from(blob.len()).ok()?]);
            bytes.extend(blob);
        }
        (Self::read(&bytes) == *self).then_some(bytes)
    }
}

struct Instruction {
    what: u8,
    first: u16,
    second: u8,
    blob: Vec<u8>,
}

impl Instruction {
    fn deviation(self) -> Deviation {
        use Deviation as D;
        let Self { what, first, second, blob } = self;
        match what % 29 {
            which @ 0..=5 => D::Edit(edit(which, first, second, blob)),
            which @ 6..=11 => D::EditBody(edit(which - 6, first, second, blob)),
            12 => D::Omit,
            13 => D::Repeat(first % 40),
            14 => D::Before(line(first, second, blob)),
            15 => D::Instead(line(first, second, blob)),
            16 => D::ForEver(line(first, second, blob)),
            17 => D::Fragment(first),
            18 => D::Together,
            19 => D::Between(line(first, second, blob)),
            20 => D::Clear,
            21 => D::As(second),
            22 => D::ByteByByte,
            23 => D::Cut(first.into(), ending(second)),
            24 => D::Wire(blob),
            25 => D::Say(Wording::Extension(first, blob)),
            26 => D::Say(Wording::NoExtension(first)),
            27 => D::Say(Wording::Suite(first)),
            _ => D::Say(match second % 4 {
                0 => Wording::Version(first),
                1 => Wording::SessionId(blob),
                2 => Wording::Compression(first as u8),
                _ => {
                    let mut random = [0; 32];
                    random.iter_mut().zip(blob).for_each(|(place, byte)| *place = byte);
                    Wording::Random(random)
                }
            }),
        }
    }

    fn of(deviation: &Deviation) -> Option<Self> {
        use Deviation as D;
        let new = |what, first, second, blob: &[u8]| Self { what, first, second, blob: blob.to_vec() };
        let with_line = |what, line: &Line| written_line(line).map(|(first, second, blob)| new(what, first, second, &blob));
        Some(match deviation {
            D::Edit(edit) => Self::edit(0, edit),
            D::EditBody(edit) => Self::edit(6, edit),
            D::Omit => new(12, 0, 0, &[]),
            D::Repeat(times) => new(13, *times, 0, &[]),
            D::Before(line) => with_line(14, line)?,
            D::Instead(line) => with_line(15, line)?,
            D::ForEver(line) => with_line(16, line)?,
            D::Fragment(length) => new(17, *length, 0, &[]),
            D::Together => new(18, 0, 0, &[]),
            D::Between(line) => with_line(19, line)?,
            D::Clear => new(20, 0, 0, &[]),
            D::As(content_type) => new(21, 0, *content_type, &[]),
            D::ByteByByte => new(22, 0, 0, &[]),
            D::Cut(length, ending) => new(23, u16::try_from(*length).ok()?, written_ending(*ending), &[]),
            D::Wire(bytes) => new(24, 0, 0, bytes),
            D::Say(Wording::Extension(extension, data)) => new(25, *extension, 0, data),
            D::Say(Wording::NoExtension(extension)) => new(26, *extension, 0, &[]),
            D::Say(Wording::Suite(suite)) => new(27, *suite, 0, &[]),
            D::Say(Wording::Version(version)) => new(28, *version, 0, &[]),
            D::Say(Wording::SessionId(id)) => new(28, 0, 1, id),
            D::Say(Wording::Compression(method)) => new(28, u16::from(*method), 2, &[]),
            D::Say(Wording::Random(random)) => new(28, 0, 3, random),
        })
    }

    fn edit(base: u8, edit: &Edit) -> Self {
        let new = |what, first, second| Self { what: base + what, first, second, blob: Vec::new() };
        match edit {
            Edit::Flip(at, mask) => new(0, *at, *mask),
            Edit::Set(at, value) => new(1, *at, *value),
            Edit::Insert(at, bytes) => Self { blob: bytes.clone(), ..new(2, *at, 0) },
            Edit::Remove(at, count) => new(3, *at, *count),
            Edit::Double(at, count) => new(4, *at, *count),
            Edit::Truncate(at) => new(5, *at, 0),
        }
    }
}

fn edit(which: u8, at: u16, value: u8, blob: Vec<u8>) -> Edit {
    match which {
        0 => Edit::Flip(at, value),
        1 => Edit::Set(at, value),
        2 => Edit::Insert(at, blob),
        3 => Edit::Remove(at, value),
        4 => Edit::Double(at, value),
        _ => Edit::Truncate(at),
    }
}

/// The lines that say no more than their name, by their numbers.
const PLAIN: [(u8, Line); 13] = [
    (0, Line::Wait),
    (1, Line::Hello),
    (2, Line::Retry),
    (3, Line::EncryptedExtensions),
    (4, Line::CertificateRequest),
    (5, Line::Certificate),
    (6, Line::CertificateVerify),
    (7, Line::ServerKeyExchange),
    (8, Line::ServerHelloDone),
    (9, Line::Ticket),
    (10, Line::ChangeCipherSpec),
    (11, Line::Finished),
    (13, Line::HelloRequest),
];

/// Which line the first number means; the rest is what it says.
fn line(which: u16, second: u8, blob: Vec<u8>) -> Line {
    let [high, low] = which.to_be_bytes();
    let which = low % 20;
    if let Some((_, line)) = PLAIN.into_iter().find(|(number, _)| *number == which) {
        return line;
    }
    match which {
        12 => Line::KeyUpdate(second & 1 == 1),
        14 => Line::Message(HandshakeType(second), blob),
        15 | 16 => Line::Data(blob),
        17 => Line::Alert(high, second),
        18 => Line::LongCertificate(usize::from(second) * 16),
        _ => Line::End(ending(second)),
    }
}

fn written_line(line: &Line) -> Option<(u16, u8, Vec<u8>)> {
    match line {
        Line::KeyUpdate(request) => Some((12, u8::from(*request), Vec::new())),
        Line::Message(msg_type, body) => Some((14, msg_type.0, body.clone())),
        Line::Data(data) => Some((15, 0, data.clone())),
        Line::Alert(level, description) => Some((u16::from_be_bytes([*level, 17]), *description, Vec::new())),
        Line::LongCertificate(length) => Some((18, u8::try_from(length / 16).ok()?, Vec::new())),
        Line::End(ending) => Some((19, written_ending(*ending), Vec::new())),
        plain => PLAIN.iter().find(|(_, known)| known == plain).map(|(number, _)| (u16::from(*number), 0, Vec::new())),
    }
}

const ENDINGS: [ConnectionEnd; 3] = [ConnectionEnd::Close, ConnectionEnd::Reset, ConnectionEnd::Silence];

fn ending(which: u8) -> ConnectionEnd {
    ENDINGS[usize::from(which) % ENDINGS.len()]
}

fn written_ending(ending: ConnectionEnd) -> u8 {
    ENDINGS.iter().zip(0..).find(|(known, _)| **known == ending).map_or(0, |(_, which)| which)
}

fn read_setting(flags: u8, suite: u8) -> Setting {
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let version = if flag(0) { Version::Tls12 } else { Version::Tls13 };
    let kind = match flags >> 1 & 3 {
        0 | 1 => Kind::Full,
        2 => Kind::Id,
        _ => Kind::Ticket,
    };
    let suites = suites(version);
    // Sessions belong to the usual suite.
    let choice = if kind == Kind::Full { usize::from(suite & 0x7f) % suites.len() } else { 0 };
    Setting {
        version,
        kind,
        retry: flag(3),
        asks_certificate: flag(4),
        has_certificate: flag(5),
        alpn: flag(6),
        offers_both: flag(7),
        gives_ticket: suite & 0x80 == 0,
        suite: suites[choice],
    }
}

fn write_setting(setting: &Setting) -> Option<[u8; 2]> {
    let kind = match setting.kind {
        Kind::Id => 2,
        Kind::Ticket => 3,
        _ => 0,
    };
    let flags = [
        setting.version == Version::Tls12,
        false,
        false,
        setting.retry,
        setting.asks_certificate,
        setting.has_certificate,
        setting.alpn,
        setting.offers_both,
    ];
    let flags = flags.iter().zip(0..).fold(kind << 1, |flags, (&flag, bit)| flags | u8::from(flag) << bit);
    let suite = suites(setting.version).iter().position(|suite| *suite == setting.suite)?;
    Some([flags, u8::try_from(suite).ok()? | u8::from(!setting.gives_ticket) << 7])
}

/// The suites in which the scripted servers can play, the usual one first.
fn suites(version: Version) -> Vec<CipherSuite> {
    let usual = Setting::full(version).suite;
    let playable = |suite: &&Suite| {
        let one_of_rsa = suite.id == CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256;
        suite.version == version && (suite.authentication != Authentication::Rsa || one_of_rsa)
    };
    let others = SUITES.iter().filter(playable).map(|suite| suite.id).filter(|id| *id != usual);
    std::iter::once(usual).chain(others).collect()
}
