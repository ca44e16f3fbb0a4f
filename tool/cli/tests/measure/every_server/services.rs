//! Services that begin in the clear: what each resumes as it comes, and when told to, by its own account; a table of the guide.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::thread;

use reprise_lab::{Identity, KeyKind};
use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{
    Dovecot, DovecotConfig, Exim, EximConfig, FtpSessionCache, LoginProcesses, MailAccess, MariaDb, MariaDbConfig, NotRun,
    PartialWitness, Postgres, PostgresConfig, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, RealServer, Slapd,
    SlapdConfig, missing,
};

use super::bystander::Bystander;
use super::column::COLUMNS;
use super::table::{Row, Table};
use super::{COUNT, KEYS};
use reprise_harness::{DEADLINE, Lab, Outcome, assert_account_for, version};

/// A server and its settings.
struct Service {
    name: &'static str,
    /// The programs without which it cannot run; the first says which version it is.
    needs: &'static [&'static str],
    version_arguments: &'static [&'static str],
    /// Those of a full TLS 1.3 connection until the handshake is complete: of the dialogue in the clear, and one more.
    round_trips: u64,
    settings: Vec<Setting>,
}

/// How the server is told, what is then measured and held against its own account, and what the page says of it.
struct Setting {
    told: &'static str,
    measure: fn(&Lab, &Identity) -> Outcome,
    shows: &'static [&'static str],
}

const AS_IT_COMES: &str = "–";

/// Without a configuration that it may read, Prosody does not say which version it is; Debian's may be read by root alone.
const PROSODY_CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measure/every_server/prosody.cfg.lua");

/// Measures every service that is installed, with a key of each kind.
pub(super) fn table() -> Table {
    let kinds = COLUMNS.map(|column| column.heading);
    let mut table = Table::new("services", &[&["setting"], &kinds[..]].concat());
    let mut services = all();
    services.retain(is_installed);
    let rows = thread::scope(|scope| {
        let under_way: Vec<_> = services.iter().map(|service| scope.spawn(|| service.rows())).collect();
        under_way.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
    });
    table.rows = rows.concat();
    table
}

fn all() -> Vec<Service> {
    let setting = |told, measure, shows| Setting { told, measure, shows };
    vec![
        Service {
            name: "Exim",
            needs: &["exim4"],
            version_arguments: &["-bV"],
            // The greeting, EHLO, STARTTLS.
            round_trips: 4,
            settings: vec![
                setting(AS_IT_COMES, exim::<false>, &["offers no resumption", "tls_resumption_hosts"]),
                setting("`tls_resumption_hosts = *`", exim::<true>, &["smtp://127.0.0.1", "starttls"]),
            ],
        },
        Service {
            name: "Dovecot",
            needs: &["dovecot"],
            version_arguments: &["--version"],
            // The greeting, STARTTLS.
            round_trips: 3,
            settings: vec![
                setting(
                    AS_IT_COMES,
                    |lab, identity| dovecot(lab, identity, LoginProcesses::OneEach),
                    &["tickets arrive and are never accepted", "service_count = 0"],
                ),
                setting("`service_count = 0`", |lab, identity| dovecot(lab, identity, LoginProcesses::Shared), &[]),
            ],
        },
        Service {
            name: "ProFTPD",
            needs: &["proftpd"],
            version_arguments: &["--version"],
            // The greeting, AUTH.
            round_trips: 3,
            settings: vec![
                setting(
                    AS_IT_COMES,
                    |lab, identity| proftpd(lab, identity, FtpSessionCache::OneEach),
                    &["ftp://127.0.0.1", "TLS 1.2 session IDs are given and never accepted", "ProFTPD"],
                ),
                setting(
                    "`TLSSessionCache shm:FILE`",
                    |lab, identity| proftpd(lab, identity, FtpSessionCache::Shared),
                    &["TLS 1.2 session IDs are given and never accepted"],
                ),
                setting("`TLSSessionCache off`", |lab, identity| proftpd(lab, identity, FtpSessionCache::Off), &[]),
            ],
        },
        Service {
            name: "OpenLDAP",
            needs: &["slapd", "openssl"],
            version_arguments: &["-VV"],
            // StartTLS.
            round_trips: 2,
            settings: vec![setting(AS_IT_COMES, slapd, &["TLS 1.3 offers no resumption", "OpenLDAP"])],
        },
        Service {
            name: "PostgreSQL",
            needs: &["postgres", "initdb"],
            version_arguments: &["--version"],
            // SSLRequest.
            round_trips: 2,
            settings: vec![setting(AS_IT_COMES, postgres, &["TLS 1.3 offers no resumption", "PostgreSQL"])],
        },
        Service {
            name: "MariaDB",
            needs: &["mariadbd", "my_print_defaults", "openssl"],
            version_arguments: &["--version"],
            // The greeting; nobody answers SSLRequest.
            round_trips: 2,
            settings: vec![setting(AS_IT_COMES, mariadb, &[])],
        },
        Service {
            name: "Prosody",
            needs: &["prosodyctl", "prosody", "openssl"],
            version_arguments: &["--config", PROSODY_CONFIGURATION, "about"],
            // The stream, starttls.
            round_trips: 3,
            settings: vec![
                setting(
                    AS_IT_COMES,
                    prosody::<false>,
                    &["TLS 1.3 tickets arrive and are never accepted", "no_ticket = false"],
                ),
                setting("`no_ticket = false`", prosody::<true>, &[]),
            ],
        },
    ]
}

