package hardware

import (
	"encoding/json"
	"net"
	"sync"
	"time"

	"rackboot/protocol"
)

// qmp is a QEMU Machine Protocol connection (QEMU docs/interop/qmp-spec).
type qmp struct {
	conn    net.Conn
	resets  chan resetEvent // closed with the connection
	answers chan qmpMessage // closed with the connection

	mu sync.Mutex // one command at a time
}

// resetEvent is the data of a RESET event.
type resetEvent struct {
	Guest bool `json:"guest"` // the guest asked for it
}

// qmpMessage is anything that QEMU sends: greeting, answer or event.
type qmpMessage struct {
	Greeting json.RawMessage `json:"QMP"`
	Event    string          `json:"event"`
	Data     resetEvent      `json:"data"`
	Error    *struct {
		Class string `json:"class"`
		Desc  string `json:"desc"`
	} `json:"error"`
}

// maxResets bounds the resets that wait to be handled; more at once are one.
const maxResets = 16

// newQMP takes the greeting and enters command mode. It closes conn on errors.
func newQMP(conn net.Conn, tasks *sync.WaitGroup) (*qmp, error) {
	q := &qmp{conn: conn, resets: make(chan resetEvent, maxResets), answers: make(chan qmpMessage, 1)}
	decoder := json.NewDecoder(conn)
	_ = conn.SetReadDeadline(time.Now().Add(qmpTimeout))
	var greeting qmpMessage
	if err := decoder.Decode(&greeting); err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetReadDeadline(time.Time{})
	tasks.Go(func() { q.read(decoder) })
	if err := q.execute("qmp_capabilities", nil); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return q, nil
}

// read sorts what QEMU sends until the connection ends.
func (q *qmp) read(decoder *json.Decoder) {
	defer close(q.resets)
	defer close(q.answers)
	for {
		var m qmpMessage
		if decoder.Decode(&m) != nil {
			_ = q.conn.Close()
			return
		}
		switch m.Event {
		case "":
			select {
			case q.answers <- m:
			default: // nobody waits for it any more
			}
		case "RESET":
			select {
			case q.resets <- m.Data:
			default:
			}
		}
	}
}

// execute sends a command and waits for its answer. It fails with timeout,
// with unavailable if QEMU is gone, and with internal if QEMU refuses.
func (q *qmp) execute(command string, arguments map[string]any) error {
	op := "qmp." + command
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.answers: // the late answer to a command that was given up
	default:
	}
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	b, err := json.Marshal(request)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "encode: %w", err)
	}
	_ = q.conn.SetWriteDeadline(time.Now().Add(qmpTimeout))
	if _, err := q.conn.Write(append(b, '\n')); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "QEMU is gone: %w", err)
	}
	t := time.NewTimer(qmpTimeout)
	defer t.Stop()
	select {
	case m, ok := <-q.answers:
		switch {
		case !ok:
			return protocol.Errorf(protocol.CodeUnavailable, op, "QEMU is gone")
		case m.Error != nil:
			return protocol.Errorf(protocol.CodeInternal, op, "QEMU refuses: %s: %s", m.Error.Class, m.Error.Desc)
		}
		return nil
	case <-t.C:
		return protocol.Errorf(protocol.CodeTimeout, op, "QEMU does not answer within %s", qmpTimeout)
	}
}

func (q *qmp) close() { _ = q.conn.Close() }
