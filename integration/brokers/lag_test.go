package brokers

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"rackboot/state"
	"rackboot/state/jetstream"
)

// What is read of a stream that was just made on three servers is whole, though two of them have nothing of it yet: lists,
// records and copies are of what the leader has.
func TestReadsWhileServersLagBehind(t *testing.T) {
	const times, records = 4, 200
	t.Parallel()
	c := startCluster(t)
	c.open() // the cluster has elected
	for n := range times {
		from := jetstream.Config{Conn: c.conn, Name: "from-" + strconv.Itoa(n), Timeout: waitAtMost}
		kv, err := jetstream.OpenKV(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		from.Name = "log-" + strconv.Itoa(n)
		log, err := jetstream.OpenLog(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			if _, err := kv.Create(t.Context(), "k."+strconv.Itoa(i), []byte("1")); err != nil {
				t.Fatal(err)
			}
			if _, err := log.Append(t.Context(), "r", []byte("1"), ""); err != nil {
				t.Fatal(err)
			}
		}
		var keys, facts bytes.Buffer
		if _, err := kv.Copy(t.Context(), &keys); err != nil {
			t.Fatal(err)
		}
		if _, err := log.Copy(t.Context(), &facts); err != nil {
			t.Fatal(err)
		}
		for name, raw := range map[string]*bytes.Buffer{"from-" + strconv.Itoa(n): &keys, "log-" + strconv.Itoa(n): &facts} {
			if _, err := c.conn.Request("$JS.API.STREAM.DELETE."+name, nil, waitAtMost); err != nil {
				t.Fatal(err)
			}
			into := jetstream.Config{Conn: c.conn, Name: name, Replicas: nodes, Timeout: 30 * time.Second}
			if _, err := jetstream.Restore(t.Context(), into, raw); err != nil {
				t.Fatal(err)
			}
			if name[0] == 'l' {
				made, err := jetstream.OpenLog(t.Context(), into)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := made.Read(t.Context(), "r", 1, 2*records); err != nil || len(got) != records {
					t.Errorf("%d records are read of %d, %v", len(got), records, err)
				}
				continue
			}
			made, err := jetstream.OpenKV(t.Context(), into)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := made.Sum(t.Context()); err != nil || got.Messages != records {
				t.Errorf("%d messages are copied of %d, %v", got.Messages, records, err)
			}
			var list []state.Entry
			if list, _, err = made.List(t.Context(), ""); err != nil || len(list) != records {
				t.Errorf("%d keys are listed of %d, %v", len(list), records, err)
			}
		}
	}
}
