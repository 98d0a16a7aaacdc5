// Package firmware is a UEFI network stack in user space: it sends the packets
// that EDK2 sends, waits as EDK2 waits, and takes and refuses what EDK2 takes and
// refuses. Tests, the demonstration and the rack simulator boot by it through the
// production servers.
//
// # Flows
//
//   - [Client.HTTPBoot]: DHCP as an HTTP boot client, then HEAD and GET.
//   - [Client.HTTPv6Boot]: the same over DHCPv6 and IPv6.
//   - [Client.PXEBoot]: DHCP as a PXE client, then the file by TFTP as EDK2 asks for it.
//   - [Client.Plain]: DHCP as an operating system does it; [Client.Plain6] over IPv6.
//   - [Client.Report]: what an installer sends to the URL that it got.
//
// # Without privileges
//
// With Server set, the client is its own relay: giaddr is the address of its
// socket, and option 82 sub-option 19 (RFC 8357) has the server answer to its
// port. The server's segment must contain that address, unless it is a loopback
// address. With Interface set it broadcasts from port 68, which needs the right to.
//
// # Time
//
// EDK2 collects offers until the timer of the try ends (4, 8, 16 and 32 s), never
// shorter. Speed divides those times, and the 4 s of TFTP. HTTP timeouts are not scaled, they are
// bounds and not waits.
package firmware
