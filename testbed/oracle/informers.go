package main

import (
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// kinds are those that the scheduler has informers for, with the default feature gates of both versions. Priority
// classes are only accepted: admission has put their value into the pods.
var kinds = []runtime.Object{
	&v1.Node{}, &v1.Pod{}, &v1.Namespace{}, &v1.Service{}, &v1.ReplicationController{},
	&v1.PersistentVolume{}, &v1.PersistentVolumeClaim{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
	&policyv1.PodDisruptionBudget{},
	&schedulingv1.PriorityClass{},
	&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{},
	&storagev1.VolumeAttachment{},
	&resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{},
}

// ignored are the kinds of a cluster's objects that the scheduler does not read, sorted.
func ignored(c *cluster) []string {
	read := map[string]bool{}
	for _, kind := range kinds {
		read[typeName(kind)] = true
	}
	var said []string
	for kind := range c.objects {
		if !read[kind] {
			said = append(said, kind)
		}
	}
	slices.Sort(said)
	return said
}

// staticInformer holds objects that never change. It hands them to each handler within the call that adds it, so that
// a scheduler's caches are full once it is made: there are no goroutines, and nothing to wait for.
type staticInformer struct {
	// An informer that is never started, for all that is not said here.
	cache.SharedIndexInformer
	indexer cache.Indexer
}

// staticFactory is a factory whose informers hold the cluster's objects.
func staticFactory(client kubernetes.Interface, c *cluster) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, kind := range kinds {
		informer := &staticInformer{
			SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, kind, 0, cache.Indexers{}),
			indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc,
				cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		}
		for _, object := range c.objects[typeName(kind)] {
			if err := informer.indexer.Add(object); err != nil {
				return nil, err
			}
		}
		factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return informer })
	}
	return factory, nil
}

// GetIndexer is the store that listers read.
func (s *staticInformer) GetIndexer() cache.Indexer { return s.indexer }

// GetStore is the same store.
func (s *staticInformer) GetStore() cache.Store { return s.indexer }

// HasSynced holds from the start.
func (s *staticInformer) HasSynced() bool { return true }

// AddIndexers adds indexes, of which a plugin that is in several profiles may add the same again.
func (s *staticInformer) AddIndexers(indexers cache.Indexers) error {
	missing := cache.Indexers{}
	for name, index := range indexers {
		if s.indexer.GetIndexers()[name] == nil {
			missing[name] = index
		}
	}
	return s.indexer.AddIndexers(missing)
}

// AddEventHandler hands all objects to the handler before it returns.
func (s *staticInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	registration, err := s.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	if err != nil {
		return nil, err
	}
	for _, object := range s.indexer.List() {
		handler.OnAdd(object, true)
	}
	return registration, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: nothing changes, so there is nothing to see again.
func (s *staticInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (s *staticInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

// Run refuses: a started informer would ask an API server.
func (s *staticInformer) Run(<-chan struct{}) {
	panic(errors.New("a static informer was started"))
}
