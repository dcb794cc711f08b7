//! The page of links by which web servers show a directory.

use std::collections::HashSet;

use html5gum::{Token, Tokenizer};
use url::Url;

use crate::bounds::URL_BYTES_MAX;
use crate::path;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) directory: bool,
}

/// The links of the page `html` at `base` to entries of its directory. Links to other places, to
/// the parent and to other sort orders are left out. Takes time in proportion to any page's length.
pub(super) fn links(html: &[u8], base: &Url) -> Vec<Link> {
    let Some(segments) = base.path_segments() else { return Vec::new() };
    let mut above: Vec<Vec<u8>> = segments.map(decode).collect();
    above.pop();
    let mut seen = HashSet::new();
    let links = hrefs(html).filter_map(|href| link(&href, base, &above));
    links.filter(|link| seen.insert(link.name.clone())).collect()
}

/// The entry of `href` on the page at `base`, whose path has the segments `above`.
fn link(href: &str, base: &Url, above: &[Vec<u8>]) -> Option<Link> {
    let url = base.join(href).ok()?;
    if url.origin() != base.origin() || url.query().is_some() {
        return None;
    }
    // Compared decoded, as servers disagree on the characters to encode.
    let mut below = url.path_segments()?.map(decode);
    if !above.iter().all(|segment| below.next().as_ref() == Some(segment)) {
        return None;
    }
    let name = String::from_utf8(below.next()?).ok()?;
    let directory = match below.next() {
        None => false,
        Some(end) if end.is_empty() && below.next().is_none() => true,
        Some(_) => return None,
    };
    path::is_name(&name).then_some(Link { name, directory })
}

/// The `href` of every `<a>` in `html`, with its entities decoded.
fn hrefs(html: &[u8]) -> impl Iterator<Item = String> {
    Tokenizer::new(html).filter_map(|token| {
        let Ok(Token::StartTag(mut tag)) = token else { return None };
        let is_link = tag.name.as_slice() == b"a";
        let href = tag.attributes.remove(&b"href"[..]).filter(|_| is_link)?;
        (href.len() <= URL_BYTES_MAX).then(|| String::from_utf8_lossy(&href).into_owned())
    })
}

/// Decodes percent-encoding; a `%` that encodes nothing stays.
pub(super) fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let encoded = after.get(..2).filter(|_| byte == b'%').and_then(|digits| {
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            u8::try_from(digit(0)? * 16 + digit(1)?).ok()
        });
        bytes.push(encoded.unwrap_or(byte));
        rest = if encoded.is_some() { &after[2..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests;
