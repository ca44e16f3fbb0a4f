//! The words of a load: who was the bottleneck and why, and when its figures must not be trusted.

use std::collections::BTreeMap;

use reprise_model::document::{AnswerDifference, Confidence, LoadDocument, Verdict};
use reprise_model::{
    BottleneckReason, CpuRestraint, DescriptorShortage, FaultName, LoadNotice, LocalPorts, Phase, ProcessorShare,
    RefusalCause, Version,
};
use reprise_wire::AlertDescription;

use reprise_connection::fault_name;
use reprise_diagnosis::answers::answer;
use reprise_diagnosis::figures::{means, percent, span};
use reprise_diagnosis::slow_connections::longer;

const PROTOCOL_VERSION: u8 = AlertDescription::PROTOCOL_VERSION.0;

/// Writes reason and warnings into a document that has none yet.
pub fn word_load(document: &mut LoadDocument, reason: &BottleneckReason, notices: &[LoadNotice]) {
    document.bottleneck.reason = bottleneck_reason(reason);
    document.warnings = notices.iter().map(|notice| load_warning(notice, document)).collect();
}

/// So many connections for each place are a long run.
const SEVERAL: u64 = 4;

/// What the latencies of a closed loop are made of, to stand beside them; `None` where no connection waited for another.
pub fn about_queue(document: &LoadDocument) -> Option<String> {
    let (at_once, rate) = (document.asked.connections.filter(|at_once| *at_once > 1)?, document.rate.mean);
    if rate <= 0.0 {
        return None;
    }
    // Little's law is one of the long run: each place has had its turn several times.
    let each = match document.total_completed() / at_once {
        0..SEVERAL => String::new(),
        _ => format!(" ({at_once} concurrent / {rate:.0} per second = {:.1} ms each)", at_once as f64 / rate * 1e3),
    };
    let below = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    let waits = match document.bottleneck.verdict {
        Verdict::Server | Verdict::Client => "In a closed loop connections wait for one another",
        Verdict::Network | Verdict::None | Verdict::Unknown => "In a closed loop connections may wait for one another",
    };
    let kinds = if document.latency_ns.len() > 1 { ", whatever their kind" } else { "" };
    Some(format!("{waits}{kinds}{each}. To measure the handshake itself, use a --rate below {below}."))
}

/// Why somebody is called the bottleneck, in one sentence.
pub fn bottleneck_reason(reason: &BottleneckReason) -> String {
    use BottleneckReason as Because;
    match reason {
        Because::NothingCompleted => "no connection that counts completed".to_owned(),
        Because::TargetGone => "the target died, and processor times include the time after that".to_owned(),
        Because::SharedLimit(limit) => format!(
            "generator and server share {}: they take processor time from each other; run the generator outside that group",
            told(limit)
        ),
        Because::ServerLimit(limit) => format!("the server has {}: a higher limit would allow more", told(limit)),
        Because::ServerBusy { processes, server, client } => {
            let server_name = match processes {
                0 | 1 => "the server's process".to_owned(),
                processes => format!("the busiest of the server's {processes} busy processes"),
            };
            format!(
                "{server_name} used {} of the processor time available to it, the generator's busiest thread {}",
                percent(server.ran),
                percent(client.ran)
            )
        }
        Because::ClientLimit(limit) => format!("the generator has {}: raise the limit", told(limit)),
        Because::ClientBusy { client, scarce_ports } => format!(
            "the generator's busiest thread used {} of its processor: {}",
            percent(client.ran),
            scarce_ports.map_or("increase --threads".to_owned(), in_time_wait)
        ),
        Because::RateHeld => "the requested rate was held".to_owned(),
        Because::LatencyMissed => {
            "connections came about at the lowest rate too, but not within the latency: a spare machine or a longer \
             --duration tells whether that was chance"
                .to_owned()
        }
        Because::ServerNeverIdle { server, is_limited } => format!(
            "the server's process used {} of a processor and waited {} of the time for one that {}: it was never idle",
            percent(server.ran),
            percent(server.waited),
            kept(*is_limited)
        ),
        Because::ClientNeverIdle { client, is_limited } => format!(
            "the generator's busiest thread used {} of a processor and waited {} of the time for one that {}: {}",
            percent(client.ran),
            percent(client.waited),
            kept(*is_limited),
            if *is_limited { "raise the limit" } else { "give it a processor of its own (--pin)" }
        ),
        Because::TooFewProcessors { client: (client, client_is_limited), server: (server, server_is_limited) } => {
            let share = |share: &ProcessorShare, verb: &str, is_limited: bool| {
                let (ran, waited) = (percent(share.ran), percent(share.waited));
                format!("used {ran} {verb}and waited {waited} for one that {}", kept(is_limited))
            };
            format!(
                "too few processors to decide: the generator's busiest thread {}, the server's busiest process {}",
                share(client, "of one ", *client_is_limited),
                share(server, "", *server_is_limited)
            )
        }
        Because::NeitherBusy { server, client } => format!(
            "neither was busy (server {}, generator {}): the network, another resource of the server, or too few \
                concurrent connections",
            percent(server.ran),
            percent(client.ran)
        ),
        Because::ServerUnknown { client, has_waited: true, is_limited } => format!(
            "the generator's busiest thread used {} of a processor, waited {} of the time for one that {}, and was idle for \
             the rest, so it was not the generator alone; add --server-pid to see the server",
            percent(client.ran),
            percent(client.waited),
            kept(*is_limited)
        ),
        Because::ServerUnknown { client, has_waited: false, .. } => format!(
            "the generator's busiest thread used {} of its processor, so it was not the generator; add --server-pid to see \
                the server",
            percent(client.ran)
        ),
    }
}

