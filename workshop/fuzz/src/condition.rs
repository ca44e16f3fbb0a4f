//! A `--fail-if` condition: what is understood is understood again as it is shown, and what is not points at a place in it.

use reprise_results::{Condition, ConditionSubject};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    for subject in
        [ConditionSubject::Measurement, ConditionSubject::Diagnosis, ConditionSubject::Load, ConditionSubject::Other]
    {
        match Condition::read(text, &subject) {
            Ok(condition) => {
                assert_eq!(Condition::read(&condition.to_string(), &subject).as_ref(), Ok(&condition), "{text:?}");
            }
            Err(error) => assert!(error.to_string().starts_with("column "), "{error}"),
        }
    }
}
