package agent

import (
	"bytes"
	"encoding/json"
)

// Done is a job's own account of its end. All of it is untrusted text. It is
// decoded so that a frame full of members and elements that nobody wants costs
// no more memory than the frame itself.
type Done struct {
	Value     Value      `json:"value"`
	Exception *Exception `json:"exception"`
	Skipped   Texts      `json:"skipped"`
}

// Value is what a job's last expression was and what it displayed, by MIME
// type; the types that are not named here are not kept.
type Value struct {
	Plain *string `json:"text/plain"`
	HTML  *string `json:"text/html"`
	PNG   *string `json:"image/png"` // base64
}

// bounded returns the texts that are within their bounds; nil if there is none.
func (v Value) bounded() map[string]string {
	var out map[string]string
	for _, t := range []struct {
		mime  string
		text  *string
		bound int
	}{{"text/plain", v.Plain, 4 * maxText}, {"text/html", v.HTML, 2 << 20}, {"image/png", v.PNG, 1 << 20}} {
		if t.text == nil || len(*t.text) > t.bound {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[t.mime] = *t.text
	}
	return out
}

// Texts are strings of which the first MaxSkipped are kept.
type Texts []string

// UnmarshalJSON reads no further than it keeps.
func (t *Texts) UnmarshalJSON(b []byte) error {
	*t = nil
	dec := json.NewDecoder(bytes.NewReader(b))
	if open, err := dec.Token(); err != nil || open == nil {
		return err
	}
	for dec.More() && len(*t) < MaxSkipped {
		var s string
		if err := dec.Decode(&s); err != nil {
			return err
		}
		*t = append(*t, s)
	}
	return nil
}

// Exception is an uncaught exception as the child tells it.
type Exception struct {
	Name      string `json:"name"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
}
