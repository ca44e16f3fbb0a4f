use super::FoundBy::Listen;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-cache-small",
    title: "The client's session store is too small",
    happens: "\
A client keeps sessions for a limited number of servers, and forgets the oldest. rustls keeps 256 entries, which are
about 32 servers, Go's LRU cache as many as it is told, Node's agent 100.",
    seen: "\
With a few names the client resumes; with more names in turn (`reprise diagnose --listen` with several) it does not
come back with the sessions of the first.",
    confirm: "\
Connect to n names in turn and twice around, and count the resumed: below the limit all of the second round, above
it none.",
    costs: "Full handshakes for clients of many servers: crawlers, proxies, mail relays.",
    found_by: &[Listen],
    advice: "Make the store as large as the number of servers in use:",
    fixes: &[
        fix("OpenSSL API", "", "the store is the program's own"),
        fix("Node", "new https.Agent({ maxCachedSessions: 1000 })", "default 100"),
        fix("Go", "config.ClientSessionCache = tls.NewLRUClientSessionCache(1000)", "0 means 64"),
        fix("Java", "SSLContext.getClientSessionContext().setSessionCacheSize(0)", "unlimited; default 20480"),
        fix("rustls", "config.resumption = rustls::client::Resumption::in_memory_sessions(4096);", "default 256"),
        fix(
            "Postfix",
            "smtp_tls_session_cache_database = btree:${data_directory}/smtp_scache",
            "for its client; limited by time alone",
        ),
    ],
};
