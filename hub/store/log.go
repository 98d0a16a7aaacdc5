package store

import (
	"context"

	"rackboot/state"
)

// Log is the append-only log beside the resources. Nothing is written where the store cannot be.
type Log struct {
	core *core
	log  state.Log
}

// Append writes to the log; see [state.Log]. The codes are unavailable and
// timeout.
func (l *Log) Append(ctx context.Context, subject string, data []byte, id string) (uint64, error) {
	l.core.haste.GiveWay(ctx)
	if err := l.core.healthy(); err != nil {
		return 0, stateError("append to log", err)
	}
	seq, err := l.log.Append(ctx, subject, data, id)
	if err != nil {
		return 0, stateError("append to log", err)
	}
	return seq, nil
}

// AppendAfter writes to the log what comes next after a record; see [state.Log]. The codes are conflict, unavailable and
// timeout.
func (l *Log) AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (uint64, error) {
	l.core.haste.GiveWay(ctx)
	if err := l.core.healthy(); err != nil {
		return 0, stateError("append to log", err)
	}
	seq, err := l.log.AppendAfter(ctx, subject, data, last)
	if err != nil {
		return 0, stateError("append to log", err)
	}
	return seq, nil
}

// Tail reads the end of the log; see [state.Log]. The codes are unavailable and timeout.
func (l *Log) Tail(ctx context.Context, subject string, limit int) ([]state.Record, error) {
	records, err := l.log.Tail(ctx, subject, limit)
	if err != nil {
		return nil, stateError("read log", err)
	}
	return records, nil
}

// Cut takes what is old from the log; see [state.Log]. The codes are unavailable and timeout.
func (l *Log) Cut(ctx context.Context, subject string, upTo uint64) error {
	err := l.core.healthy()
	if err == nil {
		err = l.log.Cut(ctx, subject, upTo)
	}
	if err != nil {
		return stateError("cut log", err)
	}
	return nil
}

// Size is how many bytes the log takes. The codes are unavailable and timeout.
func (l *Log) Size(ctx context.Context) (uint64, error) {
	size, err := l.log.Size(ctx)
	if err != nil {
		return 0, stateError("measure log", err)
	}
	return size, nil
}

// Read reads from the log; see [state.Log]. The codes are unavailable and
// timeout.
func (l *Log) Read(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	records, err := l.log.Read(ctx, subject, from, limit)
	if err != nil {
		return nil, stateError("read log", err)
	}
	return records, nil
}
