//! Names, attributes and rights.

use nfs3_types::mount::{dirpath, exports, mountlist, mountres3, mountstat3};
use nfs3_types::nfs3::*;
use nfs3_types::rpc::auth_unix;
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack, Void};

use super::client::{Client, Procedure, result};
use super::support::{Served, pattern};

fn served() -> Served {
    Served::new(&[("a", pattern(5000, 1)), ("d/b", pattern(10, 2)), ("d/private", pattern(10, 3))])
}

#[test]
fn a_client_mounts_and_looks_names_up() {
    let served = served();
    let mut client = served.connect();
    let root = client.mount("/data");
    assert_eq!(client.mount("/data/"), root);
    let file = client.look_up(&root, "a").unwrap();
    let Nfs3Option::Some(attributes) = file.obj_attributes else { panic!("no attributes") };
    assert_eq!((attributes.type_, attributes.size, attributes.mode), (ftype3::NF3REG, 5000, 0o444));
    assert_eq!(client.attributes(&file.object).unwrap().fileid, attributes.fileid);
    let directory = client.look_up(&root, "d").unwrap().object;
    assert_eq!(client.mount("/data/d"), directory);
    assert_eq!(client.attributes(&directory).unwrap().type_, ftype3::NF3DIR);
    assert_eq!(client.look_up(&directory, "..").unwrap().object, root);
    assert_eq!(client.look_up(&directory, ".").unwrap().object, directory);
    assert_eq!(client.look_up(&root, "..").unwrap().object, root);
    let of_other = client.mount("/Other_2");
    assert!(of_other != root && client.look_up(&of_other, "a").unwrap().object != file.object);
    for (directory, name, status) in [
        (&root, "none", nfsstat3::NFS3ERR_NOENT),
        (&root, "d/b", nfsstat3::NFS3ERR_NOENT),
        (&root, "../Other_2/a", nfsstat3::NFS3ERR_NOENT),
        (&root, "/a", nfsstat3::NFS3ERR_NOENT),
        (&root, "a\0", nfsstat3::NFS3ERR_NOENT),
        (&root, "", nfsstat3::NFS3ERR_NOENT),
        (&root, &"n".repeat(256), nfsstat3::NFS3ERR_NAMETOOLONG),
        (&file.object, "a", nfsstat3::NFS3ERR_NOTDIR),
    ] {
        assert_eq!(client.look_up(directory, name).unwrap_err(), status, "{name}");
    }
}

