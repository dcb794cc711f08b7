//! The windows of a policy, as text: reads in, windows out.
//!
//! `r 0 64k; r 64k 64k` reads 64 KiB at 0 and at 64 KiB, a millisecond apart, from storage that answers at
//! once. The answer lists each window after the read that asked for it, as `offset+len mark position`.

use std::fmt::Write;

use forerun_engine::*;

pub(crate) fn windows(policy: PolicyChoice, script: &str) -> String {
    let mut config = Config::new(64 << 20);
    config.policy = policy;
    config.events_max = 1000;
    let mut engine = Engine::new(config).expect("a configuration that works");
    engine.open(ObjectId(1), 64 << 20);
    let mut said = String::new();
    for (index, line) in script.split(';').enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["r", offset, len] = words[..] else { panic!("not a read: {line}") };
        let now = Time(index as u64 * 1_000_000);
        let extent = Extent::new(bytes(offset), bytes(len));
        let mut memory = Vec::new();
        let outcome = engine.read(now, ObjectId(1), ReaderId(1), extent, &mut memory);
        while let Some(fetch) = engine.poll_fetch(now) {
            engine.handle_fetched(now, fetch.id);
        }
        while engine.poll_reply().is_some() {}
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        engine.release(read);
        while let Some(event) = engine.poll_event() {
            if let Event::Window { extent, mark, .. } = event {
                let (offset, len) = (short(extent.offset), short(extent.len));
                write!(said, "{offset}+{len} mark {}; ", short(mark)).expect("a string takes all");
            }
        }
    }
    said.trim_end_matches("; ").to_string()
}

pub(crate) fn bytes(word: &str) -> u64 {
    let (digits, unit) = match word.strip_suffix('k') {
        Some(digits) => (digits, 1024),
        None => (word.strip_suffix('m').unwrap_or(word), if word.ends_with('m') { 1 << 20 } else { 1 }),
    };
    digits.parse::<u64>().expect("a number") * unit
}

fn short(bytes: u64) -> String {
    match bytes {
        0 => "0".into(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        _ if bytes.is_multiple_of(1024) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}
