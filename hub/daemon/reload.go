package daemon

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api/gate"
	"rackboot/hub/people"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/clock"
)

// reloadTimeout bounds the write of the audit entry of a reload.
const reloadTimeout = 5 * time.Second

// appender is the audit log.
type appender interface {
	Append(ctx context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error)
}

// reloader reads the hub's file anew when it is asked to, and has the hub follow what can be followed
// without a restart: clients, their authorities and the log. A file that is wrong changes nothing.
type reloader struct {
	start   Config // what the hub was started with
	inForce *atomic.Pointer[Config]
	own     []byte         // its authority
	people  *people.People // who knows persons now; nil is nobody
	gate    *gate.Gate
	audit   appender
	options Options
	clock   state.Clock
	log     *slog.Logger
	metrics reloadMetrics
}

type reloadMetrics struct {
	ok, at, restart prometheus.Gauge
	failed          prometheus.Counter
}

func newReloader(c Config, h *hub, g *gate.Gate) (*reloader, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := reloadMetrics{
		ok:      gauge("rackboot_hub_config_reload_ok", "1 if the hub's file was right when it was last read, 0 if the hub goes on with an older one."),
		at:      gauge("rackboot_hub_config_reload_timestamp_seconds", "When the hub last read a file that was right."),
		restart: gauge("rackboot_hub_config_reload_restart_keys", "Keys of the hub's file that have changed since it started, and wait for a restart."),
		failed:  prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_config_reload_failures_total", Help: "Files of the hub that were wrong when they were to be reloaded."}),
	}
	for _, one := range []prometheus.Collector{m.ok, m.at, m.restart, m.failed} {
		if err := h.reg.Register(one); err != nil {
			return nil, err
		}
	}
	r := &reloader{start: c, inForce: &h.file, own: h.keys.CAPEM(), gate: g, audit: h.audit, options: h.options, clock: clock.Now, log: h.log, metrics: m}
	r.people, _ = h.callers.People.(*people.People)
	r.good()
	return r, nil
}

func (r *reloader) good() {
	r.metrics.ok.Set(1)
	r.metrics.at.Set(float64(r.clock().Unix()))
}

// run reloads when it is asked to, until ctx ends.
func (r *reloader) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.options.Reload:
			r.reload(ctx)
		}
	}
}

// reload reads the file. All of it is read and checked before anything changes.
func (r *reloader) reload(ctx context.Context) {
	next, change, err := r.follow()
	if err != nil {
		r.metrics.ok.Set(0)
		r.metrics.failed.Inc()
		r.log.Error("the hub's file was not reloaded; everything stays as it was", "err", err, "hint", protocol.HintOf(err))
		r.record(ctx, protocol.AuditEntry{Outcome: protocol.AuditRefused, Code: protocol.CodeOf(err), Detail: err.Error()})
		return
	}
	r.good()
	now := r.start
	now.Followed = next.Followed
	r.inForce.Store(&now)
	if r.options.Relog != nil {
		r.options.Relog(next.Log)
	}
	restart := differ(r.start, next)
	r.metrics.restart.Set(float64(len(restart)))
	detail := change.String()
	if len(restart) > 0 {
		detail += "; restart for: " + strings.Join(restart, ", ")
		r.log.Warn("what the hub's file says of these keys needs a restart of the hub", "restart_for", strings.Join(restart, ", "))
	}
	r.log.Info("the hub's file was reloaded", "added", change.Added, "removed", change.Removed, "changed", change.Changed, "other_authorities", change.Authorities, "cut", change.Cut)
	r.record(ctx, protocol.AuditEntry{Outcome: protocol.AuditAccepted, Detail: detail})
}

// follow has the gate know the clients of the file.
func (r *reloader) follow() (next Config, change gate.Change, err error) {
	if next, err = LoadConfig(r.options.File); err != nil {
		return next, change, err
	}
	who, err := next.readCallers(r.own, r.people)
	if err != nil {
		return next, change, err
	}
	if change, err = r.gate.Replace(who); err == nil {
		r.people, _ = who.People.(*people.People)
	}
	return next, change, err
}

// record notes a reload. One that cannot be noted counts all the same: whoever is taken away is not
// let in because a disk is full.
func (r *reloader) record(ctx context.Context, e protocol.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadTimeout)
	defer cancel()
	e.At, e.Caller, e.From, e.Op = r.clock().UTC(), "hub", "hub", "reload"
	if _, err := r.audit.Append(ctx, e); err != nil {
		r.log.Error("audit entry of a reload not written", "detail", e.Detail, "err", err)
	}
}

// differ returns the keys whose change needs a restart, in the order of Config.
func differ(a, b Config) []string {
	return differing(reflect.ValueOf(a), reflect.ValueOf(b))
}

func differing(a, b reflect.Value) (out []string) {
	for i := range a.NumField() {
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case a.Type().Field(i).Type == reflect.TypeFor[Followed]():
		case key == "": // its fields are keys
			out = append(out, differing(a.Field(i), b.Field(i))...)
		case reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()):
		default:
			out = append(out, key)
		}
	}
	return out
}
