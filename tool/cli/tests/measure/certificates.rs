//! Certificates that are not to be trusted: refused with a reason, measured with `--insecure`, which says so.

use reprise_lab::{Identity, KeyKind, ServerSpec, Validity};

use reprise_harness::{Lab, Reprise};

#[test]
fn a_certificate_that_is_not_trusted_is_refused_with_its_reason() {
    let lab = Lab::new();
    let spec = ServerSpec::new(KeyKind::P256);
    let issued = |spec: ServerSpec| lab.authority.server(&spec).unwrap();
    let names = ["one.example", "two.example"].map(str::to_owned).to_vec();
    let cases: [(Identity, &[&str]); 4] = [
        (
            issued(ServerSpec { validity: Validity::Expired, ..spec.clone() }),
            &["has expired", "renew it", "clock", "--insecure"],
        ),
        (issued(ServerSpec { validity: Validity::NotYet, ..spec.clone() }), &["is not valid yet", "clock", "--insecure"]),
        (
            issued(ServerSpec { names, ..spec }),
            &["not valid for 127.0.0.1", "it is for", "one.example", "two.example", "--sni NAME", "--insecure"],
        ),
        (Lab::new().identity(KeyKind::P256), &["signed by no trusted root", "--ca FILE", "--insecure"]),
    ];
    for (identity, words) in cases {
        let server = lab.server_with(|config| config.identity = identity);
        for tls in ["1.2", "1.3"] {
            lab.measure(server.address()).args(["--tls", tls]).count(2).run().exits(3).says(words);
        }
        let insecure = Reprise::measure(server.address()).arg("--insecure").count(2).run().exits(0);
        insecure.says(&["--insecure: the server's certificate is not verified"]);
        if words.contains(&"two.example") {
            lab.measure(server.address()).args(["--sni", "two.example"]).count(2).run().exits(0).silently();
        }
    }
}

#[test]
fn the_systems_roots_are_trusted_where_none_are_named() {
    let lab = Lab::new();
    let server = lab.server_with(|_| {});
    let roots = lab.file("system.pem", Lab::new().authority.pem());
    let call = || Reprise::measure(server.address()).count(1);
    call().env("SSL_CERT_FILE", roots).run().exits(3).says(&["signed by no trusted root", "--ca FILE"]);
    call().env("SSL_CERT_FILE", lab.ca()).run().exits(0).silently();
    call().env("SSL_CERT_FILE", lab.path("absent.pem")).run().exits(2).says(&["no trusted root certificates", "--ca FILE"]);
    lab.measure(server.address()).arg("--insecure").run().exits(2).says(&["cannot be used with"]);
}
