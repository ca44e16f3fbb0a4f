//! `reprise.board/1`: what `reprise board` found.

use reprise_model::Kind;
use reprise_model::document::Provenance;
use serde::{Deserialize, Serialize};

use crate::image::Image;
use crate::keys::BoardKey;
use crate::line::{Count, ResponseMode};
use crate::sizes::Sizes;

/// Everything that one run of `reprise board` measured. Counts are of instructions and cycles that the server's CPU spent on a
/// connection; waiting is not among them. What is modelled from them says so in its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardDocument {
    /// `reprise.board/1`.
    pub schema: String,
    /// The clock that cycles of the Cortex-M0+ are turned into time by.
    pub clock_hz: u64,
    /// What the board draws, where that was stated: then handshakes have an energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supply: Option<Supply>,
    /// The images that were measured.
    pub images: Vec<BuiltImage>,
    /// What a connection costs.
    pub handshakes: Vec<BoardHandshake>,
    /// The same server under many requests, new against reused.
    pub requests: Vec<Requests>,
    /// What the session cache costs.
    pub cache: Option<CacheCost>,
    /// The same code on an independent emulator.
    pub witnesses: Vec<Witness>,
    /// The model of time against the RP2040 report.
    pub calibration: Option<BoardCalibration>,
    /// The ESP8266's CPU.
    pub esp8266: Option<Esp8266>,
    /// Every figure that two reports published for real boards, and what it is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedFigure>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// Whether Ctrl-C ended it; absent where it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What a board draws while its CPU computes, as stated by whoever asked: nothing here measures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Supply {
    /// Milliamperes.
    pub milliamperes: f64,
    /// Volts.
    pub volts: f64,
}

impl Supply {
    /// The energy of so many nanoseconds, in microjoules.
    pub fn energy_uj(self, nanoseconds: u64) -> f64 {
        self.milliamperes * self.volts * nanoseconds as f64 / 1e6
    }
}

/// An image.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BuiltImage {
    /// How the image is called.
    pub name: String,
    /// Library and version.
    pub stack: String,
    /// How it was built.
    pub build: Image,
    /// Bytes of flash and of static RAM.
    pub sizes: Sizes,
    /// SHA-256 of the ELF file, in hexadecimal.
    pub sha256: String,
}

/// One kind of connection to one image.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BoardHandshake {
    /// The image's name.
    pub image: String,
    /// Library and version: an image may hold two.
    pub stack: String,
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// The kind that was observed.
    pub kind: Kind,
    /// What the server chose.
    pub cipher: String,
    /// The group that it chose; null where there was no key exchange.
    pub group: Option<String>,
    /// How the server signed; null where it did not.
    pub signature: Option<String>,
    /// Round trips until the client could send its request.
    pub round_trips: u64,
    /// The handshake.
    pub handshake: Count,
    /// A request and its response, and the end of the connection.
    pub application: Count,
    /// The handshake's time by the clock, with zero wait states: modelled.
    pub modelled_ns: Option<u64>,
    /// The handshake's energy in microjoules, by that time and what the board was said to draw: modelled; absent where nothing was
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<f64>,
    /// Of how many boots this was measured.
    pub runs: u32,
    /// Whether the counts of all of them were the same.
    pub identical: bool,
    /// The functions with the most instructions, from the first byte to the end of the connection.
    pub functions: Vec<FunctionInstructions>,
    /// Memory.
    pub memory: Memory,
}

/// What one function of an image executed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionInstructions {
    /// Its symbol.
    pub name: String,
    /// Instructions, without those of functions that it calls.
    pub instructions: u64,
}

/// Bytes of RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Memory {
    /// Stack, at most, of everything since before the first connection.
    pub stack: u32,
    /// The connection's own memory, buffers included.
    pub connection: u32,
    /// What the connection has on the heap once it is ready.
    pub heap_of_connection: u32,
    /// The heap in use at most, the server's own share included.
    pub heap_peak: u32,
    /// The server's own memory: certificates, key, configuration; without heap.
    pub server: u32,
    /// One session in the cache.
    pub session: u32,
}

/// Many requests, each on a connection of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Requests {
    /// The image's name.
    pub image: String,
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// Which of the two servers.
    pub answer: ResponseMode,
    /// How many requests.
    pub requests: u32,
    /// Instructions of all of them, each with a full handshake.
    pub new_instructions: u64,
    /// Instructions of all of them, each resuming the session of one before, which is not counted.
    pub reused_instructions: u64,
    /// The one by the other.
    pub ratio: f64,
}

