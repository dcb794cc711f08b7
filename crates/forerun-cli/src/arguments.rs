//! The arguments of this process. Every user of the machine can read them in `/proc/PID/cmdline`, as
//! `ps` does, so secrets are erased there.

use std::env;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;

use crate::print::say;

/// The fields of `/proc/self/stat` that give the addresses where the arguments begin and end, counted
/// from the field after the program's name.
const BEGIN_AND_END: [usize; 2] = [45, 46];

/// The arguments as they were given, with their secrets. The first call erases these from the memory
/// that other users see, so it comes before the process has threads.
pub(crate) fn given() -> &'static [OsString] {
    static GIVEN: LazyLock<Vec<OsString>> = LazyLock::new(|| {
        let given: Vec<OsString> = env::args_os().collect();
        if let Err(error) = hide_secrets(&given) {
            say(&format!("other users can see the secret in the URL ({error}): give it in a file"));
        }
        given
    });
    &GIVEN
}

/// The arguments as messages may show them.
pub(crate) fn shown() -> impl Iterator<Item = OsString> {
    let shown = |argument: &OsString| argument.to_str().map(|text| forerun::without_secrets(text).into());
    given().iter().map(move |argument| shown(argument).unwrap_or_else(|| argument.clone()))
}

/// Overwrites each argument that has a secret. Spaces take the place of the rest, so that all
/// arguments keep their places.
///
/// The kernel writes, by `/proc/self/mem`: a wrong address is an error here, where a pointer
/// would destroy memory. No reference to these bytes exists, since [`env::args_os`] copies them.
fn hide_secrets(given: &[OsString]) -> io::Result<()> {
    let shown = |argument: &OsString| {
        let mut shown = forerun::without_secrets(argument.to_str()?).into_bytes();
        let has_secret = shown.len() < argument.len();
        shown.resize(argument.len(), b' ');
        has_secret.then_some(shown)
    };
    let shown: Vec<Option<Vec<u8>>> = given.iter().map(shown).collect();
    if shown.iter().all(Option::is_none) {
        return Ok(());
    }
    let [begin, end] = addresses()?;
    if given.iter().map(|argument| argument.len() as u64 + 1).sum::<u64>() != end - begin {
        return Err(io::Error::other("the arguments are not where the kernel says"));
    }
    let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    let mut address = begin;
    for (argument, shown) in given.iter().zip(shown) {
        if let Some(shown) = shown {
            memory.write_all_at(&shown, address)?;
        }
        address += argument.len() as u64 + 1;
    }
    Ok(())
}

fn addresses() -> io::Result<[u64; 2]> {
    let stat = io::read_to_string(File::open("/proc/self/stat")?)?;
    // The name is in parentheses, and may have spaces and parentheses.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let address = |field: usize| fields.get(field)?.parse().ok();
    match BEGIN_AND_END.map(address) {
        [Some(begin), Some(end)] if begin < end => Ok([begin, end]),
        _ => Err(io::Error::other("/proc/self/stat does not say where the arguments are")),
    }
}
