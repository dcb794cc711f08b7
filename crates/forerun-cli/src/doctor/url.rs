//! Whether a URL can be read, asked by the backend that a mount would use.

use std::sync::Arc;

use forerun_backend::{Backend, ConnectOptions, Connected, Entry, Error, ErrorKind, Kind, connect};
use futures::TryStreamExt;

use super::finding::{Finding, Level};
use super::watch::{Exchange, watch};

/// S3 refuses requests whose time differs by more.
const SKEW_S_MAX: u64 = 15 * 60;
/// A smaller difference is worth a warning.
const SKEW_S_NOTABLE: u64 = 60;
/// How many directories are listed in search of an object.
const LISTS_MAX: u32 = 8;

/// Checks `url`.
pub(super) async fn check(url: &str, mut options: ConnectOptions) -> Vec<Finding> {
    let shown = forerun::without_secrets(url);
    let is_anonymous = options.anonymous;
    let client = match options.client() {
        Ok(client) => client,
        Err(error) => return about(&shown, vec![Finding::new(Level::Fault, "reach", error.to_string())]),
    };
    let (client, exchanges) = watch(client);
    options.http = Some(client);
    let connected = connect(url, &options).await;
    let mut findings = vec![reach(&connected, &exchanges.lock())];
    if exchanges.lock().is_empty() && connected.is_ok() {
        // A local directory has neither credentials nor a clock.
        findings.extend(files(connected).await);
        return about(&shown, findings);
    }
    findings.extend(credentials(&connected, is_anonymous, &exchanges.lock()));
    let is_signed = url.starts_with("s3:") && !is_anonymous;
    findings.extend(clock(is_signed, &exchanges.lock()));
    findings.extend(parts(connected, &exchanges).await);
    about(&shown, findings)
}

fn about(url: &str, findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().map(|finding| Finding { url: Some(url.to_owned()), ..finding }).collect()
}

/// Whether a server answers, although another check finds a fault.
fn answers(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Denied | ErrorKind::NoRange)
}

/// Whether a server answered at all, and found something.
fn reach(connected: &Result<Connected, Error>, exchanges: &[Exchange]) -> Finding {
    let last = exchanges.last().map(|last| format!("{} answered {}", last.request, last.status));
    match (connected, last) {
        (Ok(_), last) => Finding::new(Level::Ok, "reach", last.unwrap_or_else(|| "it is there".to_owned())),
        (Err(error), Some(last)) if answers(error) => Finding::new(Level::Ok, "reach", last),
        (Err(error), _) => Finding::new(Level::Fault, "reach", error.to_string()),
    }
}

/// Where the credentials come from, or which request was refused.
fn credentials(
    connected: &Result<Connected, Error>,
    is_anonymous: bool,
    exchanges: &[Exchange],
) -> Option<Finding> {
    let (level, message) = match connected {
        Err(error) if error.kind == ErrorKind::Denied => {
            let refused = exchanges.iter().rfind(|exchange| exchange.status >= 400);
            let refused = refused.map(|one| format!("; {} answered {}", one.request, one.status));
            (Level::Fault, format!("{error}{}", refused.unwrap_or_default()))
        }
        Err(_) => return None,
        Ok(Connected { credentials: Some(source), .. }) => (Level::Ok, format!("they come from {source}")),
        Ok(_) if exchanges.iter().any(|exchange| exchange.has_credentials) => {
            (Level::Ok, "they come from the URL, --header-file or ~/.netrc".to_owned())
        }
        Ok(_) if is_anonymous => (Level::Ok, "none are sent, as --anonymous says".to_owned()),
        Ok(_) => (Level::Ok, "none are needed".to_owned()),
    };
    Some(Finding::new(level, "credentials", message))
}

