//! Why connections do not resume, or gain nothing by it: a file for each cause, named by its slug, with its text and its remedies.
//!
//! The rules in `findings/`, `diagnose/` and `client/` say whether a cause is there; what it is and what fixes it stands here alone. `reprise explain`,
//! docs/causes/ and the remedies of findings all come from it.

mod alpn_differs;
mod cache_too_small;
mod chain_cap;
mod client_authentication_inherited;
mod client_cache_small;
mod client_certificate_missing;
mod client_closes_early;
mod client_config_rebuilt;
mod client_never_offers;
mod client_policy_changed;
mod client_psk_mode;
mod client_reuses_ticket;
mod clock_skew;
mod config_rebuilt_on_reload;
mod connection_closed_after_response;
mod early_data_hrr;
mod early_data_needs_tickets;
mod early_data_off;
mod early_data_offered;
mod early_data_rejected;
mod early_data_replayable;
mod early_data_stateful;
mod early_data_too_early;
mod early_data_unanswered;
mod ems_differs;
mod error_responses;
mod hidden_nodes;
mod id_cache_per_process;
mod id_never_accepted;
mod isolated_by_design;
mod key_propagation_skew;
mod large_client_hello;
mod latency_rules;
mod levels;
mod lifetime_invalid;
mod lifetime_short;
mod little_to_save;
mod nagle;
mod no_forward_secrecy;
mod no_ticket_on_resumption;
mod no_tls13_resumption;
mod node_certificate_differs;
mod node_protocol_differs;
mod not_offered;
mod offer_breaks_connection;
mod psk_refused;
mod restart_lost_keys;
mod resumed_ticket_refused;
mod rotation_no_overlap;
mod rotation_stalled;
mod services;
mod session_context_unset;
mod session_too_large;
mod shared;
mod signature_unverified;
mod single_use;
mod sni_differs;
mod software;
mod suite_differs;
mod ticket_dearer_than_signature;
mod ticket_key_per_node;
mod tickets_run_out;
mod timeout_ignored;
mod unclean_close_evicts;
#[cfg(test)]
mod untested;
mod version_differs;
mod vhost_directives;

use software::are_related;
pub use software::software;

use reprise_model::document::Remedy;

/// A reason, as text and as data. Texts are Markdown of paragraphs, lists and fenced commands.
#[derive(Debug)]
pub struct Cause {
    /// Its fixed name in documents, `not-offered`.
    pub slug: &'static str,
    /// One line.
    pub title: &'static str,
    /// What happens, and where it comes from.
    pub happens: &'static str,
    /// How it shows on the wire, and how Reprise tells it from what looks like it; or why it cannot.
    pub seen: &'static str,
    /// How to confirm it by hand.
    pub confirm: &'static str,
    /// What it costs.
    pub costs: &'static str,
    /// What finds it; nothing where it cannot be told from outside.
    pub found_by: &'static [FoundBy],
    /// What to do, whatever the software is; empty where the fixes say it all.
    pub advice: &'static str,
    /// What to do, software by software, the most common first; those of servers and of clients each in this order.
    pub fixes: &'static [Fix],
}

/// A command that finds a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// `reprise measure TARGET`.
    Measure,
    /// `reprise diagnose TARGET…`.
    Diagnose,
    /// `reprise diagnose --listen`.
    Listen,
}

/// Who has to change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Whoever runs the server.
    Server,
    /// Whoever writes or runs the client.
    Client,
}

/// What fixes a cause in one software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether the software is the server or the client here.
    pub side: Side,
    /// `nginx`, `OpenSSL API`.
    pub software: &'static str,
    /// The directive, flag or code, as it is written into a file; empty where there is none.
    pub set: &'static str,
    /// Where it belongs, from which version it exists, what else is to be known; may be empty.
    pub note: &'static str,
}

/// Every cause, in the order in which an overview shows them.
pub fn causes() -> impl Iterator<Item = &'static Cause> {
    CAUSES.iter().copied()
}

