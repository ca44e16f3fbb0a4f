//! The protocol of the servers whose remedies are meant.

use reprise_model::document::Target;

/// Ports of services that begin with TLS, as IANA has them.
const OF_PORTS: [(u16, &str); 6] = [(465, "smtp"), (636, "ldap"), (853, "dns"), (990, "ftp"), (993, "imap"), (995, "pop3")];

/// The protocol whose servers' remedies are meant: that of STARTTLS, or of the port where no request is sent.
pub(crate) fn service(target: &Target) -> Option<&str> {
    let of_port = OF_PORTS.iter().find(|(port, _)| *port == target.port && target.path.is_none());
    target.starttls.as_deref().or(of_port.map(|(_, service)| *service))
}
