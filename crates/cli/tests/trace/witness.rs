//! nginx' own account of the two connections: the one was resumed, the other was not.

use reprise_lab::KeyKind;
use reprise_model::Kind;
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};

use crate::traced::{full, trace};
use reprise_harness::{DEADLINE, Lab};

#[test]
fn nginx_agrees_on_each_connection() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::Rsa2048);
    for (session_tickets, kind, tls) in [(false, "id", "1.2"), (true, "ticket", "1.2"), (true, "ticket", "1.3")] {
        let session_cache = SessionCache::Shared("1m".to_owned());
        let config = NginxConfig { session_tickets, session_cache, ..NginxConfig::new(vec![identity.clone()]) };
        let mut nginx = Nginx::start(config).unwrap();
        let (outcome, document) = trace(&lab, nginx.address(), &["--kind", kind, "--tls", tls]);
        outcome.exits(0).silently();
        let accounts = nginx.accounts_when(2, DEADLINE).unwrap();
        assert_eq!(accounts.len(), 2, "{kind} under TLS {tls}: two connections and no more");
        let [traced] = document.traces.as_slice() else { panic!("{kind} under TLS {tls}") };
        for connection in [full(traced), traced.resumed.as_ref().unwrap()] {
            let account = accounts.iter().find(|account| account.client_port == connection.local_port).unwrap();
            assert_eq!(account.resumed, connection.outcome.kind != Kind::Full, "{kind} under TLS {tls}");
            assert_eq!(account.version, format!("TLSv{tls}"));
        }
    }
}
