//! Rules that tests make wrong on purpose, one at a time: what notices is proved to look at the rule.
//!
//! Each [`Mutant`] is one line somewhere in this crate or in the scheduler's model that asks [`on`]. Without the feature
//! `mutants`, which nothing that is shipped switches on, the answer is a constant and the line is gone. It knows no rule.

/// A rule made wrong.
macro_rules! mutants {
    ($($(#[doc = $doc:literal])+ $mutant:ident,)*) => {
        /// A rule made wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutant { $($(#[doc = $doc])+ $mutant,)* }

        impl Mutant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$mutant,)*];

            /// What is wrong, in words.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$mutant => concat!($($doc),+),)* }
            }
        }
    };
}

mutants! {
    /// An init container with `restartPolicy: Always` counts as one that ends.
    SidecarsEnd,
    /// Init containers count nothing.
    InitContainersForgotten,
    /// Requests of the whole pod are not looked at.
    PodLevelIgnored,
    /// The overhead of the runtime class is not added.
    OverheadForgotten,
    /// Scores count nothing where a container names no request.
    NothingAssumed,
    /// A resize that is under way counts as what is asked.
    ResizesIgnored,
    /// A toleration of one effect tolerates all effects.
    EffectIgnored,
    /// A toleration tolerates whatever value a taint has.
    TaintValueIgnored,
    /// `NotIn` asks for the label to be there.
    NotInWantsTheLabel,
    /// `matchFields` is not looked at.
    MatchFieldsIgnored,
    /// `Gt` and `Lt` compare as text.
    NumbersAsText,
    /// A pod that matches one of several terms of pod affinity counts as one that matches all.
    OneTermIsEnough,
    /// A cordon keeps nobody away.
    CordonsIgnored,
    /// Taints with the effect `NoExecute` keep nobody away.
    NoExecuteIgnored,
    /// The number of pods that a node takes has no limit.
    PodsUnlimited,
    /// Resources other than cpu and memory are not looked at.
    OtherResourcesIgnored,
    /// A port on one address does not clash with the same port on all.
    WildcardAddressIgnored,
    /// Ports of two protocols clash.
    ProtocolIgnored,
    /// A claim that only one pod may use is anybody's.
    OnePodModeIgnored,
    /// A disk that is only read clashes.
    ReadOnlyDisksClash,
    /// A volume that a pod holds and that is attached counts twice.
    SharedVolumesCountTwice,
    /// Volumes that are attached without a pod on the node do not count.
    AttachmentsIgnored,
    /// A node that lacks a driver which must be there is as good as any.
    MissingDriverIgnored,
    /// A driver has room everywhere.
    StorageCapacityIgnored,
    /// The largest volume that a driver makes is not looked at.
    LargestVolumeIgnored,
    /// `allowedTopologies` is not looked at.
    AllowedTopologiesIgnored,
    /// The node for which a volume is being made is not looked at.
    SelectedNodeIgnored,
    /// A volume's node affinity is not looked at.
    VolumeAffinityIgnored,
    /// The access modes that a claim asks are not compared with a volume's.
    AccessModesIgnored,
    /// A set of zones is read as one zone.
    ZonesNotSplit,
    /// A volume's beta label is not compared with a node's stable one.
    StableZoneLabelIgnored,
    /// `minDomains` is not looked at.
    MinDomainsIgnored,
    /// `nodeTaintsPolicy` is always Honor.
    TaintsPolicyIgnored,
    /// `nodeAffinityPolicy` is always Ignore.
    AffinityPolicyIgnored,
    /// `matchLabelKeys` of a spread constraint is not looked at.
    MatchLabelKeysIgnored,
    /// Pods that are about to end count in spreading.
    TerminatingSpread,
    /// The pod itself does not count in the skew.
    SkewWithoutItself,
    /// Nodes without one of a pod's keys take part in the count of the others.
    NodesWithoutKeysCount,
    /// An empty selector of a spread constraint counts all pods.
    EmptySelectorCounts,
    /// Pods that are about to end do not count in pod affinity.
    TerminatingWithoutAffinity,
    /// Required anti-affinity of pods that run keeps nobody away.
    SymmetryDropped,
    /// The first of a group waits for another one.
    BootstrapDropped,
    /// `namespaceSelector` is not looked at.
    NamespaceSelectorIgnored,
    /// Features that a kubelet must declare are not looked at.
    DeclaredFeaturesIgnored,
    /// Taints that only discourage do not.
    PreferNoScheduleIgnored,
    /// All preferred terms of node affinity weigh the same.
    NodeWeightsIgnored,
    /// Required affinity of pods that run draws nobody.
    RequiredDrawsNobody,
    /// Preferred anti-affinity attracts.
    AversionAttracts,
    /// The balance that results is scored, not its change.
    BalanceNotItsChange,
    /// The cluster's default constraints are not there.
    DefaultSpreadOff,
    /// A pod weighs the same in many domains and in few.
    DomainsWeighAlike,
    /// An image counts in full however few nodes have it.
    ImageSpreadIgnored,
    /// Images without a tag are not the latest.
    LatestNotAssumed,
    /// What the pod itself brings is not scored.
    ScoresWithoutThePod,
    /// A pod that never preempts does.
    EverybodyPreempts,
    /// Pods of the same priority are pushed out.
    EqualsPushedOut,
    /// All pods of lower priority are pushed out, needed or not.
    NobodyReprieved,
    /// A budget with an empty selector protects everybody from preemption.
    EmptyBudgetProtects,
    /// Evictions that are under way count twice against a budget.
    DisruptedPodsIgnored,
    /// Nodes are chosen for preemption whatever budgets say.
    BudgetsUnranked,
    /// Victims of negative priority make a node cheaper, the more the cheaper.
    PrioritiesNotShifted,
    /// The oldest of all victims counts, not the oldest of the most important.
    OldestOfAll,
}

/// Whether a rule is wrong now.
#[cfg(not(feature = "mutants"))]
#[inline]
#[must_use]
pub const fn on(_: Mutant) -> bool {
    false
}

#[cfg(feature = "mutants")]
mod switch {
    use std::cell::Cell;

    use super::Mutant;

    thread_local! {
        static WRONG: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Whether a rule is wrong now, in this thread.
    #[must_use]
    pub fn on(mutant: Mutant) -> bool {
        WRONG.get() == Some(mutant)
    }

    /// Does something with a rule made wrong in this thread, or with none.
    pub fn with<T>(mutant: Option<Mutant>, work: impl FnOnce() -> T) -> T {
        let before = WRONG.replace(mutant);
        let result = work();
        WRONG.set(before);
        result
    }
}

#[cfg(feature = "mutants")]
pub use switch::{on, with};