#[test]
fn the_mount_protocol_tells_exports_and_mounts() {
    let served = served();
    let mut client = served.connect();
    let path = |path: &'static str| dirpath(Opaque::borrowed(path.as_bytes()));
    for (name, status) in [
        ("/none", mountstat3::MNT3ERR_NOENT),
        ("/", mountstat3::MNT3ERR_NOENT),
        ("/data/../data", mountstat3::MNT3ERR_NOENT),
        ("/data/a", mountstat3::MNT3ERR_NOTDIR),
    ] {
        match client.call_mount(1, &path(name)) {
            mountres3::Err(refused) => assert_eq!(refused as u32, status as u32, "{name}"),
            mountres3::Ok(_) => panic!("{name} is mounted"),
        }
    }
    client.mount("/data/d");
    client.mount("/Other_2");
    let list = client.call_mount::<exports<'static, 'static>>(5, &Void);
    let names: Vec<_> = list.0.iter().map(|node| node.ex_dir.0.to_vec()).collect();
    assert_eq!(names, [b"/data".to_vec(), b"/Other_2".to_vec()]);
    let mounted = |client: &mut Client| {
        let list = client.call_mount::<mountlist<'static, 'static>>(2, &Void);
        list.0.iter().map(|body| String::from_utf8(body.ml_directory.0.to_vec()).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(mounted(&mut client), ["/data/d", "/Other_2"]);
    client.call_mount::<Void>(3, &path("/data/d"));
    assert_eq!(mounted(&mut client), ["/Other_2"]);
    client.call_mount::<Void>(4, &Void);
    assert!(mounted(&mut client).is_empty());
    client.call_mount::<Void>(0, &Void);
}

#[test]
fn rights_are_those_of_the_storage_and_root_is_nobody() {
    let served = served();
    let file = served.connect().open("d/private");
    let user = |uid, gids: &[u32]| auth_unix { uid, gid: uid, gids: gids.to_vec(), ..auth_unix::default() };
    for (user, may_read) in
        [(user(1000, &[]), true), (user(1, &[7]), true), (user(1, &[]), false), (user(0, &[]), false)]
    {
        let mut client = served.connect();
        client.user = user;
        assert_eq!(client.read(&file, 0, 10).is_ok(), may_read, "{:?}", client.user);
        let arguments = ACCESS3args { object: file.clone(), access: 63 };
        let access =
            result(client.call::<ACCESS3res>(Procedure::NFSPROC3_ACCESS, &arguments)).unwrap().access;
        assert_eq!(access, if may_read { ACCESS3_READ } else { 0 });
        let root = client.mount("/data");
        let arguments = ACCESS3args { object: root, access: 63 };
        let access =
            result(client.call::<ACCESS3res>(Procedure::NFSPROC3_ACCESS, &arguments)).unwrap().access;
        assert_eq!(access, ACCESS3_READ | ACCESS3_LOOKUP);
    }
}

#[test]
fn the_file_system_is_described() {
    let served = served();
    let mut client = served.connect();
    let root = client.mount("/data");
    client.call::<Void>(Procedure::NFSPROC3_NULL, &Void);
    let info =
        client.call::<FSINFO3res>(Procedure::NFSPROC3_FSINFO, &FSINFO3args::from(root.clone())).unwrap();
    assert_eq!((info.rtmax, info.rtpref), (1 << 20, 1 << 20));
    client.call::<FSSTAT3res>(Procedure::NFSPROC3_FSSTAT, &FSSTAT3args::from(root.clone())).unwrap();
    let limits =
        client.call::<PATHCONF3res>(Procedure::NFSPROC3_PATHCONF, &PATHCONF3args::from(root.clone()));
    assert_eq!(limits.unwrap().name_max, 255);
    let link =
        client.call::<READLINK3res<'static>>(Procedure::NFSPROC3_READLINK, &READLINK3args { symlink: root });
    assert_eq!(result(link).unwrap_err(), nfsstat3::NFS3ERR_INVAL);
}

/// The result of `procedure`, which is that nothing can be changed.
fn refused<T: Unpack>(client: &mut Client, procedure: Procedure, arguments: &impl Pack) {
    let refused = client.call::<Nfs3Result<Void, T>>(procedure, arguments);
    assert_eq!(result(refused).unwrap_err(), nfsstat3::NFS3ERR_ROFS, "{procedure}");
}

#[test]
fn everything_that_writes_is_refused() {
    let served = served();
    let mut client = served.connect();
    let root = client.mount("/data");
    let file = client.open("a");
    let name = || diropargs3 { dir: root.clone(), name: b"x".as_slice().into() };
    let client = &mut client;
    let guard = Nfs3Option::None;
    refused::<SETATTR3resfail>(
        client,
        Procedure::NFSPROC3_SETATTR,
        &SETATTR3args { object: file.clone(), new_attributes: sattr3::default(), guard },
    );
    let data = Opaque::owned(vec![1; 32 << 10]);
    let write =
        WRITE3args { file: file.clone(), offset: 0, count: 32 << 10, stable: stable_how::UNSTABLE, data };
    refused::<WRITE3resfail>(client, Procedure::NFSPROC3_WRITE, &write);
    let how = createhow3::UNCHECKED(sattr3::default());
    refused::<CREATE3resfail>(client, Procedure::NFSPROC3_CREATE, &CREATE3args { where_: name(), how });
    let attributes = sattr3::default();
    refused::<MKDIR3resfail>(client, Procedure::NFSPROC3_MKDIR, &MKDIR3args { where_: name(), attributes });
    let symlink =
        symlinkdata3 { symlink_attributes: sattr3::default(), symlink_data: b"y".as_slice().into() };
    refused::<SYMLINK3resfail>(
        client,
        Procedure::NFSPROC3_SYMLINK,
        &SYMLINK3args { where_: name(), symlink },
    );
    let what = mknoddata3::NF3FIFO(sattr3::default());
    refused::<MKNOD3resfail>(client, Procedure::NFSPROC3_MKNOD, &MKNOD3args { where_: name(), what });
    refused::<REMOVE3resfail>(client, Procedure::NFSPROC3_REMOVE, &REMOVE3args { object: name() });
    refused::<RMDIR3resfail>(client, Procedure::NFSPROC3_RMDIR, &RMDIR3args { object: name() });
    refused::<RENAME3resfail>(client, Procedure::NFSPROC3_RENAME, &RENAME3args { from: name(), to: name() });
    refused::<LINK3resfail>(
        client,
        Procedure::NFSPROC3_LINK,
        &LINK3args { file: file.clone(), link: name() },
    );
    refused::<COMMIT3resfail>(client, Procedure::NFSPROC3_COMMIT, &COMMIT3args { file, offset: 0, count: 0 });
}
