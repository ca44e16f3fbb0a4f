//! The flags of `reprise board`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use reprise_board::{BoardKey, BoardStack, Offers};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::outputs::OutputArgs;
use crate::values::{List, one_of, parse_ciphers, parse_groups_of};

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
    #[arg(long, value_delimiter = ',', value_parser = one_of(BoardKey::ALL.map(|key| (key.name(), key))), default_values = BoardKey::ALL.map(BoardKey::name))]
    pub(crate) keys: Vec<BoardKey>,
    /// Groups that clients offer, in their order: x25519, secp256r1, secp384r1
    ///
    /// By default the curve of the certificate's key, or secp256r1, so that all stacks compute the same.
    #[arg(long, value_name = "GROUPS", visible_alias = "curves", value_parser = groups)]
    pub(crate) groups: Option<List<NamedGroup>>,
    /// Cipher suites that clients offer [default: those with AES-128-GCM]
    #[arg(long, value_name = "SUITES", visible_alias = "ciphers", value_parser = suites)]
    pub(crate) suites: Option<List<CipherSuite>>,
    /// Current that the board draws while it computes, 24mA: adds each handshake's energy
    #[arg(long, value_name = "CURRENT", value_parser = milliamperes)]
    pub(crate) current: Option<f64>,
    /// Voltage for --current
    #[arg(long, value_name = "VOLTAGE", default_value = "3.3V", value_parser = volts, requires = "current")]
    pub(crate) voltage: f64,
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
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["matrix", "quick", "json", "csv", "markdown", "html", "verbose", "groups", "suites", "current", "clock", "runs", "requests"])]
    pub(crate) listen: Option<SocketAddr>,
    /// Directory of the Makefile [default: `firmware`, here or above]
    #[arg(long, value_name = "DIR")]
    pub(crate) firmware: Option<PathBuf>,
    /// Directory for images and sources [default: target/firmware]
    #[arg(long, value_name = "DIR")]
    pub(crate) images: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise board --quick                            the main figures in a minute
  reprise board --stacks bearssl --keys p-256 --clock 48MHz --current 8mA
  reprise board --matrix --json board.json         every image
  reprise board --listen 127.0.0.1:8443            for s_client, curl, reprise measure, …";

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

fn groups(text: &str) -> Result<List<NamedGroup>, String> {
    parse_groups_of(text, Offers::GROUPS)
}

fn suites(text: &str) -> Result<List<CipherSuite>, String> {
    let suites = parse_ciphers(text)?;
    match suites.0.iter().find(|suite| !Offers::SUITES.contains(suite)) {
        Some(other) => {
            Err(format!("{other} is not supported: boards have TLS 1.2 with ECDHE, AES-GCM and ChaCha20-Poly1305"))
        }
        None => Ok(suites),
    }
}

/// `24mA` or `0.024A`, in milliamperes; from 1 µA to 10 A.
fn milliamperes(text: &str) -> Result<f64, String> {
    let of = |number: &str, unit: f64| number.trim().parse::<f64>().ok().map(|number| number * unit);
    let current = text
        .strip_suffix("mA")
        .map(|number| of(number, 1.0))
        .or_else(|| text.strip_suffix('A').map(|number| of(number, 1e3)))
        .flatten();
    current
        .filter(|current| (0.001..=10_000.0).contains(current))
        .ok_or_else(|| "a current is a number with a unit: 24mA".to_owned())
}

/// `3.3V`, in volts; from 0.1 to 60 V.
fn volts(text: &str) -> Result<f64, String> {
    let voltage = text.strip_suffix('V').and_then(|number| number.trim().parse::<f64>().ok());
    voltage
        .filter(|voltage| (0.1..=60.0).contains(voltage))
        .ok_or_else(|| "a voltage is a number with a unit: 3.3V".to_owned())
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

    #[test]
    fn currents_and_voltages_have_units() {
        assert_eq!((milliamperes("24mA"), milliamperes("0.5A"), volts("3.3V")), (Ok(24.0), Ok(500.0), Ok(3.3)));
        for wrong in ["", "24", "mA", "-1mA", "nanA", "infA", "11A", "0mA", "3.3V"] {
            assert!(milliamperes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "3.3", "V", "-3V", "nanV", "0V", "61V"] {
            assert!(volts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_boards_have_can_be_offered() {
        assert_eq!(suites("ECDHE-RSA-AES128-GCM-SHA256").unwrap().0.len(), 1);
        assert!(suites("TLS_AES_128_GCM_SHA256").is_err());
        assert!(groups("X25519MLKEM768").is_err());
    }
}
