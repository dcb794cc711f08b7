//! An S3 server on this machine.

use std::path::{Path, PathBuf};

use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::dto::{
    CommonPrefix, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, ListObjectsV2Input,
    ListObjectsV2Output,
};
use s3s::service::S3ServiceBuilder;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};
use tokio::net::TcpListener;

/// The buckets below a directory. The file system store has two faults, which this hides. It
/// answers 500 to a HEAD of a directory, where S3 finds no such key. It cannot hold keys with `//`,
/// and every listing of a directory here has one.
struct Buckets {
    files: s3s_fs::FileSystem,
    root: PathBuf,
}

impl Buckets {
    fn refuse_directory(&self, bucket: &str, key: &str) -> S3Result<()> {
        if self.root.join(bucket).join(key).is_dir() { Err(s3_error!(NoSuchKey)) } else { Ok(()) }
    }
}

#[async_trait::async_trait]
impl S3 for Buckets {
    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        self.refuse_directory(&request.input.bucket, &request.input.key)?;
        self.files.head_object(request).await
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        self.refuse_directory(&request.input.bucket, &request.input.key)?;
        self.files.get_object(request).await
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let prefix = request.input.prefix.clone().unwrap_or_default();
        let delimited = request.input.delimiter.is_some();
        let mut response = self.files.list_objects_v2(request).await?;
        let has_any = response.output.contents.is_some() || response.output.common_prefixes.is_some();
        if delimited && has_any {
            let unnameable = CommonPrefix { prefix: Some(format!("{prefix}/")) };
            response.output.common_prefixes.get_or_insert_default().push(unnameable);
        }
        Ok(response)
    }
}

/// Starts a server whose buckets are the directories of `root`. Returns its endpoint.
pub(crate) async fn serve(root: &Path) -> String {
    let mut builder = S3ServiceBuilder::new(Buckets {
        files: s3s_fs::FileSystem::new(root).unwrap(),
        root: root.to_owned(),
    });
    builder.set_auth(SimpleAuth::from_single("id", "key"));
    let service = builder.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            // An answer is written in pieces: none must wait for the acknowledgement of the one
            // before.
            connection.set_nodelay(true).unwrap();
            let service = service.clone();
            let builder = hyper::server::conn::http1::Builder::new();
            tokio::spawn(builder.serve_connection(TokioIo::new(connection), service));
        }
    });
    endpoint
}
