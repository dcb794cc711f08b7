//! READDIR and READDIRPLUS.

use forerun::Entry;
use nfs3_types::nfs3::{
    READDIR3resok, READDIRPLUS3resok, cookieverf3, dirlist3, dirlistplus3, entry3, entryplus3, nfsstat3,
    post_op_attr, post_op_fh3,
};
use nfs3_types::xdr_codec::{BoundedList, List, Pack};

use super::super::protocol::{Credential, LIST_BYTES_MAX, NAME_BYTES_MAX};
use super::attributes::file_id;
use super::caller::{Caller, READ};
use super::failure::status_of_handle;
use super::lists::{ListCookie, NextLine};
use super::{Found, Outcome, Tree};
use crate::served::{is_name, parent_of};

/// The reply besides its entries: status, no attributes, verifier, and whether it is the last.
const FIXED_BYTES: usize = 4 + 4 + 8 + 4;

/// A line of a listing.
struct Line<'a> {
    name: &'a str,
    file_id: u64,
    cookie: ListCookie,
    /// None of `.` and `..`, which clients know.
    entry: Option<&'a Entry>,
}

impl Tree {
    /// READDIR.
    pub(in super::super) async fn read_directory(
        &self,
        directory: &[u8],
        cookie: u64,
        count: u32,
        credential: &Credential,
    ) -> Outcome<READDIR3resok<'static>> {
        let found = self.find_directory(directory, &Caller::of(credential), READ).await?;
        let (entries, eof) = self
            .page(&found, cookie, count, |line| entry3 {
                fileid: line.file_id,
                name: line.name.as_bytes().to_vec().into(),
                cookie: line.cookie.0,
            })
            .await?;
        // Attributes would say that a directory has changed in the midst of its listing.
        let dir_attributes = post_op_attr::None;
        Ok(READDIR3resok {
            dir_attributes,
            cookieverf: cookieverf3::default(),
            reply: dirlist3 { entries, eof },
        })
    }

    /// READDIRPLUS.
    pub(in super::super) async fn read_directory_plus(
        &self,
        directory: &[u8],
        cookie: u64,
        count: u32,
        credential: &Credential,
    ) -> Outcome<READDIRPLUS3resok<'static>> {
        let found = self.find_directory(directory, &Caller::of(credential), READ).await?;
        let (entries, eof) = self
            .page(&found, cookie, count, |line| {
                let (name_attributes, name_handle) = match line.entry {
                    Some(entry) => (
                        post_op_attr::Some(self.attributes(found.export, entry)),
                        post_op_fh3::Some(self.handle(found.export, entry)),
                    ),
                    None => (post_op_attr::None, post_op_fh3::None),
                };
                entryplus3 {
                    fileid: line.file_id,
                    name: line.name.as_bytes().to_vec().into(),
                    cookie: line.cookie.0,
                    name_attributes,
                    name_handle,
                }
            })
            .await?;
        let (dir_attributes, cookieverf) = (post_op_attr::None, cookieverf3::default());
        Ok(READDIRPLUS3resok { dir_attributes, cookieverf, reply: dirlistplus3 { entries, eof } })
    }

    /// The lines behind `cookie` that fit into `count` bytes, and whether those are the last.
    async fn page<T: Pack>(
        &self,
        found: &Found<'_>,
        cookie: u64,
        count: u32,
        make: impl Fn(&Line<'_>) -> T,
    ) -> Outcome<(List<T>, bool)> {
        let (export, path) = (found.export, &found.entry.path);
        let cookie = ListCookie(cookie);
        let list = self.lists.get(export.id, &export.bucket, path, cookie).await;
        let list = list.map_err(|error| status_of_handle(&error))?;
        let mut page = BoundedList::new((count.min(LIST_BYTES_MAX) as usize).saturating_sub(FIXED_BYTES));
        let (mut next, mut is_empty) = (cookie.next(&list), true);
        loop {
            let (line, behind) = match next {
                NextLine::Dot => (Some(dot(found)), NextLine::DotDot),
                NextLine::DotDot => (Some(dot_dot(found)), NextLine::Entry(0)),
                NextLine::Entry(index) => match list.get(index) {
                    Some(entry) => (line(found, index, entry), NextLine::Entry(index + 1)),
                    None => {
                        self.lists.forget(export.id, path);
                        return Ok((page.into_inner(), true));
                    }
                },
            };
            if let Some(line) = line {
                match page.try_push(make(&line)) {
                    Ok(()) => is_empty = false,
                    Err(_) if is_empty => return Err(nfsstat3::NFS3ERR_TOOSMALL),
                    Err(_) => return Ok((page.into_inner(), false)),
                }
            }
            next = behind;
        }
    }
}

fn dot(found: &Found<'_>) -> Line<'static> {
    let file_id = file_id(found.export.id, &found.entry);
    Line { name: ".", file_id, cookie: ListCookie::DOT, entry: None }
}

/// Only the number of the parent matters.
fn dot_dot(found: &Found<'_>) -> Line<'static> {
    let file_id = file_id(found.export.id, &Entry::directory(parent_of(&found.entry.path)));
    Line { name: "..", file_id, cookie: ListCookie::DOT_DOT, entry: None }
}

/// The line of an entry. A name that no client takes is left out: it would make the whole listing fail.
fn line<'a>(found: &Found<'_>, index: usize, entry: &'a Entry) -> Option<Line<'a>> {
    let name = entry.name();
    if !is_name(name, NAME_BYTES_MAX as usize) {
        tracing::debug!(
            target: "forerun::nfs",
            "`{}` is left out of the listing: no file can have this name", entry.path
        );
        return None;
    }
    let file_id = file_id(found.export.id, entry);
    Some(Line { name, file_id, cookie: ListCookie::of(index, name), entry: Some(entry) })
}