fn is_installed(service: &Service) -> bool {
    let not_run = service.needs.iter().find_map(|program| missing(program));
    not_run.iter().for_each(NotRun::announce);
    not_run.is_none()
}

impl Service {
    fn rows(&self) -> Vec<Row> {
        let version = version(self.needs[0], self.version_arguments);
        let row = |setting: &Setting| {
            let mut cells = KEYS.map(|key| self.cells(setting, key));
            // No server treats one kind of key otherwise than the other.
            assert_eq!(cells[0], cells[1], "{} {}", self.name, setting.told);
            let [cells, _] = &mut cells;
            cells.insert(0, setting.told.to_owned());
            Row { server: self.name.to_owned(), version: version.clone(), cells: cells.clone() }
        };
        self.settings.iter().map(row).collect()
    }

    fn cells(&self, setting: &Setting, key: KeyKind) -> Vec<String> {
        let lab = Lab::new();
        let outcome = (setting.measure)(&lab, &lab.identity(key)).exits(0).shows(setting.shows);
        let document = outcome.document();
        document.runs.iter().filter(|run| run.n > 0).for_each(assert_phases);
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(self.round_trips), "{}", self.name);
        COLUMNS.iter().map(|column| column.cell(&document)).collect()
    }
}

/// Every phase of a run is there, in the clear and under TLS.
fn assert_phases(run: &Run) {
    for phase in [Phase::Connect, Phase::Starttls, Phase::Tls, Phase::Wait, Phase::Receive, Phase::Total] {
        assert!(run.phases.contains_key(&phase), "{phase} in {:?}", run.asked);
    }
    assert!(!run.phases.contains_key(&Phase::Proxy));
}

fn asked(lab: &Lab, address: SocketAddr, protocol: &str, more: &[&str]) -> Outcome {
    lab.measure(address).args(["--starttls", protocol]).args(more).count(COUNT).run()
}

fn exim<const RESUMPTION: bool>(lab: &Lab, identity: &Identity) -> Outcome {
    let config = EximConfig { resumption: RESUMPTION, ..EximConfig::new(identity.clone()) };
    let mut server = Exim::start(config).unwrap();
    let outcome = asked(lab, server.address(), "smtp", &[]);
    assert_account_for(&mut server, &outcome.document(), "Exim");
    outcome
}

fn dovecot(lab: &Lab, identity: &Identity, processes: LoginProcesses) -> Outcome {
    let [imap, pop3] = [(MailAccess::Imap, "imap"), (MailAccess::Pop3, "pop3")].map(|(access, protocol)| {
        let server = Dovecot::start(DovecotConfig { identity: identity.clone(), access, processes }).unwrap();
        let outcome = asked(lab, server.address(), protocol, &[]);
        assert_known(&outcome.document(), &server);
        outcome
    });
    let cells = |outcome: &Outcome| COLUMNS.map(|column| column.cell(&outcome.document()));
    assert_eq!(cells(&imap), cells(&pop3));
    pop3
}

fn proftpd(lab: &Lab, identity: &Identity, session_cache: FtpSessionCache) -> Outcome {
    let config = ProFtpdConfig { session_cache, ..ProFtpdConfig::new(identity.clone()) };
    let mut server = ProFtpd::start(config).unwrap();
    let outcome = asked(lab, server.address(), "ftp", &[]);
    assert_account_for(&mut server, &outcome.document(), "ProFTPD");
    outcome
}

