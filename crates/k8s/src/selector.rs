//! Label selectors of objects.

use std::collections::BTreeMap;

use crate::mutant::{Mutant, on};

/// `metav1.LabelSelector`. The default matches nothing, as a selector that is absent does; an empty one matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// Absent (`null`): no object.
    #[default]
    Nothing,
    /// All requirements must hold; none means every object.
    All(Vec<Requirement>),
}

/// One requirement of a selector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The label.
    pub key: String,
    /// The operator.
    pub operator: Operator,
    /// The values.
    pub values: Vec<String>,
}

/// The operators of label selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label is absent, or has none of the values.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

/// A text that is no selector.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected key, !key, key=value, key!=value, key in (a,b) or key notin (a,b), found {found:?}")]
pub struct NotASelector {
    /// The part that was not understood.
    pub found: String,
}

impl Requirement {
    /// Whether labels fulfil the requirement.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn if on(Mutant::NotInWantsTheLabel) => value.is_some_and(|v| !self.values.contains(v)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl Selector {
    /// A selector that asks for these labels.
    #[must_use]
    pub fn of_labels(labels: &BTreeMap<String, String>) -> Self {
        Self::All(
            labels
                .iter()
                .map(|(key, value)| Requirement {
                    key: key.clone(),
                    operator: Operator::In,
                    values: vec![value.clone()],
                })
                .collect(),
        )
    }

    /// Whether labels fulfil the selector.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Nothing => false,
            Self::All(requirements) => requirements.iter().all(|requirement| requirement.matches(labels)),
        }
    }

    /// Reads the form that `kubectl -l` takes: `a=b,c!=d,e in (f,g),h,!i`.
    ///
    /// # Errors
    /// [`NotASelector`] names the part that was not understood.
    pub fn parse(text: &str) -> Result<Self, NotASelector> {
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (part, after) = split_part(rest);
            requirements.push(parse_requirement(part.trim())?);
            rest = after.trim();
        }
        if requirements.is_empty() {
            return Err(NotASelector { found: text.to_owned() });
        }
        Ok(Self::All(requirements))
    }
}

/// Splits at the first comma that is not inside parentheses.
fn split_part(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return (&text[..index], &text[index + 1..]),
            _ => {}
        }
    }
    (text, "")
}

fn parse_requirement(part: &str) -> Result<Requirement, NotASelector> {
    let bad = || NotASelector { found: part.to_owned() };
    let key_of = |key: &str| {
        let key = key.trim();
        let good = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        if good { Ok(key.to_owned()) } else { Err(bad()) }
    };
    let set = |key: &str, operator, list: &str| {
        let values = list.trim().strip_prefix('(').and_then(|list| list.strip_suffix(')')).ok_or_else(bad)?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        Ok(Requirement { key: key_of(key)?, operator, values })
    };
    if let Some((key, value)) = part.split_once("!=") {
        return Ok(Requirement { key: key_of(key)?, operator: Operator::NotIn, values: vec![value.trim().to_owned()] });
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Requirement { key: key_of(key)?, operator: Operator::In, values: vec![value.trim().to_owned()] });
    }
    if let Some((key, list)) = part.split_once(" notin ") {
        return set(key, Operator::NotIn, list);
    }
    if let Some((key, list)) = part.split_once(" in ") {
        return set(key, Operator::In, list);
    }
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Requirement { key: key_of(key)?, operator: Operator::DoesNotExist, values: Vec::new() });
    }
    Ok(Requirement { key: key_of(part)?, operator: Operator::Exists, values: Vec::new() })
}
