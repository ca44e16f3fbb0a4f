use super::Cause;
use super::FoundBy::Listen;

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-offered",
    title: "The client sends early data",
    happens: "\
A client that sends its request as early data saves a round trip, and whoever records the request can send it again
(RFC 8446 §8); it has no forward secrecy either (§2.3). Which requests may be sent so is the client's to decide (RFC
8470 §4).",
    seen: "\
Of a client that connects to `--listen`: its ClientHello has early_data. What of it was accepted is counted. It is a
note.",
    confirm: "\
Watch the client, and look for `early_data` in its ClientHello:

```sh
tshark -r capture.pcapng -Y 'tls.handshake.type == 1 && tls.handshake.extension.type == 42'
```",
    costs: "No time: a risk for requests that change something.",
    found_by: &[Listen],
    advice: "Send as early data only what may safely be done twice, and repeat after the handshake what is answered with 425 (RFC 8470).",
    fixes: &[],
};
