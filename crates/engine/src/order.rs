//! Which steps can begin: the steps of a plan by number and by name, and what each still waits for.
//!
//! A large plan has thousands of steps and is asked at each event, so what comes after what is counted down as steps end.

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::plan::{Plan, Step};

/// Where the steps of a plan are, and how far they have come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Wave and place in it, in the plan's order.
    places: Vec<(usize, usize)>,
    by_name: BTreeMap<String, usize>,
    /// How many of the steps before each are not done.
    missing: Vec<usize>,
    /// The steps that come after each.
    next: Vec<Vec<usize>>,
    /// Steps that have not begun and wait for none.
    ready: BTreeSet<usize>,
    /// Steps that have begun and are not done.
    open: BTreeSet<usize>,
    done: BTreeSet<usize>,
}

impl Order {
    /// The order of a plan of which nothing has begun.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut order = Self::default();
        for (wave, steps) in plan.waves.iter().map(|wave| &wave.steps).enumerate() {
            for (place, step) in steps.iter().enumerate() {
                // Of two steps with one name, the first is meant, as in `Plan::step`.
                order.by_name.entry(step.name.clone()).or_insert(order.places.len());
                order.places.push((wave, place));
            }
        }
        order.next = vec![Vec::new(); order.places.len()];
        for (number, step) in plan.steps().enumerate() {
            // A step that the plan does not have is never done, and neither is what waits for it.
            order.missing.push(step.after.len());
            for before in step.after.keys().filter_map(|name| order.by_name.get(name)) {
                if let Some(next) = order.next.get_mut(*before) {
                    next.push(number);
                }
            }
            if step.after.is_empty() {
                order.ready.insert(number);
            }
        }
        order
    }

    /// How many steps there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// The step with this number.
    pub(crate) fn get<'p>(&self, number: usize, plan: &'p Plan) -> Option<&'p Step> {
        let (wave, place) = self.places.get(number)?;
        plan.waves.get(*wave)?.steps.get(*place)
    }

    /// The step with this name.
    pub(crate) fn find<'p>(&self, name: &str, plan: &'p Plan) -> Option<&'p Step> {
        self.get(*self.by_name.get(name)?, plan)
    }

    /// A step has begun.
    pub(crate) fn begin(&mut self, name: &str) {
        if let Some(number) = self.by_name.get(name) {
            self.ready.remove(number);
            self.open.insert(*number);
        }
    }

    /// A step is done: what waited for it alone can begin.
    pub(crate) fn finish(&mut self, name: &str) {
        let Some(number) = self.by_name.get(name).copied() else { return };
        self.ready.remove(&number);
        self.open.remove(&number);
        if !self.done.insert(number) {
            return;
        }
        for next in self.next.get(number).into_iter().flatten() {
            let Some(missing) = self.missing.get_mut(*next) else { continue };
            *missing = missing.saturating_sub(1);
            if *missing == 0 && !self.done.contains(next) && !self.open.contains(next) {
                self.ready.insert(*next);
            }
        }
    }

    /// Steps that have begun and are not done, in the plan's order.
    pub(crate) fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.open.iter().copied()
    }

    /// Steps that wait for no other, in the plan's order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        self.ready.iter().copied()
    }

    /// The first step that is not done.
    pub(crate) fn first_left<'p>(&self, plan: &'p Plan) -> Option<&'p Step> {
        let left = (0..self.places.len()).find(|number| !self.done.contains(number));
        left.and_then(|number| self.get(number, plan))
    }
}
