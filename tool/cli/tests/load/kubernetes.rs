//! The manifest in the documents: what Kubernetes takes, and what its pods then run.

use std::path::Path;
use std::time::{Duration, SystemTime};

use k8s_openapi::api::batch::v1::Job;
use serde_json::Value;

use crate::load::harness::{count, document_in, in_a_network_of_its_own, sum};

/// Where the server is, in the network of the test.
const TARGET: &str = "10.9.9.1:8443";

/// The manifest with the variables that its first lines have set, as `envsubst` would.
fn manifest(start_at: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kubernetes/load.yaml");
    let mut text = std::fs::read_to_string(path).unwrap();
    for (name, value) in [("IMAGE", "registry.example/reprise:0.1.0"), ("TARGET", TARGET), ("DURATION", "4s")] {
        text = text.replace(&format!("${{{name}}}"), value);
    }
    let text = text.replace("${START_AT}", start_at);
    let manifest = text.split_once("\napiVersion").unwrap().1;
    assert!(!manifest.contains("${"), "a variable that is not set: {manifest}");
    serde_saphyr::from_str(&text).unwrap()
}

#[test]
fn the_manifest_is_a_job_that_kubernetes_takes() {
    let manifest = manifest("1");
    assert_eq!((&manifest["apiVersion"], &manifest["kind"]), (&"batch/v1".into(), &"Job".into()));
    let job: Job = serde_json::from_value(manifest.clone()).unwrap();
    // What the API does not know would be lost here, and dropped there.
    assert_eq!(serde_json::to_value(&job).unwrap(), manifest);
    let spec = job.spec.unwrap();
    assert_eq!(spec.completion_mode.as_deref(), Some("Indexed"));
    assert_eq!(spec.completions, spec.parallelism, "those that wait for others cannot begin with them");
}

/// The server on one machine, each pod on another, as far as their networks can tell.
#[test]
fn the_pods_of_the_manifest_make_one_result() {
    reprise_servers::require!("nginx", "ip");
    // Networks take a moment to make; what is late fails.
    let start_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + Duration::from_secs(10);
    let manifest = manifest(&start_at.as_secs().to_string());
    let job: Job = serde_json::from_value(manifest).unwrap();
    let spec = job.spec.unwrap();
    let pods = spec.completions.unwrap();
    let arguments = spec.template.spec.unwrap().containers.remove(0).args.unwrap();
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    // Kubernetes puts the values of a container's variables in for $(NAME), and joins standard output and error in its log.
    let arguments = quoted.join(" ").replace("$(JOB_COMPLETION_INDEX)", "'\"$JOB_COMPLETION_INDEX\"'");
    let script = format!(
        r#"
        ip address add 10.9.9.1/32 dev lo
        cat > nginx.conf <<END
            daemon off; master_process off; pid nginx.pid; error_log stderr crit; events {{ worker_connections 8192; }}
            http {{ access_log off; server {{ listen {TARGET} ssl backlog=4096; location / {{ return 200 ok; }}
            ssl_protocols TLSv1.3; ssl_certificate $certificate; ssl_certificate_key $key; }} }}
END
        serve nginx -p . -c nginx.conf -e stderr
        cat > pod <<'END'
            set -e; echo > inside$JOB_COMPLETION_INDEX; read -r _ < ready$JOB_COMPLETION_INDEX
            ip address add 10.9.$((100 + JOB_COMPLETION_INDEX)).2/24 dev inner; ip link set inner up
            ip route add default via 10.9.$((100 + JOB_COMPLETION_INDEX)).1
            exec "$1" {arguments} > pod$JOB_COMPLETION_INDEX.json 2>&1
END
        for (( number = 0; number < {pods}; number++ )); do
            mkfifo inside$number ready$number
            JOB_COMPLETION_INDEX=$number unshare --net bash pod "$reprise" &
            running[number]=$!
            read -r _ < inside$number
            ip link add outer$number type veth peer name inner netns $!
            ip address add 10.9.$((100 + number)).1/24 dev outer$number; ip link set outer$number up
            echo > ready$number
        done
        failed=; for pod in "${{running[@]}}"; do wait $pod || failed=1; done
        if [ "$failed" ]; then cat pod*.json; exit 1; fi
        "$reprise" report --merge pod*.json --json merged.json
    "#
    );
    let directory = tempfile::tempdir().unwrap();
    if in_a_network_of_its_own(directory.path(), &script).is_none() {
        return;
    }
    let parts: Vec<Value> = (0..pods).map(|pod| document_in(&directory.path().join(format!("pod{pod}.json")))).collect();
    let merged = document_in(&directory.path().join("merged.json"));
    assert_eq!(merged["generators"], Value::from(pods));
    assert_eq!(sum(&merged, "errors"), 0, "{}", merged["errors"]);
    let full = |document: &Value| count(document, "completed", "full");
    assert!(parts.iter().all(|part| full(part) > 0));
    assert_eq!(full(&merged), parts.iter().map(full).sum::<u64>());
}
