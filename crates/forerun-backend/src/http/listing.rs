//! The page of links that web servers make of a directory.

use std::collections::HashSet;

use url::Url;

use crate::path;

/// Something a directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) directory: bool,
}

/// What the page `html` at `base` links to directly below itself. Links to
/// elsewhere, to the parent and to other sort orders are no part of the listing.
pub(super) fn links(html: &str, base: &Url) -> Vec<Link> {
    let mut seen = HashSet::new();
    let links = hrefs(html).filter_map(|href| link(&unescape(href), base));
    links.filter(|link| seen.insert(link.name.clone())).collect()
}

fn link(href: &str, base: &Url) -> Option<Link> {
    let url = base.join(href).ok()?;
    if url.origin() != base.origin() || url.query().is_some() {
        return None;
    }
    // Compared decoded, as servers disagree on what to encode.
    let mut below = url.path_segments()?.map(decode);
    let mut above: Vec<Vec<u8>> = base.path_segments()?.map(decode).collect();
    above.pop();
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

/// The `href` of every `<a>` in `html`, still escaped.
fn hrefs(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('<')? + 1..];
            let anchor = rest.strip_prefix(['a', 'A']).filter(|tag| tag.starts_with(char::is_whitespace));
            if let Some(href) = anchor.and_then(href) {
                return Some(href);
            }
        }
    })
}

/// The value of the attribute `href` in the tag whose attributes start `tag`.
fn href(tag: &str) -> Option<&str> {
    let mut rest = tag.trim_start();
    loop {
        let end = rest.find(|c: char| c == '=' || c == '>' || c.is_whitespace())?;
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        let Some(value) = after.strip_prefix('=') else {
            if after.starts_with('>') {
                return None;
            }
            rest = after;
            continue;
        };
        let (value, after) = value_of(value.trim_start())?;
        if name.eq_ignore_ascii_case("href") {
            return Some(value);
        }
        rest = after.trim_start();
    }
}

/// An attribute's value, quoted or not, and what follows it.
fn value_of(text: &str) -> Option<(&str, &str)> {
    match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].split_once(quote),
        _ => Some(text.split_at(text.find(|c: char| c == '>' || c.is_whitespace())?)),
    }
}

/// Replaces the entities that servers write into links and keys.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        match rest.split_once(';').and_then(|(entity, after)| Some((character(&entity[1..])?, after))) {
            Some((character, after)) => {
                plain.push(character);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain + rest
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// Undoes percent-encoding; a `%` that encodes nothing stays.
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
