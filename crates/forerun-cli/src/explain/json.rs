//! The explanation of a mount for programs: whole bytes and nanoseconds.

use forerun::{Explained, ListProgress, StreamReport};
use forerun_lab::export::by_class;
use forerun_lab::export::json::Json;

use super::subject::Subject;

/// The whole explanation.
pub(super) fn all(subject: &Subject) -> String {
    let (forerun, device) = (&subject.forerun, subject.forerun.device());
    let mut json = Json::default();
    json.object(|json| {
        json.key("url").text(&subject.url);
        json.key("directory").text(&subject.directory.display().to_string());
        json.key("process").number(u64::from(std::process::id()));
        json.key("policy").text(&subject.policy);
        json.key("memory_bytes").number(forerun.memory_bytes());
        json.key("memory_bytes_max").number(subject.forerun.memory_bytes_max());
        json.key("storage").object(|json| {
            json.key("latency_ns").number(device.latency_ns);
            json.key("throughput_bytes_per_s").number(device.throughput_bytes_per_s);
            json.key("fetch_bytes").number(device.fetch_bytes);
            json.key("pipe_bytes").number(device.pipe_bytes);
        });
        by_class(json.key("readahead"), &forerun.readahead());
        let counters = forerun.counters();
        json.key("made_again").object(|json| {
            json.key("count").number(counters.repeated_count);
            json.key("bytes").number(counters.repeated_bytes);
            json.key("won_count").number(counters.won_count);
        });
        json.key("lists").array(&forerun.lists(), list);
        json.key("objects").array(&forerun.explain(), object);
    });
    json.finish()
}

fn list(json: &mut Json, one: &ListProgress) {
    let report = &one.report;
    json.object(|json| {
        json.key("file_count").number(one.file_count as u64);
        json.key("bytes").number(report.bytes);
        json.key("read_bytes").number(report.read_bytes);
        json.key("ahead_bytes").number(report.ahead_bytes);
        json.key("state").text(if report.is_followed { "followed" } else { "left" });
    });
}

fn object(json: &mut Json, one: &Explained) {
    let report = &one.report;
    json.object(|json| {
        json.key("path").text(&one.path);
        json.key("size").number(report.size);
        json.key("reader_count").number(u64::from(report.reader_count));
        json.key("cached_bytes").number(report.cached_bytes);
        json.key("waiting_bytes").number(report.waiting_bytes);
        json.key("missed_bytes").number(report.missed_bytes);
        json.key("streams").array(&report.streams, |json, stream| of_stream(json, one, stream));
        if let Some(account) = &report.account {
            json.key("account").object(|json| {
                json.key("allowance_bytes").number(account.allowance_bytes);
                json.key("lost_bytes").number(account.lost_bytes);
                json.key("room_bytes").number(account.room_bytes);
                json.key("wait_bytes").number(account.wait_bytes);
            });
        }
        by_class(json.key("readahead"), &report.readahead);
    });
}

fn of_stream(json: &mut Json, one: &Explained, stream: &StreamReport) {
    json.object(|json| {
        json.key("class").text(stream.class.name());
        json.key("offset").number(stream.offset);
        json.key("window_bytes").number(stream.window_bytes);
        json.key("ahead_bytes").number(stream.ahead_bytes);
        json.key("why").text(stream.why.name());
        json.key("rate_bytes_per_s").number(stream.rate_bytes_per_s);
        json.key("service_ns").number(stream.service_ns);
        json.key("active_count").number(stream.active_count);
        json.key("idle_ns").number(one.idle(stream).as_nanos() as u64);
    });
}
