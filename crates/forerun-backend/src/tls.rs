//! TLS for every client.

/// Makes ring the process's TLS provider, unless the program has chosen one. Clients need one.
pub(crate) fn install() {
    // Fails only if a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
