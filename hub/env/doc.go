// Package env makes what a boot carries besides its image: boot environments with their params, user data, and
// uploaded files. Each is checked before it is used, and sealed for the agent that serves it.
package env
