//go:build host

package alone

import (
	"log/slog"
	"net"
	"os"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol/resource"
)

// serverUUID is what the claimed server's firmware sends, and its BMC shows.
const serverUUID = "4c4c4544-0051-3010-8052-b4c04f333333"

// serverSpeed is how much faster than real the tries of its firmware are.
const serverSpeed = 20

// ran is what the machine has run.
type ran struct {
	Network, Disk, Installs int
	Digest                  string // of what it booted from the network last
	UserData                string // that its installer was given
}

// serverConfig is what the server's child is told.
type serverConfig struct{ Post time.Duration }

// runServer is the child with a machine that installs what it boots, with user data, once it
// is told to finish.
func runServer() error {
	c, err := config[serverConfig]()
	if err != nil {
		return err
	}
	finish := make(chan struct{})
	s, err := sim.StartServer(sim.ServerConfig{
		Name: serverName, MAC: bootMAC, UUID: serverUUID, Username: bmcUser, Password: bmcPassword, Personality: bmcsim.Plain(),
		Interface: clientDevice, Speed: serverSpeed, UserData: true, Finish: finish,
		Post: c.Post, Shutdown: 50 * time.Millisecond,
		Listen: func() (net.Listener, error) { return net.Listen("tcp", bmcAddress) },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := speak(machineAt{s.BMC.Address(), s.BMC.Fingerprint()}); err != nil {
		return err
	}
	return listen(func(word string) error {
		if word == "finish" {
			close(finish)
			return nil
		}
		var r ran
		r.Network, r.Disk, _, r.Installs = s.Boots.Counts()
		r.Digest = s.Boots.Digest()
		if kind, data := s.Boots.UserData(); kind == resource.TypeIgnition {
			r.UserData = string(data)
		}
		return speak(r)
	})
}
