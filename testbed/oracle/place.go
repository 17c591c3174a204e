package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// place is the mode that runs the scheduling loop over a list of pods, and takes the time.
func place(in io.Reader, out io.Writer) error {
	return serve(in, out, answerPlace, func(err error) PlaceResponse {
		return PlaceResponse{Version: version(), Error: err.Error()}
	})
}

func answerPlace(request PlaceRequest) (PlaceResponse, error) {
	c, err := readCluster(request.Objects)
	if err != nil {
		return PlaceResponse{}, err
	}
	pods := make([]*v1.Pod, 0, len(request.Pods))
	response := PlaceResponse{Version: version(), Placements: make([]Placement, 0, len(request.Pods))}
	for index, text := range request.Pods {
		pod, name, err := readPod(text)
		if err != nil {
			return PlaceResponse{}, fmt.Errorf("pod %d: %w", index, err)
		}
		pods = append(pods, pod)
		response.Placements = append(response.Placements, Placement{Pod: name})
	}
	i, err := newInstance(c, settings{percentage: request.Percentage, parallelism: request.Parallelism})
	if err != nil {
		return PlaceResponse{}, err
	}
	defer i.end()
	begin := time.Now()
	for index, pod := range pods {
		if err := i.refresh(); err != nil {
			return PlaceResponse{}, err
		}
		result, err := i.schedule(framework.NewCycleState(), pod)
		if fitsNowhere(err) {
			continue
		}
		if err == nil {
			err = i.bind(pod, result.SuggestedHost)
		}
		if err != nil {
			return PlaceResponse{}, fmt.Errorf("pod %s: %w", response.Placements[index].Pod, err)
		}
		response.Placements[index].Node = result.SuggestedHost
	}
	response.Seconds = time.Since(begin).Seconds()
	return response, nil
}

// forced is the mode that says at each placement what would have been best.
func forced(in io.Reader, out io.Writer) error {
	return serve(in, out, answerForced, func(err error) ForcedResponse {
		return ForcedResponse{Version: version(), Error: err.Error()}
	})
}

func answerForced(request ForcedRequest) (ForcedResponse, error) {
	c, err := readCluster(request.Objects)
	if err != nil {
		return ForcedResponse{}, err
	}
	i, err := newInstance(c, settings{percentage: 100, parallelism: 1})
	if err != nil {
		return ForcedResponse{}, err
	}
	defer i.end()
	response := ForcedResponse{Version: version(), Pods: make([]ForcedBest, 0, len(request.Bindings))}
	for index, binding := range request.Bindings {
		pod, name, err := readPod(binding.Pod)
		if err != nil {
			return ForcedResponse{}, fmt.Errorf("binding %d: %w", index, err)
		}
		best, err := i.best(pod)
		if err != nil {
			return ForcedResponse{}, fmt.Errorf("pod %s: %w", name, err)
		}
		best.Pod = name
		response.Pods = append(response.Pods, best)
		if binding.Node == "" {
			continue
		}
		if _, err := i.profile.SnapshotSharedLister().NodeInfos().Get(binding.Node); err != nil {
			return ForcedResponse{}, fmt.Errorf("pod %s: expected a node to bind it to: %w", name, err)
		}
		if err := i.bind(pod, binding.Node); err != nil {
			return ForcedResponse{}, fmt.Errorf("pod %s: %w", name, err)
		}
	}
	return response, nil
}

// best are the nodes that the scheduler would draw from for a pod now.
func (i *instance) best(pod *v1.Pod) (ForcedBest, error) {
	said := ForcedBest{Best: []string{}}
	if err := i.refresh(); err != nil {
		return said, err
	}
	nodes, err := i.nodes()
	if err != nil {
		return said, err
	}
	by := i.filter(i.profile, pod, nodes)
	if by.failure != nil || len(by.feasible) == 0 {
		return said, by.failure
	}
	scores, err := i.scores(by, pod)
	if err != nil {
		return said, err
	}
	for node, plugins := range scores {
		var total int64
		for _, score := range plugins {
			total += score
		}
		switch {
		case len(said.Best) == 0 || total > said.Total:
			said.Best, said.Total = []string{node}, total
		case total == said.Total:
			said.Best = append(said.Best, node)
		}
	}
	slices.Sort(said.Best)
	return said, nil
}

func fitsNowhere(err error) bool {
	var fit *framework.FitError
	return errors.As(err, &fit) || errors.Is(err, scheduler.ErrNoNodesAvailable)
}
