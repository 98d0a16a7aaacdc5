package wire

import "github.com/fxamacker/cbor/v2"

// Limits of what is decoded. The deepest message has 8 levels and no list has
// more entries than a shard has servers or a batch has events.
const (
	maxLevels   = 16
	maxElements = 8192
)

// codec holds the one way in which messages are written and read.
type codec struct {
	enc cbor.EncMode
	dec cbor.DecMode
}

func newCodec() (codec, error) {
	enc, err := cbor.EncOptions{
		Sort:            cbor.SortCoreDeterministic,
		ShortestFloat:   cbor.ShortestFloat16,
		NaNConvert:      cbor.NaNConvert7e00,
		InfConvert:      cbor.InfConvertFloat16,
		IndefLength:     cbor.IndefLengthForbidden,
		TagsMd:          cbor.TagsForbidden,
		Time:            cbor.TimeRFC3339NanoUTC,
		BinaryMarshaler: cbor.BinaryMarshalerNone,
		TextMarshaler:   cbor.TextMarshalerTextString,
	}.EncMode()
	if err != nil {
		return codec{}, err
	}
	dec, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:   maxLevels,
		MaxArrayElements:  maxElements,
		MaxMapPairs:       maxElements,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		UTF8:              cbor.UTF8DecodeInvalid,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		BinaryUnmarshaler: cbor.BinaryUnmarshalerNone,
		TextUnmarshaler:   cbor.TextUnmarshalerTextString,
	}.DecMode()
	return codec{enc, dec}, err
}
