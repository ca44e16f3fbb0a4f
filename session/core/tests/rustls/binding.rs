//! A session is bound to the policy it was made under. Rule 3: CVE-2025-23419, CVE-2025-23048, CVE-2025-68121.

use std::sync::Arc;

use reprise_lab::{Authority, Identity};
use reprise_session::metrics::HandshakeKind;
use reprise_session::rustls::{CertificateBinding, ClientAuth, ResumingServer, Resumption, ServerError};
use reprise_session::ticket::Refused;
use rustls::ServerConfig;

use super::pair::{Client, Connected, Fleet, MEANS, Means, VERSIONS, plain_server, provider, server};

/// Two configurations that differ in one thing.
struct Change {
    name: &'static str,
    before: fn(&World) -> (ServerConfig, ClientAuth),
    after: fn(&World) -> (ServerConfig, ClientAuth),
}

/// Certificates and authorities that the configurations are made of.
struct World {
    identity: Identity,
    renewed: Identity,
    other_names: Identity,
    other_issuer: Identity,
    clients: Authority,
    other_clients: Authority,
}

impl World {
    fn new(fleet: &Fleet) -> Self {
        Self {
            identity: fleet.identity(&["localhost"]),
            renewed: fleet.identity(&["localhost"]),
            other_names: fleet.identity(&["localhost", "other.test"]),
            // By nothing else: all authorities have one name.
            other_issuer: Fleet::new().identity(&["localhost"]),
            clients: Authority::new().unwrap(),
            other_clients: Authority::new().unwrap(),
        }
    }

    fn required(&self, clients: &Authority) -> ClientAuth {
        ClientAuth::required(&[clients.certificate().clone()], &[], provider()).unwrap()
    }

    fn mutual(&self, auth: ClientAuth) -> (ServerConfig, ClientAuth) {
        (plain_server(&self.identity, &auth, |_| ()), auth)
    }

    fn plain(&self, identity: &Identity, alpn: &[&[u8]]) -> (ServerConfig, ClientAuth) {
        let auth = ClientAuth::none();
        let set = |config: &mut ServerConfig| config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        (plain_server(identity, &auth, set), auth)
    }
}

const CHANGES: [Change; 5] = [
    Change {
        name: "client CA",
        before: |world| world.mutual(world.required(&world.clients)),
        after: |world| world.mutual(world.required(&world.other_clients)),
    },
    Change {
        name: "client verification",
        before: |world| world.mutual(world.required(&world.clients)),
        after: |world| {
            let roots = [world.clients.certificate().clone()];
            world.mutual(ClientAuth::optional(&roots, &[], provider()).unwrap())
        },
    },
    Change {
        name: "no client verification",
        before: |world| world.mutual(world.required(&world.clients)),
        after: |world| world.mutual(ClientAuth::none()),
    },
    Change {
        name: "certificate",
        before: |world| world.plain(&world.identity, &[]),
        after: |world| world.plain(&world.other_names, &[]),
    },
    Change {
        name: "ALPN list",
        before: |world| world.plain(&world.identity, &[b"http/1.1"]),
        after: |world| world.plain(&world.identity, &[b"h2", b"http/1.1"]),
    },
];

/// The client offers no ALPN, and a certificate of CA 1: where CA 2 is asked for, the handshake is full and fails there, so
/// only where it can succeed is it looked at to its end.
fn client(fleet: &Fleet, world: &World, version: &'static rustls::SupportedProtocolVersion) -> Client {
    let identity = world.clients.client("client.test").unwrap();
    Client::new(&fleet.authority, version, Some((identity.chain().to_vec(), identity.key_der())))
}

#[test]
fn plain_rustls_resumes_across_policies() {
    // The reason for this library, shown with what rustls has: one ticketer, one store.
    for version in VERSIONS {
        for means in MEANS {
            for change in CHANGES {
                let fleet = Fleet::new();
                let world = World::new(&fleet);
                let ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
                let store = rustls::server::ServerSessionMemoryCache::new(100);
                let [before, after] = [change.before, change.after].map(|make| {
                    let (mut config, _) = make(&world);
                    config.session_storage = store.clone();
                    if means == Means::Tickets {
                        config.ticketer = ticketer.clone();
                    }
                    Arc::new(config)
                });
                let client = client(&fleet, &world, version);
                let first = client.connect_plainly(&before);
                assert!(!first.resumed);
                let resumed = client.connect_plainly(&after);
                let context = format!("{} {:?} {means:?}", change.name, version.version);
                // Client identity and all.
                assert_eq!(resumed, Connected { resumed: true, ..first }, "{context}");
            }
        }
    }
}

