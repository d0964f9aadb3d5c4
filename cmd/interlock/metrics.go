package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts what the engine tells, for /metrics.
type metrics struct {
	registry *prometheus.Registry
	counters map[string]*prometheus.CounterVec
}

// counted are the counters by the engine's name for them: labels and what they say.
var counted = map[string]struct {
	labels []string
	help   string
}{
	"turns":           {[]string{"machine", "status"}, "Turns that ended."},
	"model_replies":   {[]string{"model"}, "Replies of models."},
	"tool_calls":      {[]string{"tool"}, "Tool calls that started."},
	"tool_failures":   {[]string{"tool", "code"}, "Tool calls that failed."},
	"tool_refusals":   {[]string{"tool", "code"}, "Tool calls that were refused."},
	"duplicate_skips": {[]string{"tool"}, "Calls that were answered by an earlier result."},
	"artifact_dedups": {[]string{"producer"}, "Artifacts that existed already."},
	"rescues":         {[]string{"kind"}, "Arguments that were repaired, by kind."},
	"retries":         {[]string{"tool"}, "Empty calls that were sent back once."},
	"retry_successes": {[]string{"tool"}, "Calls that worked after they were sent back."},
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for name, c := range counted {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "interlock", Name: name + "_total", Help: c.help}, c.labels)
		m.registry.MustRegister(v)
		m.counters[name] = v
	}
	return m
}

// count is the engine's Count. A model chooses names of tools freely, so that labels
// are bounded by what exists: unknown names count as "other".
func (m *metrics) count(known func(tool string) bool) func(string, ...string) {
	return func(name string, labels ...string) {
		v := m.counters[name]
		if v == nil {
			return
		}
		if c := counted[name]; len(c.labels) > 0 && c.labels[0] == "tool" && len(labels) > 0 && !known(labels[0]) {
			labels[0] = "other"
		}
		if counter, err := v.GetMetricWithLabelValues(labels...); err == nil {
			counter.Inc()
		}
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
