//! Why connections do not resume, or gain nothing by it: a page and a file of rules for each cause, named by its slug.
//!
//! `not-offered.md` is its page: what happens, how it shows, and what fixes it in which software. `not_offered.rs` has the rules that find it,
//! and how bad and how sure its findings can be. `reprise explain`, docs/causes/, findings and their remedies come from there, tables in
//! `tests/` say what the rules find, and a new cause is these two files and its line in the list below.

mod exclusive;
mod page;
mod parted_title;
mod rule;
mod software;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod untested;

pub(crate) use exclusive::leave_out_excluded;
pub use page::{CausePage, Fix, Fixes};
pub(crate) use rule::{ExaminedRule, FleetRule, IsolatedRule, JudgedRule, MeasuredRule, Rule, WatchedRule};
pub use software::software;
use software::{are_related, built_on};

use std::sync::LazyLock;

use reprise_model::document::{Confidence, Finding, Remedy, Severity};

/// Declares the module of each cause and lists the causes.
macro_rules! causes {
    ($($name:ident,)*) => {
        $(pub(crate) mod $name;)*

        static CAUSES: &[&Cause] = &[$(&$name::CAUSE),*];
    };
}

/// A cause that says no more than its page, `SLUG.md`: nothing finds it.
macro_rules! page {
    ($slug:literal) => {{
        use $crate::causes::{Cause, CausePage};
        static PAGE: std::sync::LazyLock<CausePage> =
            std::sync::LazyLock::new(|| CausePage::of(include_str!(concat!($slug, ".md"))));
        Cause::of($slug, &PAGE)
    }};
}

// In the order in which an overview shows them.
causes! {
    not_offered,
    context_per_connection,
    id_never_accepted,
    lifetime_invalid,
    lifetime_short,
    rotation_stalled,
    ticket_key_per_node,
    hidden_nodes,
    id_cache_per_process,
    restart_lost_keys,
    rotation_no_overlap,
    key_propagation_skew,
    certificate_renewed,
    node_certificate_differs,
    node_protocol_differs,
    node_down,
    rate_limited,
    cache_too_small,
    session_too_large,
    unclean_close_evicts,
    single_use,
    early_data_stateful,
    session_context_unset,
    data_channel_session,
    sni_differs,
    vhost_directives,
    default_host_tickets_off,
    suite_differs,
    version_differs,
    version_fails,
    ems_differs,
    client_policy_changed,
    isolated_by_design,
    isolation_broken,
    ticket_key_zero,
    key_share_reused,
    session_outlives_certificate,
    clock_skew,
    client_closes_early,
    client_psk_mode,
    client_config_rebuilt,
    client_cache_small,
    client_never_offers,
    client_reuses_ticket,
    alpn_differs,
    early_data_offered,
    early_data_off,
    early_data_hrr,
    hello_retry_request,
    large_client_hello,
    ech_grease_refused,
    little_to_save,
    certificate_costly,
    certificate_uncompressed,
    latency_rules,
    ticket_dearer_than_signature,
    tickets_run_out,
    offer_breaks_connection,
    answers_differ,
    no_tls13_resumption,
    timeout_ignored,
    config_rebuilt_on_reload,
    early_data_needs_tickets,
    chain_cap,
    nagle,
    some_connections_slow,
    client_authentication_inherited,
    client_certificate_missing,
    connection_closed_after_response,
    early_data_late,
    early_data_rejected,
    early_data_replayable,
    early_data_too_early,
    early_data_unanswered,
    error_responses,
    no_forward_secrecy,
    no_ticket_on_resumption,
    psk_refused,
    resumed_ticket_refused,
    signature_unverified,
}

