//! What a result means.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Asked, Nanos};

/// One thing that a measurement showed, its evidence and its remedies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// A fixed slug, `not-offered`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// One sentence.
    pub title: String,
    /// What was observed that says so.
    pub evidence: Vec<String>,
    /// How much likelier all connections are where it is so than where it is not; absent where it was not weighed against others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odds: Option<u64>,
    /// What it costs each connection; null where unknown.
    pub cost_ns: Option<Nanos>,
    /// Processor time that it costs each full handshake which a resumption could have been; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_cpu: Option<CpuCost>,
    /// What fixes it, in one text: all of `remedies`, one a line; null where nothing needs to be fixed.
    pub remedy: Option<Remedy>,
    /// What fixes it, software by software; absent where nothing needs to be fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The versions and mechanisms that it is about; absent where it is about none, or all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<Asked>,
    /// Whether servers are built so on purpose: a note of it then asks for nothing, whatever may be changed. Absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_design: bool,
}

/// From here on, each connection, a cost is felt by who waits.
const FELT: Nanos = Nanos(20_000_000);

impl Finding {
    /// A finding whose title says it all.
    pub fn new(id: &str, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            severity,
            confidence,
            title: title.into(),
            evidence: Vec::new(),
            odds: None,
            cost_ns: None,
            cost_cpu: None,
            remedy: None,
            remedies: Vec::new(),
            mechanisms: Vec::new(),
            by_design: false,
        }
    }

    /// The same as something that servers are built for on purpose.
    #[must_use]
    pub fn by_design(self) -> Self {
        Self { by_design: true, ..self }
    }

    /// Whether nothing needs to be done: a note of what is by design, or one without a remedy.
    pub fn asks_for_nothing(&self) -> bool {
        let has_remedy = !self.remedies.is_empty() || self.remedy.is_some();
        self.severity == Severity::Note && (self.by_design || !has_remedy)
    }

    /// The same about these versions and mechanisms.
    #[must_use]
    pub fn under(self, mechanisms: impl IntoIterator<Item = Asked>) -> Self {
        Self { mechanisms: mechanisms.into_iter().collect(), ..self }
    }

    /// The same with what was observed.
    #[must_use]
    pub fn because(self, evidence: impl IntoIterator<Item = String>) -> Self {
        Self { evidence: evidence.into_iter().collect(), ..self }
    }

    /// What a risk costs each connection, where it is surer than possible and so much that who waits feels it; zero otherwise.
    pub fn felt_cost(&self) -> Nanos {
        let is_felt =
            |cost: &Nanos| *cost >= FELT && self.severity == Severity::Risk && self.confidence != Confidence::Possible;
        self.cost_ns.filter(is_felt).unwrap_or_default()
    }

    /// What findings are sorted by, the worst first: how bad it is, then what it costs where that is felt, then how sure it is. A risk
    /// that is likely and costs each connection some tens of milliseconds stands before one that is certain and costs less.
    pub fn weight(&self) -> (Severity, Reverse<Nanos>, Confidence) {
        (self.severity, Reverse(self.felt_cost()), self.confidence)
    }

    /// The same with the odds that it was given against all others.
    #[must_use]
    pub fn weighing(self, odds: f64) -> Self {
        // So large a number says no more, and JavaScript reads it exactly.
        Self { odds: Some(odds.clamp(1.0, 1e12).round() as u64), ..self }
    }

    /// The same with what it costs each connection, where that is known.
    #[must_use]
    pub fn costing(self, cost_ns: Option<Nanos>) -> Self {
        Self { cost_ns, ..self }
    }

    /// The same with the processor time that it costs, where that was measured.
    #[must_use]
    pub fn costing_cpu(self, cost_cpu: Option<CpuCost>) -> Self {
        Self { cost_cpu, ..self }
    }

    /// What it costs, a sentence for each cost that is known.
    pub fn costs(&self) -> impl Iterator<Item = String> {
        let time = self.cost_ns.map(|cost| format!("Costs {cost} a connection"));
        time.into_iter().chain(self.cost_cpu.map(|cost| cost.to_string()))
    }

    /// The same with what fixes it.
    #[must_use]
    pub fn fixed_by(self, remedies: Vec<Remedy>) -> Self {
        let finding = Self { remedies, ..self };
        let remedy = match finding.remedies.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            _ => Some(Remedy { software: None, text: finding.steps(None).join("\n") }),
        };
        Self { remedy, ..finding }
    }

    /// What to do, a line for each entry: for this software and whatever it is, or for all.
    pub fn steps(&self, software: Option<&str>) -> Vec<String> {
        // A result of before has the joined text alone.
        let remedies = if self.remedies.is_empty() { self.remedy.as_slice() } else { &self.remedies };
        let is_wanted = |remedy: &&Remedy| match (&remedy.software, software) {
            (Some(of), Some(wanted)) => of.eq_ignore_ascii_case(wanted),
            _ => true,
        };
        let step = |remedy: &Remedy| match &remedy.software {
            Some(software) => format!("{software}: {}", remedy.text),
            None => remedy.text.clone(),
        };
        remedies.iter().filter(is_wanted).flat_map(|it| step(it).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// Processor time that a full handshake took beyond a resumed one of the same version and the same run: medians.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuCost {
    /// Of the thread of this client that made the connection; null where the two cannot be told apart.
    pub client_ns: Option<Nanos>,
    /// Of the server's processes; null where they were not named, or the two cannot be told apart.
    pub server_ns: Option<Nanos>,
}

impl fmt::Display for CpuCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("A full handshake takes ")?;
        match (self.client_ns, self.server_ns) {
            (Some(client), Some(server)) => {
                write!(
                    formatter,
                    "{client} more processor time of this client than a resumed one, and {server} of the server"
                )
            }
            (Some(client), None) => write!(formatter, "{client} more processor time of this client than a resumed one"),
            (None, Some(server)) => write!(formatter, "{server} more processor time of the server than a resumed one"),
            (None, None) => formatter.write_str("no measurable extra processor time compared with a resumed one"),
        }
    }
}

