//! The experiments, as data: what each varies, under what and in which steps. A cause names the experiments that tell it from others.

use reprise_model::{Asked, Kind, Version};

use super::variation::Variation;
use crate::fleet::MECHANISMS;

/// One experiment.
#[derive(Debug)]
pub struct Experiment {
    /// A fixed slug.
    pub name: &'static str,
    /// What it varies, for people.
    pub varies: &'static str,
    /// The versions and mechanisms that it is made under.
    pub under: &'static [Asked],
    /// What has to hold for it to show anything.
    pub needs: Needs,
    /// How much a difference matters, if it shows one.
    pub gravity: Gravity,
    /// Its connections.
    pub steps: &'static [Step],
}

/// One step of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A full handshake, whose sessions are there to be offered.
    Prime(Variation),
    /// The same, which may fail: it shows what becomes of connections that offer nothing.
    Control(Variation),
    /// Offers the newest session that was not offered yet.
    Resume(Variation),
    /// Offers the session that tells most, of any connection before.
    Chosen,
    /// The same with the request as early data.
    Early(Variation),
    /// Sends the early data of the connection before again, with the same ticket.
    Replay,
    /// Full handshakes of others, as many as `DiagnoseLimits::fill` says.
    Interpose,
    /// No connection for as long as `DiagnoseLimits::patience` says.
    Wait,
    /// As many at once as `DiagnoseLimits::burst` says, each with a session of its own as long as there are any.
    Burst,
}

/// What has to hold for an experiment to show anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Sessions of this mechanism are accepted, at least once.
    Resumption,
    /// A session was given.
    Session,
    /// Sessions are accepted, and somebody wants to know of so many others.
    Fill,
    /// Sessions were offered, and every one was refused.
    Refusal,
    /// Hardly any session is accepted once its connection has ended, and the server ended none with close_notify.
    Eviction,
    /// Connections failed that offered a session.
    FailedOffer,
    /// Nothing of this mechanism is accepted, be it that nothing is given.
    NoResumption,
    /// They are accepted, and tickets allow early data.
    EarlyData,
    /// Something is asked once TLS is there.
    Request,
    /// Full handshakes stand still in the middle of the server's flight, or answers come as late, for as long as an acknowledgement may
    /// be delayed.
    Stall,
    /// Handshakes of TLS 1.3 start again, since the server asks for a key share of another group.
    Retry,
    /// They are accepted, and somebody wants to wait.
    Patience,
    /// Resumed connections seem to be answered otherwise than full ones.
    OtherAnswers,
}

/// How much it matters if what is varied makes a difference. What matters more is made again first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Nothing is concluded from it.
    Nothing,
    /// By design, and worth knowing.
    Note,
    /// Ordinary clients lose sessions by it.
    Loss,
}

const TLS12_ID: Asked = Asked { tls: Version::Tls12, kind: Kind::Id };
const TLS12_TICKET: Asked = Asked { tls: Version::Tls12, kind: Kind::Ticket };
const TLS13_TICKET: Asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };
const TLS12: &[Asked] = &[TLS12_TICKET, TLS12_ID];
const TICKETS: &[Asked] = &[TLS13_TICKET, TLS12_TICKET];
const TLS13: &[Asked] = &[TLS13_TICKET];
const STORED: &[Asked] = &[TLS13_TICKET, TLS12_ID];

use Step::{Burst, Control, Early, Interpose, Prime, Replay, Resume, Wait};
use Variation::Plain;

/// Steps that vary nothing.
const PRIME: Step = Prime(Plain);
const RESUME: Step = Resume(Plain);
const EARLY: Step = Early(Plain);
const OPEN: Step = Prime(Variation::StaysOpen);
const CONTROL_PLAIN: Step = Control(Plain);
const CONTROL_LARGE: Step = Control(Variation::AsLargeAsAnOffer);
/// A second request on the same connection, and the same on one beside it that acknowledges at once.
const AGAIN: Step = Prime(Variation::AsksAgain);
const QUICK: Step = Prime(Variation::AcknowledgesAtOnce);
/// To be beside ones that are retried.
const SHARE: Step = Prime(Variation::SharesWantedGroup);
/// The name of the experiment that has them.
pub(super) const FIRST_SHARE: &str = "first-share";

