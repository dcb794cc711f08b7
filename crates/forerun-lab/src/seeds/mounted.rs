//! Seed 000: file systems in a file.
//!
//! Disk and memory are those of [`patterns`](super::patterns). Two images lie on the disk, each mounted
//! through a loop device with a page cache and readahead of its own.
//= seed 000

use forerun_policies::kernel::{Algorithm, Ara, AraTuning};
use forerun_sim::device::Device;
use forerun_sim::source::Source;

use super::daily::{APART_BYTES, TREES_MAX};
use super::images::Images;
use super::pairs::{self, Pair, Times};
use super::patterns::{PAGE_BYTES, boxed, config, scene};
use super::scene::{self, adaptive, seconds, stock};
use super::trees::{FILES_PER_DIRECTORY, Tree};
use super::{Claim, Findings, programs};
use crate::table::{Column, Table};

/// F3: trees in two mounted images: one is read, or both are compared.
pub(super) fn loop_mounted() -> Findings {
    let tree = Tree::new(TREE_BYTES, TREE_MEDIAN_BYTES, FILES_PER_DIRECTORY);
    let trees = programs::with_copies(&tree.sizes, IMAGE_BYTES);
    let first = &trees[..trees.len() / 2];
    let grep = || boxed(tree.grep_r(first));
    let diff = || boxed(tree.diff_r(&trees));
    let bytes: u64 = first.iter().map(|file| file.size.next_multiple_of(PAGE_BYTES)).sum();
    let mut claims = Vec::new();
    let mut row = |key, source: &(dyn Fn() -> Box<dyn Source> + Sync), band, bytes: u64| {
        let (old, new) = (|| mounted(|| stock(BELOW_BYTES)), || mounted(below));
        let old_run = scene(source, &old).kernel(config(), stock(128 << 10));
        let new_run = scene(source, &new).kernel(config(), adaptive(1));
        let times = Times {
            stock: seconds(old_run.elapsed_ns),
            adaptive: seconds(new_run.elapsed_ns),
            ..Times::without_kernels(&scene(source, &old), scene::ide().costs())
        };
        let share = new_run.device.read_bytes as f64 / bytes as f64;
        let what = format!("{key}: bytes from the disk / bytes of the files, adaptive above and below");
        claims.push(Claim::within(what, share, 0.0, 1.05, ""));
        Pair { key: (key, ""), times, band, why: TREES_DIFFER, ours_max: 1.01, why_ours: BELOW_DECIDES }
    };
    let grep = row("grep -r", &grep, (0.92, 1.02), bytes);
    let diff = Pair { ours_max: TREES_MAX, ..row("diff -r", &diff, (0.90, 1.0), 2 * bytes) };
    let mut findings = pairs::findings("s000_pairs/loop_mounted_iso", &[grep, diff]);
    let below = windows_below(&|| boxed(tree.diff_r(&trees)));
    findings.tables.extend(below.tables);
    findings.claims.extend(claims.into_iter().chain(below.claims));
    findings
}

/// `diff -r`, had the images other windows below.
fn windows_below(source: &(dyn Fn() -> Box<dyn Source> + Sync)) -> Findings {
    let mut table =
        Table::new(["window below, KiB", "stock s", "Forerun s", "Forerun / stock"].map(Column::number));
    let mut claims = Vec::new();
    let windows: [fn() -> Box<dyn Algorithm>; 3] =
        [|| stock(BELOW_BYTES), || stock(2 * BELOW_BYTES), || stock(4 * BELOW_BYTES)];
    for (window, kib) in windows.into_iter().zip([128, 256, 512]) {
        let images = || mounted(window);
        let scene = scene(source, &images);
        let old = seconds(scene.kernel(config(), stock(128 << 10)).elapsed_ns);
        let ours = seconds(scene.ours().elapsed_ns);
        table.row([kib.to_string(), format!("{old:.2}"), format!("{ours:.2}"), format!("{:.3}", ours / old)]);
        let what = format!("diff -r, {kib} KiB below: Forerun / stock");
        claims.push(Claim::within(what, ours / old, 0.0, 1.05, ""));
    }
    Findings { tables: vec![table], claims }
}

const TREES_DIFFER: &str = "below, the stock kernel reads 128 KiB of each image in turn, as in A1; the document does not \
    tell its own setup";
const BELOW_DECIDES: &str = "both images are read at once, and the kernel below reads one window of each in turn; larger windows \
    make stock and Forerun faster alike";
/// The window of the kernel below.
const BELOW_BYTES: u64 = 128 << 10;
const IMAGE_BYTES: u64 = 64 << 20;
const TREE_BYTES: u64 = 48 << 20;
const TREE_MEDIAN_BYTES: u64 = 16 << 10;

/// The images, which are themselves read with `algorithm`.
fn mounted(algorithm: fn() -> Box<dyn Algorithm>) -> Box<dyn Device> {
    Box::new(Images::new(scene::historic_ide(), IMAGE_BYTES, APART_BYTES[0], config(), algorithm))
}

/// Adaptive readahead of a file that somebody above reads ahead in already.
fn below() -> Box<dyn Algorithm> {
    Box::new(Ara::new(AraTuning { hit_rate: 1, is_loop: true, ..AraTuning::default() }))
}
