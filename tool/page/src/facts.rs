//! What the pages of several commands say in the same words: of the target, its responses, the libraries, the program.

use std::collections::BTreeMap;

use itertools::Itertools;
use reprise_model::document::{ComparedStack, LikeRecord, Provenance, Target};

use crate::page::{Block, Fact};

/// The target as its owner would write it, and the address it was found at.
pub fn title(target: &Target) -> String {
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    let name = match (&target.path, target.port) {
        (_, port) if target.starttls.is_some() => {
            format!("{}://{host}:{port} after STARTTLS", target.starttls.as_deref().unwrap_or_default())
        }
        (Some(path), 443) => format!("https://{host}{path}"),
        (Some(path), port) => format!("https://{host}:{port}{path}"),
        (None, port) => format!("{host}:{port}"),
    };
    let name = match &target.address {
        Some(address) if *address != target.host => format!("{name} at {address}"),
        _ => name,
    };
    match &target.proxy {
        Some(proxy) => format!("{name} through {proxy}"),
        None => name,
    }
}

/// Whose ClientHello is offered, where it is not our own, or what our own has beside the usual.
pub fn offered_as(like: Option<&LikeRecord>, ech_grease: bool) -> Option<Fact> {
    let as_client = like.map(|LikeRecord { name, client, captured }| format!("{name}: {client}, captured {captured}"));
    let as_client = as_client.map(|client| Fact::new("offers as", client));
    as_client.or_else(|| ech_grease.then(|| Fact::new("offers", "encrypted_client_hello that holds nothing (GREASE)")))
}

/// "200 × 388, 503 × 12". What all of them should have come to can wait.
pub fn responses(by_status: &BTreeMap<u16, u64>) -> Option<Fact> {
    let is_secondary = by_status.keys().all(|status| (200..300).contains(status));
    let counts = by_status.iter().map(|(status, count)| format!("{status} × {count}")).join(", ");
    (!counts.is_empty()).then(|| Fact { is_secondary, ..Fact::new("HTTP", counts) })
}

/// "tickets of 7200 s"; of several lifetimes the shortest and the longest.
pub fn stated_lifetime([shortest, longest]: [u32; 2]) -> String {
    match (shortest, longest) {
        // RFC 5077 §3.3.
        (0, 0) => "tickets that state no lifetime".to_owned(),
        _ if shortest == longest => format!("tickets of {longest} s"),
        _ => format!("tickets of {shortest} to {longest} s"),
    }
}

/// The stacks with their libraries.
pub fn stacks(stacks: &[ComparedStack]) -> Fact {
    let shown = |stack: &ComparedStack| format!("{} ({} {})", stack.name, stack.library, stack.version);
    Fact::new("stacks", stacks.iter().map(shown).join(" · "))
}

/// "1 connection", "2 connections".
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Where a result comes from, on one line.
pub fn source(provenance: &Provenance) -> Block {
    let program = match &provenance.commit {
        Some(commit) => format!("reprise {} ({})", provenance.version, commit.get(..12).unwrap_or(commit)),
        None => format!("reprise {}", provenance.version),
    };
    let machine = [&provenance.cpu, &provenance.kernel].into_iter().flatten().cloned();
    let parts: Vec<String> = [program, provenance.time.clone()].into_iter().chain(machine).collect();
    Block::Aside(parts.join(" · "))
}
