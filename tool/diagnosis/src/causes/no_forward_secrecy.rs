//! `no-forward-secrecy`: a PSK was used without a key exchange.
//!
//! RFC 9846 §2.2: with psk_ke the application data are as secret as the PSK is, for as long as anyone has recorded them.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, PskMode};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "no-forward-secrecy",
    title: "A PSK is used without a key exchange",
    happens: "\
With psk_ke the keys of a connection come from the PSK alone (RFC 9846 §2.2): whoever learns it later, or the ticket
key that sealed it, can read what was recorded.",
    seen: "The ServerHello has pre_shared_key and no key_share.",
    confirm: "\
`s_client` offers it with this flag, and prints no group when the server takes it:

```sh
openssl s_client -connect HOST:443 -tls1_3 -allow_no_dhe_kex -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(Server Temp Key|Reused)'
```",
    costs: "No time: it saves the key exchange, at the price of secrecy.",
    advice: "Let the server insist on psk_dhe_ke, unless a device cannot afford the key exchange:",
    fixes: &[
        fix("nginx", "", "take Options AllowNoDHEKEX out of ssl_conf_command"),
        fix("Apache", "", "take Options AllowNoDHEKEX out of SSLOpenSSLConfCmd"),
        fix("OpenSSL API", "", "no SSL_OP_ALLOW_NO_DHE_KEX, as by default; s_server without -allow_no_dhe_kex"),
        fix("GnuTLS", "", "-PSK in its priority string"),
    ],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 15, find: MeasuredRule::Once(of_measurement) }),
    ..Cause::BLANK
};

fn uses_psk_alone(facts: &Facts) -> bool {
    facts.psk_mode == Some(PskMode::PskKe)
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let all = case.every_series();
    let uses: Vec<&KindSeries<'_>> = all.iter().filter(|series| series.with(uses_psk_alone) > 0).collect();
    let of = |series: &&KindSeries<'_>| {
        let (asked, all) = (series.asked, connections(series.count()));
        format!("{asked}: psk_ke on {} of {all}", series.with(uses_psk_alone))
    };
    let psk = if uses.iter().all(|series| series.asked.kind == Kind::Psk) { "external PSK" } else { "ticket's key" };
    let title = format!("The server accepts psk_ke: a later leak of the {psk} decrypts recorded traffic");
    let finding = case.found(&CAUSE, Severity::Risk, Confidence::Certain, title);
    (!uses.is_empty()).then(|| finding.because(uses.iter().map(of)))
}
