//! Images that QEMU has made, compared with what QEMU reads of them.

use super::*;

/// The bytes of a disk, which is no whole number of clusters.
const DISK_BYTES: usize = 9 * MIB + 1536;

/// A folder with images.
struct Folder(TempDir);

impl Folder {
    /// It has a raw disk, `raw`, with bytes that can be compressed, others that cannot, and holes.
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        let file = fs::File::create(folder.at("raw")).unwrap();
        file.set_len(DISK_BYTES as u64).unwrap();
        file.write_all_at(&pattern(MIB + 100_000, 1), 65_536).unwrap();
        let words: Vec<u8> = pattern(700, 2).repeat(3 * MIB / 700);
        file.write_all_at(&words, 3 * MIB as u64).unwrap();
        file.write_all_at(&pattern(1000, 3), (DISK_BYTES - 1000) as u64).unwrap();
        file.sync_all().unwrap();
        folder
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `qemu-img` or `qemu-io` in the folder.
    fn qemu(&self, program: &str, arguments: &[&str]) {
        let done = output_within(DEADLINE, Command::new(program).current_dir(self.0.path()).args(arguments));
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{program} {arguments:?}: {err}");
    }

    /// Makes the image `name` of the raw disk.
    fn convert(&self, name: &str, options: &[&str]) {
        let to = [&["convert", "-f", "raw", "-O", "qcow2"], options, &["raw", name]].concat();
        self.qemu("qemu-img", &to);
    }

    /// Makes an image over `base`, with bytes of its own.
    fn over(&self, name: &str, base: &str, format: &str, commands: &[&str]) {
        self.qemu("qemu-img", &["create", "-q", "-f", "qcow2", "-b", base, "-F", format, name]);
        for command in commands {
            self.qemu("qemu-io", &["-f", "qcow2", "-c", command, name]);
        }
    }

    /// The error of the server of the image `name`.
    fn error_of(&self, name: &str, options: &[&str]) -> String {
        let mut server = forerun();
        server.current_dir(self.0.path()).args(["nbd", "--format", "qcow2", "--unix", "nbd"]);
        let done = output_within(DEADLINE, server.args(options).arg(name));
        assert_eq!(done.status.code(), Some(1), "{name} is refused");
        String::from_utf8_lossy(&done.stderr).into_owned()
    }

    /// Whether clients read of the image `url`, with `name` in the folder, what QEMU reads of it.
    fn check(&self, name: &str, url: &str, with: impl Fn(&mut Command)) {
        let (expected, copy, socket) = (self.at("expected"), self.at("copy"), self.at("nbd"));
        self.qemu("qemu-img", &["convert", "-f", "qcow2", "-O", "raw", name, "expected"]);
        let mut server = forerun();
        server.current_dir(self.0.path()).args(["nbd", "--memory", "32MiB", "--format", "qcow2"]);
        server.arg("--unix").arg(&socket);
        with(&mut server);
        let server = Serving::start(server.arg(format!("disk={url}")));
        let uri = format!("nbd+unix:///disk?socket={}", socket.display());
        let copied = copy.to_str().unwrap();
        for options in
            [&["--connections=1"][..], &["--connections=4", "--request-size=65536"], &["--synchronous"]]
        {
            run("nbdcopy", &[options, &[uri.as_str(), copied]].concat());
            assert_same(&copy, &expected);
            fs::remove_file(&copy).unwrap();
        }
        run("qemu-img", &["convert", "-f", "raw", "-O", "raw", "-m", "16", "-W", &uri, copied]);
        assert_same(&copy, &expected);
        let served = ["-r", "-f", "raw", "-c", "read 12345 1234567", "-c", "read 8M 1m", &uri];
        assert!(!run("qemu-io", &served).contains("failed"));
        drop(server);
        let _ = fs::remove_file(&socket);
        fs::remove_file(&copy).unwrap();
    }

    fn check_file(&self, name: &str) {
        self.check(name, name, |_| {});
    }

    /// The same of the image in a directory, whose backing files are there as well.
    fn check_chain(&self, name: &str) {
        self.check(name, name, |server| {
            server.args(["--backing", "."]);
        });
    }
}

