//! The `forerun` program as its users meet it.

#[path = "../../../forerun-backend/tests/answers/mod.rs"]
mod answers;
mod bench_clients;
mod bench_json;
mod bench_server;
mod both;
#[path = "../support/bytes.rs"]
mod bytes;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-serve/tests/support/certificates.rs"]
mod certificates;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-backend/tests/credentials/cloud.rs"]
mod cloud;
mod configuration;
mod credentials;
mod crowds;
mod daemon;
mod descriptor;
mod doctor;
mod ending;
mod explain;
mod headers;
mod helper;
mod learn;
mod lists;
mod log;
mod loops;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-serve/tests/nbd/images/maker.rs"]
mod maker;
mod memory;
mod metrics;
mod mount;
mod mounts;
mod nbd;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-serve/tests/nbd/client.rs"]
mod nbd_client;
mod nfs;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-serve/tests/nfs/client.rs"]
mod nfs_client;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../support/nginx.rs"]
mod nginx;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../../../forerun-serve/tests/nbd/numbers.rs"]
mod numbers;
mod outages;
mod overlays;
mod passed;
mod passthrough;
mod profiles;
mod progress;
mod redirects;
mod remount;
mod run;
mod secrets;
mod serve;
mod service;
mod serving;
mod shared_cache;
mod sharing;
mod support;
mod tls;
mod usage;
mod users;
