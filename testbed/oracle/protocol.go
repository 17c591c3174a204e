package main

import "encoding/json"

// This file is the protocol: one JSON value per line in, one per line out, in the same order. The Rust side of it is
// testbed/src/oracle/protocol.rs.
//
// Objects are as the API server stores them: with their apiVersion and kind, and with the defaults that the API server
// and its admission fill in (ports' protocols, requests from limits, priorities). Only two things are filled in here,
// because the scheduler's cache can't do without: a missing uid and a missing resourceVersion.

// Request asks about a cluster. Answered by Response.
type Request struct {
	// Objects are all objects of the cluster, of any kind that the scheduler reads, in any order.
	Objects []json.RawMessage `json:"objects"`
	// Pods are the unbound pods to judge, as "namespace/name": each alone, none is placed.
	Pods []string `json:"pods"`
}

// Response is the answer to a Request. If Error is set, there is nothing else.
type Response struct {
	// Version is that of k8s.io/kubernetes, as "v1.37.2".
	Version string `json:"version"`
	// Pods are the verdicts, in the order of the request.
	Pods []PodVerdict `json:"pods,omitempty"`
	// Ignored are the Go types of objects in the request that the scheduler does not read.
	Ignored []string `json:"ignored,omitempty"`
	// Error says why the request could not be answered.
	Error string `json:"error,omitempty"`
}

// PodVerdict is what the scheduler would do with one pod. Scheduling gates are not looked at (they keep a pod out of the
// queue, not off a node), and the pod's own nominated node is given no preference.
type PodVerdict struct {
	Pod string `json:"pod"`
	// Blocked is the PreFilter that rejects the pod outright; `first` of each node then says the same.
	Blocked *Verdict `json:"blocked"`
	// Nodes are all nodes, by name.
	Nodes []NodeVerdict `json:"nodes"`
	// Message is that of a FailedScheduling event without what preemption adds; null if a node is feasible.
	Message *string `json:"message"`
	// Preemption is what DefaultPreemption would choose; null if a node is feasible or if it would choose none.
	Preemption *Preemption `json:"preemption"`
	// Error is set if a plugin failed (instead of rejecting): the scheduler would try the pod again later.
	Error string `json:"error,omitempty"`
}

// NodeVerdict is one pair of pod and node.
type NodeVerdict struct {
	Node string `json:"node"`
	// First is the plugin that rejects the node in the default profile, which asks no further; null if it is feasible.
	First *Verdict `json:"first"`
	// Alone are the reasons of each filter plugin that rejects the pair when it runs by itself, its own PreFilter
	// included.
	Alone map[string][]string `json:"alone"`
	// Scores are the normalised scores times the weights of the plugins, over exactly the feasible nodes. A plugin that
	// skips the pod in PreScore is left out. Empty for a node that is not feasible.
	Scores map[string]int64 `json:"scores"`
	// Total is the sum of Scores. The scheduler takes a node with the highest total, at random among equals. If only
	// one node is feasible it takes that without scoring; it is scored here nevertheless.
	Total int64 `json:"total"`
}

// Verdict is a rejection.
type Verdict struct {
	// Plugin has the names of two plugins, with a comma, if each narrowed the nodes and no node is in both sets.
	Plugin string `json:"plugin"`
	// Code is "Unschedulable" (preemption may help), "UnschedulableAndUnresolvable", "Pending" or "Error".
	Code string `json:"code"`
	// Reasons are sorted: the order of those about extended resources is chance.
	Reasons []string `json:"reasons"`
}

// Preemption is the choice of DefaultPreemption over all candidates. The real scheduler stops looking for candidates at
// the greater of 10 % of the nodes and 100, beginning at a random node.
type Preemption struct {
	// Node is the node it would clear, at random among Ties.
	Node string `json:"node"`
	// Victims are the pods it would delete there, the most important first.
	Victims []string `json:"victims"`
	// Ties are the candidates that no criterion tells from Node, Node among them.
	Ties []string `json:"ties"`
	// Candidates are all nodes that could be cleared, by name.
	Candidates []Candidate `json:"candidates"`
}

// Candidate is a node that could be cleared for a pod.
type Candidate struct {
	Node    string   `json:"node"`
	Victims []string `json:"victims"`
	// Violations is how many of the victims a PodDisruptionBudget protects.
	Violations int64 `json:"violations"`
}

// PlaceRequest asks for a whole run of the scheduling loop: each pod in turn is scheduled and put into the scheduler's
// cache. Volumes are not bound and nothing is preempted. Opportunistic batching is off (the pods carry no signature), so
// each pod is filtered and scored anew.
type PlaceRequest struct {
	Objects []json.RawMessage `json:"objects"`
	// Pods are unbound pods in the order in which they leave the queue.
	Pods []json.RawMessage `json:"pods"`
	// Percentage is percentageOfNodesToScore: 100 for all, 0 for the default sampling.
	Percentage int32 `json:"percentage"`
	// Parallelism is how many threads filter and score; 0 for the default, 16.
	Parallelism int32 `json:"parallelism"`
}

// PlaceResponse is the answer to a PlaceRequest.
type PlaceResponse struct {
	Version string `json:"version"`
	// Placements are in the order of the pods.
	Placements []Placement `json:"placements,omitempty"`
	// Seconds are those of the loop alone: without reading the request and without filling the cache.
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// Placement is where a pod went: "" if it fits nowhere.
type Placement struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// ForcedRequest asks for a run in which each pod goes where it is told, and for what the scheduler would have done
// instead, given the same placements before it.
type ForcedRequest struct {
	Objects  []json.RawMessage `json:"objects"`
	Bindings []ForcedBinding   `json:"bindings"`
}

// ForcedBinding is an unbound pod and the node that it is bound to after it was judged; "" leaves it unbound.
type ForcedBinding struct {
	Pod  json.RawMessage `json:"pod"`
	Node string          `json:"node"`
}

// ForcedResponse is the answer to a ForcedRequest, in the order of the bindings.
type ForcedResponse struct {
	Version string       `json:"version"`
	Pods    []ForcedBest `json:"pods,omitempty"`
	Error   string       `json:"error,omitempty"`
}

// ForcedBest are the nodes with the best total score, by name: none if the pod fits nowhere.
type ForcedBest struct {
	Pod   string   `json:"pod"`
	Best  []string `json:"best"`
	Total int64    `json:"total"`
}

// PluginsResponse is what the mode "plugins" prints; it reads nothing.
type PluginsResponse struct {
	Version string `json:"version"`
	// Filters are the filter plugins of the default profile, in the order in which they are asked.
	Filters []string `json:"filters"`
	// Scores are its score plugins.
	Scores []PluginWeight `json:"scores"`
}

// PluginWeight is a score plugin and what its normalised score (0 to 100) is multiplied with.
type PluginWeight struct {
	Plugin string `json:"plugin"`
	Weight int32  `json:"weight"`
}
