//! Recorded boots, where they are at hand.

use std::path::Path;
use std::time::Instant;

use forerun_sim::bound::{Clairvoyance, Future, bounds};
use forerun_sim::device::Preset;
use forerun_sim::source::{Pace, Replay, Scan, Source};
use forerun_trace::{Access, ReadOptions, Reader};

const TRACES: [&str; 2] = ["boot-virtio.csv", "boot-ide.csv.gz"];

#[test]
fn recorded_accesses_have_their_bracket() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/csv");
    for name in TRACES {
        let path = folder.join(name);
        if !path.exists() {
            println!("{name} is not here: skipped");
            continue;
        }
        let reader = Reader::open(&path, ReadOptions::default()).unwrap();
        let accesses: Vec<Access> = reader.collect::<Result<_, _>>().unwrap();
        let scan = Scan::of(&accesses);
        let make_source =
            || Box::new(Replay::new(accesses.iter().cloned(), scan.clone(), Pace::Closed)) as Box<dyn Source>;
        let started = Instant::now();
        let future = Future::record(&mut *make_source(), 0).unwrap();
        println!(
            "{name}: {} references, {} MiB, recorded in {:?}",
            future.reference_count(),
            future.footprint_bytes() >> 20,
            started.elapsed()
        );
        for device in ["ide-2006", "nfs-gbe"] {
            let preset = Preset::from_name(device).unwrap();
            for memory_bytes in [64 << 20, 1 << 30] {
                let clairvoyance =
                    Clairvoyance { memory_bytes, costs: preset.costs(), look_ahead: None, threads: 2 };
                let started = Instant::now();
                let found = bounds(&make_source, &|| preset.build(1), 0, &clairvoyance).unwrap();
                println!("  {device}, {} MiB: {found:?} in {:?}", memory_bytes >> 20, started.elapsed());
                assert!(found.lower_ns <= found.clairvoyant_ns);
            }
        }
    }
}
