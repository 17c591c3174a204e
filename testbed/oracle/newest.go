//go:build !floor

package main

// What is called differently in the two versions: here the newest.

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// schedule is one cycle of the scheduler, without a signature of the pod and so without batching.
func (i *instance) schedule(state fwk.CycleState, pod *v1.Pod) (scheduler.ScheduleResult, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	return i.scheduler.SchedulePod(i.ctx, i.profile, state, &framework.QueuedPodInfo{PodInfo: info})
}

// noEvents are the events of a profile: none.
func noEvents(string) events.EventRecorderLogger {
	return &events.FakeRecorder{}
}
