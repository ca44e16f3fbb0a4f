//! Targets from the JSON of tools that list endpoints: Kubernetes EndpointSlices, `docker inspect`.

use std::net::IpAddr;

use anyhow::{Context, bail, ensure};
use reprise_connection::Target;
use serde_json::Value;

/// The ports that serve TLS by their name or number, where there are several.
const TLS_NAMES: [&str; 4] = ["https", "tls", "websecure", "ssl"];
const TLS_PORTS: [u64; 2] = [443, 8443];

/// Every endpoint that is ready, at the port that serves TLS.
///
/// # Errors
/// If it is no JSON, none of a kind that is known, or leaves open which port is meant.
pub(super) fn listed_targets(text: &str) -> anyhow::Result<Vec<Target>> {
    let json: Value = serde_json::from_str(text).context("not JSON, though it begins like it")?;
    let is_container = |it: &Value| it.get("NetworkSettings").is_some();
    match &json {
        Value::Array(all) if !all.is_empty() && all.iter().all(is_container) => each(all, of_container),
        _ if json.get("items").is_some_and(Value::is_array) => {
            let items = json.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            ensure!(!items.is_empty(), "the list has no items: no EndpointSlice matches");
            each(items, of_slice)
        }
        _ if json.get("kind").is_some() => of_slice(&json),
        _ if is_container(&json) => of_container(&json),
        _ => bail!(
            "neither an EndpointSlice of Kubernetes (kubectl get endpointslices -o json) nor the output of docker inspect"
        ),
    }
}

fn each(all: &[Value], of_one: fn(&Value) -> anyhow::Result<Vec<Target>>) -> anyhow::Result<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    for found in all.iter().map(of_one) {
        for target in found? {
            // One endpoint may stand in several slices.
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }
    Ok(targets)
}

/// An EndpointSlice (discovery.k8s.io/v1): addresses of those that are ready or do not say so, each with the slice's ports.
fn of_slice(slice: &Value) -> anyhow::Result<Vec<Target>> {
    let name = slice.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("a slice without a name");
    let kind = slice.get("kind").and_then(Value::as_str).unwrap_or_default();
    ensure!(
        kind == "EndpointSlice",
        "{name} is of kind '{kind}', not EndpointSlice: use kubectl get endpointslices -o json"
    );
    let ports: Vec<Port> = list(slice, "ports").iter().filter_map(Port::of_slice).collect();
    let endpoints = list(slice, "endpoints");
    if endpoints.is_empty() {
        return Ok(Vec::new());
    }
    let port = the_one(&ports, name)?;
    let is_ready = |it: &&Value| it.pointer("/conditions/ready").and_then(Value::as_bool).unwrap_or(true);
    // All addresses of one endpoint lead to the same pod: the first is meant to be used.
    let addresses = endpoints.iter().filter(is_ready).filter_map(|it| list(it, "addresses").first()?.as_str());
    addresses.map(|address| target(address, port)).collect()
}

/// A container as `docker inspect` shows it: its own address and the port that it exposes; where it has no address, the port of the host
/// that leads to it.
fn of_container(container: &Value) -> anyhow::Result<Vec<Target>> {
    let name = container.get("Name").and_then(Value::as_str).unwrap_or("a container").trim_start_matches('/');
    let exposed = container.pointer("/NetworkSettings/Ports").and_then(Value::as_object);
    let ports: Vec<Port> = exposed.into_iter().flatten().filter_map(|(port, _)| Port::of_container(port)).collect();
    let port = the_one(&ports, name)?;
    let networks = container.pointer("/NetworkSettings/Networks").and_then(Value::as_object);
    let of_network = |network: &Value| network.get("IPAddress")?.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    if let Some(address) = networks.into_iter().flatten().find_map(|(_, network)| of_network(network)) {
        return Ok(vec![target(&address, port)?]);
    }
    let bound =
        exposed.and_then(|all| all.get(&format!("{port}/tcp"))).and_then(Value::as_array).and_then(|all| all.first());
    let bound = bound.with_context(|| format!("{name} has no address, and no port of the host leads to its port {port}"))?;
    let at = |key| bound.get(key).and_then(Value::as_str).unwrap_or_default();
    let host = match at("HostIp") {
        "" | "0.0.0.0" | "::" => "127.0.0.1",
        address => address,
    };
    let port = at("HostPort").parse().with_context(|| format!("{name}: HostPort '{}'", at("HostPort")))?;
    Ok(vec![target(host, port)?])
}

