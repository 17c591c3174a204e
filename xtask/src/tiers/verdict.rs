//! What a test program said at its end.

/// Counts of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed. A program that broke off counts as one.
    pub(crate) failed: u64,
    /// Tests that are switched off.
    pub(crate) ignored: u64,
}

impl Verdict {
    /// Adds the counts of a closing line, if the line is one:
    /// `test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s`.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        let Some(rest) = line.strip_prefix("test result: ") else { return false };
        let count = |word: &str| {
            rest.split([';', '.']).find_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u64>().ok())
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
        self.ignored += count("ignored").unwrap_or(0);
        true
    }

    /// All tests that ran.
    #[must_use]
    pub(crate) fn ran(self) -> u64 {
        self.passed + self.failed
    }
}

impl std::ops::AddAssign for Verdict {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_of_a_test_program_is_understood() {
        let mut verdict = Verdict::default();
        assert!(
            verdict.take(
                "test result: FAILED. 5 passed; 2 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.02s"
            )
        );
        assert!(!verdict.take("test a ... ok"));
        assert_eq!(verdict, Verdict { passed: 5, failed: 2, ignored: 1 });
    }
}
