//! The options of TLS.

use std::path::PathBuf;

use forerun_serve::Tls;

use crate::mount::Stop;
use crate::mount::service::Service;
use crate::print::say;

/// Whether and how clients begin TLS.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TlsOptions {
    /// Serve only clients that begin TLS, with the server's certificate in the PEM file
    ///
    /// The certificates of authorities between may follow it. SIGHUP has the files of TLS read again.
    #[arg(long = "tls-certificate", value_name = "PEM", requires = "tls_key", id = "tls_certificate")]
    certificate: Option<PathBuf>,

    /// The private key of the certificate
    #[arg(long = "tls-key", value_name = "PEM", requires = "tls_certificate", id = "tls_key")]
    key: Option<PathBuf>,

    /// Admit only clients that have a certificate of an authority in the PEM file
    #[arg(long = "tls-client-ca", value_name = "PEM", requires = "tls_certificate", id = "tls_client_ca")]
    client_ca: Option<PathBuf>,
}

impl TlsOptions {
    /// The certificate, if there is one.
    ///
    /// # Errors
    /// If a file cannot be read, or if the certificates and the key do not fit.
    pub(crate) fn load(&self) -> forerun::Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.certificate, &self.key) else { return Ok(None) };
        Tls::load(certificate, key, self.client_ca.as_deref()).map(Some)
    }

    /// Whether clients have to begin TLS.
    pub(crate) fn is_on(&self) -> bool {
        self.certificate.is_some()
    }

    /// Whether clients need a certificate.
    pub(crate) fn admits_few(&self) -> bool {
        self.client_ca.is_some()
    }
}

/// Waits for a signal that ends a server of `shown`. With `tls`, a hangup has its files read again instead.
pub(crate) async fn wait_for_end(mut stop: Stop, tls: Option<Tls>, service: Option<&Service>, shown: &str) {
    while stop.next().await
        && let Some(tls) = &tls
    {
        service.iter().for_each(|service| service.reloading("reading the certificate"));
        match tls.reload() {
            Ok(()) => say("the certificate is read again"),
            Err(error) => tracing::error!(target: "forerun::tls", "the old certificate stays: {error}"),
        }
        service.iter().for_each(|service| service.ready(shown));
    }
}