/// What the reader of this document should know before believing its figures, in one sentence.
pub fn load_warning(notice: &LoadNotice, document: &LoadDocument) -> String {
    match notice {
        LoadNotice::TargetGone => {
            let of = document.asked.duration_ns.map_or_else(String::new, |ns| format!(" of {:.1} s", ns as f64 / 1e9));
            format!(
                "the target is gone: nothing completed after {:.1} s{of}, and the rate is of the time until then",
                document.seconds
            )
        }
        LoadNotice::ClientBusy { scarce_ports } => format!(
            "the generator was busy {} of the time: latencies include its own delays, and the rate may be limited by it{}",
            percent(document.bottleneck.client_busy),
            if *scarce_ports { "" } else { "; increase --threads" }
        ),
        LoadNotice::CostsUnknown => {
            "what a resumed connection costs the server is unknown, and with it the plan: that takes two shares at \
                                     least that differ in what was resumed"
                .to_owned()
        }
        LoadNotice::TooShort => format!(
            "it lasted {:.0} ms, too short for a reliable rate: increase --duration or --count",
            document.seconds * 1e3
        ),
        LoadNotice::ScarcePorts(ports) => in_time_wait(*ports),
        LoadNotice::UnevenSeconds { least, most } => {
            format!("the rate varies from {least} to {most} connections per second: other load may interfere")
        }
        LoadNotice::ClientLimited { is_the_reason: true, .. } => {
            "the generator was throttled by its CPU limit: latencies include that time".to_owned()
        }
        LoadNotice::ClientLimited { limit, is_the_reason: false } => {
            format!("the generator has {}: the longest latencies may be its own stops; raise the limit", told(limit))
        }
        LoadNotice::ServerLimited(limit) => {
            format!("the server has {}: the longest latencies may be its stops", told(limit))
        }
        LoadNotice::Crowded { waited } => format!(
            "other programs used the processors {} of the time: rates are lower and latencies longer than on an idle \
                machine",
            percent(*waited)
        ),
        LoadNotice::Failures { fault, count } => format!("{count} × {}: {}", fault_name(*fault), advice(*fault, document)),
        LoadNotice::HelloRetries => {
            let all = document.completed_at_any_time().saturating_add(document.warmup_completed);
            let asks =
                document.wanted_group.as_ref().map_or_else(String::new, |group| format!(": the server requests {group}"));
            format!(
                "{} of {all} connections were retried (HelloRetryRequest){asks}. {}",
                document.hello_retries,
                starting_again(document)
            )
        }
        LoadNotice::SomeSlow { phase, slow, of, step } => format!(
            "{}: quantiles of both together tell neither; `reprise measure` shows which connections they are, `reprise explain \
             some-connections-slow` what it may be",
            longer(*slow, *of, step.0, *phase)
        ),
        LoadNotice::NotStarted { count } => format!(
            "{count} due connections were not started, because all --connections were busy: lower the rate or increase \
                --connections"
        ),
        LoadNotice::Reasoned(fault) => {
            let reason = document.error_reasons.get(&fault.to_string()).map_or("", String::as_str);
            let count = |counts: &BTreeMap<String, u64>| counts.get(&fault.to_string()).copied().unwrap_or_default();
            let count = count(&document.errors).saturating_add(count(&document.warmup_errors));
            format!("{count} × {fault}: {reason}")
        }
        LoadNotice::FewerConnections(shortage) => fewer_connections(*shortage),
        LoadNotice::WarmupFailures => {
            let names: Vec<String> =
                document.warmup_errors.iter().map(|(name, count)| format!("{count} × {name}")).collect();
            let failed = document.total_warmup_errors();
            format!(
                "{failed} of {} connections of the warm-up failed ({}): they are excluded from all other figures",
                failed.saturating_add(document.warmup_completed),
                names.join(", ")
            )
        }
        LoadNotice::ManyFailures => {
            let failed = document.total_errors();
            let attempts = failed.saturating_add(document.total_completed()).saturating_add(document.late);
            let offered = match document.failed_offers {
                0 => String::new(),
                offers if offers == failed => ", each of which offered a session".to_owned(),
                offers => format!(", {offers} of which offered a session"),
            };
            format!("{failed} of {attempts} connections failed{offered}: latencies cover the others")
        }
        LoadNotice::ErrorResponses => {
            let errors = || document.http_status.range(400..);
            format!(
                "{} of {} responses have an HTTP status of 400 or above ({}): the requests were not served as intended",
                errors().map(|(_, count)| count).sum::<u64>(),
                document.http_status.values().sum::<u64>(),
                errors().map(|(status, _)| status.to_string()).collect::<Vec<_>>().join(", ")
            )
        }
        LoadNotice::AnswersDiffer => answers_differ(document),
        LoadNotice::NeverResumed(kind) => {
            let failed = match document.failed_offers {
                0 => String::new(),
                failed => format!(", and {failed} offered one and failed"),
            };
            format!(
                "no connection was resumed by {kind}: {} had no session to offer, and {} offered one that was refused{failed}",
                document.primed, document.refused
            )
        }
        LoadNotice::NoTicketOnResumption => format!(
            "{} connections had no ticket left to resume with and were full: the server issues none on a resumed \
                connection, and a TLS 1.3 ticket is used once. Real clients run out of tickets too; --reuse-tickets offers \
                each again",
            document.primed
        ),
        LoadNotice::SessionsRefused(cause) => format!(
            "{} sessions were offered and refused: the server does not always resume{}",
            document.refused,
            match cause {
                Some(RefusalCause::TicketsReused) => "; some servers accept each ticket once: remove --reuse-tickets",
                Some(RefusalCause::ConnectionsReset) => {
                    "; some servers discard the session ID of a reset connection: try --close notify"
                }
                None => "",
            }
        ),
        LoadNotice::SharedMachine => {
            "server and generator share this machine: add --server-pid to separate their processor time".to_owned()
        }
    }
}

