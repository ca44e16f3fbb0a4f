//! `reprise trace [TARGET]`: what does a resumed handshake skip, message by message?

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValue;
use reprise_connection::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::document::TraceDocument;
use reprise_model::{Kind, Version};
use reprise_probe::{Capture, Interrupt, Options};
use reprise_report::{Document, Report};
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

use crate::ending::Ending;
use crate::outputs::{Output, OutputArgs, Outputs};
use crate::probe_flags::{ProbeArgs, check_name};
use crate::provenance::provenance;
use crate::resumption_flags::ResumptionArgs;
use crate::session_files::SessionFileArgs;
use crate::values::{explained, one_of};

/// Show, message by message, what a resumed handshake skips.
///
/// Two connections are shown: one that offers nothing, and one that offers what the first left behind. Every message in
/// and out is shown, those under encryption too, with its time and size; those that the resumed handshake did without
/// are struck through, found by comparing what was observed on both. Further connections of each kind give medians. Without a
/// target, a server in this process is traced.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(super) struct TraceArgs {
    /// HOST[:PORT][/PATH] or an https URL; without it, an embedded server on loopback
    #[arg(value_name = "TARGET")]
    target: Option<Target>,

    /// Use only these TLS versions: 1.2, 1.3; by default the newest that the target supports
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "What to trace")]
    tls: Vec<Version>,
    /// Resume this way; by default as the target offers. Exit with 1 unless it is observed
    #[arg(long, value_parser = one_of(resumptions()), help_heading = "What to trace")]
    kind: Option<Kind>,
    /// Further connections of each kind, whose medians stand beside the messages; 0: none
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(..=1_000_000), help_heading = "What to trace")]
    count: u32,
    /// Write both connections as pcapng with their secrets: Wireshark opens it decrypted
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pcap: Option<PathBuf>,

    #[command(flatten)]
    resumption: ResumptionArgs,
    #[command(flatten)]
    session_files: SessionFileArgs,
    #[command(flatten)]
    probe: ProbeArgs,
    #[command(flatten)]
    output: OutputArgs,
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

pub(super) fn run(arguments: TraceArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let named: Vec<_> = arguments.pcap.as_deref().map(|path| ("--pcap", path)).into_iter().collect();
    let others = [arguments.session_files.files(), named].concat();
    let outputs = Outputs::open(&arguments.output, &others)?;
    let pcap = arguments.pcap.as_deref().map(Output::open_private).transpose()?;
    let to_standard_output = pcap.as_ref().is_some_and(Output::is_standard);
    if to_standard_output && std::io::stdout().is_terminal() {
        bail!("--pcap: refusing to print a binary capture with secrets on a terminal: write it to a file or a pipe");
    }
    let (kind, count) = (arguments.kind, arguments.count);
    let files = arguments.session_files.clone();
    // It serves as long as it is held.
    let (target, mut options, _server) = match arguments.target() {
        Some(target) => (target, arguments.into_options(None)?, None),
        None => {
            let Lab { server, authority } = Lab::start(kind)?;
            (Target::at(server.address()), arguments.into_options(Some(authority))?, Some(server))
        }
    };
    let files = files.open(&target, &mut options)?;

    let tracing = reprise_probe::trace(&target, &options, pcap.is_some(), interrupt);
    let mut document = reprise_results::trace_document(&target, &options, &tracing, provenance());
    if count > 0 && tracing.ended_by.is_none() {
        reprise_results::add_counted(&mut document, &target, &options, count, interrupt);
    }
    let saved = files.save(&tracing.unused, Document::Trace(&document));
    let report = Report::from(Document::Trace(&document));
    let written = if to_standard_output || document.traces.is_empty() {
        // Without a trace there is no page.
        outputs.write_documents(report)
    } else {
        outputs.write(report)
    };
    // One output that fails does not take the others along.
    if let (Some(pcap), Some(capture)) = (pcap, &tracing.capture) {
        let bytes = captured(capture);
        let is_nothing = capture.recordings.iter().all(|it| it.segments.is_empty());
        match (is_nothing, document.interrupted) {
            (true, _) => pcap.write_nothing(&bytes)?,
            (false, true) => pcap.write_part(&bytes)?,
            (false, false) => pcap.write(&bytes)?,
        }
    }
    written.and(saved)?;
    Ok(match (tracing.ended_by, missed(&document, kind)) {
        (Some(failed), _) => Ending::Failed(reprise_results::failure_of(&failed, &options)),
        (None, Some(why)) => Ending::BadAnswer(why),
        (None, None) => Ending::Done,
    })
}

/// Both connections and the secrets to read them with.
fn captured(capture: &Capture) -> Zeroizing<Vec<u8>> {
    let Capture { recordings, secrets, origin_unix_ns } = capture;
    Zeroizing::new(reprise_report::pcapng::write(recordings, secrets, *origin_unix_ns))
}

/// Where the kind that was named was not observed.
fn missed(document: &TraceDocument, named: Option<Kind>) -> Option<String> {
    let named = named?;
    let missed = document.traces.iter().filter(|trace| !trace.has_resumed());
    let missed: Vec<String> = missed.map(|trace| format!("{named} under {} was not observed", trace.asked.tls)).collect();
    (!missed.is_empty()).then(|| missed.join("\n  "))
}

impl TraceArgs {
    /// What is to be traced; `None` for an embedded server.
    fn target(&self) -> Option<Target> {
        self.target.clone().map(|target| self.probe.connection.aim(target))
    }

    /// The probe's options. Reads every file that is named, so that what is wrong is found before anything is traced. Where no
    /// flag says whom to trust, it is `authority`, or else the system's roots.
    fn into_options(self, authority: Option<CertificateDer<'static>>) -> anyhow::Result<Options> {
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
            if !self.probe.is_direct() {
                bail!("--starttls, --proxy and --proxy-protocol need a target: the embedded server is reached without them");
            }
            if self.session_files.need_a_target() {
                bail!("--session-in and --session-out are about one target: name it");
            }
            if kind == Some(Kind::Psk) || self.resumption.psk_identity.is_some() {
                bail!("an external PSK needs a target: the embedded server has none");
            }
        }
        let options = self.probe.into_options(authority)?;
        let options = Options { versions: self.tls, kinds: kind.into_iter().collect(), ..options };
        let options = self.resumption.add_to(options)?;
        if let Some(target) = &self.target {
            check_name(target, &options)?;
        }
        Ok(options)
    }
}

/// What a request takes, and more.
const MAX_EARLY_DATA: u32 = 16_384;

/// Without a target: a server of our own, which resumes in the way that is asked for, and whom to trust to know it.
struct Lab {
    server: EmbeddedServer,
    authority: CertificateDer<'static>,
}

impl Lab {
    /// By ticket, unless `kind` asks for another way.
    fn start(kind: Option<Kind>) -> anyhow::Result<Self> {
        let authority = Authority::with_key(KeyKind::P256).context("cannot make a certificate authority")?;
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).context("cannot make a certificate")?;
        let (resumption, max_early_data) = match kind {
            Some(Kind::Id) => (EmbeddedResumption::Id, 0),
            // rustls takes early data of sessions that it stores alone.
            Some(Kind::Early) => (EmbeddedResumption::Id, MAX_EARLY_DATA),
            _ => (EmbeddedResumption::Ticket, 0),
        };
        let config = EmbeddedConfig { resumption, max_early_data, ..EmbeddedConfig::new(identity) };
        let server = EmbeddedServer::start(config).context("cannot start an embedded server")?;
        Ok(Self { server, authority: authority.certificate().clone() })
    }
}
