//! Points in time and durations, in the one spelling that documents use.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in time with millisecond precision, written as RFC 3339 in UTC.
///
/// Wraps `jiff`, so that its version is one file's concern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp {
    /// Milliseconds since the Unix epoch.
    millis: i64,
}

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self { millis: 0 };

    /// A point given in milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.millis
    }

    /// Seconds from `earlier` to this point, rounded down to milliseconds; negative when `earlier` is later.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "2^53 milliseconds are 285,000 years")]
        let millis = (self.millis - earlier.millis) as f64;
        millis / 1000.0
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(time: jiff::Timestamp) -> Self {
        Self { millis: time.as_millisecond() }
    }
}

impl From<Timestamp> for jiff::Timestamp {
    fn from(time: Timestamp) -> Self {
        // Out of range only beyond the year 9999, where no cluster will be moved.
        Self::from_millisecond(time.millis).unwrap_or(Self::UNIX_EPOCH)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse::<jiff::Timestamp>()?.into())
    }
}

impl TryFrom<String> for Timestamp {
    type Error = jiff::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", jiff::Timestamp::from(*self))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

/// A duration in seconds, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Seconds {
    millis: i64,
}

impl Seconds {
    /// No time at all.
    pub const ZERO: Self = Self { millis: 0 };

    /// Whole seconds.
    #[must_use]
    pub const fn new(seconds: i64) -> Self {
        Self { millis: seconds * 1000 }
    }

    /// Milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    /// The duration in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.millis
    }
}

/// A number that is no duration.
#[derive(Debug, thiserror::Error)]
#[error("expected a number of seconds, found {found}")]
pub struct NotADuration {
    /// The number that was given.
    pub found: f64,
}

impl TryFrom<f64> for Seconds {
    type Error = NotADuration;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let millis = (seconds * 1000.0).round();
        if millis.is_finite() && millis.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "checked on the line above")]
            let millis = millis as i64;
            Ok(Self { millis })
        } else {
            Err(NotADuration { found: seconds })
        }
    }
}

impl From<Seconds> for f64 {
    #[expect(clippy::cast_precision_loss, reason = "2^53 milliseconds are 285,000 years")]
    fn from(duration: Seconds) -> Self {
        duration.millis as f64 / 1000.0
    }
}

impl fmt::Display for Seconds {
    /// As kubectl writes ages: `4.2s`, `2m 5s`, `1h 3m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.millis / 1000;
        match seconds {
            s if s.abs() < 60 && self.millis % 1000 != 0 => write!(f, "{:.1}s", f64::from(*self)),
            s if s.abs() < 60 => write!(f, "{s}s"),
            s if s.abs() < 3600 => write!(f, "{}m {}s", s / 60, s % 60),
            s => write!(f, "{}h {}m", s / 3600, s % 3600 / 60),
        }
    }
}

impl fmt::Debug for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number", "description": "seconds, to the millisecond"})
    }
}

impl Add<Seconds> for Timestamp {
    type Output = Self;

    fn add(self, duration: Seconds) -> Self {
        Self { millis: self.millis.saturating_add(duration.millis) }
    }
}

impl Sub for Timestamp {
    type Output = Seconds;

    fn sub(self, earlier: Self) -> Seconds {
        Seconds { millis: self.millis - earlier.millis }
    }
}

impl Add for Seconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { millis: self.millis.saturating_add(other.millis) }
    }
}

impl std::iter::Sum for Seconds {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}
