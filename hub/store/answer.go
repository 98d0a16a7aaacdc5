package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

const (
	// AnswerLife is how long an Answer is kept.
	AnswerLife = 24 * time.Hour
	// MaxAnswers bounds the answers that are kept for one caller; the oldest one makes
	// room.
	MaxAnswers = 512
	// MaxAnswerBody bounds the body of a kept answer in bytes.
	MaxAnswerBody = 16 << 10
	// sweepAnswers is how many old answers are removed with each new one.
	sweepAnswers = 8
)

// Answer is what a request with an idempotency key was answered. Status 0 is one that
// was begun and has no answer yet, or whose hub ended meanwhile.
type Answer struct {
	// Request is a digest of the request: another one with the same key is a mistake.
	Request []byte    `json:"request"`
	At      time.Time `json:"at"` // when it was begun
	Status  int       `json:"status,omitempty"`
	Type    string    `json:"type,omitempty"` // Content-Type
	ETag    string    `json:"etag,omitempty"`
	Body    []byte    `json:"body,omitempty"`
	// Dropped is an answer whose body was not kept: it was too long, or is a secret.
	Dropped bool `json:"dropped,omitempty"`
	// Revision is for [Answers.End].
	Revision uint64 `json:"-"`
}

// Answers keeps what requests with an idempotency key were answered.
type Answers struct{ core *core }

func answerKey(caller, key string) string {
	sum := sha256.Sum256([]byte(key))
	return answerBucket + "." + caller + "_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Begin notes durably that a caller's request is about to be acted on, under the
// key that the caller gave it. If the key is known, found is true and the Answer is what
// is stored: of this request or another. Of two at once, one begins. The codes are
// unavailable and timeout.
func (as *Answers) Begin(ctx context.Context, caller, key string, request []byte) (a Answer, found bool, err error) {
	const op = "begin answer"
	at := answerKey(caller, key)
	for try := 1; ; try++ {
		var old uint64 // of an answer whose life is over, which makes room
		if e, ok := as.core.mirror.get(at); ok {
			err := json.Unmarshal(e.Value, &a)
			a.Revision = e.Revision
			switch {
			case err != nil:
				return a, false, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			case as.core.clock().Sub(a.At) < AnswerLife:
				return a, true, nil
			}
			old = e.Revision
		}
		a = Answer{Request: request, At: as.core.clock().UTC()}
		value, err := json.Marshal(a)
		if err != nil {
			return a, false, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		a.Revision, err = as.core.put(ctx, at, value, old)
		switch {
		case err == nil:
			as.makeRoom(ctx, caller)
			return a, false, nil
		case !errors.Is(err, state.ErrConflict) || try == writeTries:
			return a, false, stateError(op, err)
		}
	}
}

// End stores what was answered. The codes are conflict (it made room meanwhile),
// unavailable and timeout.
func (as *Answers) End(ctx context.Context, caller, key string, a Answer) error {
	const op = "end answer"
	if len(a.Body) > MaxAnswerBody {
		a.Body, a.Dropped = nil, true
	}
	value, err := json.Marshal(a)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if _, err := as.core.put(ctx, answerKey(caller, key), value, a.Revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Drop forgets an Answer that was begun and not acted on. The codes are conflict,
// unavailable and timeout.
func (as *Answers) Drop(ctx context.Context, caller, key string, a Answer) error {
	if err := as.core.remove(ctx, answerKey(caller, key), a.Revision); err != nil {
		return stateError("drop answer", err)
	}
	return nil
}

// makeRoom removes the oldest answers: those of the caller that are too many, and a few
// of anybody's that are too old. What cannot be removed now is removed with another one.
func (as *Answers) makeRoom(ctx context.Context, caller string) {
	all := slices.Clone(as.core.mirror.list(answerBucket))
	slices.SortFunc(all, func(a, b *cached) int { return cmp.Compare(a.Revision, b.Revision) })
	mine := 0
	for _, e := range all {
		if strings.HasPrefix(e.Key, answerBucket+"."+caller+"_") {
			mine++
		}
	}
	swept := 0
	for _, e := range all {
		over := mine > MaxAnswers && strings.HasPrefix(e.Key, answerBucket+"."+caller+"_")
		if over {
			mine--
		}
		if !over && (swept == sweepAnswers || !as.ended(*e)) {
			swept = sweepAnswers // those that follow are younger
			if mine <= MaxAnswers {
				return
			}
			continue
		}
		swept++
		if err := as.core.remove(ctx, e.Key, e.Revision); err != nil && !errors.Is(err, state.ErrConflict) {
			as.core.logger.Warn("old answer not removed", "key", e.Key, "err", err)
			return
		}
	}
}

func (as *Answers) ended(e cached) bool {
	var a Answer
	return json.Unmarshal(e.Value, &a) != nil || as.core.clock().Sub(a.At) >= AnswerLife
}
