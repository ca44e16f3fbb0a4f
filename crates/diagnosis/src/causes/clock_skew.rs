use super::Cause;

pub(super) static CAUSE: Cause = Cause {
    slug: "clock-skew",
    title: "The clocks of nodes differ",
    happens: "\
A ticket states when it was made. A node whose clock is behind takes a ticket of the future: s2n-tls refuses those
more than an hour ahead, Mbed TLS any of negative age. Under TLS 1.3 the client's obfuscated age is compared as well
(RFC 9846 §4.3.11.1, §8.3): a difference of more than some seconds rejects early data; rustls allows 60 s.",
    seen: "\
Not with certainty from outside: fresh tickets of one node are refused, or their early data is rejected, by another,
which looks like `hidden-nodes` until the clocks are compared. The Date field of responses that differs from
response to response is a hint.",
    confirm: "\
Compare the clocks that the nodes show:

```sh
for i in 1 2 3 4 5 6 7 8; do curl -sI https://HOST/ | grep -i '^date'; sleep 0.2; done
```",
    costs: "Refused tickets between some nodes in one direction, and rejected early data.",
    advice: "Keep the clocks of all nodes by NTP, and alarm at differences above a second.",
    ..Cause::BLANK
};
