//! Whether a stack keeps the contract: handshakes of every kind with itself and with rustls, and a refusal of each wrong thing.

use reprise_lab::KeyKind;
use reprise_model::{Kind, ServerChain, Version};
use reprise_pairs::{
    Ask, Case, Cell, Certificates, Child, Connected, Failed, FailureKind, FoundStack, Key, Keys, Launcher, NO_GROUP, Pair,
    Says, StackRef, Transport, Worker,
};
use reprise_stack::{Stack, StackSession, built_in};
use reprise_wire::NamedGroup;
use serde::{Deserialize, Serialize};

/// One thing that a stack is held to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What.
    pub name: String,
    /// What became of it.
    pub outcome: CheckOutcome,
}

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The stack does it.
    Passed,
    /// The peer did what the library says that it cannot do, in these words.
    Unsupported(String),
    /// It fails, for this reason.
    Failed(String),
}

impl CheckOutcome {
    /// `None` of what the stack says before any handshake that it cannot do.
    fn of<T>(made: Result<T, Failed>, check: impl FnOnce(T) -> Result<(), Failed>) -> Option<Self> {
        match made.map(check) {
            Err(failed) if failed.outcome == FailureKind::Unsupported => None,
            Ok(Err(failed)) if failed.outcome == FailureKind::Unsupported => Some(Self::Unsupported(failed.reason)),
            Err(failed) | Ok(Err(failed)) => Some(Self::Failed(failed.reason)),
            Ok(Ok(())) => Some(Self::Passed),
        }
    }

    /// Of what must not come about.
    fn of_refusal<T>(result: Result<T, Failed>) -> Option<Self> {
        match result {
            Err(failed) if failed.outcome == FailureKind::Failed => Some(Self::Passed),
            Err(failed) if failed.outcome == FailureKind::Unsupported => None,
            Err(failed) => Some(Self::Failed(failed.reason)),
            Ok(_) => Some(Self::Failed("the handshake succeeds".to_owned())),
        }
    }
}

/// Holds a stack to the contract, in a child process.
///
/// # Errors
/// Where the child ends or does not answer: the check that did it is unknown then.
pub fn conformance(stack: &FoundStack, keys: &Keys, launcher: &Launcher) -> Result<Vec<Check>, Failed> {
    let keys = KEYS.iter().filter_map(|&key| Some((key, keys.of(key, ServerChain::One)?.clone()))).collect();
    Worker::new(launcher).ask(&Conform { stack: stack.at.clone(), keys })
}

/// Whether a stack keeps the contract of its header, by certificates of every key.
#[derive(Serialize, Deserialize)]
pub(crate) struct Conform {
    stack: StackRef,
    keys: Vec<(Key, Certificates)>,
}

impl Ask for Conform {
    const NAME: &'static str = "Conform";
    type Answer = Vec<Check>;

    fn answer(self, child: &mut Child) -> Result<Vec<Check>, Failed> {
        Ok(run(&*child.stack(&self.stack)?, &self.keys))
    }
}

/// The keys that a conformance run needs.
pub const KEYS: [Key; 3] = [Key::P256, Key::Lab(KeyKind::Rsa2048), Key::None];

/// Larger than a record, and no multiple of one.
const LARGE: usize = 100_003;

/// The least that every extension for it can say.
const SMALL: u16 = 512;

/// All checks, in this process.
fn run(stack: &dyn Stack, keys: &[(Key, Certificates)]) -> Vec<Check> {
    let rustls = built_in().into_iter().find(|(name, _)| *name == "rustls-aws-lc").map(|(_, rustls)| rustls);
    let mut checks = Vec::new();
    let peers: Vec<(&str, &dyn Stack)> =
        [("itself", stack)].into_iter().chain(rustls.as_deref().map(|rustls| ("rustls", rustls))).collect();
    for (name, peer) in peers {
        for (as_client, client, server) in [(true, stack, peer), (false, peer, stack)] {
            if name == "itself" && !as_client {
                continue;
            }
            let role = match (name, as_client) {
                ("itself", _) => "with itself".to_owned(),
                (name, true) => format!("as client of {name}"),
                (name, false) => format!("as server of {name}"),
            };
            for (key, certificates) in keys {
                for case in cases(*key) {
                    let outcome =
                        CheckOutcome::of(Cell::new(client, server, case, certificates), |cell| handshakes(cell, case));
                    checks.extend(outcome.map(|outcome| Check { name: format!("{case}, {role}"), outcome }));
                }
            }
            checks.extend(refusals(client, server, keys, &role));
            checks.extend(psk_refusals(client, server, keys, &role));
            checks.extend(resumptions(client, server, keys, &role));
        }
    }
    checks
}