/// Every experiment, in the order in which they are made: what the later ones need is found out by the earlier.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment::new("resume", "nothing")
        .needs(Needs::Nothing)
        .gravity(Gravity::Nothing)
        .steps(&[PRIME, RESUME, RESUME, RESUME, PRIME, RESUME, RESUME, RESUME]),
    Experiment::new("history", "which session is offered, how old it is, and after how many others")
        .needs(Needs::Session)
        .gravity(Gravity::Nothing),
    Experiment::new("answers", "nothing, full handshakes and resumptions in turn")
        .needs(Needs::OtherAnswers)
        .gravity(Gravity::Nothing)
        .steps(&[PRIME, RESUME, PRIME, RESUME, PRIME, RESUME, PRIME, RESUME, PRIME, RESUME, PRIME]),
    Experiment::new("as-large-as-an-offer", "a ClientHello as large as one that offers a session, which offers none")
        .needs(Needs::FailedOffer)
        .gravity(Gravity::Nothing)
        .steps(&[
            PRIME,
            CONTROL_LARGE,
            CONTROL_PLAIN,
            CONTROL_LARGE,
            CONTROL_PLAIN,
            CONTROL_LARGE,
            CONTROL_PLAIN,
            CONTROL_LARGE,
            CONTROL_PLAIN,
            CONTROL_LARGE,
            CONTROL_PLAIN,
        ]),
    Experiment::new("no-sni-at-all", "neither connection sends server_name")
        .needs(Needs::NoResumption)
        .steps(&[Prime(Variation::WithoutSni), Resume(Variation::WithoutSni)]),
    Experiment::new("no-certificate-at-all", "neither connection sends a client certificate")
        .needs(Needs::Refusal)
        .steps(&[Prime(Variation::WithoutCertificate), Resume(Variation::WithoutCertificate)]),
    Experiment::new("both-psk-modes", "both connections offer psk_ke beside psk_dhe_ke")
        .under(TLS13)
        .needs(Needs::Refusal)
        .steps(&[Prime(Variation::BothPskModes), Resume(Variation::BothPskModes)]),
    Experiment::new("while-open", "the first connection is still open when its session is offered")
        .under(STORED)
        .needs(Needs::Eviction)
        .gravity(Gravity::Nothing)
        .steps(&[OPEN, RESUME, OPEN, RESUME, OPEN, RESUME]),
    Experiment::new("keep-alive", "a second request on the same connection")
        .under(TICKETS)
        .needs(Needs::Request)
        .gravity(Gravity::Nothing)
        .steps(&[AGAIN; 8]),
    Experiment::new("unclean-close", "the first connection ends with a FIN, without close_notify")
        .steps(&[Prime(Variation::EndsWithFin), RESUME]),
    // It asks again too, which costs no connection more.
    Experiment::new("reset", "the first connection ends with a reset")
        .under(STORED)
        .steps(&[Prime(Variation::EndsWithReset), RESUME]),
    Experiment::new("fill", "other full handshakes in between")
        .under(STORED)
        .needs(Needs::Fill)
        .steps(&[PRIME, Interpose, RESUME]),
    Experiment::new("without-sni", "the resumption sends no server_name")
        .gravity(Gravity::Note)
        .steps(&[PRIME, Resume(Variation::WithoutSni)]),
    Experiment::new("without-alpn", "the resumption offers no ALPN")
        .under(TICKETS)
        .gravity(Gravity::Note)
        .steps(&[PRIME, Resume(Variation::WithoutAlpn)]),
    Experiment::new(
        "without-extended-master-secret",
        "the resumption leaves out extended_master_secret, which RFC 7627 answers with an alert",
    )
    .under(TLS12)
    .gravity(Gravity::Nothing)
    .steps(&[PRIME, Resume(Variation::WithoutExtendedMasterSecret)]),
    Experiment::new(
        "with-extended-master-secret",
        "the first connection leaves out extended_master_secret, the resumption has it",
    )
    .under(TLS12)
    .gravity(Gravity::Nothing)
    .steps(&[Prime(Variation::WithoutExtendedMasterSecret), RESUME]),
    Experiment::new("other-suite", "the first connection leaves out the suite that the server prefers")
        .under(TICKETS)
        .gravity(Gravity::Note)
        .steps(&[Prime(Variation::WithoutChosenSuite), RESUME]),
    // That such suites are served is shown by the one before.
    Experiment::new("no-suite-of-its-hash", "the resumption offers no suite of the session's hash")
        .under(TLS13)
        .steps(&[PRIME, Resume(Variation::WithoutSessionSuite)]),
    Experiment::new("without-certificate", "the resumption has no client certificate to send")
        .under(TICKETS)
        .gravity(Gravity::Nothing)
        .steps(&[PRIME, Resume(Variation::WithoutCertificate)]),
    Experiment::new("psk-ke", "the resumption offers psk_ke alone").under(TLS13).gravity(Gravity::Nothing).steps(&[
        Prime(Variation::BothPskModes),
        Resume(Variation::PskKe),
        Resume(Variation::BothPskModes),
    ]),
    Experiment::new("large-client-hello", "a ClientHello of more than 1,600 bytes")
        .under(TICKETS)
        .steps(&[Prime(Variation::LargeHello), Resume(Variation::LargeHello)]),
    Experiment::new("records", "a ClientHello split over several records")
        .under(TICKETS)
        .steps(&[Prime(Variation::SplitOverRecords), Resume(Variation::SplitOverRecords)]),
    Experiment::new("segments", "a ClientHello split over two TCP segments")
        .under(TICKETS)
        .steps(&[Prime(Variation::SplitOverSegments), Resume(Variation::SplitOverSegments)]),
    Experiment::new("ech-grease", "a ClientHello with an encrypted_client_hello that holds nothing, as browsers send it")
        .under(TLS13)
        .steps(&[Prime(Variation::GreasesEch), Resume(Variation::GreasesEch)]),
    Experiment::new(
        "ech-grease-early-data",
        "the request as early data, with an encrypted_client_hello that holds nothing and without",
    )
    .under(TLS13)
    .needs(Needs::EarlyData)
    .steps(&[PRIME, EARLY, PRIME, Early(Variation::GreasesEch)]),
    Experiment::new("identities", "2, 5 and up to 40 PSK identities, of at most 16 kB, the true one last")
        .under(TLS13)
        .steps(&[
            PRIME,
            Resume(Variation::Identities(2)),
            Resume(Variation::Identities(5)),
            Resume(Variation::Identities(40)),
        ]),
    Experiment::new("hello-retry-request", "no key share, so that the server asks for one first")
        .under(TLS13)
        .steps(&[PRIME, Resume(Variation::WithoutKeyShare)]),
    Experiment::new("early-data", "the request as early data, the same once more, and after a HelloRetryRequest")
        .under(TLS13)
        .needs(Needs::EarlyData)
        .gravity(Gravity::Nothing)
        .steps(&[PRIME, EARLY, Replay, EARLY, PRIME, Early(Variation::WithoutKeyShare)]),
    Experiment::new("quick-acknowledgement", "what the server sends is acknowledged at once, on every other connection")
        .under(TICKETS)
        .needs(Needs::Stall)
        .gravity(Gravity::Nothing)
        .steps(&[AGAIN, QUICK, AGAIN, QUICK, AGAIN, QUICK, AGAIN, QUICK, AGAIN, QUICK, AGAIN, QUICK]),
    Experiment::new("burst", "many connections at once").under(&[TLS13_TICKET, TLS12_ID]).steps(&[PRIME, Burst]),
    Experiment::new(FIRST_SHARE, "the first key share is of the group that the server asks for, on every other connection")
        .under(TLS13)
        .needs(Needs::Retry)
        .gravity(Gravity::Nothing)
        .steps(&[
            PRIME, SHARE, SHARE, PRIME, PRIME, SHARE, SHARE, PRIME, PRIME, SHARE, SHARE, PRIME, PRIME, SHARE, SHARE, PRIME,
        ]),
    Experiment::new("patience", "a wait between the first connection and the next")
        .needs(Needs::Patience)
        .gravity(Gravity::Nothing)
        .steps(&[PRIME, RESUME, PRIME, Wait, RESUME, RESUME]),
];

