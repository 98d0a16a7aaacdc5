// Package setting is what the hub's file says of backups.
package setting
