//! What fixes resumption where something else than HTTP is served.

use super::{Fix, Service, fix};

/// Where nothing is resumed.
pub(super) const OF_TICKETS: &[Service] = &services(SMTP);

/// Where session IDs are not accepted: Postfix needs something else for them than for tickets.
pub(super) const OF_IDS: &[Service] = &services(SMTP_IDS);

const fn services(smtp: &'static [Fix]) -> [Service; 8] {
    [
        ("smtp", smtp),
        ("imap", DOVECOT),
        ("pop3", DOVECOT),
        ("ftp", FTP),
        ("ldap", LDAP),
        ("postgres", POSTGRES),
        ("mysql", MYSQL),
        ("xmpp", XMPP),
    ]
}

/// Where X25519 is not accepted.
pub(super) const OF_GROUPS: &[Service] = &[
    ("smtp", SMTP_GROUPS),
    ("imap", DOVECOT_GROUPS),
    ("pop3", DOVECOT_GROUPS),
    ("ftp", FTP_GROUPS),
    ("ldap", LDAP_GROUPS),
    ("postgres", POSTGRES_GROUPS),
    ("mysql", MYSQL_GROUPS),
    ("xmpp", XMPP_GROUPS),
];

const SMTP_GROUPS: &[Fix] = &[
    fix("Postfix", "tls_eecdh_auto_curves = X25519 prime256v1 secp384r1", "with smtpd_tls_eecdh_grade = auto, its default"),
    fix(
        "Exim",
        "",
        "on OpenSSL tls_eccurve = X25519:P-256 (a list from 4.97; its default, auto, takes X25519 too); on GnuTLS, as Debian builds \
         it, +GROUP-X25519 in tls_require_ciphers",
    ),
];

const DOVECOT_GROUPS: &[Fix] = &[fix("Dovecot", "", "ssl_curve_list = X25519:P-256:P-384; its default takes X25519 too")];

const FTP_GROUPS: &[Fix] = &[
    fix("ProFTPD", "", "TLSECDHCurve auto, or no such line"),
    fix("vsftpd", "", "Groups = X25519:P-256:P-384 in OpenSSL's own configuration (openssl.cnf)"),
];

const LDAP_GROUPS: &[Fix] =
    &[fix("OpenLDAP", "", "on OpenSSL TLSECName X25519; on GnuTLS, as Debian builds it, +GROUP-X25519 in TLSCipherSuite")];

const POSTGRES_GROUPS: &[Fix] = &[fix(
    "PostgreSQL",
    "",
    "from 18 ssl_groups = 'X25519:prime256v1', its default. Before, ssl_ecdh_curve takes one curve, and X25519 is none that it takes: \
     let clients share its curve first (libpq: Groups = P-256:X25519 in the client's openssl.cnf)",
)];

const MYSQL_GROUPS: &[Fix] = &[
    fix(
        "MySQL",
        "",
        "Groups = X25519:P-256:P-384 in OpenSSL's own configuration (openssl.cnf): it has no setting of its own",
    ),
    fix(
        "MariaDB",
        "",
        "Groups = X25519:P-256:P-384 in OpenSSL's own configuration (openssl.cnf): it has no setting of its own",
    ),
];

const XMPP_GROUPS: &[Fix] = &[fix("Prosody", "", "ssl = { curveslist = { \"X25519\", \"P-256\", \"P-384\" } }")];

const SMTP_IDS: &[Fix] = &[
    EXIM,
    fix(
        "Postfix",
        "smtpd_tls_session_cache_database = btree:${data_directory}/smtpd_scache",
        "with smtpd_tls_session_cache_timeout above 0; its default is none, since clients with tickets do not need it",
    ),
];

const EXIM: Fix = fix("Exim", "tls_resumption_hosts = *", "");

const SMTP: &[Fix] = &[
    EXIM,
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
        "resumes by ticket by default, unless OpenSSL's own configuration (openssl.cnf) forbids it; its session IDs \
         are of no use, with TLSSessionCache shm: neither",
    ),
    fix("vsftpd", "", "resumes by ticket by default, unless OpenSSL's own configuration (openssl.cnf) forbids it"),
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
     pool or in PgBouncer, which resumes by ticket",
)];

const MYSQL: &[Fix] = &[
    fix("MySQL", "ssl_session_cache_mode = ON", "its default"),
    fix("MariaDB", "", "resumes by default, unless OpenSSL's own configuration (openssl.cnf) forbids tickets"),
];

const XMPP: &[Fix] = &[fix("Prosody", "ssl = { options = { no_ticket = false } }", "")];

#[cfg(test)]
mod tests {
    use super::super::cause;

    #[test]
    fn each_service_is_told_of_its_own_servers() {
        let first = |starttls| {
            let remedies = cause("not-offered").unwrap().remedies_in(starttls);
            remedies.into_iter().find_map(|it| it.software).unwrap()
        };
        assert_eq!(first(None), "nginx");
        let protocols = ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"].map(Some);
        let servers = ["Exim", "Dovecot", "Dovecot", "ProFTPD", "OpenLDAP", "PostgreSQL", "MySQL", "Prosody"];
        assert_eq!(protocols.map(first), servers);
        assert_eq!(first(Some("sieve")), "nginx", "a protocol of which nothing is known");
    }
}
