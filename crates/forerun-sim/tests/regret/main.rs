mod accesses;
use accesses::Accesses;
use forerun_trace::generate::Numbers;

#[test]
fn survey() {
    let mut worst: std::collections::BTreeMap<&str, Vec<(i64, u64, u64, u64)>> = Default::default();
    let count: u64 = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(300u64);
    for seed in 0..count {
        let mut numbers = Numbers::new(seed);
        let len = 10 + numbers.below(120);
        let bytes: Vec<u8> = (0..len).map(|_| numbers.below(256) as u8).collect();
        let accesses = Accesses::new(&bytes);
        let regret = accesses.regret();
        let n = accesses.sizes.len() as u64;
        let over = regret.wasted as i64 - regret.used as i64 / 10;
        worst.entry(accesses.device).or_default().push((over / n as i64, seed, regret.wasted, regret.used));
    }
    for kind in 0..8 {
        accesses::KIND.store(kind, std::sync::atomic::Ordering::Relaxed);
        let mut sums: std::collections::BTreeMap<&str, (u64, u64, i64)> = Default::default();
        for seed in 0..count {
            let mut numbers = Numbers::new(seed);
            let len = 10 + numbers.below(120);
            let bytes: Vec<u8> = (0..len).map(|_| numbers.below(256) as u8).collect();
            let accesses = Accesses::new(&bytes);
            let regret = accesses.regret();
            let n = accesses.sizes.len() as i64;
            let sum = sums.entry(accesses.device).or_default();
            sum.0 += regret.wasted;
            sum.1 += regret.used;
            sum.2 = sum.2.max((regret.wasted as i64 - regret.used as i64 / 10) / n);
        }
        println!(
            "kind {kind}: {:?}",
            sums.iter()
                .map(|(d, s)| (d, s.0 / 1_000_000, s.1 / 1_000_000, s.2 as f64 / 1e6))
                .collect::<Vec<_>>()
        );
    }
    accesses::KIND.store(u64::MAX, std::sync::atomic::Ordering::Relaxed);
    for (device, mut all) in worst {
        all.sort();
        all.reverse();
        let (w, u) = all.iter().fold((0, 0), |(w, u), x| (w + x.2, u + x.3));
        println!(
            "{device}: {} cases, waste {:.1} MB of used {:.1} = {:.3}; worst per object {:?}",
            all.len(),
            w as f64 / 1e6,
            u as f64 / 1e6,
            w as f64 / u as f64,
            &all[..6.min(all.len())]
                .iter()
                .map(|x| (x.0 as f64 / 1e6, x.1, x.2 / 1_000_000, x.3 / 1_000_000))
                .collect::<Vec<_>>()
        );
    }
}
