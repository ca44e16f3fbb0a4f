//! The cipher that protects a row's data, without the records of TLS.

use std::fmt;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::Peer;
use crate::rows::{Measured, TRANSFER};

/// AES-128-GCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherAlone {
    /// As the program `openssl` measures it.
    OpensslSpeed,
    /// By a loop of the plain program over rustls.
    AwsLcRs,
}

impl CipherAlone {
    /// That of a library; `None` where there is no program that measures its code.
    pub fn of(library: Measured) -> Option<Self> {
        match library {
            Measured::OpenSsl => Some(Self::OpensslSpeed),
            Measured::OpenSsl35 => None,
            Measured::Rustls => Some(Self::AwsLcRs),
        }
    }

    /// What it takes for [`TRANSFER`] bytes, in pieces of so many.
    ///
    /// # Errors
    /// If the program is not there, or says something else.
    pub fn nanoseconds(self, plain: &mut Peer, bytes: u16) -> anyhow::Result<u64> {
        match self {
            Self::AwsLcRs => plain.ask_plain(&format!("seal {bytes} 5000")).map(|[_, nanoseconds]| nanoseconds),
            Self::OpensslSpeed => {
                let bytes = bytes.to_string();
                let mut openssl = Command::new("openssl");
                openssl.args(["speed", "-mr", "-seconds", "1", "-bytes", &bytes, "-evp", "aes-128-gcm"]);
                let output = openssl.output().context("cannot run openssl")?;
                ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                let said = String::from_utf8_lossy(&output.stdout);
                // +F:NUMBER:NAME:BYTES PER SECOND
                let figure = said.lines().find(|line| line.starts_with("+F:")).and_then(|line| line.rsplit(':').next());
                let rate: f64 = figure.and_then(|it| it.parse().ok()).with_context(|| format!("no rate: {said}"))?;
                Ok((TRANSFER as f64 * 1e9 / rate) as u64)
            }
        }
    }
}

impl fmt::Display for CipherAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpensslSpeed => "openssl speed -evp aes-128-gcm",
            Self::AwsLcRs => "AES-128-GCM of aws-lc-rs",
        })
    }
}
