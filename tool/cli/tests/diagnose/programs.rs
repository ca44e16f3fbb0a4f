//! Programs on Go's, Node's and Java's TLS, on GnuTLS and on rustls.

use std::sync::Arc;

use reprise_lab::{EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind};
use reprise_servers::{
    GnutlsServ, GnutlsServConfig, Go, GoConfig, GoProgram, Java, JavaConfig, NodeConfig, NodeJs, RealServer,
};
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};

use crate::diagnose::broken::{Software, Started, broken};
use reprise_harness::Lab;

const GNUTLS: Software = Software::new("gnutls-serv", "gnutls-serv", &["--version"]);
const GO: Software = Software::new("Go", "go", &["version"]);
const NODE: Software = Software::new("Node", "node", &["--version"]);
const JAVA: Software = Software::new("Java", "java", &["--version"]);
const JAVA_25: Software = Software::new("Java", "java-25", &["--version"]).needing(&["javac"]);
const RUSTLS: Software = Software { name: "rustls", program: None, version: &[], reveals_itself: false, needs: &[] };

/// The lines are arguments.
fn gnutls(lab: &Lab, lines: &[String]) -> Started {
    let config = GnutlsServConfig::new(lab.identity(KeyKind::P256));
    GnutlsServ::start(GnutlsServConfig { extra: lines.to_vec(), ..config }).unwrap().into()
}

/// The lines are statements about `config`, a `tls.Config`.
fn go(lab: &Lab, lines: &[String]) -> Started {
    Go::start(GoConfig::new(&GoProgram::build_with(lines).unwrap(), lab.identity(KeyKind::P256))).unwrap().into()
}

/// Two of them behind one address. `keys` are what remedies call so.
fn two_gos(lab: &Lab, lines: &[String]) -> Started {
    let keys = "keys := [][32]byte{{7}}; _ = keys".to_owned();
    let lines: Vec<String> = lines.iter().filter(|line| !line.starts_with('#')).cloned().collect();
    let program = GoProgram::build_with(&[vec![keys], lines].concat()).unwrap();
    let identity = lab.identity(KeyKind::P256);
    let nodes = [(); 2].map(|()| Go::start(GoConfig::new(&program, identity.clone())).unwrap());
    Started::behind_one_address(nodes.each_ref().map(Go::address), nodes)
}

/// The same in Node.
fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    let lines = lines.iter().filter(|line| !line.starts_with('#'));
    let options: Vec<String> = lines.map(|line| line.replace(": keys", ": Buffer.alloc(48, 7)")).collect();
    let config = NodeConfig { options: options.join(", "), ..NodeConfig::new(lab.identity(KeyKind::P256)) };
    let nodes = [(); 2].map(|()| NodeJs::start(config.clone()).unwrap());
    Started::behind_one_address(nodes.each_ref().map(NodeJs::address), nodes)
}

/// The lines are options of `tls.createServer`, or statements about its `server`.
fn node(lab: &Lab, lines: &[String]) -> Started {
    let (statements, options): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with("server."));
    let (statements, options) = (statements.join("\n"), options.join(", "));
    let config = NodeConfig { options, statements, ..NodeConfig::new(lab.identity(KeyKind::P256)) };
    NodeJs::start(config).unwrap().into()
}

/// The same of `tls.createSecureContext` and `tls.TLSSocket`.
fn bare_node(lab: &Lab, lines: &[String]) -> Started {
    let options = [&[format!("ca: `{}`", lab.authority.pem())], lines].concat().join(", ");
    let config = NodeConfig { options, bare_sockets: true, ..NodeConfig::new(lab.identity(KeyKind::P256)) };
    NodeJs::start(config).unwrap().into()
}

/// The lines are properties; the size of the cache has one too.
fn java(lab: &Lab, lines: &[String]) -> Started {
    let property = |line: &String| match line.strip_prefix("SSLSessionContext.setSessionCacheSize(") {
        Some(size) => format!("-Djavax.net.ssl.sessionCacheSize={}", size.trim_end_matches(')')),
        None => line.clone(),
    };
    let config =
        JavaConfig { properties: lines.iter().map(property).collect(), ..JavaConfig::new(lab.identity(KeyKind::P256)) };
    Java::start(config).unwrap().into()
}

/// The lines are properties of a Java that knows them.
fn java_25(lab: &Lab, lines: &[String]) -> Started {
    let properties = lines.iter().filter(|line| !line.starts_with('#')).cloned().collect();
    Java::start(JavaConfig { runtime: "java-25", properties, ..JavaConfig::new(lab.identity(KeyKind::P256)) })
        .unwrap()
        .into()
}