/// OpenLDAP on GnuTLS neither stores sessions nor asks for tickets; of an ID that it gave it knows nothing.
fn slapd(lab: &Lab, identity: &Identity) -> Outcome {
    let server = Slapd::start(SlapdConfig { identity: Some(identity.clone()) }).unwrap();
    let outcome = asked(lab, server.address(), "ldap", &[]);
    assert_known(&outcome.document(), &server);
    assert_bystander_agrees(&Bystander::of_ldap(server.address()), &outcome);
    outcome
}

/// Before version 18 it accepts key shares of P-256 alone.
fn postgres(lab: &Lab, identity: &Identity) -> Outcome {
    let server = Postgres::start(PostgresConfig { identity: Some(identity.clone()), lines: Vec::new() }).unwrap();
    let outcome = asked(lab, server.address(), "postgres", &["--groups", "secp256r1"]);
    assert_known(&outcome.document(), &server);
    outcome
}

/// It counts logins.
fn mariadb(lab: &Lab, identity: &Identity) -> Outcome {
    let server = MariaDb::start(MariaDbConfig::new(identity.clone())).unwrap();
    let outcome = asked(lab, server.address(), "mysql", &[]);
    let made = made(&outcome.document());
    let logins = server.logins_when(made, DEADLINE).unwrap();
    assert!(logins.len() == made && logins.iter().all(|login| login.contains("reprise@127.0.0.1")), "{logins:?}");
    assert_bystander_agrees(&Bystander::of_mysql(server.address()), &outcome);
    outcome
}

fn prosody<const TICKETS: bool>(lab: &Lab, identity: &Identity) -> Outcome {
    let config = ProsodyConfig { session_tickets: TICKETS, ..ProsodyConfig::new(identity.clone()) };
    let server = Prosody::start(config).unwrap();
    let outcome = asked(lab, server.address(), "xmpp", &[]);
    assert_known(&outcome.document(), &server);
    assert_bystander_agrees(&Bystander::of_xmpp(server.address()), &outcome);
    outcome
}

/// How many connections were made in all.
fn made(document: &MeasureDocument) -> usize {
    let all = document.all_connections;
    usize::try_from(all.full + all.id + all.ticket).unwrap()
}

/// Every sample is a connection that the server knows of, under the same version.
#[track_caller]
fn assert_known(document: &MeasureDocument, server: &impl PartialWitness) {
    let connected = server.connected_when(made(document), DEADLINE).unwrap();
    assert_eq!((connected.len(), document.all_connections.failed), (made(document), 0));
    let by_port: HashMap<u16, String> = connected.into_iter().map(|one| (one.client_port, one.version)).collect();
    for sample in &document.samples {
        let version = if sample.asked.tls == Version::Tls12 { "TLSv1.2" } else { "TLSv1.3" };
        assert_eq!(by_port.get(&sample.local_port).map(String::as_str), Some(version), "{sample:?}");
    }
}

/// OpenSSL's client resumes under a version where we did, and where we did not, neither does it.
#[track_caller]
fn assert_bystander_agrees(bystander: &Bystander, outcome: &Outcome) {
    for tls in [Version::Tls12, Version::Tls13] {
        let document = outcome.document();
        let resumed = document.runs.iter().any(|run| run.asked.tls == tls && run.asked.kind != Kind::Full && run.n > 0);
        assert_eq!(bystander.resumes(tls), resumed, "{tls}");
    }
}

/// A login is refused after the handshake, so whoever is turned away has resumed all the same.
#[test]
fn a_database_that_knows_nobody_is_measured() {
    reprise_servers::require!("mariadbd", "my_print_defaults");
    let lab = Lab::new();
    let config = MariaDbConfig { login: None, ..MariaDbConfig::new(lab.identity(KeyKind::P256)) };
    let server = MariaDb::start(config).unwrap();
    let outcome = asked(&lab, server.address(), "mysql", &[]).exits(0);
    for tls in [Version::Tls12, Version::Tls13] {
        assert_eq!(outcome.measured(tls, Kind::Ticket).n, u64::from(COUNT), "{tls}");
    }
}

/// `--no-request` waits for tickets under these protocols too.
#[test]
fn tickets_of_a_service_are_awaited_without_a_question() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let outcome = asked(&lab, server.address(), "smtp", &["--no-request", "--tls", "1.3"]).exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, u64::from(COUNT));
    assert_account_for(&mut server, &outcome.document(), "--no-request");
}