/// Of each kind; their latencies stand beside each other, so it says that they do not compare.
fn answers_differ(document: &LoadDocument) -> String {
    let one = |it: &AnswerDifference| {
        let (resumed, full) = (&it.resumed, &it.full);
        format!(
            "connections that begin by {} are answered otherwise than full handshakes: {} on {} of {}, not {} ({} of {})",
            means(it.kind),
            answer(it, resumed),
            resumed.connections,
            resumed.of,
            answer(it, full),
            full.connections,
            full.of
        )
    };
    let each: Vec<String> = document.answers_differ.iter().map(one).collect();
    let sure = match document.answers_differ.iter().map(|it| it.confidence).min() {
        Some(Confidence::Possible) => " Too few full handshakes were made among them to be sure: add full=1 to --mix.",
        _ => "",
    };
    format!("{}. Their times do not compare: `reprise explain answers-differ` says why.{sure}", each.join("; "))
}

/// What the descriptor limit leaves of the connections that were asked for, and what to do about it.
pub fn fewer_connections(shortage: DescriptorShortage) -> String {
    let DescriptorShortage { wanted, room, limit } = shortage;
    format!("{room} concurrent connections, not {wanted}: the limit is {limit} open descriptors; raise it (ulimit -n)")
}

/// What to do about failures.
fn advice(fault: FaultName, document: &LoadDocument) -> String {
    let by_name = || document.wanted_groups.iter().map(|(name, group)| format!("{group} for '{name}'"));
    match (fault, &document.wanted_group) {
        (FaultName::PortsExhausted, _) => "local ports ran out: use --close rst, which leaves none in TIME_WAIT, or widen \
                net.ipv4.ip_local_port_range"
            .to_owned(),
        (FaultName::DescriptorLimit, _) => {
            "descriptors ran out: raise the limit (ulimit -n), or use fewer connections".to_owned()
        }
        (FaultName::HelloRetryRequest, Some(one)) if document.wanted_groups.values().all(|group| group == one) => {
            format!(
                "the server requests {one}; later connections use it first: put it first in --groups. {}",
                starting_again(document)
            )
        }
        (FaultName::HelloRetryRequest, Some(_)) => format!(
            "the server requests other groups ({}); later connections under the same name use them first. {}",
            by_name().collect::<Vec<_>>().join(", "),
            starting_again(document)
        ),
        (FaultName::HelloRetryRequest, None) => "the server requests a second ClientHello, which load does not \
            send"
            .to_owned(),
        (FaultName::Alert(PROTOCOL_VERSION), _) => {
            let other = if document.asked.tls == Version::Tls13 { Version::Tls12 } else { Version::Tls13 };
            format!("the server refuses {}: use --tls {}", document.asked.tls, other.number())
        }
        _ => "`reprise measure` shows more about a single connection to this target".to_owned(),
    }
}

