package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The bounds of the protocol; see PROTOCOL.md. A frame to the agent must carry
// a program of rungs.MaxCodeBytes in which JSON escapes every byte.
const (
	MaxHostFrame  = 32 << 20  // a frame to an agent or a job
	MaxAgentFrame = 4 << 20   // a frame from an agent
	MaxJobFrame   = 8 << 20   // a frame from a job
	MaxFDs        = 16        // descriptors with one frame
	ChunkBytes    = 256 << 10 // data in one file or artifact frame, before base64
)

// headerSize is the length of the length.
const headerSize = 4

// growStep is how much of a frame's claimed size is allocated ahead of the
// bytes that have really come: a claim alone must not cost memory.
const growStep = 64 << 10

// Errors of the codec. A connection on which one of them was seen is out of
// step and must be closed.
var (
	ErrFrameSize = errors.New("frame length is zero or over the bound")
	ErrFrameBody = errors.New("frame is not a JSON object of the expected form")
	ErrTooManyFD = errors.New("frame carries too many descriptors")
)

// ReadFrame reads the body of one frame of at most limit bytes from r. It
// returns io.EOF at a clean end, io.ErrUnexpectedEOF inside a frame and
// ErrFrameSize for a length that is out of bounds, before it allocates.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return readBody(r, head, limit)
}

func readBody(r io.Reader, head [headerSize]byte, limit int) ([]byte, error) {
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || int64(size) > int64(limit) {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrFrameSize, size, limit)
	}
	body := make([]byte, 0, min(int(size), growStep))
	for len(body) < int(size) {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(2*cap(body), int(size)))
			copy(grown, body)
			body = grown
		}
		n, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return body, nil
}

// AppendFrame appends v as one frame to b. It fails if v cannot be written as
// JSON or has more than limit bytes.
func AppendFrame(b []byte, v any, limit int) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return b, fmt.Errorf("encode frame: %w", err)
	}
	if len(body) > limit {
		return b, fmt.Errorf("%w: %d, at most %d", ErrFrameSize, len(body), limit)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...), nil
}

// Op returns the op of a frame's body, or ErrFrameBody. Members that are not
// known are no error, a body that is not one object is.
func Op(body []byte) (string, error) {
	var frame struct {
		Op string `json:"op"`
	}
	if err := Decode(body, &frame); err != nil {
		return "", err
	}
	if frame.Op == "" || len(frame.Op) > 32 {
		return "", fmt.Errorf("%w: no op", ErrFrameBody)
	}
	return frame.Op, nil
}

// Decode reads a frame's body into v, or returns ErrFrameBody. The JSON
// decoder itself bounds the depth of nesting.
func Decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", ErrFrameBody, err)
	}
	return nil
}
