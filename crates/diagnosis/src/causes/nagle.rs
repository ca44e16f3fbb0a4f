use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "nagle",
    title: "The server's flight waits for a delayed acknowledgement",
    happens: "\
A server that writes its flight in two parts without TCP_NODELAY waits with the second until the first is
acknowledged (Nagle's algorithm, RFC 896), and the client delays that acknowledgement (RFC 1122 §4.2.3.2), for 40 ms
on Linux. Seen with a Java server under TLS 1.2.",
    seen: "\
Two messages of the server's one flight come 35 to 250 ms apart, much longer than a round trip, in full handshakes in which the
client's system delays its acknowledgements; in those in between, where Reprise acknowledges each segment at once, they come
together. It is no refusal: a cost, and the reason why resumption seems to save so much.",
    confirm: "\
Look for the gap within the server's flight:

```sh
tshark -r capture.pcapng -Y 'tcp.srcport == 443' -T fields -e tcp.time_delta -e tcp.len
```",
    costs: "Some 40 ms in each full handshake, and in each response that is written in two parts.",
    found_by: &[Diagnose],
    advice: "Let the server set TCP_NODELAY, or write its flight at once:",
    fixes: &[
        fix("Java", "socket.setTcpNoDelay(true);", "on each accepted socket; or a BufferedOutputStream below TLS"),
        fix("OpenSSL API", "", "it writes each flight at once; a BIO of your own has to, too"),
        fix("Python ssl", "", "set TCP_NODELAY on the socket before wrap_socket"),
        fix("Node", "", "socket.setNoDelay(true), its default for http servers"),
        fix("Go", "", "sets it by itself"),
        fix("rustls", "", "set_nodelay(true) on the TcpStream"),
        fix(".NET", "", "NoDelay = true on the Socket"),
    ],
};
