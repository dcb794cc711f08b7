//! `forerun serve`.

mod buckets;
mod listening;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use forerun_serve::http::{Domain, LogForm};

use crate::mount::{EngineOptions, LogOptions};
use crate::servers::{MonitoringOptions, NamedUrl, TlsOptions};
use crate::units::parse_duration;

const EXAMPLES: &str = "\
Examples:
  A bucket for the programs of this computer, which read it as S3:
      forerun serve --http localhost data=s3://my-bucket
      AWS_ENDPOINT_URL=http://localhost:9100 aws s3 cp s3://data/big.bin .
  The same object over plain HTTP:
      curl -O http://localhost:9100/-/data/big.bin
  The same bucket over NFS, for programs of this computer that read files:
      forerun serve --nfs localhost data=s3://my-bucket
      mount -t nfs -o vers=3,tcp,nolock,ro,port=2049,mountport=2049 localhost:/data /mnt/data
  A directory and a web server's files, for other computers that have a key or a password:
      forerun serve --http 0.0.0.0 --credentials keys.txt archive=/net/archive images=https://example.org/images/

To end the server, interrupt the program. It completes the answers that it has begun.";

/// Serve URLs over S3, HTTP and NFS
///
/// Serves each URL as a bucket to programs that read S3, and below /-/ to programs that read HTTP. Over NFS
/// each is an export. The server reads ahead for all of them, and programs that want the same bytes share one
/// fetch. All buckets are read-only.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeCommand {
    /// The buckets: s3://BUCKET/PREFIX, https://HOST/PATH, or a directory
    ///
    /// A bucket is called NAME. Without it, a bucket is named by the last part of its URL.
    #[arg(value_name = "[NAME=]URL", required = true, value_parser = NamedUrl::parse)]
    urls: Vec<NamedUrl>,

    /// Listen at a TCP address, as in localhost or 192.0.2.1:9100, or at the Unix socket unix:PATH
    ///
    /// Port 9100 is used unless ADDR has one.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,

    /// Listen for clients of NFS 3 at a TCP address, as in localhost or 192.0.2.1:2049
    ///
    /// Port 2049 is used unless ADDR has one. The mount protocol is at the same port, and no rpcbind is needed. Nothing
    /// is encrypted.
    #[arg(long, value_name = "ADDR")]
    nfs: Option<String>,

    /// Let hosts below NAME name buckets of S3 too: BUCKET.NAME has the objects of NAME/BUCKET
    ///
    /// Some clients name buckets in this way unless they are told otherwise. NAME is a host name without a port, as in
    /// s3.example.org, and all hosts below it have to lead to this server.
    #[arg(long, value_name = "NAME", value_parser = Domain::new)]
    domain: Option<Domain>,

    #[command(flatten)]
    tls: TlsOptions,

    /// Let only clients read over HTTP that have one of the credentials in FILE
    ///
    /// A line of FILE is `s3 ACCESS-KEY SECRET-KEY`, `basic USER PASSWORD` or `bearer TOKEN`.
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// Let everybody read who reaches the address
    ///
    /// A server for this computer alone needs neither this nor credentials. NFS has no credentials.
    #[arg(long, conflicts_with = "credentials")]
    public: bool,

    /// Append a line for each request over HTTP to FILE, or write it to standard output if FILE is -
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,

    /// The form of the access log
    #[arg(long, value_name = "FORM", value_enum, default_value = "common", requires = "access_log")]
    access_log_form: Form,

    /// Serve at most COUNT clients at once; others wait
    #[arg(long, value_name = "COUNT", default_value = "4096", value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,

    /// How long a client may rest between requests, and take no bytes of an answer, as in 60s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    idle: Duration,

    #[command(flatten)]
    engine: EngineOptions,

    /// How long the list of a directory and the size of an object may be out of date, as in 500ms, 1s or 5m
    ///
    /// A client never gets bytes of two versions in one answer, at any value.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    metadata_ttl: Duration,

    #[command(flatten)]
    monitoring: MonitoringOptions,

    #[command(flatten)]
    log: LogOptions,
}

/// The form of an access log.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    /// The Common Log Format, and the time that a request took
    Common,
    /// A JSON object in each line
    Json,
}

impl From<Form> for LogForm {
    fn from(form: Form) -> LogForm {
        match form {
            Form::Common => LogForm::Common,
            Form::Json => LogForm::Json,
        }
    }
}

impl ServeCommand {
    /// Serves until a signal comes.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        buckets::serve(&self)
    }
}
