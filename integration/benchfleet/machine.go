package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// host is where it was measured.
type host struct {
	CPUs   int    `json:"cpus"`
	Model  string `json:"model"`
	Memory int    `json:"memory_mib"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func machine() host {
	h := host{CPUs: runtime.NumCPU(), Go: runtime.Version()}
	h.Model = field("/proc/cpuinfo", "model name")
	_, _ = fmt.Sscan(field("/proc/meminfo", "MemTotal"), &h.Memory) // 0 is not known
	h.Memory /= 1024
	raw, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	h.Kernel = strings.TrimSpace(string(raw))
	return h
}

// field is the value of the first line of a file that begins with a name; empty is not known.
func field(file, name string) string {
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			_, value, _ := strings.Cut(rest, ":")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load is the load average of the last minute; below 0 is not known.
func load() float64 {
	raw, _ := os.ReadFile("/proc/loadavg")
	out := -1.0
	_, _ = fmt.Sscan(string(raw), &out)
	return out
}
