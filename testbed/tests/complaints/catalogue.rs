//! The complaints: where each was made, and what goes wrong, in our words.
//!
//! The numbers are permanent. 28, 36 to 38, 46 and 52 are missing: they can't be reproduced by a small case.

/// A complaint.
pub(crate) struct Complaint {
    pub(crate) number: u8,
    /// Where it was made. `k/k` is kubernetes/kubernetes.
    pub(crate) issues: &'static str,
    /// What goes wrong.
    pub(crate) wrong: &'static str,
    /// Why no test shows it yet; none if a test does.
    pub(crate) not_shown: Option<&'static str>,
}

const fn shown(number: u8, issues: &'static str, wrong: &'static str) -> Complaint {
    Complaint { number, issues, wrong, not_shown: None }
}

const fn not_shown(number: u8, issues: &'static str, wrong: &'static str, why: &'static str) -> Complaint {
    Complaint { number, issues, wrong, not_shown: Some(why) }
}

const NO_FAULTS: &str = "the testbed has no proxy yet that puts faults into answers";
const NO_WEBHOOK: &str = "the testbed has no admission webhook of its own yet";

/// All of them, by number.
#[rustfmt::skip]
pub(crate) const ALL: &[Complaint] = &[
    shown(1, "k/k#138229", "a StatefulSet's pod is refused, then replaced under its name on another node; the retry evicts the replacement"),
    shown(2, "k/k#91141", "the replacement of a StatefulSet's pod can only run on the drained node and stays Pending; the drain goes round in circles"),
    shown(3, "kubectl#1568", "the node can't be cordoned, and its pods are evicted all the same"),
    shown(4, "NVIDIA/nodewright#533", "pods are evicted before the node is known to be closed"),
    not_shown(5, "kured#929, draino#17", "somebody uncordons a node in the middle of the drain", "a run does not watch its fences yet: drift of a node is not answered"),
    shown(6, "radar#1785, nodewright#539, k/k#34782", "a node counts as drained as soon as the evictions are accepted, although pods still stop"),
    shown(7, "karpenter MinDrainTime", "a pod is bound just after the node's pods were listed, and is overlooked"),
    not_shown(8, "DataDog/draino#199", "a claim that was made anew under the same name is deleted", "rehome deletes no claims at all, so there is nothing that a test could tell apart"),
    not_shown(9, "kubectl waitForDelete", "one failed read of a pod ends the drain", NO_FAULTS),
    shown(10, "k/k#75957, istio#23075", "a pod under two budgets can't be evicted; one finds out when the node is cordoned already"),
    shown(11, "k/k#66811, #93476, #114877, #140599", "one replica under a budget that wants one can't be drained"),
    not_shown(12, "zalando/postgres-operator#1663", "a budget over one chosen pod allows nothing for ever, and the drain waits for it as if that would pass", "the plan is refused and names the budget, but takes it for one that is short of healthy pods: a budget that selects a part of a workload is measured by the whole workload's scale"),
    shown(13, "k/k#72320, #80389, MCM#684", "a pod that does not work blocks the drain, and nobody says which setting would let it go"),
    not_shown(14, "CAPI#13508", "pods of an unreachable node are evicted through a budget that can never allow it", "there is no step for a dead node yet"),
    not_shown(15, "k/k#106286, #125500", "one code stands for three refusals that need three answers", NO_FAULTS),
    shown(16, "kubectl#1830, kubespray#10029", "a dry run on the server goes on asking a budget that allows nothing"),
    shown(17, "kubectl#719, k/k#82657, harvester#9150", "a dry run asks for each pod by itself, and so promises what a budget does not allow for both"),
    shown(18, "tidb-operator#6912, strimzi#12310, k/k#129625", "a budget that can't be computed allows nothing, and is waited for"),
    not_shown(19, "kured#1269, drain-cleaner#58, deckhouse#23007", "a webhook that denies or fails once ends the drain", NO_WEBHOOK),
    not_shown(20, "k/k#117492", "each pod should be tried once and no more", "there is no `--attempts` yet"),
    not_shown(21, "karpenter#1776, #2802, aws/karpenter#2481", "no deadline holds against a budget", "there is no `--deadline` yet"),
    not_shown(22, "kubectl, 504 of the eviction endpoint", "a conflict over the budget inside the server ends the drain", NO_FAULTS),
    not_shown(23, "kubectl, 403 of a terminating namespace", "pods of a namespace that is being deleted are refused", "the controller deletes such pods at once: no set-up holds the moment open yet (the answer itself is in the contract suite)"),
    shown(24, "k/k#31487", "the first drain brings both replicas onto one node, and the second takes both away"),
    shown(25, "karpenter#740, #2985, eksctl#1699", "pods are evicted before others are Ready to take over"),
    shown(26, "kops#7258", "the second node is drained although what left the first does not work"),
    not_shown(27, "Crunchy#4159, CNPG#10103", "a replica is Ready but not in step, and the primary is moved", "there are no gates of the operator's own yet"),
    not_shown(29, "pod-graceful-drain#33", "an additional replica is not taken away again", "rehome changes no number of replicas yet, so there is nothing to give back"),
    shown(30, "MCM#120, CAPI#7043, kops#7958, k/k#6079", "pods move several times, to nodes that are emptied next"),
    shown(31, "zalando kubernetes-on-aws#3850", "nodes that are emptied later still attract pods"),
    shown(32, "cilium#28549, tetragon#3484", "a pod that tolerates everything comes back to the drained node"),
    not_shown(33, "kubectl#1347, k/k#109353, CAPI#11024", "what serves volumes leaves before those who use them", "the order of moves can't be told by the operator yet"),
    not_shown(34, "CAPI#11545, cloudman#116", "a Job's pod is evicted instead of being let finish", "rehome evicts the pods of running Jobs, too"),
    not_shown(35, "CNPG#7416, #11202, #7799", "an operator's primary can't switch over because all nodes are cordoned", "there is no strategy for operators with a primary yet"),
    not_shown(39, "kubevirt#5177, #9585", "uncordoning does not take back what the cordon has set off", "the testbed has no operator that reacts to a cordon"),
    shown(40, "vsphere-csi#359, CAPI#6285", "a node is given up while a volume is still attached to it"),
    shown(41, "ebs-csi#1665, #1955, NTH#1124", "a pod counts as moved while the old node still holds its volume"),
    shown(42, "aws/karpenter#9238, karpenter PR #1700", "an attachment that nobody needs holds up a node, and nobody says so"),
    shown(43, "topolvm#41, redpanda#10409", "a pod with data on the node's own disk is evicted and stays Pending"),
    shown(44, "hetzner csi#1059, sumologic#1333", "a pod's disk is in a zone in which no other node is"),
    shown(45, "k/k#126502, ebs-csi#1278", "the other node can't attach so many volumes"),
    shown(47, "eks-rolling-update#29", "after a crash, the tool does not know where it was"),
    shown(48, "k/k#37592, kured#63, #1129", "a drain that failed leaves the node cordoned"),
    shown(49, "DataDog/draino#91, MCM PR #1119", "a node that a person had cordoned before is uncordoned"),
    shown(50, "cybozu neco#2298, governor#60", "the opposite: after a failure, the node must stay closed"),
    shown(51, "containers-roadmap#1282", "the failure does not say which pod, which budget, and how far it is from allowing it"),
    not_shown(53, "terraform-google#1456, AKS#5129", "going past a budget needs a reason and an end", "a consent has no reason and no expiry yet"),
    shown(54, "amazon-k8s-node-drainer#33", "pods that have completed are drained over and over"),
    not_shown(55, "aaq#164, tigera#1270, talos#11268", "an image does not exist for the new nodes' architecture", "rehome does not look at the platforms of images yet"),
];
