//! The table of services that begin in the clear: what each resumes as it comes, and when told to.

use std::panic::resume_unwind;
use std::thread;

use reprise_lab::{Identity, KeyKind};
use reprise_model::document::MeasureDocument;
use reprise_servers::{
    Dovecot, Exim, EximConfig, FtpSessionCache, LoginProcesses, MailAccess, MariaDb, MariaDbConfig, NotRun, PartialWitness,
    Postgres, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, RealServer, Slapd, missing,
};

use super::column::COLUMNS;
use super::table::{Row, Table};
use super::{COUNT, KEYS};
use crate::starttls::{assert_known, made};
use reprise_harness::{DEADLINE, Lab, Reprise, assert_account_for, version};

/// A server and its settings.
struct Service {
    name: &'static str,
    /// The programs without which it cannot run; the first says which version it is.
    needs: &'static [&'static str],
    version_arguments: &'static [&'static str],
    settings: Vec<Setting>,
}

/// How the server is told, and what is then measured and held against its own account.
struct Setting {
    told: &'static str,
    measure: fn(&Lab, &Identity) -> MeasureDocument,
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
    let service = |name, needs, version_arguments, settings: &[(_, _)]| {
        let settings = settings.iter().map(|&(told, measure)| Setting { told, measure }).collect();
        Service { name, needs, version_arguments, settings }
    };
    vec![
        service("Exim", &["exim4"], &["-bV"], &[(AS_IT_COMES, exim::<false>), ("`tls_resumption_hosts = *`", exim::<true>)]),
        service(
            "Dovecot",
            &["dovecot"],
            &["--version"],
            &[
                (AS_IT_COMES, |lab, identity| dovecot(lab, identity, LoginProcesses::OneEach)),
                ("`service_count = 0`", |lab, identity| dovecot(lab, identity, LoginProcesses::Shared)),
            ],
        ),
        service(
            "ProFTPD",
            &["proftpd"],
            &["--version"],
            &[
                (AS_IT_COMES, |lab, identity| proftpd(lab, identity, FtpSessionCache::OneEach)),
                ("`TLSSessionCache shm:FILE`", |lab, identity| proftpd(lab, identity, FtpSessionCache::Shared)),
                ("`TLSSessionCache off`", |lab, identity| proftpd(lab, identity, FtpSessionCache::Off)),
            ],
        ),
        service("OpenLDAP", &["slapd"], &["-VV"], &[(AS_IT_COMES, slapd)]),
        service("PostgreSQL", &["postgres", "initdb"], &["--version"], &[(AS_IT_COMES, postgres)]),
        service("MariaDB", &["mariadbd", "my_print_defaults"], &["--version"], &[(AS_IT_COMES, mariadb)]),
        service(
            "Prosody",
            &["prosodyctl", "prosody"],
            &["--config", PROSODY_CONFIGURATION, "about"],
            &[(AS_IT_COMES, prosody::<false>), ("`no_ticket = false`", prosody::<true>)],
        ),
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
            let mut cells = KEYS.map(|key| cells(setting, key));
            // No server treats one kind of key otherwise than the other.
            assert_eq!(cells[0], cells[1], "{} {}", self.name, setting.told);
            let [cells, _] = &mut cells;
            cells.insert(0, setting.told.to_owned());
            Row { server: self.name.to_owned(), version: version.clone(), cells: cells.clone() }
        };
        self.settings.iter().map(row).collect()
    }
}

fn cells(setting: &Setting, key: KeyKind) -> Vec<String> {
    let lab = Lab::new();
    let document = (setting.measure)(&lab, &lab.identity(key));
    COLUMNS.iter().map(|column| column.cell(&document)).collect()
}

fn asked(lab: &Lab, address: impl ToString, protocol: &str) -> Reprise {
    lab.measure(address).args(["--starttls", protocol]).count(COUNT)
}

fn exim<const RESUMPTION: bool>(lab: &Lab, identity: &Identity) -> MeasureDocument {
    let config = EximConfig { resumption: RESUMPTION, ..EximConfig::new(identity.clone()) };
    let mut server = Exim::start(config).unwrap();
    let document = asked(lab, server.address(), "smtp").run().exits(0).document();
    assert_account_for(&mut server, &document, "Exim");
    document
}

fn dovecot(lab: &Lab, identity: &Identity, processes: LoginProcesses) -> MeasureDocument {
    let server = Dovecot::start(identity, MailAccess::Imap, processes).unwrap();
    let document = asked(lab, server.address(), "imap").run().exits(0).document();
    assert_known(&document, &server);
    document
}

fn proftpd(lab: &Lab, identity: &Identity, session_cache: FtpSessionCache) -> MeasureDocument {
    let config = ProFtpdConfig { session_cache, ..ProFtpdConfig::new(identity.clone()) };
    let mut server = ProFtpd::start(config).unwrap();
    let document = asked(lab, server.address(), "ftp").run().exits(0).document();
    assert_account_for(&mut server, &document, "ProFTPD");
    document
}

fn slapd(lab: &Lab, identity: &Identity) -> MeasureDocument {
    let server = Slapd::start(Some(identity)).unwrap();
    let document = asked(lab, server.address(), "ldap").run().exits(0).document();
    assert_known(&document, &server);
    document
}

fn postgres(lab: &Lab, identity: &Identity) -> MeasureDocument {
    let server = Postgres::start(Some(identity)).unwrap();
    let call = asked(lab, server.address(), "postgres").args(["--groups", "secp256r1"]);
    let document = call.run().exits(0).document();
    assert_known(&document, &server);
    document
}

/// It counts logins.
fn mariadb(lab: &Lab, identity: &Identity) -> MeasureDocument {
    let server = MariaDb::start(&MariaDbConfig::new(identity.clone())).unwrap();
    let document = asked(lab, server.address(), "mysql").run().exits(0).document();
    assert_eq!(server.logins_when(made(&document), DEADLINE).unwrap().len(), made(&document));
    document
}

fn prosody<const TICKETS: bool>(lab: &Lab, identity: &Identity) -> MeasureDocument {
    let config = ProsodyConfig { session_tickets: TICKETS, ..ProsodyConfig::new(identity.clone()) };
    let server = Prosody::start(config).unwrap();
    let document = asked(lab, server.address(), "xmpp").run().exits(0).document();
    assert_known(&document, &server);
    document
}
