//! Taints and tolerations.

use std::fmt;

use crate::mutant::{Mutant, on};

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value; empty where absent.
    pub value: String,
    /// The effect.
    pub effect: Effect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// They are not scheduled here.
    NoSchedule,
    /// They are scheduled elsewhere if possible.
    PreferNoSchedule,
    /// They are not scheduled here, and are evicted if they are here.
    NoExecute,
}

/// A toleration of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toleration {
    /// The key; `None` with `exists` tolerates every taint.
    pub key: Option<String>,
    /// Whether the operator is `Exists`; otherwise it is `Equal`.
    pub exists: bool,
    /// The value for `Equal`; empty where absent.
    pub value: String,
    /// The effect; `None` stands for all.
    pub effect: Option<Effect>,
    /// `tolerationSeconds`, for `NoExecute`.
    pub seconds: Option<i64>,
}

impl Effect {
    /// The effect with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "NoSchedule" => Some(Self::NoSchedule),
            "PreferNoSchedule" => Some(Self::PreferNoSchedule),
            "NoExecute" => Some(Self::NoExecute),
            _ => None,
        }
    }

    /// The effect as Kubernetes spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }

    /// Whether it keeps a pod from being scheduled.
    #[must_use]
    pub const fn keeps_away(self) -> bool {
        matches!(self, Self::NoSchedule | Self::NoExecute)
    }
}

impl Toleration {
    /// Whether it tolerates the taint. Source: `k8s.io/api/core/v1/toleration.go`, `ToleratesTaint`.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) && !on(Mutant::EffectIgnored) {
            return false;
        }
        match &self.key {
            Some(key) if *key != taint.key => false,
            // An empty key is valid with Exists only, and stands for all keys.
            None => self.exists,
            Some(_) => self.exists || self.value == taint.value || on(Mutant::TaintValueIgnored),
        }
    }

    /// Whether it tolerates every taint that keeps pods away: such a pod lands on fenced and cordoned nodes, too.
    #[must_use]
    pub fn tolerates_everything(&self) -> bool {
        self.key.is_none() && self.exists && self.effect.is_none_or(|effect| effect == Effect::NoSchedule)
    }
}

/// The first taint that keeps a pod with these tolerations from being scheduled.
#[must_use]
pub fn untolerated<'t>(taints: &'t [Taint], tolerations: &[Toleration]) -> Option<&'t Taint> {
    taints.iter().find(|taint| taint.effect.keeps_away() && !tolerations.iter().any(|t| t.tolerates(taint)))
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect.name())
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exists_without_a_key_tolerates_all_and_equal_compares_values() {
        let taint = Taint { key: "a".into(), value: "1".into(), effect: Effect::NoSchedule };
        let all = Toleration { exists: true, ..Toleration::default() };
        let same = Toleration { key: Some("a".into()), value: "1".into(), ..Toleration::default() };
        let other = Toleration { key: Some("a".into()), value: "2".into(), ..Toleration::default() };
        let effect = Toleration { effect: Some(Effect::NoExecute), ..all.clone() };
        assert!(all.tolerates(&taint) && all.tolerates_everything());
        assert!(same.tolerates(&taint) && !same.tolerates_everything());
        assert!(!other.tolerates(&taint));
        assert!(!effect.tolerates(&taint) && !effect.tolerates_everything());
    }
}
