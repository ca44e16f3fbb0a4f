//! What fixes resumption where something else than HTTP is served.

use reprise_trace::document::Remedy;

use crate::series::Case;

/// Settings of the servers of the case's protocol; those for HTTP where it is HTTP, or a protocol of which none is known.
pub(super) fn remedies(case: &Case<'_>, http: &[(&str, &str)]) -> Vec<Remedy> {
    let starttls = case.figures.target.starttls.as_deref();
    let of_service = SERVICES.iter().find(|(protocol, _)| starttls == Some(*protocol));
    Remedy::table(of_service.map_or(http, |(_, remedies)| remedies))
}

/// By the name of the protocol, as documents have it.
const SERVICES: &[(&str, &[(&str, &str)])] = &[
    ("smtp", SMTP),
    ("imap", DOVECOT),
    ("pop3", DOVECOT),
    ("ftp", FTP),
    ("ldap", LDAP),
    ("postgres", POSTGRES),
    ("mysql", MYSQL),
    ("xmpp", XMPP),
];

const SMTP: &[(&str, &str)] = &[
    ("Exim", "tls_resumption_hosts = *"),
    ("Postfix", "smtpd_tls_session_cache_timeout above 0, no NO_TICKET in tls_ssl_options"),
];

const DOVECOT: &[(&str, &str)] = &[(
    "Dovecot",
    "service_count = 0 in its login services, whose processes otherwise take their ticket keys with them after each \
     connection; and no no_ticket in ssl_options",
)];

const FTP: &[(&str, &str)] = &[
    (
        "ProFTPD",
        "resumes by ticket without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids it; its session IDs \
         are of no use, with TLSSessionCache shm: neither",
    ),
    ("vsftpd", "resumes by ticket without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids it"),
];

const LDAP: &[(&str, &str)] = &[(
    "OpenLDAP",
    "on GnuTLS, as Debian builds it, it keeps no sessions, gives no tickets, and has no setting for it: keep connections open \
     instead, in the application's pool",
)];

const POSTGRES: &[(&str, &str)] = &[(
    "PostgreSQL",
    "it keeps no sessions, gives no tickets, and has no setting for it: keep connections open instead, in the application's \
     pool or in PgBouncer",
)];

const MYSQL: &[(&str, &str)] = &[
    ("MySQL", "ssl_session_cache_mode = ON, its default"),
    ("MariaDB", "resumes without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids tickets"),
];

const XMPP: &[(&str, &str)] = &[("Prosody", "ssl = { options = { no_ticket = false } }")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn each_service_is_told_of_its_own_servers() {
        let first = |example: &Example| remedies(&example.case(), &[("nginx", "")]).remove(0).software.unwrap();
        assert_eq!(first(&Example::new()), "nginx");
        let servers = ["Exim", "Dovecot", "Dovecot", "ProFTPD", "OpenLDAP", "PostgreSQL", "MySQL", "Prosody"];
        for ((protocol, _), server) in SERVICES.iter().zip(servers) {
            assert_eq!(first(&Example::new().starttls(protocol)), server, "{protocol}");
        }
    }
}
