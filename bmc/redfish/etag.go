package redfish

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"rackboot/protocol"
)

// tags are the If-Match values to try for an ETag, in order; empty is none. A
// BMC that answers 412 has done nothing, so that the next may be tried:
// gzip variants, weak forms that a service compares strongly (RFC 9110 section
// 13.1.1), quotes in quotes (ansible #3268), and BMCs that refuse every form of
// their own ETag (Gigabyte, ansible #6434; Lenovo XCC, #11261).
func tags(given string) []string {
	if strings.HasPrefix(given, `""`) && strings.HasSuffix(given, `""`) && len(given) > 4 {
		given = given[1 : len(given)-1]
	}
	strong := strings.TrimPrefix(given, "W/")
	var out []string
	for _, t := range []string{given, strong, ""} {
		if t == `""` || t == `W/""` { // an empty ETag gets 412 (sushy)
			t = ""
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// patch writes a resource, going down the ladder of ETags. It returns the status
// of the write that was taken.
func (c *call) patch(uri, tag string, payload any) (int, error) {
	ladder := tags(tag)
	asked := false // for a new ETag
	var err error
	for i := 0; i < len(ladder); i++ {
		var headers map[string]string
		if ladder[i] != "" {
			headers = map[string]string{"If-Match": ladder[i]}
		}
		var resp *http.Response
		resp, err = c.PatchWithHeaders(uri, payload, headers)
		if err == nil {
			return resp.StatusCode, resp.Body.Close()
		}
		status, _, _ := refusal(err)
		switch {
		case status == http.StatusPreconditionFailed && ladder[i] != "" || status == http.StatusPreconditionRequired && ladder[i] == "":
		default:
			return 0, err
		}
		if i == len(ladder)-1 && asked && status == http.StatusPreconditionRequired && !slices.Contains(ladder, anyTag) {
			ladder = append(ladder, anyTag) // it wants a tag, and takes none of its own
		}
		if asked {
			continue
		}
		asked = true
		o, errGet := get[object](c, uri)
		if errGet != nil {
			return 0, errors.Join(err, errGet)
		}
		more := tags(o.tag())
		if status == http.StatusPreconditionRequired && len(more) == 1 { // it wants a tag and gives none
			more = []string{anyTag}
		}
		// What has been refused is not tried again, but "none" stays the last.
		rest := append(slices.DeleteFunc(more, func(t string) bool { return slices.Contains(ladder[:i+1], t) }), ladder[i+1:]...)
		slices.SortStableFunc(rest, func(a, b string) int {
			switch {
			case (a == "") == (b == ""):
				return 0
			case a == "":
				return 1
			}
			return -1
		})
		ladder = append(ladder[:i+1:i+1], slices.Compact(rest)...)
	}
	return 0, refault(err, protocol.FaultPrecondition, "update the BMC's firmware: it refuses its own ETags, a write without one and \"*\", so that no boot override can be written; the agent tries again less and less often")
}

// anyTag is If-Match for whatever version there is (RFC 9110 section 13.1.1). What was
// written is read back.
const anyTag = "*"
