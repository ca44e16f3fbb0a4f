//! What fixes resumption where something else than HTTP is served: the causes that a service's own settings decide.

use super::{Fix, fix};

/// Of a protocol by its name in documents; `None` where it is not known, or the cause is not one of the service's settings.
pub(super) fn fixes(slug: &str, protocol: &str) -> Option<&'static [Fix]> {
    SERVICES.iter().find(|(known, _)| *known == protocol).map(|(_, fixes)| *fixes).filter(|_| is_decided_here(slug))
}

/// Of a software by its name.
pub(super) fn fixes_of(slug: &str, software: &str) -> Option<&'static [Fix]> {
    let all = SERVICES.iter().map(|(_, fixes)| *fixes);
    let of = |fixes: &&[Fix]| fixes.iter().any(|fix| fix.software == software);
    all.clone().find(of).filter(|_| is_decided_here(slug))
}

/// All of them, for tests.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static Fix> {
    SERVICES.iter().flat_map(|(_, fixes)| *fixes)
}

fn is_decided_here(slug: &str) -> bool {
    ["not-offered", "id-never-accepted"].contains(&slug)
}

const SERVICES: &[(&str, &[Fix])] = &[
    ("smtp", SMTP),
    ("imap", DOVECOT),
    ("pop3", DOVECOT),
    ("ftp", FTP),
    ("ldap", LDAP),
    ("postgres", POSTGRES),
    ("mysql", MYSQL),
    ("xmpp", XMPP),
];

const SMTP: &[Fix] = &[
    fix("Exim", "tls_resumption_hosts = *", ""),
    fix("Postfix", "smtpd_tls_session_cache_timeout = 3600s", "any time above 0, and no NO_TICKET in tls_ssl_options"),
];

const DOVECOT: &[Fix] = &[fix(
    "Dovecot",
    "service_count = 0",
    "in its login services, whose processes otherwise take their ticket keys with them after each connection; and no no_ticket \
     in ssl_options",
)];

const FTP: &[Fix] = &[
    fix(
        "ProFTPD",
        "",
        "resumes by ticket without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids it; its session IDs \
         are of no use, with TLSSessionCache shm: neither",
    ),
    fix(
        "vsftpd",
        "",
        "resumes by ticket without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids it",
    ),
];

const LDAP: &[Fix] = &[fix(
    "OpenLDAP",
    "",
    "on GnuTLS, as Debian builds it, it keeps no sessions, gives no tickets, and has no setting for it: keep connections open \
     instead, in the application's pool",
)];

const POSTGRES: &[Fix] = &[fix(
    "PostgreSQL",
    "",
    "it keeps no sessions, gives no tickets, and has no setting for it: keep connections open instead, in the application's \
     pool or in PgBouncer",
)];

const MYSQL: &[Fix] = &[
    fix("MySQL", "ssl_session_cache_mode = ON", "its default"),
    fix("MariaDB", "", "resumes without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids tickets"),
];

const XMPP: &[Fix] = &[fix("Prosody", "ssl = { options = { no_ticket = false } }", "")];

#[cfg(test)]
mod tests {
    use super::super::cause;

    #[test]
    fn each_service_is_told_of_its_own_servers() {
        let first = |starttls| cause("not-offered").unwrap().remedies_in(starttls).remove(0).software.unwrap();
        assert_eq!(first(None), "nginx");
        let protocols = ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"].map(Some);
        let servers = ["Exim", "Dovecot", "Dovecot", "ProFTPD", "OpenLDAP", "PostgreSQL", "MySQL", "Prosody"];
        assert_eq!(protocols.map(first), servers);
        assert_eq!(first(Some("sieve")), "nginx", "a protocol of which nothing is known");
    }
}
