//! What the runner's flags ask of one connection.

use std::path::PathBuf;

use reprise_model::EarlyData;
use reprise_wire::{NamedGroup, SignatureScheme};

/// One connection: what to offer, what to do, and what to expect. A flag is named after its field.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    // What is offered.
    pub(crate) min_version: u16,
    pub(crate) max_version: u16,
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
    pub(crate) shim_initial_write: Vec<u8>,
    pub(crate) repeat_shim_initial_write: usize,
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            min_version: 0,
            max_version: u16::MAX,
            no_tls12: false,
            no_tls13: false,
            curves: Vec::new(),
            key_shares: Vec::new(),
            host_name: None,
            advertise_alpn: Vec::new(),
            no_ticket: false,
            enable_early_data: false,
            cert_file: None,
            key_file: None,
            signing_prefs: Vec::new(),
            verify_prefs: Vec::new(),
            verify_peer: false,
            verify_fail: false,
            asynchronous: false,
            shim_writes_first: false,
            // The runner's own default.
            shim_initial_write: b"hello".to_vec(),
            repeat_shim_initial_write: 1,
            write_different_record_sizes: false,
            key_update: false,
            key_update_before_read: false,
            shim_shuts_down: false,
            check_close_notify: false,
            export_keying_material: 0,
            export_label: String::new(),
            export_context: String::new(),
            use_export_context: false,
            resumption_delay: 0,
            expect_version: None,
            expect_cipher: None,
            expect_curve_id: None,
            expect_peer_signature_algorithm: None,
            expect_alpn: String::new(),
            expect_hrr: None,
            expect_extended_master_secret: false,
            expect_session_miss: false,
            expect_no_session: false,
            expect_ticket_renewal: false,
            expect_ticket_supports_early_data: false,
            expect_early_data: None,
            expect_no_offer_early_data: false,
            expect_peer_cert_file: None,
        }
    }
}
