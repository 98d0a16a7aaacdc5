//go:build soak

package firmware

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// TestOVMFBootEnvMirror is TestOVMFBootEnv without an ISO: the installer's kernel and initrd
// come from a repository, through the agent, which has them before it powers the server on.
// Then the repository is cut off, and the installer starts all the same, and fetches its
// preseed file.
func TestOVMFBootEnvMirror(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.alone, s.agentFile, s.memory = true, "agent-env.yaml", installerMemory
	s.buildPrograms(ctx, t)
	cut := s.repository(ctx, t)
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.install12(ctx, t, "", map[string]string{"LINE": "console=ttyS0", "REPOSITORIES": `
      - {tag: debian-12, os: [debian-12], arch: amd64, url: "http://10.9.0.2:8081/debian", bootloc: "http://10.9.0.2:8081/debian/installer",
         installSource: true, distribution: bookworm, components: [main]}`})
	cut()
	s.served(ctx, t, seedTimeout, "/preseed.cfg")
	for _, file := range []string{"/boot/linux", "/boot/initrd.gz"} {
		s.served(ctx, t, time.Minute, file) // rackctl itself takes its time
	}
	env := s.server(ctx, t).Status.Report.Env
	if env == nil || env.State != resource.EnvReady || env.OS != "debian-12" || env.Source != resource.EnvFromProxy {
		t.Errorf("reported %+v", env)
	}
}

// repository serves the installer's kernel and initrd as a repository does, at the hub's
// address, until it is cut off.
func (s *site) repository(ctx context.Context, t *testing.T) (cut func()) {
	t.Helper()
	folder := filepath.Dir(loaderOf(t, "bookworm-amd64", installerFiles+"/linux"))
	mux := http.NewServeMux()
	mux.Handle("/debian/installer/", http.StripPrefix("/debian/installer", http.FileServer(http.Dir(folder))))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	var listener net.Listener
	err := s.hub.Do(func() (err error) {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", hubAddress+":8081")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	done := false
	cut = func() {
		if done {
			return
		}
		done = true
		if err := errors.Join(server.Close(), <-served); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("repository: %v", err)
		}
		s.logf(t, "repository cut off")
	}
	t.Cleanup(cut)
	return cut
}
