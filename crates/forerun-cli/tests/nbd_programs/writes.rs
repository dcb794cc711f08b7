//! Clients of others write.

use super::*;

/// A client copies an image over the export, changes parts of it, and reads it back.
fn check_writes(served: &Served) {
    let (uri, new) = (served.uri(), served.at("new"));
    let size = size_of(served.unit);
    let mut bytes = pattern(size, 3);
    bytes[served.unit..3 * served.unit].fill(0);
    fs::write(&new, &bytes).unwrap();
    let copy = served.at("copy");
    for options in [&["--connections=1"][..], &["--connections=4", "--flush"], &["--allocated"]] {
        run("nbdcopy", &[options, &[new.to_str().unwrap(), uri.as_str()]].concat());
        run("nbdcopy", &[uri.as_str(), copy.to_str().unwrap()]);
        assert_same(&copy, &new);
        fs::remove_file(&copy).unwrap();
        run("qemu-io", &["-f", "raw", "-c", &format!("write -P 7 0 {size}"), &uri]);
    }
    run(
        "qemu-img",
        &["convert", "-n", "-f", "raw", "-O", "raw", "-m", "8", "-W", new.to_str().unwrap(), &uri],
    );
    run("qemu-img", &["compare", "-f", "raw", "-F", "raw", &uri, new.to_str().unwrap()]);
    let half = size / 2 / 4096 * 4096;
    let commands = [
        format!("write -P 1 {half} 64k"),
        format!("write -f -P 2 {} 12345", half + 100_001),
        format!("write -z -u {half} 4k"),
        format!("discard {} 1M", half + 4_194_304),
        "flush".to_owned(),
        format!("read -P 0 {half} 4k"),
        format!("read -P 1 {} 60k", half + 4096),
        format!("read -P 2 {} 12345", half + 100_001),
    ];
    for command in &commands {
        let said = run("qemu-io", &["-f", "raw", "-c", command, &uri]);
        assert!(!said.contains("failed"), "{command}: {said}");
    }
    let map = run("nbdinfo", &["--map", &uri]);
    assert!(map.contains("hole,zero"), "{map}");
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn an_overlay_of_an_object_is_written_by_all_clients() {
    let store = Store::start();
    let served = Served::bucket(&store, &["--overlay", "changes"]);
    check_all(&served);
    check_writes(&served);
    assert_same(&served.image, &store.at("disk.img"));
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn a_local_file_is_written_by_all_clients() {
    let served = Served::file(&["--writable"]);
    check_writes(&served);
    run("qemu-img", &["compare", "-f", "raw", "-F", "raw", &served.uri(), served.image.to_str().unwrap()]);
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn clients_are_told_that_they_may_write() {
    for options in [&["--writable"][..], &["--overlay", "changes"]] {
        let served = Served::file(options);
        let info = run("nbdinfo", &["--json", &served.uri()]);
        for said in [
            "\"is_read_only\": false",
            "\"can_flush\": true",
            "\"can_fua\": true",
            "\"can_trim\": true",
            "\"can_zero\": true",
            "\"can_fast_zero\": true",
            "\"can_multi_conn\": true",
        ] {
            assert!(info.contains(said), "{said} is not in {info}");
        }
    }
}
