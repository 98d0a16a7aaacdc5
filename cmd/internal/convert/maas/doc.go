// Package maas converts machines of MAAS: what maas PROFILE machines read writes, and beside it the answers of
// maas PROFILE machine power-parameters with the system_id of their machine in each.
package maas
