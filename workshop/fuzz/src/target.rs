//! What a user types for a target: what is understood, is understood again when it is written out.

use reprise_connection::Target;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(target) = text.parse::<Target>() else { return };
    assert!(!target.host.is_empty() && target.port != 0 && target.path.starts_with('/'), "{target:?}");
    // What goes into a request must not end a line of it.
    assert!(!target.path.chars().chain(target.host.chars()).any(char::is_control), "{target:?}");
    // A port may be written out that was not given, and one that was need not be.
    let alike = |target: Target| Target { port_is_given: false, ..target };
    let target = alike(target);
    for written in [format!("{}{}", target.authority(), target.path), format!("https://{target}{}", target.path)] {
        assert_eq!(written.parse().map(alike).as_ref(), Ok(&target), "{written:?} was written for {text:?}");
    }
}
