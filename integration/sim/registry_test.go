package sim

import (
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
)

// A registry gets an image by whatever it listens on.
func TestPushHere(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", ":0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			r, err := StartRegistry(addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
			if err := r.PushHere(t.Context(), "demo:1", UKI([]byte("x"))); err != nil {
				t.Fatal(err)
			}
			port := r.Addr[strings.LastIndex(r.Addr, ":"):]
			host := "127.0.0.1"
			if addr == "[::1]:0" {
				host = "[::1]"
			}
			if tags, err := crane.ListTags(host+port+"/demo", crane.Insecure); err != nil || len(tags) != 1 || tags[0] != "1" {
				t.Errorf("tags %v, %v", tags, err)
			}
		})
	}
}
