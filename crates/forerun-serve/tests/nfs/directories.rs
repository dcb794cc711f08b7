//! Listings.

use std::collections::BTreeSet;

use nfs3_types::nfs3::*;
use nfs3_types::xdr_codec::Pack;

use super::client::{Client, Procedure, result};
use super::support::Served;

const FILES: usize = 3000;

fn names() -> Vec<String> {
    (0..FILES).map(|number| format!("file-{number:05}")).collect()
}

fn served() -> Served {
    let served = Served::new(&[]);
    for name in names() {
        served.storage.objects.replace(&format!("many/{name}"), vec![1]);
    }
    served
}

fn page(client: &mut Client, dir: &nfs_fh3, cookie: u64, count: u32) -> Result<dirlist3<'static>, nfsstat3> {
    let arguments = READDIR3args { dir: dir.clone(), cookie, cookieverf: cookieverf3::default(), count };
    let page = result(client.call::<READDIR3res<'static>>(Procedure::NFSPROC3_READDIR, &arguments))?;
    assert!(page.packed_size() <= count as usize, "{} bytes of {count}", page.packed_size());
    Ok(page.reply)
}

/// The names of all pages from `cookie` on; `between` comes before each page but the first.
fn list(client: &mut Client, dir: &nfs_fh3, cookie: u64, mut between: impl FnMut(usize)) -> Vec<String> {
    let (mut cookie, mut names) = (cookie, Vec::new());
    for number in 0.. {
        if number > 0 {
            between(number);
        }
        let page = page(client, dir, cookie, 4096).unwrap();
        cookie = page.entries.0.last().map_or(cookie, |entry| entry.cookie);
        names.extend(page.entries.0.iter().map(|entry| String::from_utf8(entry.name.0.to_vec()).unwrap()));
        if page.eof {
            return names;
        }
    }
    names
}

#[test]
fn pages_have_every_name_once_and_in_order() {
    let served = served();
    let mut client = served.connect();
    let directory = client.open("many");
    let listed = list(&mut client, &directory, 0, |_| {});
    assert_eq!(listed[..2], [".", ".."]);
    assert_eq!(listed[2..], names());
    let first = page(&mut client, &directory, 0, 4096).unwrap();
    let numbers: BTreeSet<u64> = first.entries.0.iter().map(|entry| entry.fileid).collect();
    assert_eq!(numbers.len(), first.entries.0.len());
    assert_eq!(page(&mut client, &directory, 0, 30).unwrap_err(), nfsstat3::NFS3ERR_TOOSMALL);
    let file = client.open("many/file-00000");
    assert_eq!(page(&mut client, &file, 0, 4096).unwrap_err(), nfsstat3::NFS3ERR_NOTDIR);
}

#[test]
fn a_page_goes_on_after_a_restart_and_after_changes() {
    let served = served();
    let mut client = served.connect();
    let directory = client.open("many");
    let first = page(&mut client, &directory, 0, 4096).unwrap();
    let (last, count) = (first.entries.0.last().unwrap().cookie, first.entries.0.len() - 2);
    let served = served.restart();
    let mut client = served.connect();
    assert_eq!(list(&mut client, &directory, last, |_| {}), names()[count..]);
    // A server that starts again knows nothing of the list.
    served.storage.objects.replace("many/aaa", vec![1]);
    let served = served.restart();
    assert_eq!(list(&mut served.connect(), &directory, last, |_| {}), names()[count..]);
    // One that goes on shows the list of the first page.
    let mut client = served.connect();
    let remove = |number: usize| served.storage.objects.remove(&format!("many/file-{number:05}"));
    let listed = list(&mut client, &directory, 0, remove);
    assert_eq!(listed[2..], [vec!["aaa".to_owned()], names()].concat());
    assert!(list(&mut client, &directory, 0, |_| {}).len() < listed.len());
}

#[test]
fn a_page_with_attributes_saves_the_lookups() {
    let served = served();
    let mut client = served.connect();
    let dir = client.open("many");
    let (mut cookie, mut names_seen) = (0, Vec::new());
    loop {
        let arguments = READDIRPLUS3args {
            dir: dir.clone(),
            cookie,
            cookieverf: cookieverf3::default(),
            dircount: 32 << 10,
            maxcount: u32::MAX,
        };
        let page =
            client.call::<READDIRPLUS3res<'static>>(Procedure::NFSPROC3_READDIRPLUS, &arguments).unwrap();
        assert!(page.packed_size() <= 64 << 10);
        for entry in &page.reply.entries.0 {
            cookie = entry.cookie;
            names_seen.push(String::from_utf8(entry.name.0.to_vec()).unwrap());
            if let (Nfs3Option::Some(attributes), Nfs3Option::Some(_)) =
                (&entry.name_attributes, &entry.name_handle)
            {
                assert_eq!((attributes.fileid, attributes.size), (entry.fileid, 1));
            } else {
                assert!(names_seen.len() <= 2, "{} has no attributes", names_seen.last().unwrap());
            }
        }
        if page.reply.eof {
            let last = page.reply.entries.0.last().unwrap();
            let found = client.look_up(&dir, "file-02999").unwrap();
            assert_eq!(last.name_handle, Nfs3Option::Some(found.object));
            break;
        }
    }
    assert_eq!(names_seen[2..], names());
}
