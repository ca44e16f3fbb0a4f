use super::FoundBy::{Diagnose, Listen};
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "sni-differs",
    title: "Sessions resume only under the server name that made them",
    happens: "\
A client may only resume with the server name of the session (RFC 6066 §3, RFC 8446 §4.6.1 allows more if the
certificate covers both), and servers compare it: under TLS 1.2 OpenSSL refuses a session whose name differs or is
absent. A client that connects by address once and by name the other time, or without SNI, makes full handshakes.",
    seen: "\
Of a server: a session resumes with its name and, offered without SNI, does not. That is as it should be, and a note; another
name of the same address is not tried, and is by hand what the commands below are with -servername. Of a client that
connects to `--listen`: it offers a session under another name than the one that the session was given for, which is a
risk.",
    confirm: "\
Save with a name, and offer without:

```sh
openssl s_client -connect HOST:443 -servername HOST -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -noservername -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake whenever the name changes.",
    found_by: &[Diagnose, Listen],
    advice: "Let a client keep its sessions by the name that it sends as SNI, and offer each to that name alone:",
    fixes: &[
        client_fix("OpenSSL API", "SSL_set_tlsext_host_name(ssl, host);", "before each SSL_connect, with the name of the session's first connection; s_client: the same -servername with -sess_in as with -sess_out"),
        client_fix("Python ssl", "sessions[host] = connection.session", "one for each name; wrap_socket then gets server_hostname=host and session=sessions.get(host)"),
        client_fix("Node", "tls.connect({ host, port, servername: name, session: sessions[name] })", "one session for each name"),
    ],
};
