package backupfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

const (
	magic = "rackboot-backup "
	// version is the one that this package writes and reads.
	version = "1"
	// maxHeader bounds the header in bytes, its line's end included.
	maxHeader = 64 << 10
	// maxFrame bounds the content of a frame in bytes.
	maxFrame = 1 << 20
	// frameSum is the length of a frame's sum.
	frameSum = 8
)

// framer writes frames. Who is done with it calls end.
type framer struct {
	w     io.Writer // of the file, and of the sum
	sum   hash.Hash
	frame []byte
}

func newFramer(w io.Writer, h Header) (*framer, error) {
	f := &framer{sum: sha256.New(), frame: make([]byte, 0, maxFrame)}
	f.w = io.MultiWriter(w, f.sum)
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	_, err = f.w.Write(append(append([]byte(magic+version+"\n"), line...), '\n'))
	return f, err
}

// Write implements io.Writer.
func (f *framer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		room := min(len(b), maxFrame-len(f.frame))
		f.frame, b = append(f.frame, b[:room]...), b[room:]
		if len(f.frame) == maxFrame {
			if err := f.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (f *framer) flush() error {
	if len(f.frame) == 0 {
		return nil
	}
	if _, err := f.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(f.frame)))); err != nil {
		return err
	}
	if _, err := f.w.Write(f.frame); err != nil {
		return err
	}
	f.frame = f.frame[:0]
	_, err := f.w.Write(f.sum.Sum(nil)[:frameSum])
	return err
}

// end writes the last frame and the end.
func (f *framer) end() error {
	if err := f.flush(); err != nil {
		return err
	}
	if _, err := f.w.Write(make([]byte, 4)); err != nil {
		return err
	}
	_, err := f.w.Write(f.sum.Sum(nil))
	return err
}

// unframer reads frames, and ends with io.EOF only after an end that fits and after which nothing
// comes. Other errors are a *Damage, or that of the reader.
type unframer struct {
	r     *bufio.Reader
	sum   hash.Hash
	at    int64 // bytes that were read
	frame []byte
	left  []byte // of the frame
	err   error
}

func newUnframer(r io.Reader) (*unframer, Header, error) {
	u := &unframer{r: bufio.NewReaderSize(r, maxHeader), sum: sha256.New()}
	h, err := u.header()
	return u, h, err
}

func (u *unframer) header() (h Header, err error) {
	line, err := u.line(len(magic) + 16)
	if err != nil || !bytes.HasPrefix(line, []byte(magic)) {
		if d := (*Damage)(nil); err != nil && !errors.As(err, &d) {
			return h, err
		}
		return h, &Damage{Fault: FaultForeign, Err: errors.New("it does not begin as a backup of a hub does")}
	}
	if v := string(bytes.TrimSuffix(line[len(magic):], []byte("\n"))); v != version {
		return h, &Damage{Fault: FaultNewer, Err: fmt.Errorf("version %.8q; this release knows %s", v, version)}
	}
	began := u.at
	if line, err = u.line(maxHeader); err != nil {
		return h, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, &Damage{Fault: FaultHeader, At: began, Err: err}
	}
	if h.Sealed != SealedAge && h.Sealed != Plain {
		return h, &Damage{Fault: FaultHeader, At: began, Err: fmt.Errorf("it is sealed %.20q", h.Sealed)}
	}
	return h, nil
}

// line reads to the next line's end, which is within a number of bytes.
func (u *unframer) line(most int) ([]byte, error) {
	began, line := u.at, []byte(nil)
	for {
		b, err := u.r.ReadByte()
		if err != nil {
			return nil, u.broken(err)
		}
		u.at++
		if line = append(line, b); b == '\n' {
			u.sum.Write(line)
			return line, nil
		}
		if len(line) >= most {
			return nil, &Damage{Fault: FaultHeader, At: began, Err: errors.New("its first lines are too long")}
		}
	}
}

// Read implements io.Reader.
func (u *unframer) Read(b []byte) (int, error) {
	for len(u.left) == 0 {
		if u.err == nil {
			u.err = u.next()
		}
		if u.err != nil {
			return 0, u.err
		}
	}
	n := copy(b, u.left)
	u.left = u.left[n:]
	return n, nil
}

// next reads a frame; io.EOF is the end.
func (u *unframer) next() error {
	began := u.at
	var length [4]byte
	if err := u.full(length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return &Damage{Fault: FaultDamaged, At: began, Err: fmt.Errorf("a frame of %d bytes", n)}
	}
	if n == 0 {
		want := u.sum.Sum(nil)
		var sum [sha256.Size]byte
		if err := u.full(sum[:]); err != nil {
			return err
		}
		if !bytes.Equal(sum[:], want) {
			return &Damage{Fault: FaultDamaged, At: began, Err: errors.New("the sum of the whole does not fit")}
		}
		if _, err := u.r.ReadByte(); err == nil {
			return &Damage{Fault: FaultAfter, At: u.at, Err: errors.New("something comes after the end")}
		} else if !errors.Is(err, io.EOF) {
			return err
		}
		return io.EOF
	}
	if u.frame == nil {
		u.frame = make([]byte, maxFrame)
	}
	if err := u.full(u.frame[:n]); err != nil {
		return err
	}
	want := u.sum.Sum(nil)[:frameSum]
	var sum [frameSum]byte
	if err := u.full(sum[:]); err != nil {
		return err
	}
	if !bytes.Equal(sum[:], want) {
		return &Damage{Fault: FaultDamaged, At: began, Err: fmt.Errorf("the sum of a frame of %d bytes does not fit", n)}
	}
	u.left = u.frame[:n]
	return nil
}

// full reads all of b.
func (u *unframer) full(b []byte) error {
	n, err := io.ReadFull(u.r, b)
	u.at += int64(n)
	if err != nil {
		return u.broken(err)
	}
	u.sum.Write(b)
	return nil
}

// broken tells a file that ends from one that cannot be read.
func (u *unframer) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Damage{Fault: FaultCut, At: u.at, Err: errors.New("it ends early")}
	}
	return err
}
