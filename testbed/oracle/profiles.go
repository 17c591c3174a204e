package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// aloneProfile is the beginning of the names of the profiles in which one filter plugin runs by itself.
const aloneProfile = "alone/"

// defaultFilters are the filter plugins of the default profile, in its order.
var defaultFilters = sync.OnceValues(func() ([]string, error) {
	i, err := newInstance(&cluster{}, settings{})
	if err != nil {
		return nil, err
	}
	defer i.end()
	return i.filters, nil
})

// defaultProfile is the profile of a kube-scheduler without a configuration.
func defaultProfile() (schedulerapi.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var config schedulerapi.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &config, nil); err != nil {
		return schedulerapi.KubeSchedulerProfile{}, err
	}
	if len(config.Profiles) != 1 {
		return schedulerapi.KubeSchedulerProfile{}, fmt.Errorf("expected one default profile, found %d", len(config.Profiles))
	}
	return config.Profiles[0], nil
}

// alone is the default profile with one filter plugin only, and what no profile can be without.
func alone(defaults schedulerapi.KubeSchedulerProfile, plugin string) schedulerapi.KubeSchedulerProfile {
	profile := *defaults.DeepCopy()
	profile.SchedulerName = aloneProfile + plugin
	enabled := func(name string) schedulerapi.PluginSet {
		return schedulerapi.PluginSet{Enabled: []schedulerapi.Plugin{{Name: name}}}
	}
	profile.Plugins = &schedulerapi.Plugins{
		QueueSort:  enabled("PrioritySort"),
		MultiPoint: enabled(plugin),
		Bind:       enabled("DefaultBinder"),
	}
	return profile
}

// args are the arguments of a plugin in the default profile.
func (i *instance) args(plugin string) (runtime.Object, error) {
	for _, config := range i.config.PluginConfig {
		if config.Name == plugin {
			return config.Args, nil
		}
	}
	return nil, errors.New("expected arguments of " + plugin + " in the default profile, found none")
}

// plugins prints the filter plugins of the default profile in their order, and its score plugins with their weights.
func plugins(_ io.Reader, out io.Writer) error {
	i, err := newInstance(&cluster{}, settings{})
	if err != nil {
		return err
	}
	defer i.end()
	answer := PluginsResponse{Version: version(), Filters: i.filters}
	for _, plugin := range i.profile.ListPlugins().Score.Enabled {
		answer.Scores = append(answer.Scores, PluginWeight{Plugin: plugin.Name, Weight: plugin.Weight})
	}
	return writeLine(out, answer)
}