#[test]
fn no_session_is_resumed_under_another_policy() {
    for version in VERSIONS {
        for means in MEANS {
            for change in CHANGES {
                let fleet = Fleet::new();
                let world = World::new(&fleet);
                let resumption = fleet.resumption(means);
                let bind = |make: fn(&World) -> (ServerConfig, ClientAuth)| {
                    let (config, auth) = make(&world);
                    ResumingServer::new(config, &auth, &resumption).unwrap()
                };
                let (before, again, after) = (bind(change.before), bind(change.before), bind(change.after));
                let client = client(&fleet, &world, version);
                let context = format!("{} {:?} {means:?}", change.name, version.version);

                let first = client.connect(&before);
                assert!(!first.resumed, "{context}");
                assert_eq!(client.connect(&again), Connected { resumed: true, ..first }, "{context}");
                client.sessions.clear();
                client.connect(&before);
                if change.name == "client CA" {
                    // A full handshake, which fails: the other CA did not issue this client's certificate.
                    assert!(client.try_connect(&after).is_err(), "{context}");
                } else {
                    assert!(!client.connect(&after).resumed, "{context}");
                    assert_eq!(fleet.counters.refused(Refused::Policy), 1, "{context}");
                }
            }
        }
    }
}

#[test]
fn no_session_is_resumed_under_another_name() {
    for version in VERSIONS {
        for means in MEANS {
            let fleet = Fleet::new();
            // One certificate for both names, as with a wildcard.
            let identity = fleet.identity(&["localhost", "other.test"]);
            let server = server(&identity, &ClientAuth::none(), &fleet.resumption(means), |_| ());
            let mut client = fleet.client(version);
            assert!(!client.connect(&server).resumed);
            client.name = "other.test";
            assert!(!client.connect(&server).resumed);
            assert_eq!(fleet.counters.refused(Refused::Policy), 1);
        }
    }
}

#[test]
fn a_renewed_certificate_keeps_sessions_unless_asked() {
    for version in VERSIONS {
        for (binding, kept) in [(CertificateBinding::NamesAndIssuer, true), (CertificateBinding::Leaf, false)] {
            let fleet = Fleet::new();
            let world = World::new(&fleet);
            let resumption = fleet.builder().tickets(fleet.ring.clone()).certificate_binding(binding).build().unwrap();
            let bind = |identity: &Identity| server(identity, &ClientAuth::none(), &resumption, |_| ());
            let client = fleet.client(version);
            client.connect(&bind(&world.identity));
            assert_eq!(client.connect(&bind(&world.renewed)).resumed, kept, "{binding:?}");
            // The client does not look at certificates when it resumes: another issuer must be refused here.
            client.connect(&bind(&world.identity));
            let other = client.try_connect(&bind(&world.other_issuer));
            assert!(other.is_err(), "a full handshake, in which the client refuses the certificate");
        }
    }
}

#[test]
fn another_context_is_another_policy() {
    let fleet = Fleet::new();
    let [one, two] = [b"one", b"two"].map(|context| {
        let resumption = fleet.builder().tickets(fleet.ring.clone()).context(context).build().unwrap();
        fleet.server(&resumption)
    });
    let client = fleet.client(VERSIONS[1]);
    client.connect(&one);
    assert!(!client.connect(&two).resumed);
}

#[test]
fn client_auth_that_is_not_in_force_is_refused() {
    let fleet = Fleet::new();
    let identity = fleet.identity(&["localhost"]);
    let resumption = fleet.resumption(Means::Tickets);
    let forgotten = ClientAuth::required(&[fleet.authority.certificate().clone()], &[], provider()).unwrap();
    let config = || plain_server(&identity, &ClientAuth::none(), |_| ());
    let refused = ResumingServer::new(config(), &forgotten, &resumption);
    assert_eq!(refused.unwrap_err(), ServerError::ClientAuthNotApplied);
    // Other configurations have it, and many connections; this one does not.
    let applied = plain_server(&identity, &forgotten, |_| ());
    let _connections = vec![applied.clone(); 1000];
    assert!(ResumingServer::new(applied, &forgotten, &resumption).is_ok());
    let refused = ResumingServer::new(config(), &forgotten, &resumption);
    assert_eq!(refused.unwrap_err(), ServerError::ClientAuthNotApplied);
}

#[test]
fn a_configuration_that_was_finished_elsewhere_is_declared() {
    let fleet = Fleet::new();
    let identity = fleet.identity(&["localhost"]);
    let resumption = fleet.resumption(Means::Tickets);
    let finished = || {
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        builder.with_no_client_auth().with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap()
    };
    let refused = ResumingServer::new(finished(), &ClientAuth::none(), &resumption);
    assert_eq!(refused.unwrap_err(), ServerError::ClientAuthNotApplied);
    let [one, two, other] = [b"none", b"none", b"some"]
        .map(|identity| ResumingServer::new(finished(), &ClientAuth::declared(identity), &resumption).unwrap());
    for version in VERSIONS {
        let client = fleet.client(version);
        assert!(!client.connect(&one).resumed);
        assert!(client.connect(&two).resumed);
        assert!(!client.connect(&other).resumed, "another authentication");
    }
}

#[test]
fn when_off_the_configuration_is_rustls_own() {
    let fleet = Fleet::new();
    let server = server(&fleet.identity(&["localhost"]), &ClientAuth::none(), &Resumption::off(), |_| ());
    assert!(server.look_ahead().is_none());
    let [(one, _), (two, _)] = [(); 2].map(|()| server.connection(&Default::default(), Default::default()));
    assert!(Arc::ptr_eq(&one, &two));
    let client = fleet.client(VERSIONS[1]);
    client.connect(&server);
    assert!(client.connect(&server).resumed, "by the store that rustls has by default");
    assert_eq!(fleet.counters.handshakes(HandshakeKind::Ticket), 0);
}
