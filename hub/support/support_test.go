package support

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestLines: a log keeps its last lines within both bounds, whatever is logged, and without secrets.
func TestLines(t *testing.T) {
	var l Lines
	var out strings.Builder
	level := new(slog.LevelVar)
	log := slog.New(l.Beside(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))).With("rack", "r1").WithGroup("boot")
	log.Debug("not logged")
	log.Info("asked", "token", "0123456789abcdef", "server", "n1")
	if got := l.Text(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "rack=r1 boot.token=(redacted) boot.server=n1") {
		t.Errorf("kept %q", got)
	}
	if !strings.Contains(out.String(), "0123456789abcdef") {
		t.Errorf("the log itself was changed: %q", out.String())
	}
	level.Set(slog.LevelDebug)
	log.Debug("logged now")
	if got := l.Text(); !strings.Contains(got, "logged now") {
		t.Errorf("kept %q", got)
	}
	for i := range 3 * maxLines {
		log.Info("line", "n", i)
	}
	lines := strings.Split(strings.TrimSuffix(l.Text(), "\n"), "\n")
	if len(lines) != maxLines || !strings.HasSuffix(lines[maxLines-1], fmt.Sprintf(" boot.n=%d", 3*maxLines-1)) || !strings.HasSuffix(lines[0], fmt.Sprintf(" boot.n=%d", 2*maxLines)) {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	for range maxLines {
		log.Info("long", "text", strings.Repeat("x", 2*maxLine))
	}
	if n := len(l.Text()); n > maxLogBytes || n < maxLogBytes-2*maxLine {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestSupport: the file without secrets, the metrics as they are scraped, and as many as fit.
func TestSupport(t *testing.T) {
	reg := prometheus.NewRegistry()
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "a_small", Help: "h"}, []string{"n"})
	reg.MustRegister(g)
	g.WithLabelValues("1").Set(7)
	started := time.Unix(1, 0).UTC()
	room := New(Config{Version: "1.2.3", StartedAt: started, File: func() ([]byte, error) { return []byte(`{"api":"127.0.0.1:1","password":"hidden"}`), nil }, Lines: &Lines{}, Metrics: reg})
	got, err := room.Support()
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != "1.2.3" || !got.StartedAt.Equal(started) || string(got.Config) != `{"api":"127.0.0.1:1","password":"(redacted)"}` || !strings.Contains(got.Metrics, `a_small{n="1"} 7`) || got.MetricsCut {
		t.Errorf("%+v", got)
	}
	many := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "b_many", Help: "h"}, []string{"n"})
	reg.MustRegister(many)
	for i := range 9 {
		many.WithLabelValues(fmt.Sprint(i, strings.Repeat("x", 1<<20))).Set(1)
	}
	if got, err = room.Support(); err != nil || !got.MetricsCut || strings.Contains(got.Metrics, "b_many") || !strings.Contains(got.Metrics, "a_small") {
		t.Errorf("%d bytes of metrics, cut %v, %v", len(got.Metrics), got.MetricsCut, err)
	}
}
