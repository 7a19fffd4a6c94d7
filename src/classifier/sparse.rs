//! Weights of a linear model in training: a table from one-hot ids to sparse rows of classes.
//!
//! Only what an update touched takes memory: an id is added when it first appears in a mistake, a
//! class when it first gets a weight under that id. Averages are exact integers: each weight keeps the
//! sum of `step × update`, so the average over all steps is `weight − sum ÷ steps`.

/// A weight of one class under one id.
#[derive(Debug, Clone, Copy)]
struct Entry {
    class: u16,
    weight: i32,
    /// Sum of `step × update`.
    delayed: i64,
}

/// Where a row stands among the entries.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    len: u16,
    room: u16,
}

/// The weights; see the module.
#[derive(Debug, Clone)]
pub struct SparseWeights {
    /// Open addressing: ids, 0 where free, and the row of each.
    ids: Vec<u64>,
    rows_of_ids: Vec<u32>,
    rows: Vec<Span>,
    entries: Vec<Entry>,
    /// Entries given up by rows that grew, by the power of two they have room for.
    free: [Vec<u32>; 17],
    step: i64,
}

/// No row.
pub const NO_ROW: u32 = u32::MAX;

impl Default for SparseWeights {
    fn default() -> Self {
        Self {
            ids: vec![0; 1 << 16],
            rows_of_ids: vec![0; 1 << 16],
            rows: Vec::new(),
            entries: Vec::new(),
            free: Default::default(),
            step: 0,
        }
    }
}

impl SparseWeights {
    /// The number of ids with a row.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing has been learned.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the row of each id into `rows`, [`NO_ROW`] where there is none.
    pub fn find(&self, ids: &[u64], rows: &mut Vec<u32>) {
        rows.clear();
        rows.extend(ids.iter().map(|&id| {
            let at = self.slot(id);
            if self.ids[at] == id { self.rows_of_ids[at] } else { NO_ROW }
        }));
    }

    /// Adds the current weights of the rows to `sums`.
    pub fn add(&self, rows: &[u32], sums: &mut [i32]) {
        for &row in rows {
            if row != NO_ROW {
                let Span { first, len, .. } = self.rows[row as usize];
                for entry in &self.entries[first as usize..first as usize + usize::from(len)] {
                    sums[usize::from(entry.class)] += entry.weight;
                }
            }
        }
    }

    /// Counts one more step towards the average.
    pub fn tick(&mut self) {
        self.step += 1;
    }

    /// Adds `change` to the weight of `class` under each id.
    pub fn update(&mut self, ids: &[u64], class: u16, change: i32) {
        for &id in ids {
            let row = self.row_or_new(id);
            let step = self.step;
            let entry = self.entry(row, class);
            entry.weight += change;
            entry.delayed += step * i64::from(change);
        }
    }

    /// Calls `each` with every id and its averaged weights, in order of id; zero averages are left out.
    pub fn averaged(&self, mut each: impl FnMut(u64, &[(u16, f32)])) {
        let mut order: Vec<(u64, u32)> = self
            .ids
            .iter()
            .zip(&self.rows_of_ids)
            .filter(|(id, _)| **id != 0)
            .map(|(&id, &row)| (id, row))
            .collect();
        order.sort_unstable();
        let steps = self.step.max(1) as f64;
        let mut row = Vec::new();
        for (id, at) in order {
            let Span { first, len, .. } = self.rows[at as usize];
            row.clear();
            for entry in &self.entries[first as usize..first as usize + usize::from(len)] {
                let average = (f64::from(entry.weight) - entry.delayed as f64 / steps) as f32;
                if average != 0.0 {
                    row.push((entry.class, average));
                }
            }
            row.sort_unstable_by_key(|&(class, _)| class);
            each(id, &row);
        }
    }

    fn slot(&self, id: u64) -> usize {
        let mask = self.ids.len() - 1;
        let mut at = (id >> 20) as usize & mask;
        while self.ids[at] != 0 && self.ids[at] != id {
            at = (at + 1) & mask;
        }
        at
    }

    fn row_or_new(&mut self, id: u64) -> u32 {
        let at = self.slot(id);
        if self.ids[at] == id {
            return self.rows_of_ids[at];
        }
        if self.rows.len() * 2 >= self.ids.len() {
            self.grow();
            return self.row_or_new(id);
        }
        let row = self.rows.len() as u32;
        self.ids[at] = id;
        self.rows_of_ids[at] = row;
        self.rows.push(Span { first: 0, len: 0, room: 0 });
        row
    }

    fn grow(&mut self) {
        let size = self.ids.len() * 2;
        let ids = std::mem::replace(&mut self.ids, vec![0; size]);
        let rows = std::mem::replace(&mut self.rows_of_ids, vec![0; size]);
        for (id, row) in ids.into_iter().zip(rows).filter(|(id, _)| *id != 0) {
            let at = self.slot(id);
            self.ids[at] = id;
            self.rows_of_ids[at] = row;
        }
    }

    fn entry(&mut self, row: u32, class: u16) -> &mut Entry {
        let Span { first, len, room } = self.rows[row as usize];
        let (from, to) = (first as usize, first as usize + usize::from(len));
        if let Some(at) = self.entries[from..to].iter().position(|entry| entry.class == class) {
            return &mut self.entries[from + at];
        }
        let from = if len == room { self.make_room(row) } else { from };
        let at = from + usize::from(len);
        self.rows[row as usize].len += 1;
        self.entries[at] = Entry { class, weight: 0, delayed: 0 };
        &mut self.entries[at]
    }

    /// Moves a full row to a place twice as large and gives the new start.
    fn make_room(&mut self, row: u32) -> usize {
        let Span { first, len, room } = self.rows[row as usize];
        let size = if room == 0 { 1 } else { usize::from(room) * 2 };
        let power = size.trailing_zeros() as usize;
        let empty = Entry { class: 0, weight: 0, delayed: 0 };
        let start = self.free[power].pop().unwrap_or_else(|| {
            let start = self.entries.len() as u32;
            self.entries.resize(self.entries.len() + size, empty);
            start
        });
        let from = first as usize;
        self.entries.copy_within(from..from + usize::from(len), start as usize);
        if room > 0 {
            self.free[room.trailing_zeros() as usize].push(first);
        }
        self.rows[row as usize] = Span { first: start, len, room: size as u16 };
        start as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_that_of_all_steps() {
        let mut weights = SparseWeights::default();
        weights.update(&[7], 3, 1); // there during all four steps
        weights.tick();
        weights.tick();
        weights.update(&[7], 3, 1); // there during the last two
        weights.tick();
        weights.tick();
        let mut seen = Vec::new();
        weights.averaged(|id, row| seen.push((id, row.to_vec())));
        assert_eq!(seen, [(7, vec![(3, 1.5)])]);
    }

    #[test]
    fn rows_and_tables_grow_without_losing_anything() {
        let mut weights = SparseWeights::default();
        for id in 1..100_000u64 {
            let id = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            weights.update(&[id], (id % 97) as u16, 2);
        }
        for class in 0..300 {
            weights.update(&[1], class, i32::from(class));
        }
        let (mut rows, mut sums) = (Vec::new(), vec![0; 300]);
        weights.find(&[1], &mut rows);
        weights.add(&rows, &mut sums);
        assert_eq!(sums, (0..300).collect::<Vec<i32>>());
    }
}
