package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// ErrDamaged says that a file of the store is not what was written.
var ErrDamaged = errors.New("damaged")

// checkFiles reads what Badger would end the process over, or pass over: a table whose footer is
// damaged makes it panic in a goroutine of its own, or exit; one with another checksum it leaves
// out without an error (v4.9.6, levels.go).
func checkFiles(dir string) error {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return checkNew(dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir))
	if err != nil {
		return fmt.Errorf("%s: %w: %w", badger.ManifestFilename, ErrDamaged, err)
	}
	for id, of := range m.Tables {
		if err := checkTable(table.NewFilename(id, dir), of.Compression); err != nil {
			return err
		}
	}
	return nil
}

// checkNew refuses a folder that has tables and no manifest: Badger would take it for a new one,
// and delete them.
func checkNew(dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w: it is missing, and %d tables are there", badger.ManifestFilename, ErrDamaged, len(tables))
}

// blockSize is what a block of a table has at least, in bytes; it is used where tables are
// compressed, which ours are not.
const blockSize = 4 << 10

// checkTable reads all of a table.
func checkTable(path string, c options.CompressionType) (err error) {
	defer recovered(filepath.Base(path), &err)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	if err := checkFooter(data); err != nil {
		return fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	t, err := table.OpenInMemoryTable(data, 0, &table.Options{Compression: c, BlockSize: blockSize})
	if err == nil {
		err = t.VerifyChecksum()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	return nil
}

// checkFooter reads the end of a table, which says where its index is:
//
//	blocks | index | size of the index | its checksum | size of the checksum
//
// The sizes have four bytes, big endian. Badger takes them as they are.
func checkFooter(data []byte) error {
	rest, sum, err := cutSized(data)
	if err != nil {
		return fmt.Errorf("the size of the checksum: %w", err)
	}
	_, index, err := cutSized(rest)
	if err != nil {
		return fmt.Errorf("the size of the index: %w", err)
	}
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return err
	}
	return y.VerifyChecksum(index, &want)
}

// cutSized cuts off a field whose size comes after it.
func cutSized(data []byte) (rest, field []byte, err error) {
	const width = 4
	if len(data) < width {
		return nil, nil, errors.New("the file is too short")
	}
	data, size := data[:len(data)-width], int64(binary.BigEndian.Uint32(data[len(data)-width:]))
	if size == 0 || size > int64(len(data)) {
		return nil, nil, fmt.Errorf("it is %d, of %d bytes", size, len(data))
	}
	at := int64(len(data)) - size
	return data[:at], data[at:], nil
}

// recovered turns a panic of Badger into an error: what it panics over is damage. Its text is left
// out, which has the bytes that it met.
func recovered(what string, err *error) {
	if recover() != nil {
		*err = fmt.Errorf("%s: %w: it cannot be read", what, ErrDamaged)
	}
}
