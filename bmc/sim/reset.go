package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

func (b *BMC) postReset(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	kind, refused := parseReset(body)
	if refused == nil {
		refused = b.reset(kind)
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// parseReset checks the body of a reset.
func parseReset(body []byte) (string, *refusal) {
	var f map[string]json.RawMessage
	if json.Unmarshal(body, &f) != nil || f == nil {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"}
	}
	for name := range f {
		if name != "ResetType" {
			return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterUnknown", text: "parameter " + name}
		}
	}
	var kind string
	if json.Unmarshal(f["ResetType"], &kind) != nil || !slices.Contains(allowedResets(), kind) {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterValueNotInList", text: "parameter ResetType"}
	}
	return kind, nil
}

func (b *BMC) getResetInfo(w http.ResponseWriter, _ *http.Request) {
	writeObject(w, http.StatusOK, object{
		"@odata.id": uriResetInfo, "@odata.type": "#ActionInfo.v1_1_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
		"Parameters": []object{{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": allowedResets()}},
	})
}
