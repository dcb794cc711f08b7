//! Clients of others over TLS.

use super::*;

/// Runs openssl in `folder`.
fn openssl(folder: &Path, arguments: &str) {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let done = output_within(DEADLINE, Command::new("openssl").current_dir(folder).args(arguments));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Certificates of an authority, a server and a client in `folder`, by the names that libnbd expects.
fn certify(folder: &Path) {
    fs::write(folder.join("own"), "subjectAltName=DNS:localhost\n").unwrap();
    let new = "req -newkey rsa:2048 -nodes -subj /CN=localhost";
    openssl(folder, &format!("{new} -x509 -days 2 -keyout ca-key.pem -out ca-cert.pem"));
    for name in ["server", "client"] {
        openssl(folder, &format!("{new} -keyout {name}-key.pem -out {name}.csr"));
        let sign = "x509 -req -days 2 -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -extfile own";
        openssl(folder, &format!("{sign} -in {name}.csr -out {name}-cert.pem"));
    }
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin, qemu-utils and openssl, which `make nbd-programs` installs"]
fn clients_read_and_write_over_tls_and_not_without() {
    let certificates = tempfile::tempdir().unwrap();
    certify(certificates.path());
    let path = |name: &str| certificates.path().join(name).to_str().unwrap().to_owned();
    let [certificate, key, authority] = ["server-cert.pem", "server-key.pem", "ca-cert.pem"].map(path);
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--tls-client-ca", &authority];
    let served = Served::file(&[&["--overlay", "changes"], &tls[..]].concat());
    let folder = certificates.path().display();
    let uri = format!("{}&tls-certificates={folder}", served.uri().replacen("nbd", "nbds", 1));
    let info = run("nbdinfo", &["--json", &uri]);
    assert!(info.contains("\"TLS\": true") && info.contains("\"can_multi_conn\": true"), "{info}");
    let copy = served.at("copy");
    run("nbdcopy", &["--connections=4", &uri, copy.to_str().unwrap()]);
    assert_same(&copy, &served.image);
    let new = served.at("new");
    fs::write(&new, pattern(size_of(FILE_UNIT), 5)).unwrap();
    run("nbdcopy", &["--connections=4", "--flush", new.to_str().unwrap(), &uri]);
    run("nbdcopy", &["--connections=4", &uri, copy.to_str().unwrap()]);
    assert_same(&copy, &new);
    let refused = output_within(DEADLINE, Command::new("nbdinfo").arg(served.uri()));
    assert!(!refused.status.success(), "it is served without TLS");
}
