//! The choices of a caller.

use std::ffi::c_char;
use std::mem;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Failure;
use crate::raw;

/// In the flags of struct forerun_options: asks an object store without credentials.
pub const FORERUN_ANONYMOUS: u64 = 1;

/// Choices of an engine. Zero and NULL stand for the default, so that an initializer names only the
/// fields that differ: { .size = sizeof(struct forerun_options), .memory_bytes = 64 << 20 }.
#[derive(Debug)]
#[repr(C)]
pub struct Options {
    /// sizeof(struct forerun_options). Later versions of the struct are longer.
    pub size: usize,
    /// Memory for cached bytes, data in flight included, in bytes: 256 MiB unless chosen, at least 4 MiB.
    pub memory_bytes: u64,
    /// The name of the policy: "adaptive" unless chosen.
    pub policy: *const c_char,
    /// How long names and sizes are believed, in milliseconds: 1000 unless chosen.
    pub metadata_ttl_ms: u64,
    /// How long transient errors are retried, in milliseconds: 30000 unless chosen.
    pub retry_timeout_ms: u64,
    /// The path of a profile, which records what is read and in which order for the next run.
    pub learn: *const c_char,
    /// The URL of an object store other than the provider's own.
    pub endpoint: *const c_char,
    /// The region of an S3 bucket.
    pub region: *const c_char,
    /// The profile of the AWS configuration files.
    pub profile: *const c_char,
    /// The path of a file with headers for a web server.
    pub header_file: *const c_char,
    /// The sum of flags, such as FORERUN_ANONYMOUS.
    pub flags: u64,
}

// SAFETY: it is `repr(C)`, each field has 8 bytes, so that no padding is between them, and any
// bytes are numbers or pointers.
unsafe impl raw::Growing for Options {
    const FIRST_BYTES: usize = mem::offset_of!(Options, flags) + mem::size_of::<u64>();
    const NAME: &'static str = "forerun_options";
}

/// The options at `from`; the defaults if it is NULL.
///
/// # Safety
/// `from` is NULL, or as long as its size says, and its texts end with a zero byte.
pub(crate) unsafe fn chosen(from: *const Options) -> Result<forerun::Options, Failure> {
    let mut options = forerun::Options::default();
    if from.is_null() {
        return Ok(options);
    }
    // SAFETY: the caller says so, and says the same of the texts below.
    let given = unsafe { raw::sized(from)? };
    let text = |text, what| unsafe { raw::text(text, what) }.map(|text| text.map(str::to_owned));
    if let Some(unknown) = Some(given.flags & !FORERUN_ANONYMOUS).filter(|unknown| *unknown != 0) {
        return Err(Failure::invalid(format!(
            "the flags {unknown:#x} in struct forerun_options mean nothing; leave them out"
        )));
    }
    if let Some(name) = text(given.policy, "policy")? {
        let unknown = |error| Failure::invalid(format!("the policy {name:?} is unknown: {error}"));
        options.policy = name.parse().map_err(unknown)?;
    }
    if given.memory_bytes != 0 {
        options.memory_bytes = given.memory_bytes;
    }
    if given.metadata_ttl_ms != 0 {
        options.metadata_ttl = Duration::from_millis(given.metadata_ttl_ms);
    }
    options.learn = text(given.learn, "path of the profile")?.map(PathBuf::from);
    let connect = &mut options.connect;
    connect.endpoint = text(given.endpoint, "endpoint")?;
    connect.anonymous = given.flags & FORERUN_ANONYMOUS != 0;
    connect.region = text(given.region, "region")?;
    connect.profile = text(given.profile, "AWS profile")?;
    connect.header_file = text(given.header_file, "path of the file of headers")?.map(PathBuf::from);
    if given.retry_timeout_ms != 0 {
        connect.retry.deadline = Duration::from_millis(given.retry_timeout_ms);
    }
    Ok(options)
}
