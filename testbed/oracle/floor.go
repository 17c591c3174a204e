//go:build floor

package main

// What is called differently in the two versions: here the floor.

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
)

// schedule is one cycle of the scheduler.
func (i *instance) schedule(state fwk.CycleState, pod *v1.Pod) (scheduler.ScheduleResult, error) {
	return i.scheduler.SchedulePod(i.ctx, i.profile, state, pod)
}

// noEvents are the events of a profile: none.
func noEvents(string) events.EventRecorder {
	return &events.FakeRecorder{}
}
