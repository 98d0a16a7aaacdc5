package redfish

import (
	"context"
	"net/http"
	"slices"

	"rackboot/bmc"
	"rackboot/protocol"
)

// setURI is set with the URL that firmware is to load; see bmc.URIBooter.
func (o *overrides) setURI(ctx context.Context, want protocol.Override, uri string) (bmc.BootResult, error) {
	if want.Target != protocol.TargetUefiHTTP || !want.Armed() || uri == "" {
		return bmc.BootResult{}, protocol.Errorf(protocol.CodeInvalid, opSetBoot, "a URL is for an armed override of UefiHttp")
	}
	return o.set(ctx, want, uri)
}

// clearURI takes each HttpBootUri of ours out of the BMC; see bmc.URIBooter.
func (o *overrides) clearURI(ctx context.Context, ours func(uri string) bool) (pending bool, err error) {
	c := newCall(ctx, "clear HttpBootUri", o.link)
	v, left, err := o.uriHolders(c, ours)
	if err != nil || len(left) == 0 {
		return false, err
	}
	var refused error
	for _, none := range []any{nil, ""} { // the schema has null; an empty text is what some take for it
		accepted := false
		refused = nil
		for _, b := range left {
			status, err := o.patch(c, bootWrite{at: b, body: map[string]any{keyHTTPURI: none}})
			if err != nil && !final(err) {
				return false, err
			}
			if err != nil {
				refused = err
			}
			accepted = accepted || status == http.StatusAccepted
		}
		for n := 0; ; n++ {
			if v, left, err = o.uriHolders(c, ours); err != nil || len(left) == 0 {
				return false, err
			}
			if !accepted || n == taskReads || !pause(c.ctx, taskPause) {
				break
			}
		}
		// AMI: what the last reset has put into the system is changed in the settings, for the
		// next one.
		if isFutureState(refused) && v.settings.has(keyHTTPURI) && !slices.Contains(left, v.settings) {
			_, err := o.patch(c, bootWrite{at: v.settings, body: map[string]any{keyHTTPURI: nil}})
			if err == nil || !final(err) {
				return err == nil, err
			}
			refused = err
		}
	}
	kept := protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s keeps HttpBootUri at %s", o.link.base, left[0].uri)
	if refused != nil {
		kept = protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s keeps HttpBootUri at %s: %w", o.link.base, left[0].uri, refused)
	}
	return false, kept.WithHint("set HttpBootUri of this system to null at the BMC")
}

// final reports whether a BMC would answer a write in the same way again.
func final(err error) bool {
	_, _, is := refusal(err)
	return is && refusedOutcome(err) == bmc.BootUnsupported && protocol.CodeOf(err) != protocol.CodeDenied
}

// uriHolders are the resources whose HttpBootUri is ours. AMI's settings, which the system
// does not link to, are looked for anew: whoever wrote them may have been another driver
// before a restart (Tacklebox #144).
func (o *overrides) uriHolders(c *call, ours func(string) bool) (v bootView, holders []*bootObject, err error) {
	if v, err = o.view(c); err != nil {
		return v, nil, err
	}
	if v.irmc == nil && v.settings == nil && v.main.has(keyHTTPURI) {
		uri := v.main.uri + futureState
		settings, err := get[object](c, uri)
		if status, _, is := refusal(err); err != nil && (!is || status != http.StatusNotFound) {
			return v, nil, err
		}
		if err == nil {
			v.useSettings(uri, settings)
		}
	}
	for _, b := range v.all() {
		if b.httpURI != "" && ours(b.httpURI) {
			holders = append(holders, b)
		}
	}
	return v, holders, nil
}
