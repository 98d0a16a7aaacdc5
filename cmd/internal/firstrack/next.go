package firstrack

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Step is what to do next: a command, and what it does.
type Step struct {
	Command string `json:"command"`
	What    string `json:"what"`
}

// Next are the steps from the files to the first server that is booted, in order. dir is
// the folder as it was named.
func (s *Site) Next(dir string) (out []Step) {
	at := func(parts ...string) string { return Word(filepath.Join(append([]string{dir}, parts...)...)) }
	add := func(what, format string, args ...any) {
		out = append(out, Step{fmt.Sprintf(format, args...), what})
	}
	config := ""
	if s.Local {
		config = " --config " + at("agent", "agent.yaml")
		add("the hub, which stays: a terminal of its own", "rackboot-hub run --config %s", at("hub", "hub.yaml"))
		add("make it known", "rackctl login https://%s --ca %s --token-file %s --wait 30s", localAPI, at("hub", "state", "ca.pem"), at("hub", "state", "pki", "admin.token"))
	}
	add("the hub takes the rack", "rackctl apply -f %s", at())
	if !s.Local {
		add("to the agent's host; then, there:", "scp -r %s HOST:", at("agent"))
		add("", "sudo install -D -m 0644 agent/agent.yaml %s", agentFile)
		add("", "sudo install -d -o %[1]s -m 0700 %[2]s", serviceUser, accounts)
		add("the agent may read it, nobody else", "sudo install -o %[1]s -m 0600 agent/credentials/%[2]s %[3]s/", serviceUser, s.Rack, accounts)
	}
	add("prints the command that joins the agent: run it on the agent's host", "rackctl rack join-token %s%s", s.Rack, config)
	if s.Local {
		add("the agent, which stays", "rackboot-agent run%s", config)
	} else {
		add("on the agent's host", "sudo systemctl enable --now rackboot-agent")
	}
	add("what the agent reads of them", "rackctl get servers")
	add("put your image there", "rackctl image push %s --uki FILE", Word(s.Image))
	add("one server boots it", "rackctl apply -f %s", at("try"))
	add("", "rackctl wait claim/%s --for provisioned", s.claim())
	return out
}

// Word is a text as one word of the shell.
func Word(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:@=+,%", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
