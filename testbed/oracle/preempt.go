package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// preempt is what DefaultPreemption would choose after a cycle that ended with `fit`. These are the steps of
// Evaluator.Preempt (pkg/scheduler/framework/preemption/preemption.go) without the last one, which deletes the victims,
// and with all nodes as candidates.
func (i *instance) preempt(state fwk.CycleState, pod *v1.Pod, fit *framework.FitError) (*Preemption, error) {
	args, err := i.args(defaultpreemption.Name)
	if err != nil {
		return nil, err
	}
	gates := plfeature.NewSchedulerFeaturesFromGates(feature.DefaultFeatureGate)
	plugin, err := defaultpreemption.New(i.ctx, args, i.profile, gates)
	if err != nil {
		return nil, err
	}
	statuses := fit.Diagnosis.NodeToStatus
	if eligible, _ := plugin.PodEligibleToPreemptOthers(i.ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !eligible {
		return nil, nil
	}
	potential, err := statuses.NodesForStatusCode(i.profile.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(potential) == 0 {
		return nil, err
	}
	budgets, err := i.factory.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	candidates, _, err := plugin.Evaluator.DryRunPreemption(i.ctx, state, pod, potential, budgets, 0, int32(len(potential)))
	if len(candidates) == 0 {
		return nil, err
	}
	chosen := plugin.Evaluator.SelectCandidate(i.ctx, candidates)
	if chosen == nil {
		return nil, fmt.Errorf("expected that one of %d candidates is chosen, found none", len(candidates))
	}
	return describe(chosen, candidates), nil
}

func describe(chosen preemption.Candidate, candidates []preemption.Candidate) *Preemption {
	said := &Preemption{Node: chosen.Name(), Victims: names(chosen.Victims().Pods)}
	for _, candidate := range candidates {
		said.Candidates = append(said.Candidates, Candidate{
			Node:       candidate.Name(),
			Victims:    names(candidate.Victims().Pods),
			Violations: candidate.Victims().NumPDBViolations,
		})
		if criteriaOf(candidate.Victims()) == criteriaOf(chosen.Victims()) {
			said.Ties = append(said.Ties, candidate.Name())
		}
	}
	slices.SortFunc(said.Candidates, func(a, b Candidate) int { return strings.Compare(a.Node, b.Node) })
	slices.Sort(said.Ties)
	return said
}

func names(pods []*v1.Pod) []string {
	said := make([]string, 0, len(pods))
	for _, pod := range pods {
		said = append(said, pod.Namespace+"/"+pod.Name)
	}
	return said
}

// criteria are what pickOneNodeForPreemption (in the same file as Evaluator.Preempt) compares, which says nothing about
// ties.
type criteria struct {
	violations int64
	highest    int32
	sum        int64
	count      int
	earliest   int64
}

func criteriaOf(victims *extenderv1.Victims) criteria {
	said := criteria{violations: victims.NumPDBViolations, count: len(victims.Pods), earliest: notStarted}
	if len(victims.Pods) > 0 {
		said.highest = corev1helpers.PodPriority(victims.Pods[0])
	}
	for _, pod := range victims.Pods {
		priority := corev1helpers.PodPriority(pod)
		said.sum += int64(priority)
		if priority == said.highest && pod.Status.StartTime != nil {
			said.earliest = min(said.earliest, pod.Status.StartTime.UnixNano())
		}
	}
	return said
}

// notStarted stands for the start of a pod that has not started, for which the scheduler takes the moment at which it
// compares (GetPodStartTime in pkg/scheduler/util/utils.go): later than all others, and otherwise chance.
const notStarted = math.MaxInt64
