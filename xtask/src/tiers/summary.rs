//! The table at the end: what each tier ran or why nothing, and where the time went.

use std::collections::BTreeMap;

use super::Tier;
use super::programs::TestProgram;
use super::verdict::Verdict;

/// How many of the slowest programs are named.
const SLOWEST: usize = 8;

/// What happened so far.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    tiers: BTreeMap<Tier, (Verdict, f64)>,
    not_run: BTreeMap<Tier, String>,
    spent: Vec<(String, f64)>,
    programs: Vec<(String, f64)>,
    failed: Vec<String>,
}

impl Summary {
    /// Notes time that is no test's.
    pub(crate) fn spent(&mut self, what: &str, seconds: f64) {
        self.spent.push((what.to_owned(), seconds));
    }

    /// Notes why a tier cannot run.
    pub(crate) fn not_run(&mut self, tier: Tier, why: String) {
        self.not_run.insert(tier, why);
    }

    /// Notes what a program said.
    pub(crate) fn ran(&mut self, program: &TestProgram, verdict: Verdict, seconds: f64) {
        self.add(program.tier, format!("{} {}", program.package, program.target), verdict, seconds);
    }

    /// Notes what the examples in docs said.
    pub(crate) fn ran_doc_tests(&mut self, verdict: Verdict, seconds: f64) {
        self.add(Tier::Unit, "examples in docs".to_owned(), verdict, seconds);
    }

    fn add(&mut self, tier: Tier, name: String, verdict: Verdict, seconds: f64) {
        let (sum, time) = self.tiers.entry(tier).or_default();
        *sum += verdict;
        *time += seconds;
        if verdict.failed > 0 {
            self.failed.push(format!("{name} ({} failed)", verdict.failed));
        }
        self.programs.push((name, seconds));
    }

    /// Prints the table and gives back whether all is well. A tier that ran nothing is a failure when `strict`.
    pub(crate) fn print(mut self, tiers: &[Tier], strict: bool) -> bool {
        println!("\n{:<16}{:>8}{:>8}{:>9}{:>9}  NOTE", "TIER", "PASSED", "FAILED", "IGNORED", "TIME");
        let mut total = Verdict::default();
        let mut silent = Vec::new();
        for tier in tiers {
            let (verdict, seconds) = self.tiers.get(tier).copied().unwrap_or_default();
            let note = match (self.not_run.get(tier), verdict.ran()) {
                (Some(why), _) => format!("not run: {why}"),
                (None, 0) => "not run: no test of this tier was selected".to_owned(),
                (None, _) => String::new(),
            };
            if verdict.ran() == 0 {
                silent.push(tier.name());
            }
            let Verdict { passed, failed, ignored } = verdict;
            println!("{:<16}{passed:>8}{failed:>8}{ignored:>9}{seconds:>8.1}s  {note}", tier.name());
            total += verdict;
        }
        println!("\nWHERE THE TIME WENT");
        for (what, seconds) in &self.spent {
            println!("{seconds:>8.1}s  {what}");
        }
        self.programs.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (name, seconds) in self.programs.iter().take(SLOWEST) {
            println!("{seconds:>8.1}s  {name}");
        }
        for name in &self.failed {
            println!("\nFAILED {name}");
        }
        if strict && !silent.is_empty() {
            println!("\nFAILED: CI=true, and these tiers ran no test: {}", silent.join(", "));
            total.failed += silent.len() as u64;
        }
        println!("\n{} passed, {} failed, {} skipped", total.passed, total.failed, total.ignored);
        total.failed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(failed: u64) -> Summary {
        let mut summary = Summary::default();
        summary.add(Tier::Unit, "a".to_owned(), Verdict { passed: 1, failed, ignored: 0 }, 0.1);
        summary.not_run(Tier::ControlPlane, "no Go".to_owned());
        summary
    }

    #[test]
    fn a_tier_that_did_not_run_is_a_failure_in_ci_only() {
        let tiers = [Tier::Unit, Tier::ControlPlane];
        assert!(summary(0).print(&tiers, false));
        assert!(!summary(0).print(&tiers, true));
        assert!(summary(0).print(&tiers[..1], true));
    }

    #[test]
    fn a_failed_test_is_a_failure_everywhere() {
        assert!(!summary(1).print(&[Tier::Unit], false));
    }
}
