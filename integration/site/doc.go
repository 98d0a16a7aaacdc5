// Package site tests a hub with its agents: the two daemons as their programs run
// them, over MQTT, HTTPS, Redfish, DHCP and HTTP on loopback, against simulated
// servers.
package site
