//! Recorded boots.

use forerun_sim::bound::{Clairvoyance, Future, bounds};
use forerun_sim::device::Preset;
use forerun_sim::source::{Pace, Replay, Scan, Source};
use forerun_trace::{Access, ReadOptions, Reader};

use crate::recordings::shared;

const TRACES: [&str; 2] = ["boot-virtio.csv", "boot-ide.csv.gz"];

#[test]
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn recorded_accesses_have_their_bracket() {
    for name in TRACES {
        let reader = Reader::open(&shared(&format!("csv/{name}")), ReadOptions::default()).unwrap();
        let accesses: Vec<Access> = reader.collect::<Result<_, _>>().unwrap();
        let scan = Scan::of(&accesses);
        let make_source =
            || Box::new(Replay::new(accesses.iter().cloned(), scan.clone(), Pace::Closed)) as Box<dyn Source>;
        let future = Future::record(&mut *make_source(), 0).unwrap();
        println!("{name}: {} references, {} MiB", future.reference_count(), future.footprint_bytes() >> 20);
        for device in ["ide-2006", "nfs-gbe"] {
            let preset = Preset::from_name(device).unwrap();
            for memory_bytes in [64 << 20, 1 << 30] {
                let clairvoyance =
                    Clairvoyance { memory_bytes, costs: preset.costs(), look_ahead: None, threads: 2 };
                let found = bounds(&make_source, &|| preset.build(1), 0, &clairvoyance).unwrap();
                println!("  {device}, {} MiB: {found:?}", memory_bytes >> 20);
                assert!(found.lower_ns <= found.clairvoyant_ns);
            }
        }
    }
}
