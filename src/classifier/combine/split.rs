//! A classifier for each value of a column.
//!
//! Sagae and Lavie (2005, section 4) split the training instances by tag, because training one SVM on all
//! of them would have taken more than a week; they expect to lose about one percent of accuracy. Values
//! with few instances share one classifier, which also decides for unseen values. The classifiers are
//! fitted in parallel, the largest first, and each is saved in the checkpoint when it is finished.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::{fit_part, stored};
use crate::classifier::{Classifier, Evidence, Fit, Instances, Learner, ScoreScale, Scratch};
use crate::feature::RowRef;
use crate::memory::{Array, Sections};
use crate::observer::{Event, Observer};
use crate::parallel;
use crate::sort::{sort_by_key, stable_sort_by_key};
use crate::{Error, Result};

/// Learns one classifier for each value of a column.
pub struct Split {
    /// The position of the column.
    pub column: usize,
    /// Values with fewer instances share one classifier.
    pub min_rows: u32,
    /// Learns each classifier.
    pub learner: Box<dyn Learner>,
}

/// The instances of one classifier.
struct Bucket {
    /// The value; `None` for the shared bucket.
    value: Option<u32>,
    rows: Vec<u32>,
}

impl Bucket {
    fn name(&self) -> String {
        self.value.map_or(OTHERS.to_owned(), |value| format!("value{value}"))
    }

    fn instances(&self, of: &Instances) -> Instances {
        let mut inside = vec![false; of.len()];
        self.rows.iter().for_each(|&row| inside[row as usize] = true);
        super::part_of(of, |at| inside[at])
    }
}

const OTHERS: &str = "others";

impl Split {
    /// The buckets, largest first. The shared one is filled up to `min_rows` with the smallest others.
    fn buckets(&self, instances: &Instances) -> Vec<Bucket> {
        let mut rows: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for at in 0..instances.len() {
            rows.entry(instances.row(at).values[self.column]).or_default().push(at as u32);
        }
        let mut buckets: Vec<Bucket> =
            rows.into_iter().map(|(value, rows)| Bucket { value: Some(value), rows }).collect();
        sort_by_key(&mut buckets, |bucket| (bucket.rows.len(), bucket.value));
        let mut others = Bucket { value: None, rows: Vec::new() };
        let rare = |bucket: &Bucket| bucket.rows.len() < self.min_rows as usize;
        let too_few = |others: &Bucket| others.rows.len() < self.min_rows.max(1) as usize;
        let mut frequent = Vec::new();
        for bucket in buckets {
            if rare(&bucket) || too_few(&others) {
                others.rows.extend(bucket.rows);
            } else {
                frequent.push(bucket);
            }
        }
        frequent.push(others);
        stable_sort_by_key(&mut frequent, |bucket| std::cmp::Reverse(bucket.rows.len()));
        frequent
    }
}

type Fitted = Result<Box<dyn Classifier>>;

impl Split {
    /// Fits the buckets. Each thread takes the largest one left, so at most one bucket per thread is in
    /// memory.
    fn fit_buckets(&self, instances: &Instances, buckets: &[Bucket], fit: &Fit<'_>) -> Vec<Fitted> {
        let done = AtomicUsize::new(0);
        let observer = Overall { observer: fit.observer, done: &done, total: instances.len() };
        let fit = Fit { observer: &observer, ..*fit };
        parallel::map_owned(buckets, |bucket| {
            let part = bucket.instances(instances);
            let result = fit_part(&*self.learner, &part, &fit, &bucket.name(), 0.0..1.0);
            done.fetch_add(part.len(), Ordering::Relaxed);
            fit.step(1.0, &format!("{}: {} instances done", bucket.name(), part.len()));
            result
        })
    }
}

/// Reports progress as the share of all instances, whatever the progress of a bucket.
struct Overall<'a> {
    observer: &'a dyn Observer,
    done: &'a AtomicUsize,
    total: usize,
}

impl Observer for Overall<'_> {
    fn event(&self, event: Event<'_>) {
        let Event::Step { text, .. } = event else { return self.observer.event(event) };
        let share = self.done.load(Ordering::Relaxed) as f64 / self.total as f64;
        self.observer.event(Event::Step { share, text });
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

impl Learner for Split {
    fn scale(&self) -> ScoreScale {
        self.learner.scale()
    }

    fn takes_trees(&self) -> bool {
        self.learner.takes_trees()
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Fitted {
        if instances.is_empty() {
            return Err(Error::config("learner", "there are no training instances"));
        }
        let buckets = self.buckets(instances);
        let values = buckets.iter().map(|bucket| bucket.value);
        let fitted = self.fit_buckets(instances, &buckets, fit);
        let fitted = fitted.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Box::new(SplitModel::new(self.column, values.zip(fitted))?))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let values: Array<u32> = sections.get("values")?;
        let named = values.iter().map(|&value| (Some(value), format!("value{value}")));
        let parts = named.chain([(None, OTHERS.to_owned())]).map(|(value, name)| {
            self.learner.load(&sections.part(&name)).map(|classifier| (value, classifier))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(Box::new(SplitModel::new(self.column, parts.into_iter())?))
    }
}

/// The classifier that [`Split`] fits.
pub struct SplitModel {
    column: usize,
    /// The position of the classifier of each value, in rising order of the values.
    values: Vec<(u32, u32)>,
    parts: Vec<Box<dyn Classifier>>,
    others: usize,
}

impl SplitModel {
    fn new(
        column: usize,
        fitted: impl Iterator<Item = (Option<u32>, Box<dyn Classifier>)>,
    ) -> Result<Self> {
        let mut model = Self { column, values: Vec::new(), parts: Vec::new(), others: 0 };
        for (value, part) in fitted {
            match value {
                Some(value) => model.values.push((value, model.parts.len() as u32)),
                None => model.others = model.parts.len(),
            }
            model.parts.push(part);
        }
        model.values.sort_unstable();
        let n = model.n_classes();
        if model.parts.iter().any(|part| part.n_classes() != n) {
            return Err(Error::Corrupt(
                "the classifiers score different numbers of classes".to_owned(),
            ));
        }
        Ok(model)
    }

    fn part(&self, value: u32) -> &dyn Classifier {
        let found = self.values.binary_search_by_key(&value, |&(known, _)| known);
        let at = found.map_or(self.others, |at| self.values[at].1 as usize);
        &*self.parts[at]
    }
}

impl Classifier for SplitModel {
    fn n_classes(&self) -> usize {
        self.parts[self.others].n_classes()
    }

    fn scale(&self) -> ScoreScale {
        self.parts[self.others].scale()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        self.part(row.values[self.column]).scores(row, scratch, out);
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], scratch: &mut Scratch) -> Evidence {
        self.part(row.values[self.column]).evidence(row, classes, scratch)
    }

    fn store(&self, sections: &mut Sections) {
        let values: Vec<u32> = self.values.iter().map(|&(value, _)| value).collect();
        sections.put("values", values.into());
        for &(value, at) in &self.values {
            sections.put_part(&format!("value{value}"), stored(&*self.parts[at as usize]));
        }
        sections.put_part(OTHERS, stored(&*self.parts[self.others]));
    }
}
