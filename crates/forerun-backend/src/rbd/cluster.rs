//! A connection to a cluster, and its settings.

use std::ffi::{CStr, c_char};
use std::ptr;

use super::address::CephClient;
use super::errno::{failed, not_connected};
use super::ffi;
use super::pool::{c_string, check};
use crate::http::IDLE_TIMEOUT;
use crate::{Error, ErrorKind, Result};

/// The option of librados that bounds the wait for an operation on an image.
const OPERATION_TIMEOUT: &CStr = c"rados_osd_op_timeout";
/// The options of librados that bound its waits, with its defaults: five minutes, and for ever.
const TIMEOUTS: [(&CStr, f64); 3] =
    [(c"client_mount_timeout", 300.0), (c"rados_mon_op_timeout", 0.0), (OPERATION_TIMEOUT, 0.0)];

/// The operations that a connection is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    Read,
    /// Reads and writes. Each waits for the cluster as long as it takes. A write that librados gives up may still be
    /// done, and nobody would know.
    Write,
}

/// A connection to a cluster.
pub(super) struct Cluster(pub(super) ffi::Handle);

impl Drop for Cluster {
    fn drop(&mut self) {
        // SAFETY: `rados_create` made the handle, and this is its last use.
        unsafe { ffi::rados_shutdown(self.0) }
    }
}

impl Cluster {
    /// Connects to the cluster of `client`'s settings. Blocks.
    pub(super) fn connect(client: &CephClient, access: Access) -> Result<Cluster> {
        let id = client.id.as_deref().unwrap_or("admin");
        let mut cluster = ptr::null_mut();
        let name = c_string(id)?;
        // SAFETY: the name ends in zero, and `cluster` takes the result.
        let code = unsafe { ffi::rados_create(&mut cluster, name.as_ptr()) };
        check(code, || "librados".to_owned())?;
        let cluster = Cluster(cluster);
        read_settings(&cluster, client)?;
        // The engine plans what is read ahead and keeps it: librbd would do both a second time.
        set(&cluster, c"rbd_cache", c"false")?;
        limit_waits(&cluster, access)?;
        // SAFETY: the cluster was created and is not connected yet.
        let code = unsafe { ffi::rados_connect(cluster.0) };
        if code < 0 { Err(not_connected(id, code.into())) } else { Ok(cluster) }
    }
}

fn read_settings(cluster: &Cluster, client: &CephClient) -> Result<()> {
    let path = client.conf.as_ref().map(|conf| c_string(&conf.to_string_lossy())).transpose()?;
    let pointer = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
    // SAFETY: the cluster was created, and the path ends in zero or is null.
    let code = unsafe { ffi::rados_conf_read_file(cluster.0, pointer) };
    let is_missing = code == -rustix::io::Errno::NOENT.raw_os_error();
    // CEPH_ARGS may have all settings.
    if code >= 0 || (is_missing && client.conf.is_none()) {
        return Ok(());
    }
    let conf = client.conf.as_ref().map_or("ceph.conf".into(), |conf| conf.display().to_string());
    let error = failed(&format!("cannot read Ceph's settings in {conf}"), code.into());
    Err(Error { kind: ErrorKind::Invalid, ..error })
}

/// Bounds the waits that the user has not bounded.
fn limit_waits(cluster: &Cluster, access: Access) -> Result<()> {
    let limit = c_string(&IDLE_TIMEOUT.as_secs().to_string())?;
    for (option, default) in TIMEOUTS {
        let is_limited = access == Access::Read || option != OPERATION_TIMEOUT;
        if is_limited && seconds(cluster, option) == Some(default) {
            set(cluster, option, &limit)?;
        }
    }
    Ok(())
}

fn seconds(cluster: &Cluster, option: &CStr) -> Option<f64> {
    let mut value = [0_u8; 64];
    // SAFETY: the cluster was created, the option ends in zero, and the value has as many bytes as said.
    let code = unsafe {
        ffi::rados_conf_get(cluster.0, option.as_ptr(), value.as_mut_ptr().cast::<c_char>(), value.len())
    };
    let text = CStr::from_bytes_until_nul(&value).ok().filter(|_| code >= 0)?.to_str().ok()?;
    text.trim_end_matches('s').parse().ok()
}

fn set(cluster: &Cluster, option: &CStr, value: &CStr) -> Result<()> {
    // SAFETY: the cluster was created, and both strings end in zero.
    let code = unsafe { ffi::rados_conf_set(cluster.0, option.as_ptr(), value.as_ptr()) };
    check(code, || format!("the option {option:?} of Ceph"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created() -> Cluster {
        let mut cluster = ptr::null_mut();
        // SAFETY: `cluster` takes the result, and the client has its usual name.
        assert_eq!(unsafe { ffi::rados_create(&mut cluster, ptr::null()) }, 0);
        Cluster(cluster)
    }

    #[test]
    fn waits_end_after_ten_seconds_unless_the_user_says_otherwise() {
        let waits = |access, own: Option<&CStr>| {
            let cluster = created();
            own.iter().for_each(|own| set(&cluster, OPERATION_TIMEOUT, own).unwrap());
            limit_waits(&cluster, access).unwrap();
            TIMEOUTS.map(|(option, _)| seconds(&cluster, option).unwrap())
        };
        assert_eq!(waits(Access::Read, None), [10.0, 10.0, 10.0]);
        assert_eq!(waits(Access::Write, None), [10.0, 10.0, 0.0], "a write is not given up");
        for access in [Access::Read, Access::Write] {
            assert_eq!(waits(access, Some(c"45")), [10.0, 10.0, 45.0]);
        }
    }

    #[test]
    fn a_file_of_settings_that_is_missing_is_named() {
        let client = CephClient { id: None, conf: Some("/no/such/ceph.conf".into()) };
        let error = read_settings(&created(), &client).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("/no/such/ceph.conf: No such file"), "{error}");
    }
}
