//! A load on a server in the same process: what `workshop/benches/instructions.rs` counts. Only what runs on the load's own thread,
//! below `Worker::run`, is the client's.

use std::sync::Arc;

use anyhow::{Context, ensure};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_load::{Arrival, LoadEnd, LoadOptions, NoLoadObserver, TlsOptions, run};
use reprise_model::{Kind, Version};

/// `load SCENARIO COUNT`, the scenario one of `full-1.3`, `ticket-1.3`, `full-1.2`, `ticket-1.2`.
fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let scenario = arguments.next().context("load SCENARIO COUNT")?;
    let count = arguments.next().context("load SCENARIO COUNT")?.parse()?;
    let (kind, version) = scenario.split_once('-').context("a scenario is KIND-VERSION")?;
    let kind: Kind = kind.parse().map_err(anyhow::Error::msg)?;
    let version: Version = version.parse().map_err(anyhow::Error::msg)?;
    let identity = Authority::new()?.server(&ServerSpec::new(KeyKind::P256))?;
    let server =
        EmbeddedServer::start(EmbeddedConfig { resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity) })?;
    let options = LoadOptions {
        tls: Arc::new(TlsOptions::new(version)),
        // One at a time, so that no run waits and wakes more often than another.
        arrival: Arrival::Closed { connections: 1 },
        end: LoadEnd::Count(count),
        mix: vec![(kind, 1)],
        sessions: 1,
        ..LoadOptions::new(server.address(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
    };
    let outcome = run(&options, &|| false, &NoLoadObserver)?;
    let primed = u64::from(kind != Kind::Full);
    ensure!(outcome.completed(kind) + primed >= count, "not all completed as {kind}: {:?}", outcome.errors());
    Ok(())
}
