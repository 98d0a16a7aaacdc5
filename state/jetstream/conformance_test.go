package jetstream_test

import (
	"testing"

	"rackboot/state"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

func TestConformance(t *testing.T) {
	t.Run("KV", func(t *testing.T) {
		statetest.TestKV(t, func(t *testing.T) state.KV { return testKV(t, t.TempDir()) })
	})
	t.Run("Log", func(t *testing.T) {
		statetest.TestLog(t, func(t *testing.T) state.Log {
			l, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: testServer(t, t.TempDir()), Name: "LOG", Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			return l
		})
	})
}
