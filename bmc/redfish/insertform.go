package redfish

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxForms bounds the forms in which an insert is tried.
const maxForms = 6

// isRefused: nothing was done, and the BMC may do it in another form or slot.
func isRefused(err error) bool {
	status, said, ok := refusal(err)
	return ok && status != http.StatusUnauthorized && status != http.StatusForbidden && !said.is(postMessages)
}

// eject needs a body even where it has no parameters (iLO).
func eject(c *call, s slot) error {
	if s.eject == "" {
		_, err := c.patch(s.uri, s.tag, map[string]any{"Image": nil, "Inserted": false})
		return err
	}
	resp, err := c.Post(s.eject, struct{}{})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// insert tries the forms that BMCs want, beginning with the common one, guided
// by what they say about the last.
func insert(c *call, s slot, image, scheme string) error {
	body := map[string]any{"Image": image, "Inserted": true, "WriteProtected": true}
	var err error
	for n := range maxForms {
		if s.insert == "" {
			_, err = c.patch(s.uri, s.tag, body)
		} else {
			var resp *http.Response
			if resp, err = c.Post(s.insert, body); err == nil {
				err = resp.Body.Close()
			}
		}
		status, said, ok := refusal(err)
		if !ok || status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || said.is(postMessages) {
			return err
		}
		next := otherForm(body, said, n, scheme)
		if maps.Equal(next, body) {
			return err
		}
		body = next
	}
	return err
}

// otherForm changes what the BMC named; where it named nothing, it goes through
// the forms that are known to be wanted (sushy virtual_media.py): Supermicro X11
// and X12 refuse Inserted and WriteProtected, Nokia needs the protocol, some the
// method, some credentials although none are needed.
func otherForm(body map[string]any, said message, n int, scheme string) map[string]any {
	out := maps.Clone(body)
	extra := map[string]any{
		"TransferProtocolType": strings.ToUpper(scheme), "TransferMethod": "Stream", "UserName": "none", "Password": "none",
	}
	for _, key := range []string{"Inserted", "WriteProtected"} {
		if said.about(key) {
			delete(out, key)
		}
	}
	for key, value := range extra {
		if _, has := out[key]; !has && said.about(key) {
			out[key] = value
		}
	}
	if !maps.Equal(out, body) || len(said.names) > 0 && slices.ContainsFunc(said.names, func(k string) bool { return k == "Image" }) {
		return out
	}
	switch n {
	case 0:
		delete(out, "Inserted")
		delete(out, "WriteProtected")
	case 1:
		out["TransferProtocolType"] = extra["TransferProtocolType"]
	case 2:
		out["TransferMethod"] = extra["TransferMethod"]
	case 3:
		if _, has := out["UserName"]; !has {
			out["UserName"], out["Password"] = "none", "none"
		}
	}
	return out
}
