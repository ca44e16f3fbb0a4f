//! Conditions on kinds of which there was nothing to offer: a service that wants no resumption has a gate.

use reprise_model::document::{DiagnoseDocument, Diagnosis, ExperimentRecord, MechanismRecord, Provenance};
use reprise_model::{Asked, Kind, Version};

use super::{judged, read};
use crate::condition::{Condition, ConditionJudgement, ConditionSubject, DiagnosePlanned};
use reprise_diagnosis::example::Example;

#[test]
fn what_was_never_given_has_a_share_of_nothing() {
    let without = Example::new().run("1.2", Kind::Full, 1000).run("1.3", Kind::Full, 1000).document();
    for (met, not_met) in [
        ("1.2.kinds.id < 100%", "1.2.kinds.id > 0%"),
        ("kinds.ticket == 0", "kinds.ticket > 0"),
        ("kinds.resumed <= 0%", "kinds.resumed > 0%"),
        ("kinds.early < 1n", "1.3.kinds.early >= 1n"),
    ] {
        assert!(matches!(judged(met, &without), ConditionJudgement::Met(_)), "{met}: {:?}", judged(met, &without));
        assert_eq!(judged(not_met, &without), ConditionJudgement::NotMet, "{not_met}");
    }
    let ConditionJudgement::Met(found) = judged("1.2.kinds.id < 100%", &without) else { panic!() };
    assert_eq!(found[0].shown, "0.0 %, nothing was offered, 0 of 100");
    // Tickets of one version do not hide behind the other, which gives none.
    let one =
        Example::new().run("1.2", Kind::Full, 1000).run("1.3", Kind::Full, 1000).run("1.3", Kind::Ticket, 500).document();
    assert_eq!(judged("kinds.ticket < 100%", &one), ConditionJudgement::NotMet);
}

#[test]
fn of_a_version_that_was_not_measured_nothing_is_known() {
    let mut document = Example::new().run("1.3", Kind::Full, 1000).document();
    let conditions = ["1.2.kinds.id > 0%", "1.2.kinds.ticket > 0%"];
    for text in conditions {
        assert!(matches!(judged(text, &document), ConditionJudgement::Unknown(_)), "{text}");
    }
    document.refused_versions = vec![Version::Tls12];
    for text in conditions {
        assert_eq!(judged(text, &document), ConditionJudgement::NotMet, "the server refuses it: {text}");
    }
}

/// One target by these mechanisms, as it is diagnosed.
fn diagnosed(matrix: Vec<MechanismRecord>, failed: u32) -> DiagnoseDocument {
    let of = |mechanism: &MechanismRecord| ExperimentRecord {
        name: "resume".to_owned(),
        varies: String::new(),
        asked: Some(mechanism.asked),
        repeats: 0,
        connections: 6,
        offered: mechanism.offered,
        resumed: mechanism.resumed,
        failed,
        separates: Vec::new(),
        outcome: String::new(),
    };
    let experiments = matrix.iter().map(of).collect();
    let target = Diagnosis { reached: true, experiments, matrix, ..Diagnosis::default() };
    DiagnoseDocument::of(vec![target], Provenance::default())
}

#[test]
fn a_diagnosis_of_what_is_never_given_is_judged() {
    let asked = Asked { tls: Version::Tls12, kind: Kind::Id };
    let of = |given, offered, resumed| vec![MechanismRecord { asked, given, lifetime_s: None, offered, resumed }];
    let judge = |text, document: &DiagnoseDocument| read(text, ConditionSubject::Diagnosis).judge(document);
    let none = diagnosed(of(false, 0, 0), 0);
    assert_eq!(judge("1.2.kinds.id > 0%", &none), ConditionJudgement::NotMet);
    assert!(matches!(judge("1.2.kinds.id < 100%", &none), ConditionJudgement::Met(_)));
    for unknown in [diagnosed(of(false, 0, 0), 6), diagnosed(of(true, 0, 0), 0)] {
        assert!(matches!(judge("1.2.kinds.id > 0%", &unknown), ConditionJudgement::Unknown(_)));
    }
    assert!(matches!(judge("kinds.id > 0%", &diagnosed(of(true, 4, 4), 0)), ConditionJudgement::Met(_)));
}

#[test]
fn where_no_session_is_given_none_enters() {
    let judge = |document: &DiagnoseDocument| read("isolation.broken > 0", ConditionSubject::Diagnosis).judge(document);
    let mut document = diagnosed(Vec::new(), 0);
    assert_eq!(judge(&document), ConditionJudgement::NotMet);
    document.targets[0].incomplete = true;
    assert!(matches!(judge(&document), ConditionJudgement::Unknown(_)));
    document.targets[0] = Diagnosis::default();
    assert!(matches!(judge(&document), ConditionJudgement::Unknown(_)), "it was not reached");
    let planned = DiagnosePlanned { versions: &[], isolation: false, together: false };
    for (text, flag) in [("isolation.broken > 0", "--isolation"), ("fleet.shared < 100%", "--together")] {
        assert!(Condition::read(text, &planned).unwrap_err().to_string().contains(flag), "{text}");
    }
}
