package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"rackboot/protocol"
)

// A change of level and format is seen by loggers that were made before, with what they add.
func TestLogFollows(t *testing.T) {
	var out bytes.Buffer
	l, err := newLog(&out, "text", "info")
	if err != nil {
		t.Fatal(err)
	}
	said := func() string {
		defer out.Reset()
		return strings.TrimSpace(out.String())
	}
	part := l.With("a", 1).WithGroup("g").With("b", 2)
	part.Debug("no")
	part.Info("yes", "c", 3)
	if got := said(); !strings.HasSuffix(got, "level=INFO msg=yes a=1 g.b=2 g.c=3") || strings.Contains(got, "\n") {
		t.Error(got)
	}
	if err := l.Set("debug", "json"); err != nil {
		t.Fatal(err)
	}
	part.Debug("now", "c", 3)
	if got := said(); !strings.HasPrefix(got, "{") || !strings.HasSuffix(got, `"level":"DEBUG","msg":"now","a":1,"g":{"b":2,"c":3}}`) {
		t.Error(got)
	}
	for _, bad := range [][2]string{{"loud", ""}, {"", "xml"}} {
		if err := l.Set(bad[0], bad[1]); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if part.Debug("still"); !strings.HasPrefix(said(), "{") {
		t.Error("a wrong setting changed something")
	}
	if err := l.Set("", ""); err != nil {
		t.Fatal(err)
	}
	if part.Debug("no"); said() != "" || part.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("empty is not as the command line says")
	}
}
