// Package dnsmasq converts host lists of dnsmasq: lines dhcp-host= of its configuration, the files that
// dhcp-hostsfile names, and /etc/ethers.
package dnsmasq
