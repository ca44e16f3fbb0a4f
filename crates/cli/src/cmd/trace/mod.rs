//! `reprise trace [TARGET]`: what does a resumed handshake skip, message by message?

mod flags;
mod lab;

pub(crate) use flags::TraceArgs;

use std::io::IsTerminal;

use anyhow::bail;
use reprise_connection::Target;
use reprise_model::Kind;
use reprise_model::document::TraceDocument;
use reprise_probe::{Capture, Interrupt};
use reprise_report::{Document, Report, Shown};
use zeroize::Zeroizing;

use self::lab::Lab;
use crate::ending::Ending;
use crate::outputs::{Output, Outputs};
use crate::provenance::provenance;
use crate::session_files;

pub(crate) fn run(arguments: TraceArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let named: Vec<_> = arguments.pcap.as_deref().map(|path| ("--pcap", path)).into_iter().collect();
    let others = [arguments.session_files.files(), named].concat();
    let outputs = Outputs::open(&arguments.output, &others)?;
    let pcap = arguments.pcap.as_deref().map(Output::open_private).transpose()?;
    let to_standard_output = pcap.as_ref().is_some_and(Output::is_standard);
    if to_standard_output && std::io::stdout().is_terminal() {
        bail!("--pcap: refusing to print a binary capture with secrets on a terminal: write it to a file or a pipe");
    }
    let kind = arguments.kind;
    let shown = Shown { in_full: arguments.verbose, ..Shown::default() };
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
    session_files::check(&options.kinds, &options.versions, &options)?;

    let tracing = reprise_probe::trace(&target, &options, pcap.is_some(), interrupt);
    let document = reprise_results::trace_document(&target, &options, &tracing, provenance());
    let saved = files.save(&tracing.unused, Document::Trace(&document));
    let report = Report { shown, ..Document::Trace(&document).into() };
    let written = if to_standard_output || document.traces.is_empty() {
        // Without a trace there is no page.
        outputs.write_documents(report)
    } else {
        outputs.write(report)
    };
    // One output that fails does not take the others along.
    if let (Some(pcap), Some(capture)) = (pcap, &tracing.capture) {
        let bytes = captured(capture);
        if capture.recordings.iter().all(|it| it.segments.is_empty()) {
            pcap.write_nothing(&bytes)?
        } else {
            pcap.write(&bytes)?
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