/// The cause of this slug.
pub fn cause(slug: &str) -> Option<&'static Cause> {
    causes().find(|cause| cause.slug == slug)
}

static CAUSES: &[&Cause] = &[
    &not_offered::CAUSE,
    &id_never_accepted::CAUSE,
    &lifetime_invalid::CAUSE,
    &lifetime_short::CAUSE,
    &rotation_stalled::CAUSE,
    &ticket_key_per_node::CAUSE,
    &hidden_nodes::CAUSE,
    &id_cache_per_process::CAUSE,
    &restart_lost_keys::CAUSE,
    &rotation_no_overlap::CAUSE,
    &key_propagation_skew::CAUSE,
    &node_certificate_differs::CAUSE,
    &node_protocol_differs::CAUSE,
    &cache_too_small::CAUSE,
    &session_too_large::CAUSE,
    &unclean_close_evicts::CAUSE,
    &single_use::CAUSE,
    &early_data_stateful::CAUSE,
    &session_context_unset::CAUSE,
    &sni_differs::CAUSE,
    &vhost_directives::CAUSE,
    &suite_differs::CAUSE,
    &version_differs::CAUSE,
    &ems_differs::CAUSE,
    &client_policy_changed::CAUSE,
    &isolated_by_design::CAUSE,
    &clock_skew::CAUSE,
    &client_closes_early::CAUSE,
    &client_psk_mode::CAUSE,
    &client_config_rebuilt::CAUSE,
    &client_cache_small::CAUSE,
    &client_never_offers::CAUSE,
    &client_reuses_ticket::CAUSE,
    &alpn_differs::CAUSE,
    &early_data_offered::CAUSE,
    &early_data_off::CAUSE,
    &early_data_hrr::CAUSE,
    &large_client_hello::CAUSE,
    &little_to_save::CAUSE,
    &latency_rules::CAUSE,
    &ticket_dearer_than_signature::CAUSE,
    &tickets_run_out::CAUSE,
    &offer_breaks_connection::CAUSE,
    &no_tls13_resumption::CAUSE,
    &timeout_ignored::CAUSE,
    &config_rebuilt_on_reload::CAUSE,
    &early_data_needs_tickets::CAUSE,
    &chain_cap::CAUSE,
    &nagle::CAUSE,
    &client_authentication_inherited::CAUSE,
    &client_certificate_missing::CAUSE,
    &connection_closed_after_response::CAUSE,
    &early_data_rejected::CAUSE,
    &early_data_replayable::CAUSE,
    &early_data_too_early::CAUSE,
    &early_data_unanswered::CAUSE,
    &error_responses::CAUSE,
    &no_forward_secrecy::CAUSE,
    &no_ticket_on_resumption::CAUSE,
    &psk_refused::CAUSE,
    &resumed_ticket_refused::CAUSE,
    &signature_unverified::CAUSE,
];

