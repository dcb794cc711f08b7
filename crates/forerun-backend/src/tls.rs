//! TLS for every client.

/// Makes ring the process's TLS provider, unless the program has chosen one:
/// without any, clients cannot be built.
pub(crate) fn install() {
    // Fails only where one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
