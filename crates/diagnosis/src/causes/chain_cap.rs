use super::Cause;

pub(super) static CAUSE: Cause = Cause {
    slug: "chain-cap",
    title: "A lineage of sessions has reached its cap",
    happens: "\
A resumption gives new tickets, and so sessions descend from one full handshake. RFC 9846 §4.7.1 asks that the
lifetime be counted from that handshake, at most seven days, and some servers end it with the certificate. Then a
full handshake is right. An alert instead is `offer-breaks-connection`.",
    seen: "\
Not in a short run: it takes as long as the cap, a day or a week. It shows as one refused ticket after many accepted
ones, while the ticket after it is accepted again.",
    confirm: "\
Keep a chain of sessions going from a timer, and note when it breaks:

```sh
reprise measure HOST --kinds ticket --session-in chain.json --session-out chain.json
```",
    costs: "One full handshake for each lineage.",
    advice: "Nothing needs to be fixed. Where the cap is shorter than wanted, raise the session timeout, up to seven days.",
    ..Cause::BLANK
};
