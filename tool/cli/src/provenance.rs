//! Where a result comes from: program, machine, libraries.

use std::fs;
use std::thread;

use reprise_model::document::Provenance;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::secrets::redacted;

/// A library that does the work, with its version.
pub(crate) type Library = (&'static str, &'static str);

/// The libraries of the measuring engine.
pub(crate) const ENGINE_LIBRARIES: [Library; 2] =
    [("aws-lc-rs", env!("REPRISE_AWS_LC_RS")), ("rustls-webpki", env!("REPRISE_WEBPKI"))];

/// The library of the lean client's primitives.
pub(crate) const RING: Library = ("ring", env!("REPRISE_RING"));

/// The provenance of what this process measures with the engine.
pub(crate) fn provenance() -> Provenance {
    provenance_by(ENGINE_LIBRARIES)
}

/// The same, where these libraries do the work.
pub(crate) fn provenance_by(libraries: impl IntoIterator<Item = Library>) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("REPRISE_COMMIT").map(str::to_owned),
        command: redacted(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())),
        time: OffsetDateTime::now_utc().truncate_to_second().format(&Rfc3339).unwrap_or_default(),
        machine: machine(),
        cpu: cpu(),
        kernel: kernel(),
        libraries: libraries.into_iter().map(|(name, version)| (name.to_owned(), version.to_owned())).collect(),
    }
}

fn machine() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn cpu() -> Option<String> {
    let count = thread::available_parallelism().ok()?;
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    Some(format!("{model}, {count} available"))
}

fn kernel() -> Option<String> {
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => Some(format!("Linux {}", release.trim())),
        Err(_) => Some(std::env::consts::OS.to_owned()),
    }
}
