//! What the flags mean to the generator.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use reprise_connection::exchange::{Application, DNS_ALPN, HTTP2_ALPN};
use reprise_connection::prologue::Route;
use reprise_engine::{CertificatePolicy, WebPkiVerifier};
use reprise_load::{Arrival, ArrivalSpread, LoadEnd, LoadOptions, PlanTarget, StepTarget, TlsOptions, WeightedName};
use reprise_model::{Kind, Nanos, Version};
use reprise_wire::NamedGroup;
use rustls_pki_types::ServerName;

use super::LoadArgs;
use crate::connection_flags::{check_ech_grease, read_identity, trusted_roots};
use crate::values::List;

impl LoadArgs {
    /// The same with the target at the port that `--starttls` means, unless it names one itself.
    pub(super) fn aimed(mut self) -> Self {
        self.target = self.connection.aim(self.target);
        self
    }

    /// The path that is requested.
    pub(super) fn path(&self) -> &str {
        self.connection.path.as_deref().unwrap_or(&self.target.path)
    }

    /// What a search is to hold.
    pub(super) fn step_target(&self) -> Option<StepTarget> {
        let (quantile, latency) = self.step?;
        Some(StepTarget { quantile, latency: Nanos::from(latency), duration: self.duration })
    }

    /// The shares of a sweep, which a plan needs.
    pub(super) fn shares(&self) -> Option<Vec<u32>> {
        let asked = self.sweep.as_ref().map(|shares| shares.0.clone());
        asked.or_else(|| self.plan.map(|_| vec![0, 25, 50, 75, 100]))
    }

    /// What is planned for.
    pub(super) fn plan_target(&self) -> anyhow::Result<Option<PlanTarget>> {
        let Some(rate) = self.plan else { return Ok(None) };
        if self.server_pid.is_none() {
            bail!(
                "--plan needs the server's processor time: run reprise on the server's machine, and name the server's process with \
                 --server-pid PID"
            );
        }
        if self.shares().is_some_and(|shares| shares.len() < 2) {
            bail!("--plan needs two shares at least: --sweep resumed=0,100");
        }
        Ok(Some(PlanTarget { rate, share: self.share, processors: self.cores, gap: self.gap }))
    }

    /// The generator's options. Reads every file that is named.
    pub(super) fn options(&self, address: SocketAddr) -> anyhow::Result<LoadOptions> {
        let most = self.connections as usize;
        let staged: Duration = self.stage.iter().map(|stage| stage.duration).sum();
        let due: f64 = self.stage.iter().map(|stage| stage.rate * stage.duration.as_secs_f64()).sum();
        let mean_rate = (!self.stage.is_empty()).then(|| due / staged.as_secs_f64());
        let arrival = match self.rate.or(mean_rate) {
            None => Arrival::Closed { connections: most },
            Some(rate) => Arrival::Open { rate, spread: self.spread, most },
        };
        let duration = if self.stage.is_empty() { self.duration } else { staged };
        if self.tls == Version::Tls13 && self.mix.0.iter().any(|(kind, _)| *kind == Kind::Id) {
            bail!("TLS 1.3 has no session IDs: use ticket in --mix, or --tls 1.2");
        }
        check_ech_grease(self.connection.ech_grease, &[self.tls])?;
        self.check_use()?;
        Ok(LoadOptions {
            tls: Arc::new(self.tls_options()?),
            arrival,
            stages: self.stage.clone(),
            ramp: self.ramp.unwrap_or_default(),
            warmup: self.warmup.unwrap_or_default(),
            end: self.count.map_or(LoadEnd::After(duration), LoadEnd::Count),
            mix: self.mix.0.clone(),
            requests: self.requests,
            close: self.close,
            threads: (self.threads as usize).min(most),
            processors: self.pin.as_ref().map(|pin| pin.0.clone()).unwrap_or_default(),
            sessions: self.sessions.unwrap_or(self.connections) as usize,
            timeout: self.connection.timeout,
            seed: self.seed,
            server_pid: self.server_pid,
            application: self.application()?,
            route: self.route(address),
            ..LoadOptions::new(address, Vec::new())
        })
    }

    /// That each flag says something of this load.
    fn check_use(&self) -> anyhow::Result<()> {
        let kinds = self.kinds();
        let offers_tickets = self.tls == Version::Tls13 && kinds.contains(&Kind::Ticket);
        if self.reuse_tickets && !offers_tickets {
            bail!("--reuse-tickets is for tickets of TLS 1.3: name the kind ticket in --mix");
        }
        if self.sessions.is_some() && !kinds.iter().any(|kind| kind.is_resumption()) {
            bail!("--sessions is for connections that resume: name a kind that does in --mix");
        }
        if self.seed != 0 && self.spread == ArrivalSpread::Constant && self.shares().is_none() {
            bail!("--seed is for --spread poisson and --sweep");
        }
        if self.requests == 0 && self.connection.names_a_request() {
            bail!("--requests 0 sends no request: remove --method, --path and --header");
        }
        Ok(())
    }