/// What a HelloRetryRequest costs whoever shares the same group first.
fn starting_again(document: &LoadDocument) -> String {
    let shared = document.asked.groups.first().map_or("another group", String::as_str);
    let connects = document.latency_ns.values().filter_map(|phases| phases.get(&Phase::Connect));
    // Through a proxy it is not the way to the server.
    let connect = connects.map(|latency| latency.p50).min().filter(|_| document.target.proxy.is_none());
    let takes = connect.map_or_else(String::new, |ns| format!(", {} here (connect)", span(ns)));
    format!(
        "A client that shares {shared} first starts each handshake again, full or resumed: a round trip more{takes}; see `reprise explain \
         hello-retry-request`"
    )
}

/// The limit that was felt, how often it ran out, and where to look.
fn told(restraint: &CpuRestraint) -> String {
    match &restraint.limit {
        Some(limit) if restraint.ran_out() => format!(
            "a CPU limit of {}, which ran out in {} of {} periods of {} ms (cgroup {})",
            limit.in_words(),
            limit.throttled_periods,
            limit.periods,
            limit.period_ns as f64 / 1e6,
            limit.group
        ),
        _ => format!(
            "a CPU limit of a parent cgroup, not visible here, which throttled it for {:.1} of {:.1} s, summed over \
                processors",
            restraint.throttled.unwrap_or_default().as_secs_f64(),
            restraint.time.as_secs_f64()
        ),
    }
}

/// The kernel counts time in which a group may not run as time in which it waits for a processor: who had it then.
fn kept(is_limited: bool) -> &'static str {
    if is_limited { "its CPU limit or other programs kept from it" } else { "others had" }
}

