//! The steps of a plan, found by number and by name: a large plan has tens of thousands, and is asked at each record.

use std::collections::BTreeMap;

use rehome_model::plan::{Plan, Step};

/// Where the steps of a plan are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Wave and place in it, in the plan's order.
    places: Vec<(usize, usize)>,
    by_name: BTreeMap<String, usize>,
    /// All steps before this one are done; what is done stays so.
    passed: usize,
}

impl Order {
    /// The order of a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut order = Self::default();
        for (wave, steps) in plan.waves.iter().map(|wave| &wave.steps).enumerate() {
            for (place, step) in steps.iter().enumerate() {
                // Of two steps with one name, the first is meant, as in `Plan::step`.
                order.by_name.entry(step.name.clone()).or_insert(order.places.len());
                order.places.push((wave, place));
            }
        }
        order
    }

    /// How many steps there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    fn get<'p>(&self, number: usize, plan: &'p Plan) -> Option<&'p Step> {
        let (wave, place) = self.places.get(number)?;
        plan.waves.get(*wave)?.steps.get(*place)
    }

    /// The step with this name.
    pub(crate) fn find<'p>(&self, name: &str, plan: &'p Plan) -> Option<&'p Step> {
        self.get(*self.by_name.get(name)?, plan)
    }

    /// Goes past the steps that are done.
    pub(crate) fn pass(&mut self, done: impl Fn(&Step) -> bool, plan: &Plan) {
        while self.get(self.passed, plan).is_some_and(&done) {
            self.passed += 1;
        }
    }

    /// The steps that are not passed.
    pub(crate) fn open<'p>(&self, plan: &'p Plan) -> impl Iterator<Item = &'p Step> {
        (self.passed..self.places.len()).filter_map(move |number| self.get(number, plan))
    }
}
