package main

import (
	"context"
	"fmt"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// instance is a real scheduler over a cluster that stands still. Its loop is not running: we call what the loop calls.
type instance struct {
	ctx       context.Context
	end       context.CancelFunc
	scheduler *scheduler.Scheduler
	factory   informers.SharedInformerFactory
	// The default profile, and its configuration.
	profile framework.Framework
	config  schedulerapi.KubeSchedulerProfile
	// The filter plugins of the default profile, in its order.
	filters []string
}

// settings are what a request may choose about a scheduler.
type settings struct {
	percentage  int32
	parallelism int32
	// The filter plugins that get a profile in which they are alone.
	alone []string
}

// newInstance makes a scheduler whose caches hold the cluster. It must be closed.
func newInstance(c *cluster, s settings) (*instance, error) {
	defaults, err := defaultProfile()
	if err != nil {
		return nil, err
	}
	// Nothing asks this client anything, and an address that nobody listens on shows it if something does.
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		return nil, err
	}
	factory, err := staticFactory(client, c)
	if err != nil {
		return nil, err
	}
	profiles := []schedulerapi.KubeSchedulerProfile{defaults}
	for _, plugin := range s.alone {
		profiles = append(profiles, alone(defaults, plugin))
	}
	options := []scheduler.Option{
		scheduler.WithProfiles(profiles...),
		scheduler.WithPercentageOfNodesToScore(&s.percentage),
	}
	if s.parallelism > 0 {
		options = append(options, scheduler.WithParallelism(s.parallelism))
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	made, err := scheduler.New(ctx, client, factory, nil, noEvents, options...)
	if err != nil {
		cancel()
		return nil, err
	}
	i := &instance{ctx: ctx, scheduler: made, factory: factory, config: defaults}
	i.end = func() {
		cancel()
		// scheduler.New listens for this signal and never stops to.
		signal.Reset(syscall.SIGUSR2)
	}
	i.profile = made.Profiles[defaults.SchedulerName]
	for _, plugin := range i.profile.ListPlugins().Filter.Enabled {
		i.filters = append(i.filters, plugin.Name)
	}
	return i, i.refresh()
}

// refresh makes the snapshot that plugins see one of the cache, as at the begin of each scheduling cycle.
func (i *instance) refresh() error {
	snapshot, ok := i.profile.SnapshotSharedLister().(*internalcache.Snapshot)
	if !ok {
		return fmt.Errorf("expected the snapshot of the scheduler's cache, found %T", i.profile.SnapshotSharedLister())
	}
	return i.scheduler.Cache.UpdateSnapshot(klog.FromContext(i.ctx), snapshot)
}

// nodes are those of the snapshot, by name.
func (i *instance) nodes() ([]fwk.NodeInfo, error) {
	nodes, err := i.profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	return nodes, nil
}

// bind puts a pod on a node, in the scheduler's cache only.
func (i *instance) bind(pod *v1.Pod, node string) error {
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	return i.scheduler.Cache.AddPod(klog.FromContext(i.ctx), bound)
}

// version is that of the Kubernetes that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return "unknown"
}