/// A reason: its page, and what finds it.
#[derive(Debug)]
pub struct Cause {
    /// Its fixed name in documents, `not-offered`.
    pub slug: &'static str,
    /// Its texts and fixes, read when they are first asked for.
    pub page: &'static LazyLock<CausePage>,
    /// The severities that its findings may have, the worst first; none where nothing finds it.
    pub severities: &'static [Severity],
    /// The confidences that they may have, the surest first.
    pub confidences: &'static [Confidence],
    /// How grave its faults are for security, from 0 to 10 as CVSS has it; `None` where it is of speed alone.
    pub security_severity: Option<&'static str>,
    /// The experiments that tell it from other causes, by name.
    pub(crate) separated_by: &'static [&'static str],
    /// Causes that say why: where experiments show one of them, findings of this cause are left out.
    pub(crate) explained_by: &'static [&'static Cause],
    /// Whether it is of the whole server: found under one mechanism, it explains what is found under another too.
    pub(crate) is_of_server: bool,
    /// Finds it in what the judge concludes, whoever makes the connections.
    pub(crate) judged: Option<JudgedRule>,
    /// Finds it in the connections of a measurement, whether `measure` or `diagnose` makes them.
    pub(crate) measured: Option<Rule<MeasuredRule>>,
    /// Finds it in the experiments of `diagnose`.
    pub(crate) examined: Option<Rule<ExaminedRule>>,
    /// Finds it in the offers between the nodes of a fleet.
    pub(crate) fleet: Option<Rule<FleetRule>>,
    /// Finds it in the connections of a client that `diagnose --listen` watched.
    pub(crate) watched: Option<Rule<WatchedRule>>,
    /// Finds it in sessions that `diagnose --isolation` offered at other places than their own.
    pub(crate) isolated: Option<Rule<IsolatedRule>>,
}

/// A command that finds a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// `reprise measure TARGET`.
    Measure,
    /// `reprise diagnose TARGET…`.
    Diagnose,
    /// `reprise diagnose --together TARGET…`.
    Together,
    /// `reprise diagnose --listen`.
    Listen,
    /// `reprise diagnose --isolation TARGET…`.
    Isolation,
}

/// Who has to change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsibleSide {
    /// Whoever runs the server.
    Server,
    /// Whoever writes or runs the client.
    Client,
}

/// Every cause, in the order in which an overview shows them.
pub fn causes() -> impl Iterator<Item = &'static Cause> {
    CAUSES.iter().copied()
}

/// The cause of this slug, or of this shorter name.
pub fn cause(name: &str) -> Option<&'static Cause> {
    let of_slug = causes().find(|cause| cause.slug == name);
    of_slug.or_else(|| causes().find(|cause| cause.page.other_names.contains(&name)))
}

/// The rules of one kind, the lowest rank first.
pub(crate) fn rules<F>(of_kind: impl Fn(&Cause) -> Option<Rule<F>>) -> impl Iterator<Item = F> {
    let mut rules: Vec<Rule<F>> = causes().filter_map(of_kind).collect();
    rules.sort_by_key(|rule| rule.rank);
    rules.into_iter().map(|rule| rule.find)
}

impl Cause {
    const fn of(slug: &'static str, page: &'static LazyLock<CausePage>) -> Self {
        Self {
            slug,
            page,
            severities: &[],
            confidences: &[],
            security_severity: None,
            separated_by: &[],
            explained_by: &[],
            is_of_server: false,
            judged: None,
            measured: None,
            examined: None,
            fleet: None,
            watched: None,
            isolated: None,
        }
    }

    /// The commands that find it; none where it cannot be told from outside.
    pub fn found_by(&self) -> Vec<FoundBy> {
        let (measure, listen) = (self.measured.is_some() || self.judged.is_some(), self.watched.is_some());
        let finds = [
            (FoundBy::Measure, measure),
            (FoundBy::Diagnose, measure || self.examined.is_some()),
            (FoundBy::Together, self.fleet.is_some()),
            (FoundBy::Listen, listen),
            (FoundBy::Isolation, self.isolated.is_some()),
        ];
        finds.into_iter().filter(|(_, finds)| *finds).map(|(by, _)| by).collect()
    }

    /// A finding of this cause.
    pub(crate) fn finding(&self, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Finding {
        Finding::new(self.slug, severity, confidence, title)
    }

    /// What fixes it on one side.
    pub fn fixes_of(&self, side: ResponsibleSide) -> impl Iterator<Item = &'static Fix> {
        let (own, others) = match side {
            ResponsibleSide::Server => self.fixes(|page| &page.server),
            ResponsibleSide::Client => self.fixes(|page| &page.client),
        };
        own.iter().chain(others)
    }

