//! The flags of `trace`, and what they mean to the probe.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use reprise_attempt::Target;
use reprise_probe::Options;
use reprise_trace::{Kind, Version};

use crate::connection_flags::{ConnectionArgs, check_name};
use crate::outputs::OutputArgs;
use crate::resumption_flags::{self, ResumptionArgs};
use crate::session_files::SessionFileArgs;
use crate::values::{parse_target, parse_version};

/// Show a full and a resumed handshake side by side, message by message.
///
/// Two connections are made: one that offers nothing, and one that offers what the first left behind. Every message in
/// and out is shown, those under encryption too, with its time and size; those that the resumed handshake did without
/// are struck through, found by comparing what was observed on both.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    /// HOST[:PORT][/PATH] or an https URL
    #[arg(value_name = "TARGET", value_parser = parse_target)]
    target: Target,

    /// Only these versions: 1.2, 1.3; by default the newest that the target speaks
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', value_parser = parse_version, help_heading = "What to trace")]
    tls: Vec<Version>,
    /// How to resume; by default as the target offers it. Exit status 1 unless it is observed
    #[arg(long, value_enum, help_heading = "What to trace")]
    kind: Option<Resumption>,
    /// Write a pcapng of both connections that Wireshark opens decrypted: it holds their secrets
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) pcap: Option<PathBuf>,

    #[command(flatten)]
    resumption: ResumptionArgs,
    #[command(flatten)]
    pub(super) session_files: SessionFileArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise trace example.org                             what resuming skips, under the newest version
  reprise trace example.org --tls 1.2 --kind id         by session ID
  reprise trace 10.0.0.7:8443 --cert client.pem --key client.key
  reprise trace example.org --pcap both.pcapng          then: wireshark both.pcapng
  reprise trace example.org --json - | jq '.traces[0].skipped'";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Resumption {
    /// By session ID, TLS 1.2 alone
    Id,
    /// By ticket
    Ticket,
    /// By ticket, with the request as early data, TLS 1.3 alone
    Early,
    /// With the PSK of --psk-identity, TLS 1.3 alone
    Psk,
}

impl TraceArgs {
    /// What is to be traced.
    pub(super) fn target(&self) -> Target {
        self.connection.route.aim(self.target.clone())
    }

    /// The kind that was named.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.kind.map(|kind| match kind {
            Resumption::Id => Kind::Id,
            Resumption::Ticket => Kind::Ticket,
            Resumption::Early => Kind::Early,
            Resumption::Psk => Kind::Psk,
        })
    }

    /// The probe's options. Reads every file that is named, so that what is wrong is found before anything is traced.
    pub(super) fn into_options(self) -> anyhow::Result<Options> {
        let kind = self.kind();
        if kind == Some(Kind::Id) && self.tls.contains(&Version::Tls13) {
            bail!("TLS 1.3 knows no session IDs: trace --kind ticket, or --tls 1.2");
        }
        if let Some(kind @ (Kind::Psk | Kind::Early)) = kind
            && self.tls.contains(&Version::Tls12)
        {
            bail!("the kind {kind} is of TLS 1.3: leave --tls 1.2 out");
        }
        let options = self.resumption.add_to(self.connection.into_options(None)?)?;
        resumption_flags::check(kind.as_slice(), &self.tls, &options)?;
        check_name(&self.target, &options)?;
        Ok(Options { versions: self.tls, kinds: kind.into_iter().collect(), ..options })
    }
}
