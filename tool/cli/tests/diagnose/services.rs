//! Services that begin in the clear: mail and messages. Their drivers write the lines.

use reprise_lab::KeyKind;
use reprise_servers::{
    Dovecot, DovecotConfig, Exim, EximConfig, LoginProcesses, MailAccess, PartialWitness, Postgres, PostgresConfig, Prosody,
    ProsodyConfig,
};

use crate::diagnose::broken::{Software, Started, broken};
use reprise_harness::Lab;

const EXIM: Software = Software::new("Exim", "exim4", &["-bV"]);
const DOVECOT: Software = Software::new("Dovecot", "dovecot", &["--version"]);
const POSTGRES: Software = Software::new("PostgreSQL", "postgres", &["--version"]).needing(&["initdb"]);
const PROSODY: Software = Software::new("Prosody", "prosodyctl", &["about"]).needing(&["prosody"]);

/// Who says only who connected.
fn partial(server: impl PartialWitness + 'static) -> Started {
    Started::without_account(server.address(), server)
}

fn exim(lab: &Lab, lines: &[String]) -> Started {
    let resumption = match lines {
        [line] if line == "tls_resumption_hosts =" => false,
        [line] if line == "tls_resumption_hosts = *" => true,
        other => panic!("what does Exim do at {other:?}?"),
    };
    Exim::start(EximConfig { resumption, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

/// The line stands in its login service.
fn dovecot(lab: &Lab, lines: &[String]) -> Started {
    let processes = match lines {
        [line] if line == "service_count = 1" => LoginProcesses::OneEach,
        [line] if line == "service_count = 0" => LoginProcesses::Shared,
        other => panic!("what does Dovecot do at {other:?}?"),
    };
    partial(
        Dovecot::start(DovecotConfig { identity: lab.identity(KeyKind::P256), access: MailAccess::Imap, processes })
            .unwrap(),
    )
}

fn prosody(lab: &Lab, lines: &[String]) -> Started {
    let session_tickets = match lines {
        [line] if line.starts_with('#') => false,
        [.., line] if line == "ssl = { options = { no_ticket = false } }" => true,
        other => panic!("what does Prosody do at {other:?}?"),
    };
    partial(Prosody::start(ProsodyConfig { session_tickets, ..ProsodyConfig::new(lab.identity(KeyKind::P256)) }).unwrap())
}

/// The lines stand in its postgresql.conf.
fn postgres(lab: &Lab, lines: &[String]) -> Started {
    let config = PostgresConfig { identity: Some(lab.identity(KeyKind::P256)), lines: lines.to_vec() };
    partial(Postgres::start(config).unwrap())
}

examined! {
    postgres_before_18_asks_for_its_one_curve:
        broken("hello-retry-request", &POSTGRES, &["# its defaults"], postgres)
            .measured(&["--starttls", "postgres", "--kinds", "full"]).and(&["not-offered"]).beyond_directives();
    exim_resumes_for_nobody_by_default:
        broken("not-offered", &EXIM, &["tls_resumption_hosts ="], exim).flags(&["--starttls", "smtp"]).and(&["id-never-accepted"]);
    dovecot_takes_its_keys_with_each_process:
        broken("context-per-connection", &DOVECOT, &["service_count = 1"], dovecot).flags(&["--starttls", "imap"]);
    prosody_gives_no_tickets_by_default:
        broken("not-offered", &PROSODY, &["# its defaults"], prosody).flags(&["--starttls", "xmpp", "--tls", "1.2"]);
}
