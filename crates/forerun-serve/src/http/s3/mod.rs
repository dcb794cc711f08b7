//! The protocol of S3, as far as a read-only endpoint has it. `s3s` parses requests, checks signatures and writes
//! XML.

mod access_keys;
mod list;
mod name;
mod object_keys;
mod objects;
mod refusal;
mod request_rules;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::CONTENT_RANGE;
use hyper::{Method, Request, Response, StatusCode};
use s3s::dto::{
    Bucket as BucketDto, BucketLocationConstraint, GetBucketLocationInput, GetBucketLocationOutput,
    GetObjectInput, GetObjectOutput, HeadBucketInput, HeadBucketOutput, HeadObjectInput, HeadObjectOutput,
    ListBucketsInput, ListBucketsOutput, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
    ListObjectsV2Output,
};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

use super::{Answer, Credentials, Domain};
use crate::Buckets;
use crate::served::Bucket;
use access_keys::AccessKeys;
pub(super) use name::check_names;

/// The operations.
struct Endpoint {
    buckets: Arc<Buckets>,
}

/// The service of `buckets` for those who have `credentials`. Hosts below `domain` name buckets as well.
pub(super) fn service(
    buckets: &Arc<Buckets>,
    credentials: &Arc<Credentials>,
    domain: Option<&Domain>,
) -> S3Service {
    let mut builder = S3ServiceBuilder::new(Endpoint { buckets: Arc::clone(buckets) });
    if !credentials.is_empty() {
        builder.set_auth(AccessKeys::new(credentials));
    }
    if let Some(domain) = domain {
        builder.set_host(domain.clone());
    }
    builder.build()
}

/// The answer of `service`, or a refusal if the request would write. If `is_open`, everybody may read.
pub(super) async fn answer(service: &S3Service, mut request: Request<Incoming>, is_open: bool) -> Answer {
    if is_open {
        request_rules::remove_signature(&mut request);
    }
    let refusal = match *request.method() {
        Method::GET | Method::HEAD if is_open => None,
        Method::GET | Method::HEAD => request_rules::refusal(&request),
        _ => Some(s3_error!(AccessDenied, "This server is read-only.")),
    };
    request_rules::set_aside(&mut request);
    let answer = match refusal {
        None => service.call(request.map(s3s::Body::from)).await.ok().map(with_status),
        Some(refusal) => refusal.to_http_response().ok(),
    };
    answer.unwrap_or_else(|| {
        let mut answer = Response::new(s3s::Body::empty());
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        answer
    })
}

/// `s3s` answers a HEAD of a part as one of the whole object.
fn with_status(mut answer: Answer) -> Answer {
    if answer.status() == StatusCode::OK && answer.headers().contains_key(CONTENT_RANGE) {
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    answer
}

impl Endpoint {
    fn bucket(&self, name: &str) -> S3Result<&Arc<Bucket>> {
        self.buckets.get(name).ok_or_else(|| s3_error!(NoSuchBucket, "There is no bucket of this name."))
    }
}

#[async_trait::async_trait]
impl S3 for Endpoint {
    async fn list_buckets(&self, _: S3Request<ListBucketsInput>) -> S3Result<S3Response<ListBucketsOutput>> {
        let dto = |bucket: &Arc<Bucket>| BucketDto {
            // A bucket is as old as nobody knows, and clients want a date.
            creation_date: Some(std::time::SystemTime::UNIX_EPOCH.into()),
            name: Some(bucket.name.clone()),
            ..BucketDto::default()
        };
        let buckets = Some(self.buckets.iter().map(dto).collect());
        Ok(S3Response::new(ListBucketsOutput { buckets, ..ListBucketsOutput::default() }))
    }

    async fn head_bucket(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn get_bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> S3Result<S3Response<GetBucketLocationOutput>> {
        self.bucket(&request.input.bucket)?;
        // The first region has no name here.
        let location_constraint = Some(BucketLocationConstraint::from_static(""));
        Ok(S3Response::new(GetBucketLocationOutput { location_constraint }))
    }

    async fn list_objects(
        &self,
        request: S3Request<ListObjectsInput>,
    ) -> S3Result<S3Response<ListObjectsOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(list::version_1(bucket, request.input).await?))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(list::version_2(bucket, request.input).await?))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        objects::head(bucket, &request).await
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        objects::get(bucket, &request).await
    }
}
