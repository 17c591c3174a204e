package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// verdicts is the mode that judges pairs of pods and nodes.
func verdicts(in io.Reader, out io.Writer) error {
	// Each request makes a scheduler and drops it, in a few tens of MB: a fifth less time for some more of them.
	debug.SetGCPercent(400)
	return serve(in, out, answerRequest, func(err error) Response {
		return Response{Version: version(), Error: err.Error()}
	})
}

func answerRequest(request Request) (Response, error) {
	c, err := readCluster(request.Objects)
	if err != nil {
		return Response{}, err
	}
	filters, err := defaultFilters()
	if err != nil {
		return Response{}, err
	}
	i, err := newInstance(c, settings{percentage: 100, parallelism: 1, alone: filters})
	if err != nil {
		return Response{}, err
	}
	defer i.end()
	nodes, err := i.nodes()
	if err != nil {
		return Response{}, err
	}
	response := Response{Version: version(), Ignored: ignored(c)}
	for _, name := range request.Pods {
		pod, err := c.unbound(name)
		if err != nil {
			return Response{}, err
		}
		verdict, err := i.judge(pod, nodes)
		if err != nil {
			return Response{}, fmt.Errorf("pod %s: %w", name, err)
		}
		verdict.Pod = name
		response.Pods = append(response.Pods, verdict)
	}
	return response, nil
}

// judge says all about one pod. The error is one of ours; that of a plugin is in the verdict.
func (i *instance) judge(pod *v1.Pod, nodes []fwk.NodeInfo) (PodVerdict, error) {
	said := i.filter(i.profile, pod, nodes)
	verdict := PodVerdict{Blocked: said.blocked, Nodes: make([]NodeVerdict, 0, len(nodes))}
	if said.failure != nil {
		verdict.Error = said.failure.Error()
	}
	for _, node := range nodes {
		name := node.Node().Name
		verdict.Nodes = append(verdict.Nodes, NodeVerdict{
			Node: name, First: said.rejected[name], Alone: map[string][]string{}, Scores: map[string]int64{},
		})
	}
	for _, plugin := range i.filters {
		by := i.filter(i.scheduler.Profiles[aloneProfile+plugin], pod, nodes)
		for index := range verdict.Nodes {
			if rejection := by.rejected[verdict.Nodes[index].Node]; rejection != nil {
				verdict.Nodes[index].Alone[plugin] = rejection.Reasons
			}
		}
	}
	if said.failure != nil {
		return verdict, nil
	}
	if len(said.feasible) == 0 {
		return verdict, i.explain(pod, nodes, &verdict)
	}
	scores, err := i.scores(said, pod)
	if err != nil {
		verdict.Error = err.Error()
		return verdict, nil
	}
	for index := range verdict.Nodes {
		node := &verdict.Nodes[index]
		for plugin, score := range scores[node.Node] {
			node.Scores[plugin] = score
			node.Total += score
		}
	}
	return verdict, nil
}

// explain adds the message and the preemption of a pod that fits nowhere. Both come from Scheduler.SchedulePod itself,
// with which our own verdicts must agree.
func (i *instance) explain(pod *v1.Pod, nodes []fwk.NodeInfo, verdict *PodVerdict) error {
	if len(nodes) == 0 {
		message := noNodes
		verdict.Message = &message
		return nil
	}
	state := framework.NewCycleState()
	_, err := i.schedule(state, pod)
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		return fmt.Errorf("expected that SchedulePod finds no node, found the error %w", orNone(err))
	}
	for _, node := range verdict.Nodes {
		status := fit.Diagnosis.NodeToStatus.Get(node.Node)
		if !slices.Equal(reasonsOf(status), node.First.Reasons) || status.Code().String() != node.First.Code {
			return fmt.Errorf("expected that SchedulePod says of %s what we say (%s %q), found %s %q",
				node.Node, node.First.Code, node.First.Reasons, status.Code(), reasonsOf(status))
		}
	}
	message := fit.Error()
	verdict.Message = &message
	preemption, err := i.preempt(state, pod, fit)
	if err != nil {
		verdict.Error = err.Error()
	}
	verdict.Preemption = preemption
	return nil
}

// noNodes is what an event says when there is no node at all (ErrNoNodesAvailable in pkg/scheduler/scheduler.go).
const noNodes = "no nodes available to schedule pods"

func orNone(err error) error {
	if err == nil {
		return errors.New("none: it found a node")
	}
	return err
}
