package eventlog

import "encoding/binary"

// cursor reads little-endian fields one after the other. Past the end it returns zeros and
// is short, which who reads asks once at the end of a structure.
type cursor struct {
	rest  []byte
	short bool
}

// bytes returns the next n bytes, which are not copied.
func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.short, c.rest = true, nil
		return nil
	}
	out := c.rest[:n:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) uint8() uint8 {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// sized returns as many bytes as the next field of 32 bits says.
func (c *cursor) sized() []byte {
	n := c.uint32()
	if uint64(n) > uint64(len(c.rest)) {
		c.short, c.rest = true, nil
		return nil
	}
	return c.bytes(int(n))
}
