//! Small numbers for values that are compared often.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Values and their numbers, in the order in which they were first seen.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T: Ord> {
    numbers: BTreeMap<Arc<T>, usize>,
    values: Vec<Arc<T>>,
}

impl<T: Ord> Default for Interner<T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), values: Vec::new() }
    }
}

impl<T: Ord> Interner<T> {
    /// The number of a value, and whether it is new.
    pub(crate) fn intern(&mut self, value: T) -> (usize, bool) {
        if let Some(number) = self.numbers.get(&value) {
            return (*number, false);
        }
        let value = Arc::new(value);
        let number = self.values.len();
        self.numbers.insert(Arc::clone(&value), number);
        self.values.push(value);
        (number, true)
    }

    /// The number of a known value.
    pub(crate) fn find(&self, value: &T) -> Option<usize> {
        self.numbers.get(value).copied()
    }

    pub(crate) fn value(&self, number: usize) -> &Arc<T> {
        &self.values[number]
    }
}
