//! Keys in a Kubernetes Secret, as JSON, which `kubectl` reads and writes: `kubectl get secret NAME -o json`.

use std::io::{Read, stdin};

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reprise_session::KeyRing;
use reprise_session::key_file::{KeyFileFormat, KeyFiles, files};
use rustls_pki_types::UnixTime;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// etcd takes no more, nor does a Secret.
const MOST_BYTES: u64 = 1 << 20;

/// A Secret as it was read: its metadata stay, and with them the version that `kubectl replace` compares.
pub(super) struct Secret {
    format: KeyFileFormat,
    manifest: Value,
}

/// The manifest of a new Secret.
pub(super) fn new(
    format: KeyFileFormat,
    ring: &KeyRing,
    now: UnixTime,
    name: &str,
    namespace: Option<&str>,
) -> anyhow::Result<Zeroizing<String>> {
    let mut metadata = Map::from_iter([("name".to_owned(), name.into())]);
    metadata.extend(namespace.map(|namespace| ("namespace".to_owned(), namespace.into())));
    let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"});
    Secret { format, manifest }.with(ring, now)
}

/// Reads a Secret from standard input.
pub(super) fn read(format: KeyFileFormat) -> anyhow::Result<Secret> {
    let mut text = Zeroizing::new(String::new());
    stdin().take(MOST_BYTES).read_to_string(&mut text).context("cannot read the Secret from standard input")?;
    let manifest: Value =
        serde_json::from_str(&text).context("standard input is no JSON: kubectl get secret NAME -o json")?;
    if manifest.get("kind").and_then(Value::as_str) != Some("Secret") {
        bail!("standard input is no Secret: kubectl get secret NAME -o json");
    }
    Ok(Secret { format, manifest })
}

impl Secret {
    pub(super) fn ring(&self) -> anyhow::Result<KeyRing> {
        let data = self.manifest.get("data").and_then(Value::as_object).context("the Secret has no data")?;
        let decode = |(name, value): (&String, &Value)| {
            let value = value.as_str().unwrap_or_default();
            let content = STANDARD.decode(value).with_context(|| format!("data.{name} is not base64"))?;
            anyhow::Ok((name.clone(), Zeroizing::new(content)))
        };
        let contents = data.iter().map(decode).collect::<anyhow::Result<Vec<_>>>()?;
        let no_paths: [&str; 0] = [];
        let named = contents.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        Ok(KeyFiles::new(self.format, no_paths).parse(named)?)
    }

    /// The same Secret with these keys, as JSON.
    pub(super) fn with(&mut self, ring: &KeyRing, now: UnixTime) -> anyhow::Result<Zeroizing<String>> {
        let encode = |(name, content): (String, Zeroizing<Vec<u8>>)| (name, Value::from(STANDARD.encode(&*content)));
        let data: Map<String, Value> = files(self.format, ring, now)?.into_iter().map(encode).collect();
        let manifest = self.manifest.as_object_mut().context("the Secret is no object")?;
        manifest.insert("data".to_owned(), data.into());
        Ok(Zeroizing::new(serde_json::to_string_pretty(&manifest)? + "\n"))
    }
}
