package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// filtered is what the filter plugins of a profile say about one pod on all nodes.
type filtered struct {
	// blocked is set if a PreFilter rejects the pod outright; then each node is rejected with the same.
	blocked *Verdict
	// rejected nodes by name; the others are feasible.
	rejected map[string]*Verdict
	feasible []fwk.NodeInfo
	// state is that of the cycle after PreFilter.
	state fwk.CycleState
	// failure is the first plugin's that failed instead of rejecting.
	failure error
}

// filter runs PreFilter and Filter of a profile, as Scheduler.findNodesThatFitPod does, on each node: no sampling, and no
// preference for a nominated node.
func (i *instance) filter(profile framework.Framework, pod *v1.Pod, nodes []fwk.NodeInfo) *filtered {
	said := &filtered{rejected: map[string]*Verdict{}, state: framework.NewCycleState()}
	narrowed, status, narrowing := profile.RunPreFilterPlugins(i.ctx, said.state, pod)
	if !status.IsSuccess() {
		said.blocked = verdictOf(status)
		if said.blocked.Plugin == "" {
			said.blocked.Plugin = strings.Join(sets.List(narrowing), ",")
		}
		if !status.IsRejected() {
			said.failure = status.AsError()
		}
		for _, node := range nodes {
			said.rejected[node.Node().Name] = said.blocked
		}
		return said
	}
	for _, node := range nodes {
		name := node.Node().Name
		if !narrowed.AllNodes() && !narrowed.NodeNames.Has(name) {
			said.rejected[name] = verdictOfNarrowing(narrowing)
			continue
		}
		status := profile.RunFilterPluginsWithNominatedPods(i.ctx, said.state, pod, node)
		if status.IsSuccess() {
			said.feasible = append(said.feasible, node)
			continue
		}
		said.rejected[name] = verdictOf(status)
		if !status.IsRejected() && said.failure == nil {
			said.failure = status.AsError()
		}
	}
	return said
}

func verdictOf(status *fwk.Status) *Verdict {
	return &Verdict{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: reasonsOf(status)}
}

// verdictOfNarrowing is what Scheduler.findNodesThatFitPod reports for nodes that a PreFilter leaves out.
func verdictOfNarrowing(plugins sets.Set[string]) *Verdict {
	return &Verdict{
		Plugin:  strings.Join(sets.List(plugins), ","),
		Code:    fwk.UnschedulableAndUnresolvable.String(),
		Reasons: []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))},
	}
}

// reasonsOf are sorted: those about extended resources come in the order of a Go map, which is chance.
func reasonsOf(status *fwk.Status) []string {
	reasons := append([]string{}, status.Reasons()...)
	slices.Sort(reasons)
	return reasons
}

// scores runs PreScore, Score and NormalizeScore on the feasible nodes: by node, the weighted score of each plugin.
func (i *instance) scores(said *filtered, pod *v1.Pod) (map[string]map[string]int64, error) {
	if status := i.profile.RunPreScorePlugins(i.ctx, said.state, pod, said.feasible); !status.IsSuccess() {
		return nil, fmt.Errorf("PreScore: %w", status.AsError())
	}
	nodes, status := i.profile.RunScorePlugins(i.ctx, said.state, pod, said.feasible)
	if !status.IsSuccess() {
		return nil, fmt.Errorf("Score: %w", status.AsError())
	}
	scores := map[string]map[string]int64{}
	for _, node := range nodes {
		plugins := map[string]int64{}
		var total int64
		for _, plugin := range node.Scores {
			plugins[plugin.Name] = plugin.Score
			total += plugin.Score
		}
		if total != node.TotalScore {
			return nil, errors.New("the scores of node " + node.Name + " don't add up to its total")
		}
		scores[node.Name] = plugins
	}
	return scores, nil
}
