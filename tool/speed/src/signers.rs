//! Keys of who signs.

use reprise_lab::{Authority, KeyKind, LabError, ServerSpec};

use crate::catalogue::Primitive;

/// Keys of who signs, in PEM.
pub(crate) struct Signers(Vec<(KeyKind, String)>);

impl Signers {
    pub(crate) fn make(primitives: &[Primitive]) -> Result<Self, LabError> {
        let mut kinds: Vec<KeyKind> = primitives.iter().filter_map(|primitive| primitive.key).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let authority = Authority::new()?;
        let signer = |kind| Ok((kind, authority.server(&ServerSpec::new(kind))?.key_pem().to_owned()));
        Ok(Self(kinds.into_iter().map(signer).collect::<Result<_, LabError>>()?))
    }

    pub(crate) fn of(&self, kind: Option<KeyKind>) -> Option<String> {
        self.0.iter().find(|(known, _)| Some(*known) == kind).map(|(_, pem)| pem.clone())
    }
}