named! {
    /// How bad a finding is.
    pub enum Severity {
        /// What is advertised never works, or using it breaks the connection.
        Fault = "fault",
        /// It works sometimes, or endangers.
        Risk = "risk",
        /// By design, and worth knowing.
        Note = "note",
    }
}

named! {
    /// How sure a finding is.
    pub enum Confidence {
        /// The wire leaves no other reading.
        Certain = "certain",
        /// Other readings are unlikely.
        Likely = "likely",
        /// One reading of several.
        Possible = "possible",
    }
}

/// What fixes a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// The software that the directive belongs to; null where it holds for all.
    pub software: Option<String>,
    /// The directive, or what to do.
    pub text: String,
}

impl Remedy {
    /// For whatever software it is.
    pub fn general(text: &str) -> Self {
        Self { software: None, text: text.to_owned() }
    }

    /// For each software of a table its own.
    pub fn table(entries: &[(&str, &str)]) -> Vec<Self> {
        let entry =
            |(software, text): &(&str, &str)| Self { software: Some((*software).to_owned()), text: (*text).to_owned() };
        entries.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> Finding {
        let mut remedies = vec![Remedy::general("Share the keys:")];
        remedies.extend(Remedy::table(&[("nginx", "ssl_session_ticket_key FILE;"), ("HAProxy", "tls-ticket-keys FILE")]));
        Finding::new("hidden-nodes", Severity::Fault, Confidence::Possible, "").fixed_by(remedies)
    }

    #[test]
    fn remedies_are_rendered_for_one_software_or_for_all() {
        let finding = finding();
        let all = ["Share the keys:", "nginx: ssl_session_ticket_key FILE;", "HAProxy: tls-ticket-keys FILE"];
        assert_eq!(finding.steps(None), all);
        assert_eq!(finding.steps(Some("haproxy")), [all[0], all[2]]);
        assert_eq!(finding.remedy, Some(Remedy { software: None, text: all.join("\n") }));
    }

    #[test]
    fn what_is_by_design_asks_for_nothing_as_a_note_alone() {
        let of = |severity| Finding { severity, ..finding() };
        assert!(of(Severity::Note).by_design().asks_for_nothing());
        assert!(!of(Severity::Risk).by_design().asks_for_nothing());
        assert!(!of(Severity::Note).asks_for_nothing());
        assert!(of(Severity::Note).fixed_by(Vec::new()).asks_for_nothing());
    }

    #[test]
    fn processor_time_is_said_of_the_side_that_it_was_measured_of() {
        let cost = |client: Option<u64>, server: Option<u64>| {
            let cost = CpuCost { client_ns: client.map(Nanos), server_ns: server.map(Nanos) };
            finding().costing(Some(Nanos(2_000_000))).costing_cpu(Some(cost)).costs().collect::<Vec<_>>()
        };
        let sentence = |cost: Vec<String>| cost.get(1).cloned().unwrap();
        assert_eq!(cost(Some(400_000), None)[0], "Costs 2.00 ms a connection");
        let client = sentence(cost(Some(400_000), None));
        assert_eq!(client, "A full handshake takes 400.0 µs more processor time of this client than a resumed one");
        let both = sentence(cost(Some(400_000), Some(600_000)));
        assert_eq!(both, format!("{client}, and 600.0 µs of the server"));
        assert!(!sentence(cost(None, Some(600_000))).contains("client"));
    }

    #[test]
    fn a_result_of_before_shows_its_only_remedy() {
        let before = Finding { remedies: Vec::new(), ..finding() };
        assert_eq!(before.steps(None), finding().steps(None));
        let json = serde_json::to_value(&before).unwrap();
        assert!(json.get("remedies").is_none());
        assert_eq!(serde_json::from_value::<Finding>(json).unwrap(), before);
    }
}
