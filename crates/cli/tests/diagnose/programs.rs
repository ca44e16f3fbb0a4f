//! Programs on Go's, Node's and Java's TLS, on GnuTLS and on rustls.

use reprise_lab::servers::{GnutlsServ, GnutlsServConfig, Go, GoConfig, GoProgram, Java, JavaConfig, Node, NodeConfig};
use reprise_lab::{EmbeddedConfig, EmbeddedServer, KeyKind, Resumption};

use crate::broken::{Software, Started, broken};
use crate::harness::Lab;

const GNUTLS: Software = Software { name: "GnuTLS", program: Some("gnutls-serv"), version: &["--version"] };
const GO: Software = Software { name: "Go", program: Some("go"), version: &["version"] };
const NODE: Software = Software { name: "Node", program: Some("node"), version: &["--version"] };
const JAVA: Software = Software { name: "Java", program: Some("java"), version: &["--version"] };
const RUSTLS: Software = Software { name: "rustls", program: None, version: &[] };

/// The lines are arguments.
fn gnutls(lab: &Lab, lines: &[String]) -> Started {
    let config = GnutlsServConfig::new(lab.identity(KeyKind::P256));
    GnutlsServ::start(GnutlsServConfig { extra: lines.to_vec(), ..config }).unwrap().into()
}

/// The lines are statements about `config`, a `tls.Config`.
fn go(lab: &Lab, lines: &[String]) -> Started {
    Go::start(&GoProgram::build_with(lines).unwrap(), GoConfig::new(lab.identity(KeyKind::P256))).unwrap().into()
}

/// The lines are options of `tls.createServer`.
fn node(lab: &Lab, lines: &[String]) -> Started {
    let config = NodeConfig { options: lines.join(", "), ..NodeConfig::new(lab.identity(KeyKind::P256)) };
    Node::start(config).unwrap().into()
}

/// The same of `tls.createSecureContext` and `tls.TLSSocket`.
fn bare_node(lab: &Lab, lines: &[String]) -> Started {
    let options = [&[format!("ca: `{}`", lab.authority.pem())], lines].concat().join(", ");
    let config = NodeConfig { options, bare_sockets: true, ..NodeConfig::new(lab.identity(KeyKind::P256)) };
    Node::start(config).unwrap().into()
}

/// The lines are properties.
fn java(lab: &Lab, lines: &[String]) -> Started {
    let config = JavaConfig { properties: lines.to_vec(), ..JavaConfig::new(lab.identity(KeyKind::P256)) };
    Java::start(config).unwrap().into()
}

/// The line is what is called on each socket, or nothing.
fn java_socket(lab: &Lab, lines: &[String]) -> Started {
    let no_delay = lines.iter().any(|line| line == "socket.setTcpNoDelay(true);");
    Java::start(JavaConfig { no_delay, ..JavaConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

/// What each line means to rustls.
fn rustls(lab: &Lab, lines: &[String]) -> Started {
    let mut config = EmbeddedConfig::new(lab.identity(KeyKind::P256));
    for line in lines {
        match line.as_str() {
            "config.send_tls13_tickets = 0;" => config.tickets = 0,
            "ServerSessionMemoryCache::new(4)" => (config.resumption, config.stored_sessions) = (Resumption::Id, 4),
            "ServerSessionMemoryCache::new(100000)" => config.resumption = Resumption::Id,
            "config.max_early_data_size = 16384;" => (config.resumption, config.max_early_data) = (Resumption::Id, 16_384),
            "fn lifetime(&self) -> u32 { 0 }" => (config.resumption, config.ticket_lifetime) = (Resumption::Ticket, Some(0)),
            "fn lifetime(&self) -> u32 { 864000 }" => {
                (config.resumption, config.ticket_lifetime) = (Resumption::Ticket, Some(864_000));
            }
            other => panic!("what does rustls do at {other:?}?"),
        }
    }
    EmbeddedServer::start(config).unwrap().into()
}

examined! {
    gnutls_without_tickets_does_not_offer_tls13:
        broken("not-offered", &GNUTLS, &["--noticket"], gnutls).besides(&["unclean-close-evicts"]);
    gnutls_without_a_database_never_accepts_ids:
        broken("id-never-accepted", &GNUTLS, &["--nodb"], gnutls).flags(&["--tls", "1.2"]);
    go_without_tickets_does_not_offer:
        broken("not-offered", &GO, &["config.SessionTicketsDisabled = true"], go);
    node_without_tickets_does_not_offer:
        broken("not-offered", &NODE, &["secureOptions: constants.SSL_OP_NO_TICKET"], node).besides(&["id-never-accepted"]);
    node_that_keeps_no_sessions_never_accepts_ids:
        broken("id-never-accepted", &NODE, &[], node).flags(&["--tls", "1.2"]);
    node_that_asks_for_certificates_without_a_session_context:
        broken("session-context-unset", &NODE, &["requestCert: true", "rejectUnauthorized: false"], bare_node)
            .besides(&["id-never-accepted"]);
    java_without_tickets_and_with_a_cache_of_four:
        broken("cache-too-small", &JAVA, &[
            "-Djdk.tls.server.enableSessionTicketExtension=false", "-Djavax.net.ssl.sessionCacheSize=4"], java);
    java_that_writes_without_tcp_nodelay:
        broken("nagle", &JAVA, &["socket.setTcpNoDelay(false);"], java_socket);
    rustls_without_tickets_or_storage_does_not_offer:
        broken("not-offered", &RUSTLS, &["config.send_tls13_tickets = 0;"], rustls);
    rustls_with_a_cache_of_four_forgets:
        broken("cache-too-small", &RUSTLS, &["ServerSessionMemoryCache::new(4)"], rustls);
    rustls_stateful_tickets_serve_once:
        broken("single-use", &RUSTLS, &["ServerSessionMemoryCache::new(100000)"], rustls);
    rustls_binds_sessions_to_their_name:
        broken("sni-differs", &RUSTLS, &["ServerSessionMemoryCache::new(100000)"], rustls);
    rustls_early_data_makes_tickets_stateful:
        broken("early-data-stateful", &RUSTLS, &["config.max_early_data_size = 16384;"], rustls);
    a_lifetime_of_zero_is_invalid:
        broken("lifetime-invalid", &RUSTLS, &["fn lifetime(&self) -> u32 { 0 }"], rustls);
    a_lifetime_of_ten_days_is_invalid:
        broken("lifetime-invalid", &RUSTLS, &["fn lifetime(&self) -> u32 { 864000 }"], rustls);
}