/// So many connections the judge chooses where nothing is refused.
const CHOSEN: u32 = 15;

/// What is made beside an experiment that is made again: whether sessions are still resumed where nothing is varied.
pub static CONTROL: Experiment = Experiment::new("resume-control", "nothing, beside what is made again")
    .needs(Needs::Nothing)
    .gravity(Gravity::Nothing)
    .steps(&[PRIME, RESUME, RESUME]);

impl Experiment {
    /// One that is made under every mechanism, needs a resumption to show anything, and whose difference loses sessions: most are
    /// of this kind, and the others say what they have instead.
    const fn new(name: &'static str, varies: &'static str) -> Self {
        let (needs, gravity) = (Needs::Resumption, Gravity::Loss);
        Self { name, varies, under: &MECHANISMS, needs, gravity, steps: &[] }
    }

    const fn under(self, under: &'static [Asked]) -> Self {
        Self { under, ..self }
    }

    const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    const fn gravity(self, gravity: Gravity) -> Self {
        Self { gravity, ..self }
    }

    const fn steps(self, steps: &'static [Step]) -> Self {
        Self { steps, ..self }
    }

    /// Whether its connections are chosen one by one, by what those before them have shown.
    pub fn is_chosen(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it varies nothing: its connections are those of any client.
    pub fn is_plain(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| matches!(step, Prime(Plain) | Resume(Plain)))
    }

    /// How many connections it makes at most, under each mechanism that is healthy.
    pub fn connections(&self, fill: u32, burst: u32) -> u32 {
        let of = |step: &Step| match step {
            Step::Interpose => fill,
            Step::Burst => burst,
            Step::Wait => 0,
            _ => 1,
        };
        if self.is_chosen() { CHOSEN } else { self.steps.iter().map(of).sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::DiagnoseLimits;

    #[test]
    fn all_that_a_healthy_server_sees_stays_under_the_limit() {
        let limits = DiagnoseLimits::default();
        let needed = EXPERIMENTS.iter().filter(|it| {
            let finds_faults = matches!(
                it.needs,
                Needs::OtherAnswers | Needs::Refusal | Needs::NoResumption | Needs::Eviction | Needs::FailedOffer
            );
            !finds_faults && !matches!(it.needs, Needs::Stall | Needs::Retry | Needs::Patience | Needs::Fill)
        });
        let count: u32 = needed.map(|it| it.connections(limits.fill, limits.burst) * it.under.len() as u32).sum();
        assert!(count <= limits.connections, "{count}");
    }

    #[test]
    fn names_are_slugs_and_each_there_once() {
        let mut names: Vec<&str> = EXPERIMENTS.iter().map(|it| it.name).collect();
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EXPERIMENTS.len());
    }
}
