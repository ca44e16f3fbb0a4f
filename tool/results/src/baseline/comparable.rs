//! Why two results may not be comparable.

use reprise_model::document::{MeasureDocument, Provenance};

/// What the reader must know before taking a difference of figures for one of the target's.
pub(super) fn warnings(now: &MeasureDocument, earlier: &MeasureDocument) -> Vec<String> {
    let of_target = [
        other("target", &Some(earlier.label.clone()), &Some(now.label.clone())),
        other("address", &earlier.target.address, &now.target.address),
        other("path", &earlier.target.path, &now.target.path),
        other("offer", &offer(earlier), &offer(now)),
    ];
    let mut warnings: Vec<String> = of_target.into_iter().flatten().collect();
    warnings.extend(of_provenance(&earlier.provenance, &now.provenance));
    warnings.extend(cut_short(earlier.interrupted));
    warnings
}

/// Whose ClientHello it offers.
fn offer(document: &MeasureDocument) -> Option<String> {
    Some(match &document.target.like {
        Some(like) => format!("that of {}", like.client),
        None if document.target.ech_grease => "reprise's own with ECH GREASE".to_owned(),
        None => "reprise's own".to_owned(),
    })
}

/// Where another machine or program made them.
pub(crate) fn of_provenance(before: &Provenance, after: &Provenance) -> Vec<String> {
    let differ = [
        other("machine", &before.machine, &after.machine),
        other("processor", &before.cpu, &after.cpu),
        other("kernel", &before.kernel, &after.kernel),
        other("version of reprise", &Some(before.version.clone()), &Some(after.version.clone())),
        libraries(before, after),
    ];
    differ.into_iter().flatten().collect()
}

/// Where the baseline is not whole.
pub(crate) fn cut_short(interrupted: bool) -> Option<String> {
    interrupted.then(|| "The baseline is incomplete".to_owned())
}

/// `what` is not the same.
pub(crate) fn other(what: &str, before: &Option<String>, after: &Option<String>) -> Option<String> {
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    (before != after).then(|| format!("The baseline is from another {what}: {}; this is {}", told(before), told(after)))
}

/// Where there are baselines enough for a spread and not for an estimate of it.
pub(crate) fn too_few(baselines: usize) -> Option<String> {
    let text = "Two baselines are too few to estimate the variation between runs: use one, or three and more";
    (baselines == 2).then(|| text.to_owned())
}

fn libraries(before: &Provenance, after: &Provenance) -> Option<String> {
    let changed = after.libraries.iter().filter_map(|(name, version)| {
        let earlier = before.libraries.get(name).filter(|earlier| *earlier != version)?;
        Some(format!("{name} {earlier}; this is {version}"))
    });
    let changed: Vec<String> = changed.collect();
    (!changed.is_empty()).then(|| format!("The baseline is from another {}", changed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::Example;

    #[test]
    fn the_same_machine_and_target_warn_of_nothing() {
        let document = Example::new().document();
        assert_eq!(warnings(&document, &document), [""; 0]);
    }

    #[test]
    fn another_processor_kernel_or_target_is_told() {
        let now = Example::new().document();
        let mut earlier = now.clone();
        earlier.provenance.cpu = Some("slow".to_owned());
        earlier.provenance.kernel = Some("Linux 2.4".to_owned());
        earlier.label = "example.org".to_owned();
        earlier.interrupted = true;
        let warnings = warnings(&now, &earlier).join("\n");
        for words in ["processor: slow; this is unknown", "Linux 2.4", "target: example.org", "incomplete"] {
            assert!(warnings.contains(words), "{words}: {warnings}");
        }
    }
}
