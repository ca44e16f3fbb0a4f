use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-cache-small",
    title: "The client's session store is too small",
    happens: "\
A client keeps sessions for a limited number of servers, and forgets the oldest. rustls keeps 256 entries, which are
about 32 servers, Go's LRU cache as many as it is told, Node's agent 100.",
    seen: "\
With several names in turn (`reprise diagnose --listen --name A --name B …`) the client offers no session to a name that it
had one of, after others came in between, while it remembers over fewer others. The finding says over how many.",
    confirm: "\
Connect to n names in turn and twice around, and count the resumed: below the limit all of the second round, above
it none.",
    costs: "Full handshakes for clients of many servers: crawlers, proxies, mail relays.",
    found_by: &[Listen],
    advice: "Make the store as large as the number of servers in use:",
    fixes: &[
        client_fix("OpenSSL API", "", "the store is the program's own: keep a session for each host, by its name and port"),
        client_fix(
            "Python ssl",
            "sessions[host] = connection.session",
            "after the response: a session for each host, not one for all",
        ),
        client_fix(
            "Node",
            "const agent = new https.Agent({ maxCachedSessions: 1000 });",
            "default 100. With tls.connect, keep a session for each host",
        ),
        client_fix(
            "Go",
            "config.ClientSessionCache = tls.NewLRUClientSessionCache(1000)",
            "it counts sessions, one for each server; 0 means 64",
        ),
        client_fix("Java", "context.getClientSessionContext().setSessionCacheSize(0);", "unlimited; default 20480"),
        client_fix(
            "rustls",
            "config.resumption = rustls::client::Resumption::in_memory_sessions(4096);",
            "default 256, which counts entries: about 32 servers under TLS 1.3",
        ),
    ],
};
