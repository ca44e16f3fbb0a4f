//! The flags of `reprise board`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use reprise_board::{BoardStack, Key};

use crate::outputs::OutputArgs;
use crate::values::one_of;

/// Measure TLS on emulated microcontrollers
///
/// Builds the firmware's server with each TLS stack, runs it on an emulated Cortex-M0+ (the RP2040's CPU, 133 MHz) and on
/// the ESP8266's CPU, connects with Reprise's own engine, and counts what the server computes. Waiting is not counted.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BoardArgs {
    /// TLS stacks
    #[arg(long, value_delimiter = ',', value_parser = one_of(STACKS), default_values = STACKS.map(|(name, _)| name))]
    pub(crate) stacks: Vec<BoardStack>,
    /// Keys of the server's certificate
    #[arg(long, value_delimiter = ',', value_parser = one_of(Key::ALL.map(|key| (key.name(), key))), default_values = Key::ALL.map(Key::name))]
    pub(crate) keys: Vec<Key>,
    /// Clock frequency that converts cycles to time: 133MHz, 48MHz, 12500kHz
    #[arg(long, value_name = "FREQUENCY", default_value = "133MHz", value_parser = frequency)]
    pub(crate) clock: u64,
    /// Boot each image this many times; all counts must agree
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) runs: u32,
    /// Number of requests, each on its own connection, in the table of new and reused sessions
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) requests: u32,
    /// Measure every stack at -Os and -O3, with and without assembler, ROM tables, a second buffer, the cache and tickets
    #[arg(long, conflicts_with = "quick")]
    pub(crate) matrix: bool,
    /// Boot each image once, skip RSA-2048 on the Cortex-M0+, make two requests
    #[arg(long, conflicts_with_all = ["runs", "requests"])]
    pub(crate) quick: bool,
    /// Serve at this address instead of measuring: the first stack, with P-256 if it is among the keys
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["matrix", "quick", "json", "csv", "markdown"])]
    pub(crate) listen: Option<SocketAddr>,
    /// Directory of the firmware's Makefile; by default `firmware` here or in a parent directory
    #[arg(long, value_name = "DIR")]
    pub(crate) firmware: Option<PathBuf>,
    /// Directory for images and sources; by default target/firmware beside the firmware
    #[arg(long, value_name = "DIR")]
    pub(crate) images: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise board --quick                            the main figures in a minute
  reprise board --stacks bearssl --keys p-256 --clock 48MHz
  reprise board --matrix --json board.json         every image
  reprise board --listen 127.0.0.1:8443            for openssl s_client, curl, reprise measure, …";

const STACKS: [(&str, BoardStack); 3] =
    [("bearssl", BoardStack::BearSsl), ("mbedtls2", BoardStack::MbedTls2), ("mbedtls3", BoardStack::MbedTls3)];

/// `133MHz` in hertz; from 1 kHz to 10 GHz.
fn frequency(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches("hz");
    let (digits, unit) = match number.as_bytes().last() {
        Some(b'k') => (&number[..number.len() - 1], 1e3),
        Some(b'm') => (&number[..number.len() - 1], 1e6),
        Some(b'g') => (&number[..number.len() - 1], 1e9),
        _ => (number, 1.0),
    };
    let hertz = digits.trim().parse::<f64>().map_err(|_| "a frequency is a number with a unit: 133MHz".to_owned())? * unit;
    if (1e3..=1e10).contains(&hertz) { Ok(hertz as u64) } else { Err("a clock frequency is from 1kHz to 10GHz".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_is_a_number_with_a_unit() {
        assert_eq!(frequency("133MHz"), Ok(133_000_000));
        assert_eq!(frequency("12.5 mhz"), Ok(12_500_000));
        assert_eq!(frequency("48000k"), Ok(48_000_000));
        assert_eq!(frequency("133000000"), Ok(133_000_000));
        for wrong in ["", "MHz", "fast", "0", "-1MHz", "nan", "inf", "133 GHz"] {
            assert!(frequency(wrong).is_err(), "{wrong}");
        }
    }
}
