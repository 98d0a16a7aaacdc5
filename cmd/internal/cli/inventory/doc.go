// Package inventory shows servers as Ansible's dynamic inventory: groups, and variables of hosts.
package inventory
