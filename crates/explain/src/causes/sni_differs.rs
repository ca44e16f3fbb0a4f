use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "sni-differs",
    title: "Sessions resume only under the server name that made them",
    happens: "\
A client may only resume with the server name of the session (RFC 6066 §3, RFC 8446 §4.6.1 allows more if the
certificate covers both), and servers compare it: under TLS 1.2 OpenSSL refuses a session whose name differs or is
absent. A client that connects by address once and by name the other time, or without SNI, makes full handshakes.",
    seen: "\
The same session is offered with the name, with another and without SNI: it is accepted with the first alone. That
is as it should be, and a note. It becomes a cause where the client changes the name, which `reprise diagnose
--listen` watches.",
    confirm: "\
Save with a name, and offer without:

```sh
openssl s_client -connect HOST:443 -servername HOST -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -noservername -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake whenever the name changes.",
    found_by: &[Diagnose],
    advice: "Let the client send the same server name each time:",
    fixes: &[fix("curl", "curl --resolve HOST:443:ADDRESS https://HOST/", "instead of an address in the URL"),
fix("OpenSSL API", "SSL_set_tlsext_host_name(ssl, host);", "before each SSL_connect, also of the one that resumes"),
fix("Python ssl", "context.wrap_socket(sock, server_hostname=host, session=session)", ""),
fix("Go", "config.ServerName = host", "its session cache is keyed by it"),
fix("Node", "tls.connect({ host, port, servername, session })", ""),
fix("Java", "new SSLParameters().setServerNames(List.of(new SNIHostName(host)))", "or create the socket by host name and not by address"),
fix(".NET", "TargetHost = host", "in SslClientAuthenticationOptions"),
fix("rustls", "ClientConnection::new(config, ServerName::try_from(host)?)", "its store is keyed by the name"),],
};
