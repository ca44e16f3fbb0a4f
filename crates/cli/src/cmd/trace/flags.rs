//! The flags of `trace`, and what they mean to the probe.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValue;
use reprise_connection::Target;
use reprise_model::document::TraceDocument;
use reprise_model::{Kind, Version};
use reprise_probe::Options;
use rustls_pki_types::CertificateDer;

use crate::connection_flags::{ConnectionArgs, check_name};
use crate::outputs::OutputArgs;
use crate::resumption_flags::{self, ResumptionArgs};
use crate::session_files::SessionFileArgs;
use crate::values::{explained, one_of};

/// Show, message by message, what a resumed handshake skips.
///
/// Two connections are made: one that offers nothing, and one that offers what the first left behind. Every message in
/// and out is shown, those under encryption too, with its time and size; those that the resumed handshake did without
/// are struck through, found by comparing what was observed on both. Without a target, a server in this process is traced.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    /// HOST[:PORT][/PATH] or an https URL; without it, an embedded server on loopback
    #[arg(value_name = "TARGET")]
    target: Option<Target>,

    /// Use only these TLS versions: 1.2, 1.3; by default the newest that the target supports
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "What to trace")]
    tls: Vec<Version>,
    /// Resume this way; by default as the target offers. Exit with 1 unless it is observed
    #[arg(long, value_parser = one_of(resumptions()), help_heading = "What to trace")]
    pub(super) kind: Option<Kind>,
    /// Explain each message, with its fields and extensions
    #[arg(short = 'v', long, help_heading = "Output")]
    pub(super) verbose: bool,
    /// Write both connections as pcapng with their secrets: Wireshark opens it decrypted
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) pcap: Option<PathBuf>,

    #[command(flatten)]
    resumption: ResumptionArgs,
    #[command(flatten)]
    pub(super) session_files: SessionFileArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<TraceDocument>,
}

const EXAMPLES: &str = "\
Examples:
  reprise trace -v                                      a lesson: a server of its own, each message explained
  reprise trace example.org                             what resuming skips, under the newest version
  reprise trace example.org --tls 1.2 --kind id         by session ID
  reprise trace 10.0.0.7:8443 --cert client.pem --key client.key
  reprise trace example.org --pcap both.pcapng          then: wireshark both.pcapng
  reprise trace example.org --json - | jq '.traces[0].skipped'";

/// The ways to resume.
fn resumptions() -> [(PossibleValue, Kind); 4] {
    [
        (explained("id", "By session ID (TLS 1.2)"), Kind::Id),
        (explained("ticket", "By ticket"), Kind::Ticket),
        (explained("early", "By ticket, with the request as early data (TLS 1.3)"), Kind::Early),
        (explained("psk", "With the PSK of --psk-identity (TLS 1.3)"), Kind::Psk),
    ]
}

impl TraceArgs {
    /// What is to be traced; `None` for an embedded server.
    pub(super) fn target(&self) -> Option<Target> {
        self.target.clone().map(|target| self.connection.route.aim(target))
    }

    /// The probe's options. Reads every file that is named, so that what is wrong is found before anything is traced. Where no
    /// flag says whom to trust, it is `authority`, or else the system's roots.
    pub(super) fn into_options(self, authority: Option<CertificateDer<'static>>) -> anyhow::Result<Options> {
        let kind = self.kind;
        if kind == Some(Kind::Id) && self.tls.contains(&Version::Tls13) {
            bail!("TLS 1.3 has no session IDs: use --kind ticket or --tls 1.2");
        }
        if let Some(kind @ (Kind::Psk | Kind::Early)) = kind
            && self.tls.contains(&Version::Tls12)
        {
            bail!("the kind {kind} requires TLS 1.3: remove --tls 1.2");
        }
        if self.target.is_none() {
            if !self.connection.route.is_direct() {
                bail!("--starttls, --proxy and --proxy-protocol need a target: the embedded server is reached without them");
            }
            if self.session_files.need_a_target() {
                bail!("--session-in and --session-out are about one target: name it");
            }
            if kind == Some(Kind::Psk) || self.resumption.names_psk() {
                bail!("an external PSK needs a target: the embedded server has none");
            }
        }
        let options = self.resumption.add_to(self.connection.into_options(authority)?)?;
        resumption_flags::check(kind.as_slice(), &self.tls, &options)?;
        if let Some(target) = &self.target {
            check_name(target, &options)?;
        }
        Ok(Options { versions: self.tls, kinds: kind.into_iter().collect(), ..options })
    }
}
