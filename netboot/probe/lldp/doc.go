// Package lldp hears who is at the other end of the cables: the announcements of
// switches by the Link Layer Discovery Protocol (IEEE 802.1AB-2016). It sends nothing.
// Some network cards keep the announcements for their own firmware (Intel X710 until
// its LLDP agent is switched off); of them nothing is heard.
package lldp
