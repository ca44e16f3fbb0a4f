//! Servers that refuse sessions, and a proxy certificate as the client's.

use std::path::Path;
use std::process::Command;

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec, Versions};
use reprise_servers::require;
use reprise_servers::{ClientVerify, RealServer, SServer, SServerConfig};

use super::{document, plugins, reprise, row};

#[test]
fn sessions_that_a_server_refuses_are_shown_as_refused() {
    let authority = Authority::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.pem");
    std::fs::write(&root, authority.pem()).unwrap();
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let config = EmbeddedConfig { resumption: Resumption::RefusedTicket, ..EmbeddedConfig::new(identity) };
    let server = EmbeddedServer::start(config).unwrap();
    let target = format!("localhost:{}", server.address().port());
    let flags = [&target, "--ca", root.to_str().unwrap(), "--levels", "bio,msg", "--stacks", "rustls-ring", "-n", "6"];
    let (document, _) = document(&mut reprise(&flags));
    let with = row(&document, "rustls-ring", "bio", true);
    assert_eq!((&with["kinds"]["full"], &with["refused"]), (&6.into(), &6.into()), "{with:#}");
    let claims = document["claims"].as_array().unwrap();
    let claim = claims.iter().find(|it| it["claim"].as_str().unwrap().contains("sessions")).unwrap();
    assert_eq!(claim["verdict"], "confirmed");
    let page = reprise(&flags).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&page).contains("6 sessions refused"));
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
    let plugins = match plugins::folder() {
        Ok(folder) => folder,
        Err(not_run) => return not_run.announce(),
    };
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let root = folder.path().join("root.pem");
    std::fs::write(&root, authority.pem()).unwrap();
    proxy_certificate(folder.path(), &authority.client("client.test").unwrap());
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let serve = |extra: &[&str]| {
        SServer::start(SServerConfig {
            versions: Versions::Tls12,
            client_verify: ClientVerify::Required(authority.pem()),
            extra: extra.iter().map(|&it| it.to_owned()).collect(),
            ..SServerConfig::new(vec![identity.clone()])
        })
        .unwrap()
    };
    let ask = |server: &SServer| {
        let target = format!("localhost:{}", server.address().port());
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let mut command = reprise(&[&target, "--ca", root.to_str().unwrap(), "--cert", &path("chain.pem"), "--key"]);
        command.arg(path("proxy.key")).args(["--levels", "lib,ctx,bio", "--tls", "1.2", "--method", "GET", "-n", "6"]);
        document(command.args(["--stacks", "openssl", "--plugins", plugins])).0
    };
    let permitted = ask(&serve(&["-allow_proxy_certs"]));
    for level in ["lib", "ctx", "bio"] {
        assert_eq!(row(&permitted, "openssl", level, false)["requests"], 6, "{level}");
    }
    let refused = ask(&serve(&[]));
    assert_eq!(refused["rows"], serde_json::json!([]), "without the flag, s_server refuses proxy certificates");
}
