package main

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// cluster is the state that a request describes, sorted by what kind of object it is. It knows objects, not scheduling.
type cluster struct {
	// objects by their Go type, as the informers want them.
	objects map[string][]runtime.Object
	// pods that are not over, by "namespace/name".
	pods map[string]*v1.Pod
}

// readCluster decodes the objects of a request.
func readCluster(raw []json.RawMessage) (*cluster, error) {
	c := &cluster{objects: map[string][]runtime.Object{}, pods: map[string]*v1.Pod{}}
	seen := map[string]bool{}
	for index, text := range raw {
		object, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", index, err)
		}
		key, err := fill(object)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", index, err)
		}
		kind := typeName(object)
		if seen[kind+" "+key] {
			return nil, fmt.Errorf("object %d: expected each object once, found a second %s %s", index, kind, key)
		}
		seen[kind+" "+key] = true
		if pod, ok := object.(*v1.Pod); ok {
			if isOver(pod) {
				continue
			}
			c.pods[key] = pod
		}
		c.objects[kind] = append(c.objects[kind], object)
	}
	return c, nil
}

// unbound is the pod of that name, if it is there and waits for the scheduler.
func (c *cluster) unbound(name string) (*v1.Pod, error) {
	pod := c.pods[name]
	if pod == nil {
		return nil, fmt.Errorf("expected the pod %s among the objects, found none that is not over", name)
	}
	if pod.Spec.NodeName != "" {
		return nil, fmt.Errorf("expected the pod %s to be unbound, found it on %s", name, pod.Spec.NodeName)
	}
	return pod, nil
}

// readPod decodes a pod of a list of pods.
func readPod(text json.RawMessage) (*v1.Pod, string, error) {
	object, err := decode(text)
	if err != nil {
		return nil, "", err
	}
	pod, ok := object.(*v1.Pod)
	if !ok {
		return nil, "", fmt.Errorf("expected a Pod, found a %s", typeName(object))
	}
	name, err := fill(pod)
	return pod, name, err
}

func decode(text json.RawMessage) (runtime.Object, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	return object, err
}

// fill gives an object what the scheduler's cache tells objects apart by, and says its key.
func fill(object runtime.Object) (string, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", fmt.Errorf("expected an object with metadata, found a %s: %w", typeName(object), err)
	}
	key := accessor.GetName()
	if namespace := accessor.GetNamespace(); namespace != "" {
		key = namespace + "/" + key
	}
	if accessor.GetUID() == "" {
		accessor.SetUID(types.UID(typeName(object) + " " + key))
	}
	// Volumes' caches compare resource versions as numbers.
	if accessor.GetResourceVersion() == "" {
		accessor.SetResourceVersion("1")
	}
	return key, nil
}

// isOver holds for pods that the scheduler's own informer leaves out (newPodInformer in pkg/scheduler/scheduler.go).
func isOver(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func typeName(object runtime.Object) string {
	return fmt.Sprintf("%T", object)
}
