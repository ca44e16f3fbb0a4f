//! HAProxy.

use reprise_lab::KeyKind;
use reprise_lab::servers::{HaProxy, HaProxyConfig};

use crate::broken::{Broken, Software, Started, broken};
use crate::harness::Lab;

pub(crate) const HAPROXY: Software =
    Software { name: "HAProxy", program: Some("haproxy"), version: &["-v"], reveals_itself: false };

/// What begins with `tune.` stands in the global section, all else on the bind line.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let (global, bind): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with("tune."));
    let config = HaProxyConfig::new(lab.identity(KeyKind::P256));
    HaProxy::start(HaProxyConfig { global: global.join("\n    "), bind: bind.join(" "), ..config }).unwrap().into()
}

const fn haproxy(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &HAPROXY, told, start)
}

examined! {
    no_cache_and_no_tickets_are_not_offered:
        haproxy("not-offered", &["tune.ssl.cachesize 0", "no-tls-tickets"]);
    a_cache_of_a_few_sessions_is_too_small:
        haproxy("cache-too-small", &["tune.ssl.cachesize 5", "no-tls-tickets"]).besides(&["unclean-close-evicts"]);
    sessions_in_the_cache_alone_die_with_an_unclean_end:
        haproxy("unclean-close-evicts", &["no-tls-tickets"]);
    a_lifetime_of_two_seconds_is_short:
        haproxy("lifetime-short", &["tune.ssl.lifetime 2"]).flags(&["--tls", "1.2", "--patience", "3s"]);
    early_data_is_off_unless_it_is_allowed:
        haproxy("early-data-off", &[]).flags(&["--tls", "1.3"]);
}
