//! What mends resumption where something else than HTTP is served.

use reprise_trace::document::MeasureDocument;

/// Settings of the servers of this protocol; none for HTTP, and for protocols of which none is known.
pub(super) fn remedy(document: &MeasureDocument) -> Option<&'static str> {
    match document.target.starttls.as_deref()? {
        "smtp" => Some(SMTP),
        "imap" | "pop3" => Some(DOVECOT),
        "ftp" => Some(FTP),
        "ldap" => Some(LDAP),
        "postgres" => Some(POSTGRES),
        "mysql" => Some(MYSQL),
        "xmpp" => Some(XMPP),
        _ => None,
    }
}

const SMTP: &str = "Exim: tls_resumption_hosts = *\n\
    Postfix: smtpd_tls_session_cache_timeout above 0, no NO_TICKET in tls_ssl_options";

const DOVECOT: &str = "Dovecot: service_count = 0 in its login services, whose processes otherwise take their ticket keys with\n\
    them after each connection; and no no_ticket in ssl_options";

const FTP: &str = "ProFTPD and vsftpd resume by ticket without being told to, unless OpenSSL's own configuration\n\
    (openssl.cnf) forbids it; ProFTPD's session IDs are of no use, with TLSSessionCache shm: neither";

const LDAP: &str = "OpenLDAP on GnuTLS, as Debian builds it, keeps no sessions, gives no tickets, and has no setting for it:\n\
    keep connections open instead, in the application's pool";

const POSTGRES: &str = "PostgreSQL keeps no sessions, gives no tickets, and has no setting for it:\n\
    keep connections open instead, in the application's pool or in PgBouncer";

const MYSQL: &str = "MySQL: ssl_session_cache_mode = ON, its default\n\
    MariaDB resumes without being told to, unless OpenSSL's own configuration (openssl.cnf) forbids tickets";

const XMPP: &str = "Prosody: ssl = { options = { no_ticket = false } }";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_trace::Kind;

    #[test]
    fn each_service_is_told_of_its_own_servers() {
        let mut document = Example::new().run("1.3", Kind::Full, 900).document();
        assert_eq!(remedy(&document), None);
        let servers = [
            ("smtp", "Exim"),
            ("imap", "Dovecot"),
            ("pop3", "Dovecot"),
            ("ftp", "ProFTPD"),
            ("ldap", "OpenLDAP"),
            ("postgres", "PostgreSQL"),
            ("mysql", "MariaDB"),
            ("xmpp", "Prosody"),
        ];
        for (protocol, server) in servers {
            document.target.starttls = Some(protocol.to_owned());
            assert!(remedy(&document).unwrap().contains(server), "{protocol}");
        }
    }
}
