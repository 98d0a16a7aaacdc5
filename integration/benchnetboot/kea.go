package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// kea is how Kea is set up. It has its leases in memory and appends them to a file, which it
// does not sync.
type kea struct {
	threads bool
	// queue is how many packets wait in it, and buffer how many bytes in its socket; what it
	// has by itself if zero.
	queue, buffer int
}

// tuned has room for a room that comes up at once. Our own server asks the kernel for as much.
func tuned(threads bool) kea { return kea{threads: threads, queue: 4096, buffer: 4 << 20} }

func (k kea) command(dir string) (*exec.Cmd, error) {
	queues, ring := "", ""
	switch {
	case k.queue > 0 && k.threads:
		queues = fmt.Sprintf(`, "packet-queue-size": %d`, k.queue)
	case k.queue > 0:
		ring = fmt.Sprintf(`"dhcp-queue-control": {"enable-queue": true, "queue-type": "kea-ring4", "capacity": %d},`, k.queue)
	}
	config := fmt.Sprintf(`{"Dhcp4": {
		"interfaces-config": {"interfaces": [%q], "dhcp-socket-type": "udp"},
		"lease-database": {"type": "memfile", "persist": true, "name": %q, "lfc-interval": 0},
		"multi-threading": {"enable-multi-threading": %t, "thread-pool-size": 2%s}, %s
		"valid-lifetime": 3600,
		"subnet4": [{"id": 1, "subnet": %q, "pools": [{"pool": "%s - %s"}]}],
		"loggers": [{"name": "kea-dhcp4", "severity": "ERROR", "output_options": [{"output": "stderr"}]}]
	}}`, serverDevice, filepath.Join(dir, "leases.csv"), k.threads, queues, ring, prefix, poolFrom, poolTo)
	name := filepath.Join(dir, "kea.json")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("kea-dhcp4", "-c", name) //nolint:noctx // it is ended by its contestant
	cmd.Env = append(os.Environ(), "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir)
	return cmd, nil
}

// ready says that it listens, and gives its socket the buffer, for which Kea has no setting.
func (k kea) ready(ctx context.Context, c *contestant) bool {
	return listens("-u sport = :67")(ctx, c) && (k.buffer == 0 || enlarge(c.server, k.buffer) == nil)
}