fn cases(key: Key) -> Vec<Case> {
    if key == Key::None {
        return psk_cases();
    }
    let mut cases = Vec::new();
    for version in [Version::Tls12, Version::Tls13] {
        for kind in [Kind::Full, Kind::Id, Kind::Ticket, Kind::Early] {
            for mutual in [false, true] {
                let case = Case::new(version, kind, key, NamedGroup::SECP256R1, mutual);
                cases.extend(case.into_iter().chain(case.and_then(Case::without_key_exchange)));
                if let Some(case) = case.filter(|_| !mutual) {
                    cases.extend([case.with_max_fragment(SMALL), case.with_released_buffers()]);
                }
            }
        }
    }
    cases
}

fn psk_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for version in [Version::Tls12, Version::Tls13] {
        for group in [NO_GROUP, NamedGroup::FFDHE2048, NamedGroup::SECP256R1] {
            let case = Case::by_psk(version, group);
            cases.extend(case.into_iter().chain(case.and_then(Case::without_key_exchange)));
        }
    }
    cases
}

/// Three connections, each resuming the last; then one with data each way and an orderly end.
fn handshakes(mut cell: Cell, case: Case) -> Result<(), Failed> {
    for _ in 0..3 {
        let connected = cell.connect()?;
        of_kind(&connected, case.kind)?;
        issues(&connected, case)?;
    }
    let data: Vec<u8> = (0..LARGE).map(|index| (index % 251) as u8).collect();
    let full = cell.transport.connect_and(None, Says::Nothing, |pair| {
        pair.exchange(b"a")?;
        pair.exchange(&data)?;
        pair.close()
    })?;
    issues(&full, case)?;
    if !case.kind.is_resumption() {
        return Ok(());
    }
    // As bytes and back, where the library has them.
    let Some(session) = cell.transport.take_session() else { return Err(Failed::because("no session was left")) };
    let Ok(bytes) = session.export() else { return Ok(()) };
    let Some(context) = cell.contexts.first() else { return Err(Failed::because("there is no client")) };
    let imported = context.import(&bytes)?;
    let says = if case.kind == Kind::Early { Says::Early } else { Says::Nothing };
    let connected = cell.transport.connect(Some(imported), says)?;
    of_kind(&connected, case.kind).map_err(|_| Failed::because("an exported session is not resumed once it is imported"))
}

fn of_kind(connected: &Connected, asked: Kind) -> Result<(), Failed> {
    match connected.kind() {
        Some(kind) if kind != asked => Err(Failed::because(format!("{asked} was asked for, {kind} observed"))),
        _ => Ok(()),
    }
}

/// Under TLS 1.3 a server sends one ticket where sessions are kept, and none elsewhere.
fn issues(connected: &Connected, case: Case) -> Result<(), Failed> {
    let asked = u64::from(case.kind.is_resumption());
    match connected.observed {
        Some(seen) if case.version == Version::Tls13 && seen.tickets != asked => {
            Err(Failed::because(format!("{} tickets were observed where {asked} was asked for", seen.tickets)))
        }
        _ => Ok(()),
    }
}

/// What must not come about: a handshake where the two have nothing in common, or trust is missing.
fn refusals(client: &dyn Stack, server: &dyn Stack, keys: &[(Key, Certificates)], role: &str) -> Vec<Check> {
    let of = |wanted: Key| keys.iter().find(|(key, _)| *key == wanted).map(|(_, certificates)| certificates);
    let (Some(ec), Some(rsa)) = (of(Key::P256), of(Key::RSA_2048)) else { return Vec::new() };
    let strangers = Certificates { root: rsa.root.clone(), ..ec.clone() };
    let mut checks = Vec::new();
    let mut check = |name: &str, case: Option<Case>, certificates: &Certificates, client_differs: fn(&mut Case)| {
        let Some(case) = case else { return };
        let mut other = case;
        client_differs(&mut other);
        let made = Cell::of_unlike(client, server, [other, case], certificates);
        let outcome = CheckOutcome::of_refusal(made.and_then(|mut cell| cell.connect()));
        checks.extend(outcome.map(|outcome| Check { name: format!("{name}, {}, {role}", case.version), outcome }));
    };
    for version in [Version::Tls12, Version::Tls13] {
        let case = |mutual| Case::new(version, Kind::Full, Key::P256, NamedGroup::SECP256R1, mutual);
        check("refuses a chain to no trusted root", case(false), &strangers, |_| {});
        check("refuses a client without a certificate", case(true), ec, |client| client.mutual = false);
        // Of an RSA key, since an ECDSA key brings its curve into the list.
        let of_rsa = Case::new(version, Kind::Full, Key::RSA_2048, NamedGroup::SECP256R1, false);
        check("refuses a group that is not its own", of_rsa, rsa, |client| client.group = NamedGroup::SECP384R1.0);
    }
    checks
}