/// The line is what is called on each socket, or nothing.
fn java_socket(lab: &Lab, lines: &[String]) -> Started {
    let no_delay = lines.iter().any(|line| line == "socket.setTcpNoDelay(true);");
    Java::start(JavaConfig { no_delay, ..JavaConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

fn rustls(lab: &Lab, lines: &[String]) -> Started {
    EmbeddedServer::start(rustls_config(EmbeddedConfig::new(lab.identity(KeyKind::P256)), lines)).unwrap().into()
}

/// Two of them behind one address. `ticketer` and `store` are what remedies call so.
fn two_rustls(lab: &Lab, lines: &[String]) -> Started {
    let ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
    let store: Arc<dyn StoresServerSessions> = ServerSessionMemoryCache::new(100_000);
    let identity = lab.identity(KeyKind::P256);
    let (shared, own): (Vec<String>, Vec<String>) =
        lines.iter().filter(|line| !line.starts_with('#')).cloned().partition(|line| line.contains(" = Arc::new("));
    let node = || {
        let mut config = rustls_config(EmbeddedConfig::new(identity.clone()), &own);
        for line in &shared {
            match line.as_str() {
                "config.ticketer = Arc::new(ticketer);" => {
                    (config.resumption, config.ticketer) = (EmbeddedResumption::Ticket, Some(ticketer.clone()));
                }
                "config.session_storage = Arc::new(store);" => {
                    (config.resumption, config.session_storage) = (EmbeddedResumption::Id, Some(store.clone()));
                }
                other => panic!("what does rustls do at {other:?}?"),
            }
        }
        EmbeddedServer::start(config).unwrap()
    };
    let nodes = [node(), node()];
    Started::behind_one_address(nodes.each_ref().map(EmbeddedServer::address), nodes)
}

/// Lines about `config`, a `rustls::ServerConfig`, and what the lab's server does at each.
fn rustls_config(mut config: EmbeddedConfig, lines: &[String]) -> EmbeddedConfig {
    for line in lines {
        match line.as_str() {
            "config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});" => {
                config.resumption = EmbeddedResumption::Off
            }
            "config.session_storage = rustls::server::ServerSessionMemoryCache::new(4);" => {
                (config.resumption, config.stored_sessions) = (EmbeddedResumption::Id, 4);
            }
            "config.session_storage = rustls::server::ServerSessionMemoryCache::new(100_000);" => {
                (config.resumption, config.stored_sessions) = (EmbeddedResumption::Id, 100_000);
            }
            "config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;" => {
                config.resumption = EmbeddedResumption::Ticket
            }
            "config.send_tls13_tickets = 1;" => config.tickets = 1,
            "config.send_tls13_tickets = 8;" => config.tickets = 8,
            "config.max_early_data_size = 16384;" => config.max_early_data = 16_384,
            "fn lifetime(&self) -> u32 { 86400 }" => config.ticket_lifetime = Some(86_400),
            "fn lifetime(&self) -> u32 { 0 }" => config.ticket_lifetime = Some(0),
            "fn lifetime(&self) -> u32 { 864000 }" => config.ticket_lifetime = Some(864_000),
            other => panic!("what does rustls do at {other:?}?"),
        }
    }
    config
}

const CACHE: &str = "config.session_storage = rustls::server::ServerSessionMemoryCache::new(100_000);";
const TICKETER: &str = "config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;";

examined! {
    gnutls_without_tickets_does_not_offer_tls13:
        broken("not-offered", &GNUTLS, &["--noticket"], gnutls);
    gnutls_without_a_database_never_accepts_ids:
        broken("id-never-accepted", &GNUTLS, &["--nodb"], gnutls).flags(&["--tls", "1.2"]);
    // Version 3.7 ends the connection where others make a full handshake.
    gnutls_fails_where_no_suite_has_the_hash_of_the_session:
        broken("suite-differs", &GNUTLS, &[], gnutls).flags(&["--tls", "1.3"]).beyond_directives();
    go_without_tickets_does_not_offer:
        broken("not-offered", &GO, &["config.SessionTicketsDisabled = true"], go);
    node_without_tickets_does_not_offer:
        broken("not-offered", &NODE, &["secureOptions: constants.SSL_OP_NO_TICKET"], node).and(&["id-never-accepted"]);
    node_that_keeps_no_sessions_never_accepts_ids:
        broken("id-never-accepted", &NODE, &[], node).flags(&["--tls", "1.2"]);
    node_that_asks_for_certificates_without_a_session_context:
        broken("session-context-unset", &NODE, &["requestCert: true", "rejectUnauthorized: false"], bare_node)
            .and(&["id-never-accepted"]);
    java_without_tickets_and_with_a_cache_of_four:
        broken("cache-too-small", &JAVA, &[
            "-Djdk.tls.server.enableSessionTicketExtension=false", "-Djavax.net.ssl.sessionCacheSize=4"], java);
    java_tickets_of_two_seconds_are_short:
        broken("lifetime-short", &JAVA, &["-Djdk.tls.server.sessionTicketTimeout=5"], java)
            .flags(&["--tls", "1.2", "--patience", "6s"]);
    java_25_gives_one_ticket_which_runs_out:
        broken("tickets-run-out", &JAVA_25, &["# its defaults"], java_25).flags(&["--tls", "1.3"]);
    two_gos_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &GO, &["# two nodes"], two_gos).flags(&["--tls", "1.3"]);
    two_node_programs_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &NODE, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
    java_that_writes_without_tcp_nodelay:
        broken("nagle", &JAVA, &["socket.setTcpNoDelay(false);"], java_socket).flags(&["--tls", "1.2"]);
    go_that_takes_one_group_makes_handshakes_start_again:
        broken("hello-retry-request", &GO, &["config.CurvePreferences = []tls.CurveID{tls.CurveP384}"], go)
            .measured(&["--tls", "1.3", "--kinds", "full"]);
    node_that_takes_one_group_makes_handshakes_start_again:
        broken("hello-retry-request", &NODE, &["ecdhCurve: 'P-384'"], node).measured(&["--tls", "1.3", "--kinds", "full"]);
    java_that_takes_one_group_makes_handshakes_start_again:
        broken("hello-retry-request", &JAVA, &["-Djdk.tls.namedGroups=secp384r1"], java)
            .measured(&["--tls", "1.3", "--kinds", "full"]);
    rustls_without_tickets_or_storage_does_not_offer:
        broken("not-offered", &RUSTLS, &["config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});"], rustls);
    rustls_with_a_cache_of_four_forgets:
        broken("cache-too-small", &RUSTLS, &["config.session_storage = rustls::server::ServerSessionMemoryCache::new(4);"], rustls);
    rustls_with_one_ticket_runs_out:
        broken("tickets-run-out", &RUSTLS, &[CACHE, "config.send_tls13_tickets = 1;"], rustls).flags(&["--tls", "1.3"]);
    rustls_stateful_tickets_serve_once:
        broken("single-use", &RUSTLS, &[CACHE], rustls).beyond_directives();
    rustls_binds_sessions_to_their_name:
        broken("sni-differs", &RUSTLS, &[CACHE], rustls).beyond_directives();
    rustls_with_a_ticketer_takes_no_early_data:
        broken("early-data-off", &RUSTLS, &[TICKETER], rustls).flags(&["--tls", "1.3"]).beyond_directives();
    rustls_with_a_store_can_take_early_data:
        broken("early-data-off", &RUSTLS, &[CACHE], rustls).flags(&["--tls", "1.3"]);
    rustls_early_data_makes_tickets_stateful:
        broken("early-data-stateful", &RUSTLS, &[CACHE, "config.max_early_data_size = 16384;"], rustls);
    two_rustls_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &RUSTLS, &["# two nodes", TICKETER], two_rustls).flags(&["--tls", "1.3"]);
    two_rustls_with_a_store_each:
        broken("id-cache-per-process", &RUSTLS, &["# two nodes", CACHE], two_rustls).flags(&["--tls", "1.2"]);
    a_lifetime_of_zero_is_invalid:
        broken("lifetime-invalid", &RUSTLS, &[TICKETER, "fn lifetime(&self) -> u32 { 0 }"], rustls);
    a_lifetime_of_ten_days_is_invalid:
        broken("lifetime-invalid", &RUSTLS, &[TICKETER, "fn lifetime(&self) -> u32 { 864000 }"], rustls);
}

/// It refuses a hello that is longer than this, 32 kB by default, and its tickets have more than a kilobyte.
#[test]
fn no_offer_is_too_much_for_java() {
    reprise_servers::require!("java", "javac");
    let told = ["-Djdk.tls.maxHandshakeMessageSize=17000".to_owned()];
    let diagnosis =
        broken("offer-breaks-connection", &JAVA, &[], java).flags(&["--tls", "1.3"]).diagnose(&Lab::new(), &told);
    let failed: Vec<_> = diagnosis.experiments.iter().filter(|it| it.failed > 0).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(diagnosis.experiments.iter().any(|it| it.name == "identities" && it.resumed == it.offered && it.offered > 0));
}
