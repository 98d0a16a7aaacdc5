// Package support writes what somebody needs who is to help: one file, without secrets.
package support