impl Cause {
    /// What fixes it on one side.
    pub fn fixes_of(&self, side: Side) -> impl Iterator<Item = &'static Fix> {
        self.fixes.iter().filter(move |fix| fix.side == side)
    }

    /// What fixes it in a server: in this software if it is known ("nginx/1.22.1" is nginx), otherwise in every one, the most
    /// common first. What holds for all stands before.
    pub fn remedies(&self, software: Option<&str>) -> Vec<Remedy> {
        let known = software.and_then(self::software);
        let of_service = known.and_then(|known| services::fixes_of(self.slug, known)).unwrap_or_default();
        let of = |fix: &&Fix| known.is_none_or(|known| fix.software == known);
        let fixes: Vec<&Fix> = self.fixes_of(Side::Server).chain(of_service).filter(of).collect();
        // A software that has no entry is served like one that is not known.
        let fixes = if fixes.is_empty() { self.fixes_of(Side::Server).collect() } else { fixes };
        self.with_advice(fixes)
    }

    /// What fixes it in the services that begin with STARTTLS, by the protocol's name in documents (`smtp`); all of
    /// [`Cause::remedies`] where it is none, or one of which nothing is known.
    pub fn remedies_in(&self, starttls: Option<&str>) -> Vec<Remedy> {
        match starttls.and_then(|protocol| services::fixes(self.slug, protocol)) {
            Some(fixes) => self.with_advice(fixes.iter().collect()),
            None => self.remedies(None),
        }
    }

    /// What fixes it in a client: in this software and in what is written with it or it with, since a client often names its
    /// language alone; where it is not known, in all. What holds for all stands before.
    pub fn client_remedies(&self, software: Option<&str>) -> Vec<Remedy> {
        let known = software.and_then(self::software);
        let all: Vec<&Fix> = self.fixes_of(Side::Client).collect();
        let is_related = |fix: &&&Fix| known.is_none_or(|known| are_related(fix.software, known));
        let mut fixes: Vec<&Fix> = all.iter().filter(is_related).copied().collect();
        if fixes.is_empty() {
            fixes = all;
        }
        fixes.sort_by_key(|fix| Some(fix.software) != known);
        self.with_advice(fixes)
    }

    /// The directive, flag or code of one software, as it is written into a file.
    pub fn directive(&self, software: &str) -> Option<&'static str> {
        let of_service = services::fixes_of(self.slug, software).unwrap_or_default();
        let of = |fix: &&Fix| fix.software == software && !fix.set.is_empty();
        self.fixes.iter().chain(of_service).find(of).map(|fix| fix.set)
    }

    fn with_advice(&self, fixes: Vec<&Fix>) -> Vec<Remedy> {
        let advice = match (self.advice.strip_suffix(':'), fixes.is_empty()) {
            // Nothing follows that it could announce.
            (Some(announced), true) => format!("{announced}."),
            _ => self.advice.to_owned(),
        };
        let advice = (!advice.is_empty()).then(|| Remedy::general(&advice));
        advice.into_iter().chain(fixes.into_iter().map(Remedy::from)).collect()
    }
}

impl From<&Fix> for Remedy {
    fn from(fix: &Fix) -> Self {
        let text = match (fix.set, fix.note) {
            (set, "") => set.to_owned(),
            ("", note) => note.to_owned(),
            (set, note) => format!("{set} ({note})"),
        };
        Self { software: Some(fix.software.to_owned()), text }
    }
}

impl FoundBy {
    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Diagnose => "diagnose",
            Self::Listen => "diagnose --listen",
        }
    }

    /// The command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Measure => "reprise measure TARGET",
            Self::Diagnose => "reprise diagnose TARGET",
            Self::Listen => "reprise diagnose --listen",
        }
    }
}

/// A server's fix in a table.
const fn fix(software: &'static str, set: &'static str, note: &'static str) -> Fix {
    Fix { side: Side::Server, software, set, note }
}

