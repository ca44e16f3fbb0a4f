//! Servers that refuse sessions, and a proxy certificate as the client's.

use std::path::Path;
use std::process::Command;

use reprise_harness::Lab;
use reprise_lab::{EmbeddedResumption, KeyKind, Versions};
use reprise_servers::require;
use reprise_servers::{ClientVerify, RealServer, SServer, SServerConfig};

use super::{layers, plugins, row};

#[test]
fn sessions_that_a_server_refuses_are_shown_as_refused() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::RefusedTicket);
    let target = format!("localhost:{}", server.address().port());
    let call = || layers("--levels bio,msg --stacks rustls-ring -n 6 --ca").arg(lab.ca()).arg(&target);
    let (document, _) = call().run_for_json();
    let with = row(&document, "rustls-ring", "bio", true);
    assert_eq!((&with["kinds"]["full"], &with["refused"]), (&6.into(), &6.into()), "{with:#}");
    let claims = document["claims"].as_array().unwrap();
    let claim = claims.iter().find(|it| it["claim"].as_str().unwrap().contains("sessions")).unwrap();
    assert_eq!(claim["verdict"], "confirmed");
    call().run().shows(&["6 sessions refused"]);
}

/// RFC 3820: a certificate that a client has signed by its own key, for a key that it uses in its stead.
fn proxy_certificate(folder: &Path, client: &reprise_lab::Identity) {
    let files = client.write_pem(folder, "client").unwrap();
    std::fs::write(folder.join("proxy.cnf"), PROXY).unwrap();
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (certificate, key) = (files.certificate.to_str().unwrap(), files.key.to_str().unwrap());
    openssl(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "proxy.key"]);
    openssl(&["req", "-new", "-key", "proxy.key", "-subj", "/CN=client.test/CN=proxy", "-out", "proxy.csr"]);
    let sign = ["x509", "-req", "-in", "proxy.csr", "-CA", certificate, "-CAkey", key, "-CAcreateserial", "-days", "1"];
    openssl(&[&sign[..], &["-extfile", "proxy.cnf", "-out", "proxy.pem"]].concat());
    let own = std::fs::read_to_string(folder.join("proxy.pem")).unwrap();
    std::fs::write(folder.join("chain.pem"), own + client.chain_pem()).unwrap();
}

const PROXY: &str = "proxyCertInfo=critical,language:id-ppl-inheritAll\nkeyUsage=digitalSignature\n";

#[test]
fn a_proxy_certificate_authenticates_the_client() {
    require!("openssl");
    let Some(plugins) = plugins::folder() else { return };
    let lab = Lab::new();
    proxy_certificate(lab.directory(), &lab.authority.client("client.test").unwrap());
    let identity = lab.identity(KeyKind::P256);
    let serve = |extra: &[&str]| {
        SServer::start(SServerConfig {
            versions: Versions::Tls12,
            client_verify: ClientVerify::Required(lab.authority.pem()),
            extra: extra.iter().map(|&it| it.to_owned()).collect(),
            ..SServerConfig::new(vec![identity.clone()])
        })
        .unwrap()
    };
    let ask = |server: &SServer| {
        let call = layers("--levels lib,ctx,bio --tls 1.2 --method GET -n 6 --stacks openssl --plugins").arg(plugins);
        let call = call.arg(format!("localhost:{}", server.address().port())).arg("--ca").arg(lab.ca());
        let call = call.arg("--cert").arg(lab.path("chain.pem")).arg("--key").arg(lab.path("proxy.key"));
        call.run_for_json().0
    };
    let permitted = ask(&serve(&["-allow_proxy_certs"]));
    for level in ["lib", "ctx", "bio"] {
        assert_eq!(row(&permitted, "openssl", level, false)["requests"], 6, "{level}");
    }
    let refused = ask(&serve(&[]));
    assert_eq!(refused["rows"], serde_json::json!([]), "without the flag, s_server refuses proxy certificates");
}
