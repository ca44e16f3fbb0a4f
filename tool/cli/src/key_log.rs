//! `SSLKEYLOGFILE`, as other TLS programs understand it.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, Once};

use anyhow::Context;
use reprise_engine::KeyLog;
use reprise_probe::KeyLogFile;

use crate::notice::notice;

/// Opens what the variable names, to append to; `None` where it names nothing.
pub(crate) fn open() -> anyhow::Result<Option<Arc<dyn KeyLog>>> {
    let Some(path) = env::var_os("SSLKEYLOGFILE").filter(|path| !path.is_empty()) else { return Ok(None) };
    let path = PathBuf::from(path);
    let shown = path.display().to_string();
    let on_failure = move |error| {
        // The embedded lab opens it for each of its servers.
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            notice(format_args!("cannot write further secrets to SSLKEYLOGFILE {shown}: {error}"));
        });
    };
    let file = KeyLogFile::open(&path, on_failure);
    let file = file.with_context(|| format!("cannot write SSLKEYLOGFILE {}", path.display()))?;
    Ok(Some(Arc::new(file)))
}