/// A client's fix in a table.
const fn client_fix(software: &'static str, set: &'static str, note: &'static str) -> Fix {
    Fix { side: Side::Client, software, set, note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn slugs_are_unique() {
        let mut slugs: Vec<&str> = causes().map(|cause| cause.slug).collect();
        slugs.sort_unstable();
        let count = slugs.len();
        slugs.dedup();
        assert_eq!(slugs.len(), count);
    }

    /// Rules stand in these folders of `src/`. Diagnose runs those of measure too.
    const RULES: [(FoundBy, &[&str]); 3] =
        [(FoundBy::Measure, &["findings"]), (FoundBy::Diagnose, &["findings", "diagnose"]), (FoundBy::Listen, &["client"])];

    #[test]
    fn every_cause_is_found_by_what_its_page_says() {
        for (command, folders) in RULES {
            let found: BTreeSet<String> = folders.iter().flat_map(|folder| slugs_in(folder)).collect();
            assert!(found.len() > 10, "{command:?}");
            for slug in &found {
                assert!(cause(slug).is_some(), "{slug} has no cause");
            }
            let said = causes().filter(|cause| cause.found_by.contains(&command)).map(|cause| cause.slug.to_owned());
            assert_eq!(said.collect::<BTreeSet<_>>(), found, "{command:?}");
        }
    }

    fn slugs_in(folder: &str) -> Vec<String> {
        let folder = format!("{}/src/{folder}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts = files.map(|file| std::fs::read_to_string(file).unwrap());
        texts.flat_map(|text| slugs_of(&text).map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// What the rules in this text find.
    pub(super) fn slugs_of(text: &str) -> impl Iterator<Item = &str> {
        let begins = ["Finding::new(", "case.found(", "case.found_in(", "const ID: &str = "];
        let rests = begins.into_iter().flat_map(move |begin| text.split(begin).skip(1));
        rests.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
    }

    #[test]
    fn a_client_is_told_of_its_own_software() {
        let cause = cause("client-never-offers").unwrap();
        let first = |software| cause.client_remedies(software).remove(0).software.unwrap();
        assert_eq!(first(Some("Go")), "Go");
        assert_eq!(first(Some("OpenSSL")), "OpenSSL API");
        assert_eq!(first(None), first(Some("unheard-of")));
        let of = |software| cause.client_remedies(software).into_iter().filter_map(|it| it.software).collect::<Vec<_>>();
        assert!(of(Some("Go")).iter().all(|it| it == "Go"));
        assert!(of(Some("Python")).iter().any(|it| it == "requests"), "it may be that");
        assert!(of(None).len() > 8);
    }

    #[test]
    fn each_side_is_told_what_it_can_change() {
        let cause = cause("tickets-run-out").unwrap();
        let has = |remedies: Vec<Remedy>, software: &str| remedies.iter().any(|it| it.software.as_deref() == Some(software));
        assert!(has(cause.remedies(None), "nginx") && !has(cause.client_remedies(None), "nginx"));
        assert!(has(cause.client_remedies(None), "rustls") && !has(cause.client_remedies(None), "Apache"));
    }

    /// Advice that announces fixes does not where the reader's side has none.
    #[test]
    fn no_colon_is_left_without_what_it_announces() {
        for cause in causes() {
            for remedies in [cause.remedies(None), cause.client_remedies(None)] {
                assert!(remedies.len() != 1 || !remedies[0].text.ends_with(':'), "{}", cause.slug);
            }
        }
    }

    /// What is printed for a terminal and for GitHub alike: one line, no backtick within a directive.
    #[test]
    fn fixes_fit_on_a_line() {
        for fix in causes().flat_map(|cause| cause.fixes) {
            assert!(!(fix.set.is_empty() && fix.note.is_empty()), "{fix:?}");
            assert!(!fix.set.contains(['`', '\n']) && !fix.note.contains('\n'), "{fix:?}");
        }
    }

    #[test]
    fn known_software_gets_its_own_remedies_alone() {
        let cause = cause("not-offered").unwrap();
        let of = |software| cause.remedies(software).into_iter().map(|it| it.software.unwrap()).collect::<Vec<_>>();
        assert!(of(Some("nginx/1.22.1")).iter().all(|it| it == "nginx"));
        assert_eq!(of(Some("Dovecot")), ["Dovecot"]);
        assert_eq!(of(Some("unheard-of/1")), of(None));
        assert!(of(None).len() > 8 && !of(None).contains(&"Dovecot".to_owned()));
    }

    #[test]
    fn a_directive_can_be_taken_as_it_is_written() {
        let cause = cause("not-offered").unwrap();
        assert_eq!(cause.directive("nginx"), Some("ssl_session_cache shared:SSL:10m;"));
        assert_eq!(cause.directive("OpenLDAP"), None, "nothing can be set");
    }
}