/// What ports in TIME_WAIT do, and what to do about them.
fn in_time_wait(ports: LocalPorts) -> String {
    format!(
        "{} of {} local ports are in TIME_WAIT, so finding a free one is slow: use --close rst, or widen \
            net.ipv4.ip_local_port_range",
        ports.in_time_wait, ports.all
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reprise_model::document::LoadCpuLimit;

    use super::*;

    const IDLE: ProcessorShare = ProcessorShare { ran: 0.3, waited: 0.01 };
    const BUSY: ProcessorShare = ProcessorShare { ran: 0.97, waited: 0.01 };
    const STARVED: ProcessorShare = ProcessorShare { ran: 0.5, waited: 0.48 };
    const CROWDED_OUT: ProcessorShare = ProcessorShare { ran: 0.4, waited: 0.3 };

    /// Of half a processor, which ran out in so many of a hundred periods.
    fn limit(group: &str, throttled_periods: u64) -> CpuRestraint {
        let (group, period_ns, throttled_ns) = (group.to_owned(), 100_000_000, 0);
        let limit = LoadCpuLimit { group, processors: 0.5, period_ns, periods: 100, throttled_periods, throttled_ns };
        CpuRestraint { limit: Some(limit), ..CpuRestraint::default() }
    }

    #[test]
    fn each_reason_gives_its_figures_and_what_to_do() {
        use BottleneckReason as Because;
        let scarce_ports = Some(LocalPorts { all: 28_232, in_time_wait: 15_595 });
        let cases = [
            (
                Because::ServerBusy { processes: 1, server: BUSY, client: BUSY },
                "the server's process used 97 % of the processor time available to it, the generator's busiest thread 97 %",
            ),
            (Because::ServerBusy { processes: 3, server: BUSY, client: IDLE }, "busiest of the server's 3 busy processes"),
            (Because::ClientBusy { client: BUSY, scarce_ports: None }, "--threads"),
            (Because::ClientBusy { client: BUSY, scarce_ports }, "15595 of 28232 local ports"),
            (Because::RateHeld, "was held"),
            (
                Because::ServerNeverIdle { server: STARVED, is_limited: false },
                "waited 48 % of the time for one that others had",
            ),
            (Because::ServerNeverIdle { server: STARVED, is_limited: true }, "its CPU limit or other programs kept from it"),
            (
                Because::ClientNeverIdle { client: STARVED, is_limited: false },
                "others had: give it a processor of its own (--pin)",
            ),
            (Because::ClientNeverIdle { client: STARVED, is_limited: true }, "kept from it: raise the limit"),
            (Because::NeitherBusy { server: IDLE, client: IDLE }, "neither was busy (server 30 %, generator 30 %)"),
            (
                Because::TooFewProcessors { client: (IDLE, false), server: (CROWDED_OUT, false) },
                "the server's busiest process used 40 % and waited 30 %",
            ),
            (
                Because::TooFewProcessors { client: (CROWDED_OUT, false), server: (IDLE, false) },
                "too few processors to decide: the generator's busiest thread used 40 % of one and waited 30 % for one \
                    that others had",
            ),
            (
                Because::ServerUnknown { client: IDLE, has_waited: false, is_limited: false },
                "not the generator; add --server-pid",
            ),
            (
                Because::ServerUnknown { client: CROWDED_OUT, has_waited: true, is_limited: false },
                "waited 30 % of the time for one that others had, and was idle",
            ),
            (Because::ClientLimit(limit("/c", 97)), "0.5 processors, which ran out in 97 of 100"),
            (Because::ClientLimit(limit("/c", 50)), "periods of 100 ms (cgroup /c): raise the limit"),
            (Because::ServerLimit(limit("/s", 97)), "the server has a CPU limit of 0.5"),
            (Because::ServerLimit(limit("/s", 97)), "(cgroup /s): a higher"),
            (Because::SharedLimit(limit("/s", 97)), "generator and server share a CPU limit"),
        ];
        for (reason, says) in cases {
            let said = bottleneck_reason(&reason);
            assert!(said.contains(says), "{reason:?}: {said}");
        }
        assert!(!bottleneck_reason(&Because::ClientBusy { client: BUSY, scarce_ports }).contains("--threads"));
    }

    #[test]
    fn a_hidden_limit_is_told_by_what_it_did() {
        let throttled = Some(Duration::from_millis(1_700));
        let hidden = CpuRestraint { limit: None, throttled, time: Duration::from_secs(3) };
        let says = "not visible here, which throttled it for 1.7 of 3.0 s";
        assert!(told(&hidden).contains(says), "{}", told(&hidden));
        // One that can be seen, and did not run out, is not to blame.
        let seen = CpuRestraint { limit: limit("/c", 0).limit, ..hidden };
        assert!(told(&seen).contains("not visible"), "{}", told(&seen));
    }
}
