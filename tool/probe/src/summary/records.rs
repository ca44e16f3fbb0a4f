//! One connection as a document tells it.

use reprise_engine::hello_retry_record;
use reprise_model::document::{OfferedRecord, SampleRecord};
use reprise_model::{Facts, Observation};

use crate::series::Series;

/// Every counted connection.
pub fn records(runs: &[Series]) -> Vec<SampleRecord> {
    runs.iter().flat_map(Series::completed).map(|(seen, facts)| record(seen, facts)).collect()
}

fn record(seen: &Observation, facts: &Facts) -> SampleRecord {
    let offered = seen.offered.map(|offered| OfferedRecord {
        age_ns: offered.age.0,
        distance: seen.distance(),
        origin: offered.origin.map(|origin| origin.index),
        key_name: offered.key_name.map(|name| name.to_string()),
    });
    SampleRecord {
        local_port: seen.local_port().unwrap_or_default(),
        asked: seen.asked,
        kind: facts.kind,
        phases: seen.phases,
        index: Some(seen.index),
        start_ns: Some(seen.start.0),
        address: seen.server.map(|server| server.ip().to_string()),
        offered,
        http_status: seen.http_status,
        hello_retry: facts.hello_retry.map(hello_retry_record),
    }
}