    fn tls_options(&self) -> anyhow::Result<TlsOptions> {
        let defaults = TlsOptions::new(self.tls);
        let server_names = match &self.sni {
            Some(names) => names.0.clone(),
            // RFC 6066 §3: an address is never sent.
            None => {
                vec![WeightedName { name: self.target.address().is_none().then(|| self.target.host.clone()), weight: 1 }]
            }
        };
        let mut tls = TlsOptions {
            cipher_suites: match &self.connection.ciphers {
                Some(list) => list.0.iter().copied().filter(|suite| defaults.cipher_suites.contains(suite)).collect(),
                None => defaults.cipher_suites.clone(),
            },
            groups: self.group_list(&defaults.groups)?,
            like: self.connection.client(),
            ech_grease: self.connection.ech_grease,
            server_names,
            key_shares: self.key_shares,
            alpn: self.protocols()?,
            reuse_tickets: self.reuse_tickets,
            ..defaults
        };
        if tls.cipher_suites.is_empty() {
            bail!("none of --ciphers belongs to TLS {}", self.tls.number());
        }
        tls.identity = self.connection.certificate_files()?.map(read_identity).transpose()?;
        if self.verify || tls.identity.is_some() {
            self.authenticate(&mut tls)?;
        }
        Ok(tls)
    }

    fn group_list(&self, defaults: &[NamedGroup]) -> anyhow::Result<Vec<NamedGroup>> {
        let Some(List(mut groups)) = self.connection.groups.clone() else { return Ok(defaults.to_vec()) };
        if self.tls == Version::Tls12 {
            if groups.contains(&NamedGroup::X25519MLKEM768) {
                bail!("X25519MLKEM768 is a group of TLS 1.3");
            }
            // RFC 8422 §5.1: an ECDSA certificate's curve must be among them, or the server finds no suite in common.
            for curve in [NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
                if !groups.contains(&curve) {
                    groups.push(curve);
                }
            }
        }
        Ok(groups)
    }

    /// Has the server's certificate and its signature read, and verified where that is asked for.
    fn authenticate(&self, tls: &mut TlsOptions) -> anyhow::Result<()> {
        tls.certificates = if self.verify {
            CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(&trusted_roots(self.connection.ca.as_deref())?).0))
        } else {
            CertificatePolicy::AcceptAnyChain
        };
        let server_name =
            |name: &str| ServerName::try_from(name.to_owned()).context("--sni contains an invalid server name");
        tls.host = server_name(&self.target.host)?;
        tls.server_names.iter().filter_map(|it| it.name.as_deref()).try_for_each(|name| server_name(name).map(drop))
    }

    /// The same as `measure` asks, but for what it says of the connection: that ends as the options have it.
    fn application(&self) -> anyhow::Result<Application> {
        let request = self.connection.request()?;
        if let Some(protocol) = self.connection.starttls {
            return Ok(Application::Question(protocol, self.target.host.clone()));
        }
        if self.asks_dns() {
            return Ok(Application::Dns);
        }
        Ok(if self.protocols()?.iter().any(|protocol| protocol == HTTP2_ALPN) {
            Application::http(self.target.clone(), request, None)
        } else {
            Application::Http1 { is_head: request.is_head(), request: request.text(&self.target, None) }
        })
    }

    /// Whether HTTP is what is spoken under TLS.
    pub(super) fn is_http(&self) -> bool {
        self.connection.starttls.is_none() && !self.asks_dns()
    }

    fn asks_dns(&self) -> bool {
        self.protocols().is_ok_and(|protocols| protocols == [DNS_ALPN])
    }

    /// Those that are offered.
    fn protocols(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        let of_client =
            || self.connection.client().map(|row| row.hello.alpn()).filter(|_| self.connection.starttls.is_none());
        Ok(self.connection.protocols()?.or_else(of_client).unwrap_or_default())
    }

    fn route(&self, address: SocketAddr) -> Option<Route> {
        let route = Route {
            proxy: None,
            proxy_protocol: self.connection.proxy_protocol,
            starttls: self.connection.starttls,
            target: self.target.clone(),
            target_address: Some(address),
        };
        (!route.is_direct()).then_some(route)
    }
}
