package site

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// unready is the error, and with it the exit code, of systems that are not ready; nil where all are.
//
//	readiness    | code
//	Ready        | nothing
//	ReadyOnceSet | conflict
//	NotReady     | unsupported
func unready(all []api.Probed) error {
	var verdicts []resource.Verdict
	var who []string
	for _, p := range all {
		verdicts = append(verdicts, p.Verdict)
		if p.Verdict.Ready != resource.Ready {
			who = append(who, p.Inventory.SystemURI)
		}
	}
	switch worst := resource.Worst(verdicts); worst {
	case resource.Ready:
		return nil
	case resource.ReadyOnceSet:
		return protocol.Errorf(protocol.CodeConflict, "probe", "%s: %s", strings.Join(who, ", "), worst.Words()).
			WithHint("change one of the settings that the verdict names, and probe again")
	case resource.NotReady:
	}
	return protocol.Errorf(protocol.CodeUnsupported, "probe", "%s: %s", strings.Join(who, ", "), resource.NotReady.Words()).
		WithHint("the verdict says what is missing")
}
