//! Every pattern beside what no readahead comes to.

use forerun_engine::PolicyKind;

use super::bed::*;

#[test]
fn table() {
    let gib = 1024 * MIB;
    let rows: Vec<(&str, Reading)> = vec![
        ("forward 64k", forward(gib, 64 * KIB)),
        ("forward 4k /256M", forward(gib / 4, 4 * KIB)),
        ("backward 64k", backward(gib, 64 * KIB)),
        ("backward 4k /256M", backward(gib / 4, 4 * KIB)),
        ("64k of 1m", strided(2 * gib, 64 * KIB, MIB)),
        ("64k of 1m back", {
            let mut r = strided(2 * gib, 64 * KIB, MIB);
            r.order.reverse();
            r
        }),
        ("4k of 64k", strided(gib, 4 * KIB, 64 * KIB)),
        ("3x16k of 1m", grouped(2 * gib, 16 * KIB, 3, MIB)),
        ("two 64k of 1m", {
            let a = strided(gib, 64 * KIB, MIB).order;
            let b = a.iter().map(|e| forerun_sim::source::Extent::new(e.offset + gib, e.len)).collect();
            in_turns(2 * gib, &[a, b])
        }),
        ("sparse 50% 4k", sparse(gib / 4, 4 * KIB, 50)),
        ("4k in 16k jitter", jittered(gib / 4, 4 * KIB, 16 * KIB)),
        ("shuffled 64k/64M", shuffled(64 * MIB, 64 * KIB)),
        ("random 4k/1G", random(gib, 4 * KIB, 4000, 11)),
        ("random 4k/512M", random(gib / 2, 4 * KIB, 4000, 11)),
        ("random 64k/1G", random(gib, 64 * KIB, 4000, 11)),
        ("bursts 2m", bursts(gib, 64 * KIB, 2 * MIB, 128)),
        ("128 in turns", interleaved(gib, 64 * KIB, 128)),
    ];
    for (name, reading) in rows {
        print!("{name:<20}");
        for latency in [2, 10, 50] {
            let o = reading.at(latency);
            print!(" {latency:>2} ms: {:>6.1} MB/s x{:<6.3}", o.rate, o.fetched);
        }
        let none = reading.on("demo", PolicyKind::None);
        print!(" none {:>6.1}", none.rate);
        for device in ["ide-2006", "nvme"] {
            if reading.size > 8 << 30 {
                continue;
            }
            let (a, n) = (reading.on(device, PolicyKind::Adaptive), reading.on(device, PolicyKind::None));
            print!(" {device} {:.2}s/{:.2}s", a.seconds, n.seconds);
        }
        println!();
    }
}