/// A web server of the folder, and its URL.
fn web(folder: &Folder) -> (Serving, String) {
    let mut server = forerun();
    server.current_dir(folder.0.path()).args(["serve", "--public", "--http", "127.0.0.1:0", "all=."]);
    let serving = Serving::start(&mut server);
    let url = format!("http://{}/all", serving.address("http://"));
    (serving, url)
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn images_of_each_kind_read_as_in_qemu() {
    let folder = Folder::new();
    let kinds: [&[&str]; 12] = [
        &[],
        &["-c"],
        &["-c", "-o", "cluster_size=4k"],
        &["-c", "-o", "cluster_size=2M"],
        &["-o", "compat=0.10"],
        &["-c", "-o", "compat=0.10"],
        &["-o", "cluster_size=512"],
        &["-o", "cluster_size=2M"],
        &["-o", "preallocation=metadata"],
        &["-o", "preallocation=full"],
        &["-o", "refcount_bits=1"],
        &["-o", "lazy_refcounts=on,refcount_bits=64"],
    ];
    for options in kinds {
        folder.convert("image", options);
        folder.check_file("image");
    }
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn an_image_with_snapshots_shows_the_disk_of_now() {
    let folder = Folder::new();
    folder.convert("image", &["-c"]);
    for seed in 1..4 {
        folder.qemu("qemu-img", &["snapshot", "-c", &format!("s{seed}"), "image"]);
        let write = format!("write -P {seed} {} 300k", seed * MIB);
        folder.qemu("qemu-io", &["-f", "qcow2", "-c", &write, "-c", "write -z 5M 1M", "image"]);
        folder.check_file("image");
    }
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn chains_read_as_in_qemu() {
    let folder = Folder::new();
    fs::create_dir(folder.at("more")).unwrap();
    fs::copy(folder.at("raw"), folder.at("more/raw")).unwrap();
    folder.over("more/middle", "raw", "raw", &["write -P 1 1M 777k", "write -z 3M 200k"]);
    folder.over(
        "top",
        "more/middle",
        "qcow2",
        &["write -P 2 1500k 100k", "write -P 3 8M 64k", "discard 4M 1M"],
    );
    folder.qemu("qemu-img", &["resize", "-q", "top", "20M"]);
    folder.check_chain("top");
    let (_web, url) = web(&folder);
    folder.check("top", &format!("{url}/top"), |server| {
        server.args(["--backing", &format!("{url}/")]);
    });
    let said = folder.error_of("top", &[]);
    assert!(said.contains("\"more/middle\"") && said.contains("--backing"), "{said}");
    let said = folder.error_of("top", &["--backing", "more"]);
    assert!(said.contains("cannot be opened"), "{said}");
    let raw = folder.at("raw");
    folder.over("absolute", raw.to_str().unwrap(), "raw", &[]);
    assert!(folder.error_of("absolute", &["--backing", "."]).contains("absolute path"));
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn images_of_stores_read_as_in_qemu() {
    let folder = Folder::new();
    let (_web, url) = web(&folder);
    let store = Store::start();
    for options in [&[][..], &["-c"], &["-o", "compat=0.10,cluster_size=512"]] {
        folder.convert("image", options);
        folder.check("image", &format!("{url}/image"), |_| {});
        fs::copy(folder.at("image"), store.at("image")).unwrap();
        folder.check("image", "s3://bucket/image", |server| {
            server.args(["--endpoint", &store.endpoint]);
            server.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
        });
    }
}

#[test]
#[ignore = "needs nbdkit, libnbd-bin and qemu-utils, which `make nbd-programs` installs"]
fn images_that_cannot_be_read_are_refused_with_a_reason() {
    let folder = Folder::new();
    let secret = ["--object", "secret,id=key,data=word", "-o", "encrypt.format=luks,encrypt.key-secret=key"];
    let kinds: [(&[&str], &str); 4] = [
        (&["-c", "-o", "compression_type=zstd"], "zstd"),
        (&["-o", "extended_l2=on"], "extended L2"),
        (&["-o", "data_file=data"], "data_file"),
        (&secret, "encrypted"),
    ];
    for (options, why) in kinds {
        folder.convert("image", options);
        let said = folder.error_of("image", &["--backing", "."]);
        assert!(said.contains(why), "{why}: {said}");
    }
    assert!(folder.error_of("raw", &[]).contains("--format raw"));
}
