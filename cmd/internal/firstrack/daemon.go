package firstrack

import "fmt"

func (s *Site) agentFile() string {
	listen := fmt.Sprintf("    interface: %s # DHCP is bound to it, and only to it\n", quoted(s.Interface))
	switch {
	case s.Address.Addr().IsLoopback():
		listen = fmt.Sprintf("    dhcp: %s:%d # on loopback, where simulated machines ask; real ones ask at port 67\n", s.Address.Addr(), localDHCP)
	case s.Local:
		listen += "    # DHCP is at port 67, which needs CAP_NET_BIND_SERVICE and CAP_NET_RAW.\n"
	}
	return fmt.Sprintf(`# rackboot-agent. What this file does not name, the hub cannot make the agent use.

# The agent's own folder.
dataDir: %s

# One file for each BMC account, mode 0600: the hub never sees them.
credentialsDir: %s

# Address of the metrics page.
# metrics: 127.0.0.1:9641

segments:
  # The Segment of this name at the hub.
  - name: %s
%s    http: %s:%d # firmware fetches from here, as the Segment's baseURL says
    # PXE firmware loads from here by TFTP.
    # tftp: %s:69

# Folders with boot loaders, by architecture. Without them only images with a UKI are booted.
# loaders:
#   amd64: [/usr/lib/shim, /usr/lib/grub/x86_64-efi-signed, /usr/lib/ipxe]
`, quoted(s.agentPath(agentDataDir, "agent", "state")), quoted(s.agentPath(accounts, "agent", "credentials")),
		s.segment(), listen, s.Address.Addr(), s.HTTPPort, s.Address.Addr())
}

func (s *Site) hubFile() string {
	return fmt.Sprintf(`# rackboot-hub, for a first try on this host.

# The hub's folder: its keys, ca.pem, pki/admin.token, and all that was applied.
dataDir: %s

# The HTTPS API, for rackctl and for agents that join; and MQTT over TLS, which agents dial.
api: %s
mqtt: %s

# Under which names and addresses the hub is reached.
names: [127.0.0.1]

# Address of the metrics page.
# metrics: 127.0.0.1:9640
`, quoted(s.agentPath("", "hub", "state")), localAPI, localMQTT)
}

func (s *Site) accountFile() string {
	return fmt.Sprintf("username: %s\npassword: %s\n", quoted(s.Account.Username), quoted(s.Account.Password))
}
