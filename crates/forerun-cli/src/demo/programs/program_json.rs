//! The figures of programs as JSON.

use forerun_lab::export::json::Json;

use super::comparison::Comparison;
use super::contender::Contender;
use super::outcome::Summary;

/// All figures, in whole bytes and microseconds.
pub(super) fn json(groups: &[Comparison]) -> String {
    let mut json = Json::default();
    let microseconds = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 1e6).round() as u64);
    let each = |json: &mut Json, (contender, summary): &(Contender, Summary)| {
        json.object(|json| {
            json.key("contender").text(contender.name());
            json.key("microseconds").maybe(microseconds(summary.seconds));
            json.key("touched_bytes").maybe(summary.touched);
            let fetched = summary.fetched_ratio.zip(summary.touched);
            json.key("fetched_bytes")
                .maybe(fetched.map(|(ratio, touched)| (ratio * touched as f64).round() as u64));
            json.key("memory_peak_bytes").maybe(summary.memory_peak);
            json.key("store_microseconds").maybe(microseconds(summary.store));
            json.key("mount_microseconds").maybe(microseconds(summary.mount));
            json.key("program_microseconds").maybe(microseconds(summary.program));
            json.key("wrong").number(u64::from(summary.is_wrong));
            json.key("failed").number(u64::from(summary.has_failed));
            if let Some(why) = &summary.unavailable {
                json.key("unavailable").text(why);
            }
        });
    };
    json.object(|json| {
        json.key("programs").array(groups, |json, (row, contenders)| {
            json.object(|json| {
                json.key("name").text(row.name);
                json.key("title").text(row.title);
                json.key("contenders").array(contenders, each);
            });
        });
    });
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::super::catalog::Program;
    use super::*;

    #[test]
    fn json_has_every_figure() {
        let fast = Summary {
            seconds: Some(2.5),
            touched: Some(1_000_000_000),
            fetched_ratio: Some(1.05),
            mount: Some(1.25),
            ..Summary::default()
        };
        let slow = Summary { seconds: None, ..fast.clone() };
        let each = vec![(Contender::Forerun, fast), (Contender::None, slow)];
        let text = json(&[(Program::parse("memmap").unwrap(), each)]);
        for part in [
            "\"name\": \"memmap\"",
            "\"contender\": \"forerun\"",
            "\"microseconds\": 2500000",
            "\"microseconds\": null",
            "\"fetched_bytes\": 1050000000",
            "\"mount_microseconds\": 1250000",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