/// Whether this clock is that of the server, which refuses signed requests of another time.
fn clock(is_signed: bool, exchanges: &[Exchange]) -> Option<Finding> {
    let skew = exchanges.iter().rev().find_map(|exchange| exchange.skew_s)?;
    let distance = skew.unsigned_abs();
    let order = if skew > 0 { "behind" } else { "ahead of" };
    let shown = format!("this clock is {distance} s {order} the server's");
    let (level, message) = match distance {
        0..SKEW_S_NOTABLE => (Level::Ok, "this clock and the server's agree".to_owned()),
        SKEW_S_NOTABLE..=SKEW_S_MAX => {
            (Level::Warning, format!("{shown}: set the clock, as by `timedatectl set-ntp true`"))
        }
        _ if is_signed => (
            Level::Fault,
            format!("{shown}, and S3 refuses more than 15 minutes: set it, as by `timedatectl set-ntp true`"),
        ),
        _ => (Level::Warning, format!("{shown}: set the clock, as by `timedatectl set-ntp true`")),
    };
    Some(Finding::new(level, "clock", message))
}

/// Whether the server sends parts of an object, and tells its versions apart.
async fn parts(
    connected: Result<Connected, Error>,
    exchanges: &Arc<parking_lot::Mutex<Vec<Exchange>>>,
) -> Vec<Finding> {
    let connected = match connected {
        Ok(connected) => connected,
        Err(error) if error.kind == ErrorKind::NoRange => {
            return vec![Finding::new(Level::Fault, "ranges", error.to_string())];
        }
        Err(_) => return Vec::new(),
    };
    let entry = match find(&connected).await {
        Ok(Some(entry)) => entry,
        Ok(None) => {
            let message = "no object of 2 bytes or more was found near the top, so parts were not tried";
            return vec![Finding::new(Level::Ok, "ranges", message)];
        }
        Err(error) => return vec![Finding::new(Level::Fault, "ranges", error.to_string())],
    };
    let read = read_part(&*connected.backend, &entry).await;
    let exchanges = exchanges.lock();
    let last = exchanges.iter().rfind(|exchange| exchange.is_part);
    let validator = exchanges.iter().rev().filter(|exchange| exchange.is_part).find_map(|one| one.validator);
    let status = last.map_or(0, |last| last.status);
    let ranges = match read {
        Ok(()) => Finding::new(Level::Ok, "ranges", format!("the server sends parts of objects ({status})")),
        Err(error) => Finding::new(Level::Fault, "ranges", error.to_string()),
    };
    let versions = match validator {
        Some(validator) => Finding::new(Level::Ok, "versions", format!("{validator} tells versions apart")),
        None => Finding::new(
            Level::Warning,
            "versions",
            "the server sends neither ETag nor Last-Modified, so a change that keeps the size goes unnoticed: have \
             the server send one of them",
        ),
    };
    vec![ranges, versions]
}

/// Whether the bytes of a local directory can be read.
async fn files(connected: Result<Connected, Error>) -> Option<Finding> {
    let connected = connected.ok()?;
    let read = async {
        match find(&connected).await? {
            Some(entry) => read_part(&*connected.backend, &entry).await,
            None => Ok(()),
        }
    };
    Some(match read.await {
        Ok(()) => Finding::new(Level::Ok, "read", "it can be read"),
        Err(error) => Finding::new(Level::Fault, "read", error.to_string()),
    })
}

/// The first object with a second byte, in the order of the listings.
async fn find(connected: &Connected) -> Result<Option<Entry>, Error> {
    if let Some(object) = &connected.object {
        return Ok(Some(connected.backend.stat(object).await?).filter(|entry| entry.size > 1));
    }
    let mut folders = std::collections::VecDeque::from([String::new()]);
    for _ in 0..LISTS_MAX {
        let Some(folder) = folders.pop_front() else { break };
        for entry in connected.backend.list(&folder).await? {
            match entry.kind {
                Kind::Directory => folders.push_back(entry.path),
                Kind::File if entry.size > 1 => return Ok(Some(entry)),
                _ => {}
            }
        }
    }
    Ok(None)
}

/// Reads the last byte, which a server that sends no parts cannot answer.
async fn read_part(backend: &dyn Backend, entry: &Entry) -> Result<(), Error> {
    let last = entry.size - 1..entry.size;
    let mut bytes = backend.fetch(&entry.path, &entry.version, last).await?;
    while bytes.try_next().await?.is_some() {}
    Ok(())
}
