package redfish

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"rackboot/bmc"
	"rackboot/protocol"
)

// A Task is read with each Observe, at most every taskEvery, and given up after taskLimit: a
// BMC that does not end it by then will not say more than the power state does.
const (
	taskEvery = time.Second
	taskLimit = 5 * time.Minute
	// taskTimeout bounds one such read, which must not delay the next of the power state;
	// after taskMisses without an answer the Task is given up.
	taskTimeout = 2 * time.Second
	taskMisses  = 3
)

// order is a reset that the BMC took as a Task (DSP0266, asynchronous operations).
type order struct {
	reset bmc.ResetType
	uri   string // of the Task monitor
	since time.Time
	next  time.Time // when it may be read again
	miss  int       // reads without an answer
}

// orders follows the Task of the last reset.
type orders struct {
	link   *link
	logger *slog.Logger

	mu   sync.Mutex
	last *order // nil without one that runs
}

func newOrders(l *link, logger *slog.Logger) *orders { return &orders{link: l, logger: logger} }

// taskEnd is how a Task stands.
type taskEnd string

const (
	taskRuns   taskEnd = "runs"
	taskDone   taskEnd = "done"
	taskFailed taskEnd = "failed"
)

// taskRule says how a Task stands by its TaskState and TaskStatus (DSP2046, Task). The first
// row that fits decides.
//
//	state       | status   | end
//	Exception   | *        | failed
//	Killed      | *        | failed
//	Cancelled   | *        | failed
//	Interrupted | *        | failed
//	Completed   | Critical | failed
//	Completed   | *        | done
//	absent      | *        | done
//	*           | *        | runs
//
// absent is an answer that is no Task: a monitor gives the answer of the operation itself
// once that has ended.
func taskRule(state, status string) taskEnd {
	switch {
	case slices.Contains([]string{"Exception", "Killed", "Cancelled", "Interrupted"}, state):
		return taskFailed
	case state == "Completed" && status == "Critical":
		return taskFailed
	case state == "Completed", state == "":
		return taskDone
	}
	return taskRuns
}

// wanted is the power state that a reset leads to, where one alone does.
func (o *order) wanted() protocol.PowerState {
	switch o.reset {
	case bmc.ResetOn:
		return protocol.PowerOn
	case bmc.ResetForceOff, bmc.ResetGracefulShutdown:
		return protocol.PowerOff
	case bmc.ResetForceRestart, bmc.ResetGracefulRestart:
	}
	return ""
}

// fault reads the Task of the last reset, and returns what the BMC says once it has
// failed; the zero value before that, and where the power state is as wanted.
func (r *orders) fault(c *call, power protocol.PowerState) protocol.BMCFault {
	r.mu.Lock()
	o := r.last
	now := time.Now()
	if o == nil || now.Before(o.next) {
		r.mu.Unlock()
		return protocol.BMCFault{}
	}
	if power == o.wanted() || now.Sub(o.since) > taskLimit {
		r.last = nil
		r.mu.Unlock()
		return protocol.BMCFault{}
	}
	o.next = now.Add(taskEvery)
	r.mu.Unlock()

	ctx, cancel := context.WithTimeout(c.ctx, taskTimeout)
	defer cancel()
	t, err := monitor(newCall(ctx, c.op, r.link), o.uri)
	fault, ended := taskFault(r.link.report, t, err)
	r.mu.Lock()
	if err != nil {
		o.miss++
	}
	if (ended || o.miss == taskMisses) && r.last == o {
		r.last = nil
	}
	r.mu.Unlock()
	if fault.Kind != "" {
		fault.Reset = string(o.reset)
		r.logger.Warn("the Task of a reset failed", "reset", o.reset, "fault", fault.Words())
	}
	return fault
}

// monitor reads a Task monitor. An answer without a body is an operation's that went well.
func monitor(c *call, uri string) (*object, error) {
	resp, err := c.Get(uri)
	if err != nil {
		return nil, err
	}
	text, err := readBody(resp)
	if err != nil {
		return nil, err
	}
	var t object
	if len(text) > 0 && t.UnmarshalJSON(text) != nil {
		return nil, c.link.report.cut(c.op, "it is no Task")
	}
	return &t, nil
}

// taskFault is what a Task, or the error instead of one, says; ended that it says no more.
func taskFault(report *reporter, t *object, err error) (fault protocol.BMCFault, ended bool) {
	status, _, refused := refusal(err)
	switch {
	case refused && slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusUnauthorized, http.StatusForbidden}, status):
		return protocol.BMCFault{}, true // forgotten, or not ours to read
	case refused: // a monitor answers as the operation did
		fault = bmc.FaultOf(err)
		fault.Kind = protocol.FaultTask
		return fault, true
	case err != nil:
		return protocol.BMCFault{}, false
	}
	switch taskRule(t.text("TaskState"), t.text("TaskStatus")) {
	case taskRuns:
		return protocol.BMCFault{}, false
	case taskDone:
		return protocol.BMCFault{}, true
	case taskFailed:
	}
	said := taskMessage(t)
	fault = report.faultOf(0, said)
	fault.Kind = protocol.FaultTask
	if said.id == "" && said.text == "" {
		fault.Text = printable("TaskState " + t.text("TaskState"))
	}
	return fault, true
}

// taskMessage is the message of a Task that says most: the last that is no success.
func taskMessage(t *object) (said message) {
	for _, raw := range rawsOf(t.f["Messages"]) {
		f := fields(raw)
		m := message{id: textOf(f["MessageId"]), text: textOf(f["Message"])}
		if lastPart(m.id) != "Success" && (m.id != "" || m.text != "") {
			said = m
		}
	}
	return said
}

// note remembers the Task that an answer to a reset begins, with 202, and frees the answer.
func (r *orders) note(reset bmc.ResetType, resp *http.Response) error {
	var next *order
	if resp.StatusCode == http.StatusAccepted {
		text, err := readBody(resp)
		if err != nil {
			text = nil // an answer without a body names its Task in Location
		}
		if uri := createdAt(resp.Header.Get("Location"), text); uri != "" {
			next = &order{reset: reset, uri: uri, since: time.Now()}
		}
	}
	r.mu.Lock()
	r.last = next
	r.mu.Unlock()
	return schemas.CleanupHTTPResponse(resp)
}
