//! The checks after a rollout, in `session/examples/fleet-check`: what GitHub and Kubernetes take, and what their commands say of a real fleet.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, RealServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::fleet::apart::nginx;

fn example(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../session/examples/fleet-check").join(name)).unwrap()
}

/// Three nodes at one port, of which the third has another key unless they share.
fn fleet(lab: &Lab, shares: bool) -> Nginx {
    let mut config = nginx(&lab.identity(KeyKind::P256), 0);
    config.files.push(("third.key", [if shares { 7 } else { 9 }; 80].into()));
    config.listen = vec!["default_server; listen 127.0.0.2:{port} ssl".to_owned()];
    config.http_directives += "
        server {
            listen 127.0.0.3:{port} ssl;
            ssl_certificate {root}/server-0-cert.pem;
            ssl_certificate_key {root}/server-0-key.pem;
            ssl_session_ticket_key third.key;
            ssl_protocols TLSv1.2 TLSv1.3;
            location / { return 200; }
        }";
    Nginx::start(config).unwrap()
}

const ADDRESSES: [&str; 3] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

/// As `kubectl get endpointslices -o json` prints it; a pod that is not ready is none of the fleet.
fn endpoint_slices(port: u16) -> Value {
    let endpoint = |address: &str, is_ready: bool| json!({"addresses": [address], "conditions": {"ready": is_ready}});
    let ready = ADDRESSES.iter().map(|address| endpoint(address, true));
    let endpoints: Vec<Value> = ready.chain([endpoint("127.0.0.4", false)]).collect();
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "web-x7k2p"}, "addressType": "IPv4",
        "endpoints": endpoints, "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    });
    json!({"apiVersion": "v1", "kind": "List", "items": [slice]})
}

/// As `docker inspect` prints it.
fn containers(port: u16) -> Value {
    let container = |address: &&str| {
        json!({"Name": format!("/web-{address}"), "NetworkSettings": {
            "Ports": {format!("{port}/tcp"): null}, "Networks": {"bridge": {"IPAddress": address}},
        }})
    };
    ADDRESSES.iter().map(container).collect()
}

/// A folder of programs: the real reprise, and those that stand for what is not here.
fn programs(lab: &Lab, stand_ins: &[(&str, String)]) -> PathBuf {
    let folder = lab.path("programs");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_reprise"), folder.join("reprise")).unwrap();
    for (name, script) in stand_ins {
        fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// What comes of a command whose programs stand in this folder, with the lab's authority as the system's.
fn outcome(lab: &Lab, programs: &Path, mut command: Command) -> Output {
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("SSL_CERT_FILE", lab.ca()).current_dir(programs.parent().unwrap()).output().unwrap()
}

#[track_caller]
fn assert_judged(output: &Output, page: &str, shares: bool) {
    let verdict = if shares { "All 3 nodes share" } else { "127.0.0.3" };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(page.contains(verdict) && output.status.code() == Some(i32::from(!shares)), "{page}\n{errors}");
}

/// The first step of the workflow.
fn step() -> Value {
    let workflow: Value = serde_saphyr::from_str(&example("github.yaml")).unwrap();
    assert_eq!(workflow["on"].as_object().unwrap().keys().collect::<Vec<_>>(), ["deployment_status", "workflow_dispatch"]);
    let job = &workflow["jobs"]["sessions"];
    let steps = job["steps"].as_array().unwrap();
    assert!(job["runs-on"].is_array() && steps.iter().all(|step| step["run"].is_string() != step["uses"].is_string()));
    steps[0].clone()
}

#[test]
fn the_workflow_fails_where_containers_do_not_share() {
    reprise_servers::require!("nginx");
    let step = step();
    assert_eq!(step["shell"], "bash");
    for shares in [true, false] {
        let lab = Lab::new();
        let nodes = fleet(&lab, shares);
        let inspected = lab.file("inspected.json", containers(nodes.address().port()).to_string());
        let docker = format!(
            "case \"$*\" in 'ps --quiet --filter label=app=web') printf 'a\\nb\\nc\\n';; 'inspect a b c') cat {};; *) exit 1;; esac",
            inspected.display()
        );
        let programs = programs(&lab, &[("docker", docker)]);
        // As a runner starts it for `shell: bash`.
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"].as_str().unwrap()]);
        bash.env("FLEET_LABEL", "app=web").env("FLEET_NAME", "localhost");
        let output = outcome(&lab, &programs, bash);
        assert_judged(&output, &fs::read_to_string(lab.path("fleet.md")).unwrap_or_default(), shares);
        assert!(lab.path("fleet.html").exists() && lab.path("fleet.xml").exists());
    }
}

/// What the API does not know would be lost here, and dropped there.
#[track_caller]
fn known<T: DeserializeOwned + Serialize>(manifest: &Value) -> T {
    let known: T = serde_json::from_value(manifest.clone()).unwrap();
    assert_eq!(serde_json::to_value(&known).unwrap(), *manifest);
    known
}

#[test]
fn the_job_fails_where_pods_do_not_share() {
    reprise_servers::require!("nginx");
    for shares in [true, false] {
        let lab = Lab::new();
        let nodes = fleet(&lab, shares);
        let volume = lab.path("fleet");
        fs::create_dir(&volume).unwrap();
        let mut text =
            example("kubernetes.yaml").split_once("\napiVersion").map(|(_, rest)| format!("apiVersion{rest}")).unwrap();
        let of_reader = [("IMAGE", "reprise:0.1.0"), ("KUBECTL", "kubectl:1"), ("SERVICE", "web"), ("NAME", "localhost")];
        for (name, value) in of_reader {
            text = text.replace(&format!("${{{name}}}"), value);
        }
        assert!(!text.contains("${"), "a variable that is not set: {text}");
        let manifests: Vec<Value> = text.split("\n---\n").map(|one| serde_saphyr::from_str(one).unwrap()).collect();
        let [account, role, binding, job] = manifests.as_slice() else { panic!("{manifests:?}") };
        let (account, role) = (known::<ServiceAccount>(account), known::<Role>(role));
        let binding: RoleBinding = known(binding);
        let pod = known::<Job>(job).spec.unwrap().template.spec.unwrap();
        assert_eq!(
            (&pod.service_account_name, &binding.role_ref.name),
            (&account.metadata.name, &role.metadata.name.unwrap())
        );

        let slices = lab.file("slices.json", endpoint_slices(nodes.address().port()).to_string());
        let asked = "get endpointslices --selector kubernetes.io/service-name=web --output json";
        let kubectl = format!("[ \"$*\" = '{asked}' ] && cat {}", slices.display());
        let programs = programs(&lab, &[("kubectl", kubectl)]);
        // The volume is a folder here.
        let here = |part: &String| part.replace("/fleet/", &format!("{}/", volume.display()));
        let init = pod.init_containers.unwrap().remove(0).command.unwrap();
        let mut shell = Command::new(&init[0]);
        shell.args(init[1..].iter().map(here));
        let listed = outcome(&lab, &programs, shell);
        assert!(listed.status.success(), "{listed:?}");
        let mut reprise = Command::new(programs.join("reprise"));
        reprise.args(pod.containers[0].args.as_ref().unwrap().iter().map(here));
        let output = outcome(&lab, &programs, reprise);
        assert_judged(&output, &String::from_utf8_lossy(&output.stdout), shares);
    }
}