/// The same where the two know different keys under one identity.
fn psk_refusals(client: &dyn Stack, server: &dyn Stack, keys: &[(Key, Certificates)], role: &str) -> Vec<Check> {
    let Some((_, certificates)) = keys.iter().find(|(key, _)| *key == Key::None) else { return Vec::new() };
    let mut others = certificates.clone();
    others.psk.iter_mut().for_each(|byte| *byte = !*byte);
    let check = |case: Case| {
        let meet = || {
            let [cell, other] = [Cell::new(client, server, case, certificates)?, Cell::new(client, server, case, &others)?];
            Pair::new(cell.contexts[0].endpoint(), other.contexts[1].endpoint()).connect(None, Says::Nothing)
        };
        let name = format!("refuses a PSK with another key, {case}, {role}");
        CheckOutcome::of_refusal(meet()).map(|outcome| Check { name, outcome })
    };
    psk_cases().into_iter().filter_map(check).collect()
}

/// A TLS 1.3 session that is resumed where one side does not do all that the other would.
struct Resumption {
    name: &'static str,
    /// The client's case and the server's.
    cases: fn(Case) -> [Case; 2],
    /// Whether it is offered to a server with other ticket keys.
    elsewhere: bool,
    /// The kinds that may be observed.
    kinds: &'static [Kind],
}

impl Resumption {
    const ALL: [Self; 3] = [
        Self {
            name: "resumes a client of psk_dhe_ke where it would rather have psk_ke",
            cases: |case| [case, psk_ke(case)],
            elsewhere: false,
            kinds: &[Kind::Ticket, Kind::Full],
        },
        Self {
            name: "sends no early data that the ticket does not allow",
            cases: |case| [early(case), case],
            elsewhere: false,
            kinds: &[Kind::Ticket],
        },
        Self {
            name: "sends early data again that another server rejects",
            cases: |case| [early(case), early(case)],
            elsewhere: true,
            kinds: &[Kind::Full],
        },
    ];

    /// That the request arrives, and arrives once, the pair sees to.
    fn check(&self, cases: [Case; 2], cells: [Cell; 2]) -> Result<(), Failed> {
        let [mut cell, other] = cells;
        let session = with_session(&mut cell)?;
        if self.elsewhere {
            cell.transport = Pair::new(cell.contexts[0].endpoint(), other.contexts[1].endpoint());
        }
        let says = if cases[0].kind == Kind::Early { Says::Early } else { Says::Request };
        match cell.transport.connect(Some(session), says)?.kind() {
            Some(kind) if !self.kinds.contains(&kind) => Err(Failed::because(format!("{kind} was observed"))),
            _ => Ok(()),
        }
    }
}

/// The session that a full handshake leaves.
fn with_session(cell: &mut Cell) -> Result<StackSession, Failed> {
    cell.transport.connect(None, Says::Request)?;
    let none = || Failed::because("a full handshake leaves the client no session to resume");
    cell.transport.take_session().ok_or_else(none)
}

/// One first flight, twice (RFC 9846 §8).
fn replay(mut cell: Cell) -> Result<(), Failed> {
    let session = with_session(&mut cell)?;
    let accepted = cell.transport.replay(session)?;
    match accepted {
        [true, false] => Ok(()),
        [false, _] => Err(Failed::because("it is not accepted at first")),
        [true, true] => Err(Failed::because("it is accepted again")),
    }
}

/// What is particular to TLS 1.3 resumption; what a library says that it cannot do is no check.
fn resumptions(client: &dyn Stack, server: &dyn Stack, keys: &[(Key, Certificates)], role: &str) -> Vec<Check> {
    let case = Case::new(Version::Tls13, Kind::Ticket, Key::P256, NamedGroup::SECP256R1, false);
    let certificates = keys.iter().find(|(key, _)| *key == Key::P256).map(|(_, certificates)| certificates);
    let (Some(case), Some(certificates)) = (case, certificates) else { return Vec::new() };
    let cell = |cases: [Case; 2]| Cell::of_unlike(client, server, cases, certificates);
    let resumption = |it: &Resumption| {
        let cases = (it.cases)(case);
        let cells = cell(cases).and_then(|one| Ok([one, cell(cases)?]));
        (it.name, CheckOutcome::of(cells, |cells| it.check(cases, cells)))
    };
    let replayed = ("accepts replayed early data once", CheckOutcome::of(cell([early(case), early(case)]), replay));
    let outcomes = Resumption::ALL.iter().map(resumption).chain([replayed]);
    let checked = |(name, outcome): (&str, Option<CheckOutcome>)| {
        outcome.map(|outcome| Check { name: format!("{name}, {}, {role}", case.version), outcome })
    };
    outcomes.filter_map(checked).collect()
}

fn psk_ke(case: Case) -> Case {
    Case { psk_ke: true, ..case }
}

fn early(case: Case) -> Case {
    Case { kind: Kind::Early, ..case }.with_request()
}