/// A port that is listed.
struct Port {
    number: u64,
    name: String,
}

impl Port {
    fn of_slice(port: &Value) -> Option<Self> {
        let is_tcp = port.get("protocol").and_then(Value::as_str).is_none_or(|protocol| protocol == "TCP");
        let name = port.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self { number: port.get("port")?.as_u64()?, name }).filter(|_| is_tcp)
    }

    fn of_container(port: &str) -> Option<Self> {
        Some(Self { number: port.strip_suffix("/tcp")?.parse().ok()?, name: String::new() })
    }

    fn serves_tls(&self) -> bool {
        TLS_NAMES.iter().any(|name| self.name.to_ascii_lowercase().contains(name)) || TLS_PORTS.contains(&self.number)
    }
}

/// The only port, or the only one that serves TLS.
fn the_one(ports: &[Port], name: &str) -> anyhow::Result<u16> {
    let of_tls: Vec<&Port> = ports.iter().filter(|port| port.serves_tls()).collect();
    let port = match (ports, of_tls.as_slice()) {
        ([], _) => bail!("{name} has no TCP port"),
        ([port], _) => port.number,
        (_, [port]) => port.number,
        _ => {
            let all: Vec<String> = ports.iter().map(|port| port.number.to_string()).collect();
            bail!(
                "{name} has several ports ({}), and none or more than one is named https or is 443 or 8443",
                all.join(", ")
            )
        }
    };
    u16::try_from(port).ok().filter(|port| *port > 0).with_context(|| format!("{name}: {port} is no port"))
}

fn target(address: &str, port: u16) -> anyhow::Result<Target> {
    let host = match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        _ => format!("{address}:{port}"),
    };
    host.parse::<Target>().with_context(|| format!("address '{address}'"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn targets(json: &Value) -> Result<Vec<String>, String> {
        let targets = listed_targets(&json.to_string()).map_err(|error| format!("{error:#}"))?;
        Ok(targets.iter().map(ToString::to_string).collect())
    }

    fn slice(addresses: &[&str], ports: Value) -> Value {
        let endpoint = |address: &&str| json!({ "addresses": [address], "conditions": { "ready": *address != "10.0.0.9" } });
        let endpoints: Vec<Value> = addresses.iter().map(endpoint).collect();
        json!({ "kind": "EndpointSlice", "metadata": { "name": "web-x" }, "ports": ports, "endpoints": endpoints })
    }

    #[test]
    fn slices_name_every_endpoint_that_is_ready() {
        let ports = json!([{ "name": "http", "port": 8080, "protocol": "TCP" }, { "name": "https", "port": 9443 }, { "name": "https", "port": 9443, "protocol": "UDP" }]);
        let one = slice(&["10.0.0.1", "10.0.0.9", "fd00::1"], ports.clone());
        assert_eq!(targets(&one).unwrap(), ["10.0.0.1:9443", "[fd00::1]:9443"]);
        let all = json!({ "kind": "List", "items": [one, slice(&["10.0.0.1", "10.0.0.2"], ports)] });
        assert_eq!(targets(&all).unwrap(), ["10.0.0.1:9443", "[fd00::1]:9443", "10.0.0.2:9443"]);
    }

    #[test]
    fn containers_are_asked_where_they_can_be_reached() {
        let container = |ip: &str| {
            let bound = json!([{ "HostIp": "0.0.0.0", "HostPort": "32768" }]);
            let settings =
                json!({ "Ports": { "80/tcp": null, "443/tcp": bound }, "Networks": { "bridge": { "IPAddress": ip } } });
            json!({ "Name": "/web", "NetworkSettings": settings })
        };
        assert_eq!(targets(&json!([container("172.17.0.2")])).unwrap(), ["172.17.0.2:443"]);
        assert_eq!(targets(&json!([container("")])).unwrap(), ["127.0.0.1:32768"]);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let refused = [
            (json!({ "kind": "Service", "metadata": { "name": "web" } }), "not EndpointSlice"),
            (json!({ "kind": "List", "items": [] }), "no items"),
            (json!({ "a": 1 }), "neither"),
            (slice(&["10.0.0.1"], json!([{ "port": 1 }, { "port": 2 }])), "several ports"),
            (slice(&["10.0.0.1"], json!([])), "no TCP port"),
            (slice(&["10.0.0.1"], json!([{ "port": 70_000 }])), "is no port"),
        ];
        for (json, why) in refused {
            let error = targets(&json).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(format!("{:#}", listed_targets("{").unwrap_err()).contains("not JSON"));
    }
}