/// What the session cache costs a full handshake that does not need it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheCost {
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// Instructions of a full handshake with the cache compiled out.
    pub without_instructions: u64,
    /// With it compiled in and switched off.
    pub off_instructions: u64,
    /// With it switched on.
    pub on_instructions: u64,
    /// Bytes of flash that it takes.
    pub flash: i64,
    /// Bytes of RAM that it takes, its sessions included.
    pub ram: i64,
    /// Bytes of one session.
    pub session: u32,
}

/// The Cortex-M0+ model against QEMU.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Witness {
    /// The image's name.
    pub image: String,
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// The kind of connection.
    pub kind: Kind,
    /// Instructions by our model.
    pub model_instructions: u64,
    /// Instructions by QEMU, to 40.
    pub qemu_instructions: u64,
}

/// Cycles to time by one factor, for flash, radio and all else, fitted on one figure of the RP2040 report and held against
/// the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BoardCalibration {
    /// The factor: seconds on the board for one second of the model at 133 MHz.
    pub factor: f64,
    /// What was taken for granted before any figure was predicted.
    pub assumptions: Vec<String>,
    /// The six figures.
    pub figures: Vec<Figure>,
    /// Whether the model puts them in the same order as the board.
    pub same_order: bool,
}

/// One of the RP2040 report's figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Figure {
    /// What the board ran.
    pub board: String,
    /// The image that stands for it.
    pub image: String,
    /// The key.
    pub key: BoardKey,
    /// The group that the server chose.
    pub group: Option<String>,
    /// Cycles of a full handshake.
    pub cycles: u64,
    /// Seconds that the board was reported to take.
    pub reported_s: f64,
    /// Seconds by the model.
    pub predicted_s: f64,
    /// The difference, of what was reported; 0 where the factor was fitted.
    pub error: f64,
    /// Whether the factor was fitted on this one.
    pub fitted: bool,
    /// Whether this is what the board may have run instead, and not one of the six.
    pub is_alternative: bool,
}

/// The ESP8266 report's measurement, on the ESP8266's CPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Esp8266 {
    /// The image.
    pub image: BuiltImage,
    /// Per request, for each key, group and server.
    pub requests: Vec<Esp8266Requests>,
    /// (new − reused) of RSA-2048 by that of P-256, for each group; by the reported figures it is 5.9.
    pub ratios: Vec<KeyRatio>,
}

/// Many requests to the ESP8266's CPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Esp8266Requests {
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// The group of the key exchange.
    pub group: String,
    /// The suite.
    pub cipher: String,
    /// Which of the two servers.
    pub answer: ResponseMode,
    /// How many requests, new and reused each.
    pub requests: u32,
    /// A request with a full handshake, on average.
    pub new: PhaseInstructions,
    /// A request that resumes, on average.
    pub reused: PhaseInstructions,
    /// Of how many boots this was measured.
    pub runs: u32,
    /// Whether all of them gave the same counts.
    pub identical: bool,
    /// The difference at 160 MHz and one cycle an instruction: modelled.
    pub modelled_saving_ms: f64,
    /// What the ESP8266 report has for the difference, where it does.
    pub reported_saving_ms: Option<f64>,
    /// Cycles an instruction at which the CPU explains all of it.
    pub cycles_per_instruction: Option<f64>,
}

/// Instructions by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PhaseInstructions {
    /// The handshake: what a browser shows as TLS setup, without the network.
    pub handshake: u64,
    /// Request, response and close: what it shows as waiting, without the network.
    pub request: u64,
    /// Round trips until the client could send its request, without TCP's.
    #[serde(default)]
    pub round_trips: u64,
}

/// How much more RSA-2048 saves than P-256.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct KeyRatio {
    /// The group of the key exchange.
    pub group: String,
    /// Which of the two servers.
    pub answer: ResponseMode,
    /// (new − reused) of RSA-2048 by that of P-256.
    pub ratio: f64,
}

/// A figure that was published for a real board.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PublishedFigure {
    /// Which: `esp8266-raw`, `rp2040-newer`, …
    pub id: String,
    /// The certificate's key, where it matters.
    pub key: Option<BoardKey>,
    /// `ratio`, `s`, `ms` or `kB`.
    pub unit: String,
    /// As it was published.
    pub published: f64,
    /// As it is measured and modelled here.
    pub measured: f64,
    /// Measured against published: 0.1 is ten percent more.
    pub error: f64,
    /// Whether the two agree: within a quarter.
    pub within: bool,
    /// Whether the model was fitted on this figure: then it proves nothing.
    pub fitted: bool,
    /// What a request takes, new and reused, where the figure is their ratio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<RequestTime>,
}

/// What a request's time is made of, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RequestTime {
    /// The server's CPU.
    pub computing_ms: f64,
    /// Round trips of the link.
    pub waiting_ms: f64,
    /// What remains: radio, framework, the client.
    pub network_ms: f64,
}

impl BoardDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.board/1";
}
