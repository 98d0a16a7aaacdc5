package sim

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

const maxBody = 64 << 10

// refusal is an error answer with a Redfish MessageId (DSP0266, error responses).
type refusal struct {
	status     int
	id         string
	text       string
	retryAfter string // seconds; empty for none
	plain      bool   // the text alone is sent
}

// account is who may use a BMC. One without a name is an empty slot.
type account struct {
	name, password, role string
	enabled              bool
	change               bool // the password must be changed first
}

// request is a request whose body was read.
type request struct {
	*http.Request
	uri  string // folded
	body []byte
	user *account // nil where no account is needed
}

func readRequest(r *http.Request) *request {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return &request{Request: r, uri: tree.Fold(r.URL.Path), body: body}
}

// object is the request's body.
func (r *request) object() (tree.Object, *refusal) {
	o, err := tree.ParseObject(r.body)
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"}
	}
	return o, nil
}

// answer is what is sent. Without a body only the status and header are.
type answer struct {
	status int
	header http.Header
	body   tree.Object
	cut    bool          // only half of the body is sent
	short  bool          // likewise, with the length of the whole
	drip   time.Duration // between two bytes of the body
	padded int           // so many bytes of white space follow
	plain  string        // is sent instead of the body
	stream func(http.ResponseWriter, *http.Request)
}

func reply(status int, body tree.Object) *answer {
	return &answer{status: status, header: http.Header{}, body: body}
}

func refuse(r *refusal) *answer {
	e := tree.Object{"code": "Base.1.13.GeneralError", "message": "see @Message.ExtendedInfo"}
	if r.id != "" {
		e["@Message.ExtendedInfo"] = []any{tree.Object{"MessageId": r.id, "Message": r.text}}
	}
	a := reply(r.status, tree.Object{"error": e})
	if r.plain {
		a.plain = r.text
	}
	if r.retryAfter != "" {
		a.header.Set("Retry-After", r.retryAfter)
	}
	return a
}

func missing() *answer {
	return refuse(&refusal{status: http.StatusNotFound, id: "Base.1.13.ResourceMissingAtURI", text: "no such resource"})
}

func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), a.header)
	if a.stream != nil {
		a.stream(w, r)
		return
	}
	if a.plain != "" {
		http.Error(w, a.plain, a.status)
		return
	}
	w.Header().Set("OData-Version", "4.0")
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic("sim: answer: " + err.Error())
	}
	text = append(text, '\n')
	if a.short {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	}
	if a.cut || a.short {
		text = text[:len(text)/2]
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	if a.drip > 0 {
		dribble(w, r, text, a.drip)
		return
	}
	_, _ = w.Write(text)
	pad(w, a.padded)
}

// dribble sends a text byte by byte, until the client goes.
func dribble(w http.ResponseWriter, r *http.Request, text []byte, between time.Duration) {
	out := http.NewResponseController(w)
	for i := range text {
		if _, err := w.Write(text[i : i+1]); err != nil || out.Flush() != nil || !delay.Pause(r.Context(), between) {
			return
		}
	}
}

// pad writes white space, which JSON allows at the end.
func pad(w io.Writer, n int) {
	block := make([]byte, 32<<10)
	for i := range block {
		block[i] = ' '
	}
	for n > 0 {
		part := block[:min(n, len(block))]
		if _, err := w.Write(part); err != nil {
			return
		}
		n -= len(part)
	}
}
