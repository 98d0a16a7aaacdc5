package logtest

import (
	"encoding/binary"
	"unicode/utf16"

	"rackboot/netboot/attest/eventlog"
)

// Log is a log that is being written.
type Log struct {
	banks []eventlog.Algorithm
	bytes []byte
}

// New begins a log with the header of its banks. Digests of banks that prove nothing are zeros.
func New(banks ...eventlog.Algorithm) *Log {
	le := binary.LittleEndian
	spec := append([]byte("Spec ID Event03\x00"), 0, 0, 0, 0, 0, 2, 0, 2)
	spec = le.AppendUint32(spec, uint32(len(banks)))
	for _, b := range banks {
		spec = le.AppendUint16(le.AppendUint16(spec, uint16(b)), uint16(b.Size()))
	}
	spec = append(spec, 0)
	l := &Log{banks: banks}
	l.bytes = le.AppendUint32(le.AppendUint32(nil, 0), uint32(eventlog.NoAction))
	l.bytes = append(l.bytes, make([]byte, 20)...)
	l.bytes = append(le.AppendUint32(l.bytes, uint32(len(spec))), spec...)
	return l
}

// Measure appends an event with the digests of what was measured.
func (l *Log) Measure(pcr int, t eventlog.Type, data, measured []byte) *Log {
	e := eventlog.Event{PCR: pcr, Type: t, Data: data}
	for _, b := range l.banks {
		value := make([]byte, b.Size())
		if h, ok := b.Hash(); ok {
			sum := h.New()
			sum.Write(measured)
			value = sum.Sum(nil)
		}
		e.Digests = append(e.Digests, eventlog.Digest{Bank: b, Value: value})
	}
	return l.Append(e)
}

// Data is Measure where the data is measured.
func (l *Log) Data(pcr int, t eventlog.Type, data []byte) *Log { return l.Measure(pcr, t, data, data) }

// Append appends an event as it is.
func (l *Log) Append(events ...eventlog.Event) *Log {
	le := binary.LittleEndian
	for _, e := range events {
		l.bytes = le.AppendUint32(le.AppendUint32(le.AppendUint32(l.bytes, uint32(e.PCR)), uint32(e.Type)), uint32(len(e.Digests)))
		for _, d := range e.Digests {
			l.bytes = append(le.AppendUint16(l.bytes, uint16(d.Bank)), d.Value...)
		}
		l.bytes = append(le.AppendUint32(l.bytes, uint32(len(e.Data))), e.Data...)
	}
	return l
}

// Bytes is the log.
func (l *Log) Bytes() []byte { return l.bytes }

// Variable is the data of an event of a variable.
func Variable(v eventlog.Variable) []byte {
	le := binary.LittleEndian
	name := utf16.Encode([]rune(v.Name))
	out := le.AppendUint64(le.AppendUint64(v.Owner[:], uint64(len(name))), uint64(len(v.Value)))
	for _, w := range name {
		out = le.AppendUint16(out, w)
	}
	return append(out, v.Value...)
}