    /// What fixes it in services that begin with STARTTLS, or in those of a port.
    pub fn fixes_in_services(&self) -> impl Iterator<Item = &'static Fix> {
        let (own, others) = self.fixes(|page| &page.services);
        let is_replaced = |fix: &&Fix| fix.protocols().any(|protocol| own.iter().any(|own| own.serves(protocol)));
        own.iter().chain(others.iter().filter(move |fix| !is_replaced(fix)))
    }

    /// A table of its page, and the same table of the cause that it names.
    fn fixes(&self, table: fn(&CausePage) -> &Fixes) -> (&'static [Fix], &'static [Fix]) {
        let own = table(self.page);
        let other = own.as_for.and_then(cause).map(|cause| table(cause.page).own.as_slice());
        (&own.own, other.unwrap_or_default())
    }

    /// What fixes it in a server: in this software if it is known ("nginx/1.22.1" is nginx), otherwise in every one, the most
    /// common first. What holds for all stands before, and alone where the software is known and nothing is known to fix it there.
    pub fn remedies(&self, software: Option<&str>) -> Vec<Remedy> {
        let Some(known) = software.and_then(self::software) else { return self.every_remedy(ResponsibleSide::Server) };
        let fixes = || self.fixes_of(ResponsibleSide::Server).chain(self.fixes_in_services());
        // What holds for the library below it is said where nothing is known of the program itself.
        let named = [Some(known), built_on(known)].into_iter().flatten();
        let each = named.map(|name| fixes().filter(|fix| fix.software == name).collect::<Vec<_>>());
        self.with_advice(each.into_iter().find(|fixes| !fixes.is_empty()).unwrap_or_default())
    }

    /// What fixes it on one side, in every software, the most common first. What holds for all stands before.
    pub fn every_remedy(&self, side: ResponsibleSide) -> Vec<Remedy> {
        self.with_advice(self.fixes_of(side).collect())
    }

    /// What fixes it in the services that begin with STARTTLS, by the protocol's name in documents (`smtp`); all of
    /// [`Cause::remedies`] where it is none, or one of which nothing is known.
    pub(crate) fn remedies_in(&self, starttls: Option<&str>) -> Vec<Remedy> {
        let serves = |fix: &&Fix| starttls.is_some_and(|protocol| fix.serves(protocol));
        match self.fixes_in_services().filter(serves).collect::<Vec<_>>() {
            fixes if fixes.is_empty() => self.remedies(None),
            fixes => self.with_advice(fixes),
        }
    }

    /// What fixes it in a client: in this software and in related ones, since a client often names only its language. What holds
    /// for all stands before, and alone where the software is not known: a client is written with one of very many.
    pub fn client_remedies(&self, software: Option<&str>) -> Vec<Remedy> {
        let Some(known) = software.and_then(self::software) else { return self.with_advice(Vec::new()) };
        let fixes = self.fixes_of(ResponsibleSide::Client);
        let mut fixes: Vec<&Fix> = fixes.filter(|fix| are_related(fix.software, known)).collect();
        fixes.sort_by_key(|fix| fix.software != known);
        self.with_advice(fixes)
    }

    /// Those of services too.
    #[cfg(test)]
    fn all_fixes(&self) -> impl Iterator<Item = &'static Fix> {
        let sides = [ResponsibleSide::Server, ResponsibleSide::Client].into_iter().flat_map(|side| self.fixes_of(side));
        sides.chain(self.fixes_in_services())
    }

    fn with_advice(&self, fixes: Vec<&Fix>) -> Vec<Remedy> {
        let advice = match (self.page.advice.strip_suffix(':'), fixes.is_empty()) {
            // Nothing follows that it could announce.
            (Some(announced), true) => format!("{announced}."),
            _ => self.page.advice.to_owned(),
        };
        let advice = (!advice.is_empty()).then(|| Remedy::general(&advice));
        advice.into_iter().chain(fixes.into_iter().map(Remedy::from)).collect()
    }
}

impl From<&Fix> for Remedy {
    fn from(fix: &Fix) -> Self {
        let text = match (&*fix.set, &*fix.note) {
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
            Self::Together => "diagnose --together",
            Self::Listen => "diagnose --listen",
            Self::Isolation => "diagnose --isolation",
        }
    }

    /// The command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Measure => "reprise measure TARGET",
            Self::Diagnose => "reprise diagnose TARGET",
            Self::Together => "reprise diagnose --together TARGET TARGET",
            Self::Listen => "reprise diagnose --listen",
            Self::Isolation => "reprise diagnose --isolation TARGET1 TARGET2",
        }
    }
}
