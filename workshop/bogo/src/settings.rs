//! What the runner's flags ask of one connection.

use std::path::PathBuf;

use reprise_model::EarlyData;
use reprise_wire::{NamedGroup, SignatureScheme};

/// One connection: what to offer, what to do, and what to expect. A flag is named after its field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    // What is offered.
    pub(crate) min_version: u16,
    /// The newest there is, if none is given.
    pub(crate) max_version: Option<u16>,
    pub(crate) no_tls12: bool,
    pub(crate) no_tls13: bool,
    pub(crate) curves: Vec<NamedGroup>,
    pub(crate) key_shares: Vec<NamedGroup>,
    pub(crate) host_name: Option<String>,
    pub(crate) advertise_alpn: Vec<Vec<u8>>,
    pub(crate) no_ticket: bool,
    pub(crate) enable_early_data: bool,

    // Who authenticates, and how.
    pub(crate) cert_file: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) signing_prefs: Vec<SignatureScheme>,
    pub(crate) verify_prefs: Vec<SignatureScheme>,
    pub(crate) verify_peer: bool,
    pub(crate) verify_fail: bool,

    // What is done.
    /// Bytes are handed to the engine one by one.
    pub(crate) asynchronous: bool,
    pub(crate) shim_writes_first: bool,
    /// `hello`, if none is given.
    pub(crate) shim_initial_write: Option<Vec<u8>>,
    /// Once, if no number is given.
    pub(crate) repeat_shim_initial_write: Option<usize>,
    pub(crate) write_different_record_sizes: bool,
    /// Our keys are updated before each answer.
    pub(crate) key_update: bool,
    /// Our keys are updated before each read.
    pub(crate) key_update_before_read: bool,
    pub(crate) shim_shuts_down: bool,
    pub(crate) check_close_notify: bool,
    /// Bytes of keying material that the application sends first; none if zero.
    pub(crate) export_keying_material: usize,
    pub(crate) export_label: String,
    pub(crate) export_context: String,
    pub(crate) use_export_context: bool,
    /// Seconds until the next connection.
    pub(crate) resumption_delay: u64,

    // What is expected.
    pub(crate) expect_version: Option<u16>,
    pub(crate) expect_cipher: Option<u16>,
    pub(crate) expect_curve_id: Option<NamedGroup>,
    pub(crate) expect_peer_signature_algorithm: Option<SignatureScheme>,
    pub(crate) expect_alpn: String,
    pub(crate) expect_hrr: Option<bool>,
    pub(crate) expect_extended_master_secret: bool,
    pub(crate) expect_session_miss: bool,
    pub(crate) expect_no_session: bool,
    pub(crate) expect_ticket_renewal: bool,
    pub(crate) expect_ticket_supports_early_data: bool,
    pub(crate) expect_early_data: Option<EarlyData>,
    pub(crate) expect_no_offer_early_data: bool,
    pub(crate) expect_peer_cert_file: Option<PathBuf>,
}
