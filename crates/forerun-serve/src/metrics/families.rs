//! Families of metrics, as the encoder takes them.

use std::fmt;
use std::time::Duration;

use forerun::Durations;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

/// The labels of a sample. All values are constants of this program, or names that a user gave at the start. So there are few
/// series.
pub(super) type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Writes families.
pub(super) struct Families<'a>(DescriptorEncoder<'a>);

/// The sample of a family without labels.
pub(super) fn one(value: u64) -> [(Labels<'static>, u64); 1] {
    [(Vec::new(), value)]
}

/// Samples with the label `name`.
pub(super) fn by<'a>(
    name: &'static str,
    values: impl IntoIterator<Item = (&'a str, u64)>,
) -> impl Iterator<Item = (Labels<'a>, u64)> {
    values.into_iter().map(move |(label, value)| (vec![(name, label)], value))
}

impl<'a> Families<'a> {
    pub(super) fn new(encoder: DescriptorEncoder<'a>) -> Families<'a> {
        Families(encoder)
    }

    /// A sum since the start. The encoder adds `_total` to `name`.
    pub(super) fn counter<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in samples {
            family.encode_family(&labels)?.encode_counter::<Labels<'_>, _, u64>(&value, None)?;
        }
        Ok(())
    }

    /// A state at this moment.
    pub(super) fn gauge<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in samples {
            family.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    /// Durations, in seconds.
    pub(super) fn histogram<'d>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'static>, &'d Durations)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (labels, durations) in samples {
            let bound = |bound: Option<Duration>| bound.map_or(f64::INFINITY, |bound| bound.as_secs_f64());
            let buckets: Vec<(f64, u64)> =
                durations.buckets().map(|(above, count)| (bound(above), count)).collect();
            let count = buckets.iter().map(|(_, count)| count).sum();
            let sum = durations.sum().as_secs_f64();
            family.encode_family(&labels)?.encode_histogram::<Labels<'_>>(sum, count, &buckets, None)?;
        }
        Ok(())
    }
}
