package kg

import (
	"encoding/binary"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// The top four bits of an id say what the term is, so that a filter by kind
// needs no dictionary. Ids of the inline kinds are the value themselves, in
// value order; only a literal whose text is the canonical one is inline, so
// "1" and "01" stay two terms.
const (
	kindShift = 60
	idMask    = ID(1)<<kindShift - 1

	kindIRI      = ID(1) // sequence number
	kindBlank    = ID(2) // sequence number
	kindLiteral  = ID(3) // sequence number
	kindInteger  = ID(8) // value + 2^59
	kindBoolean  = ID(9) // 0 or 1
	kindDateTime = ID(10)
)

// inlineBias makes signed inline values sort as unsigned ones.
const inlineBias = int64(1) << 59

// dateTimeLayout is the canonical form of an inline dateTime, and the form that
// Banyan writes its own instants in: UTC with milliseconds.
const dateTimeLayout = "2006-01-02T15:04:05.000Z"

// maxTermBytes bounds one stored term. It keeps every value below Badger's
// threshold for the value log, which this store never uses.
const maxTermBytes = 512 << 10

// The first byte of a stored term.
const (
	termIRI   = 1 // IRI
	termBlank = 2 // label
	termPlain = 3 // lexical form
	termLang  = 4 // length of tag (uvarint), tag, lexical form
	termTyped = 5 // length of datatype (uvarint), datatype, lexical form
)

// kind returns the kind bits of an id.
func (id ID) kind() ID { return id >> kindShift }

// inlineID returns the id of a term that needs no dictionary.
func inlineID(t ttl.Term) (ID, bool) {
	if t.Kind != ttl.Literal || t.Lang != "" || t.Datatype == "" {
		return 0, false
	}
	switch t.Datatype {
	case ttl.XSDInteger:
		v, err := strconv.ParseInt(t.Value, 10, 64)
		if err != nil || v < -inlineBias || v >= inlineBias || strconv.FormatInt(v, 10) != t.Value {
			return 0, false
		}
		return kindInteger<<kindShift | ID(v+inlineBias), true
	case ttl.XSDBoolean:
		switch t.Value {
		case "false":
			return kindBoolean << kindShift, true
		case "true":
			return kindBoolean<<kindShift | 1, true
		}
	case ttl.XSDDateTime:
		at, err := time.Parse(dateTimeLayout, t.Value)
		if err != nil || at.Format(dateTimeLayout) != t.Value {
			return 0, false
		}
		return kindDateTime<<kindShift | ID(at.UnixMilli()+inlineBias), true
	}
	return 0, false
}

// inlineTerm returns the term of an inline id.
func inlineTerm(id ID) (ttl.Term, bool) {
	v := int64(id&idMask) - inlineBias
	switch id.kind() {
	case kindInteger:
		return ttl.NewTyped(strconv.FormatInt(v, 10), ttl.XSDInteger), true
	case kindBoolean:
		return ttl.NewTyped(strconv.FormatBool(id&1 == 1), ttl.XSDBoolean), true
	case kindDateTime:
		return ttl.NewTyped(time.UnixMilli(v).UTC().Format(dateTimeLayout), ttl.XSDDateTime), true
	}
	return ttl.Term{}, false
}

// kindOf returns the kind bits of a term that goes into the dictionary.
func kindOf(t ttl.Term) ID {
	switch t.Kind {
	case ttl.IRI:
		return kindIRI
	case ttl.Blank:
		return kindBlank
	default:
		return kindLiteral
	}
}

// encodeTerm returns the stored form of a term.
func encodeTerm(t ttl.Term) []byte {
	b := make([]byte, 0, 8+len(t.Value)+len(t.Lang)+len(t.Datatype))
	switch {
	case t.Kind == ttl.IRI:
		b = append(b, termIRI)
	case t.Kind == ttl.Blank:
		b = append(b, termBlank)
	case t.Lang != "":
		b = append(b, termLang)
		b = binary.AppendUvarint(b, uint64(len(t.Lang)))
		b = append(b, t.Lang...)
	case t.Datatype != "":
		b = append(b, termTyped)
		b = binary.AppendUvarint(b, uint64(len(t.Datatype)))
		b = append(b, t.Datatype...)
	default:
		b = append(b, termPlain)
	}
	return append(b, t.Value...)
}

// decodeTerm reads what encodeTerm wrote. It never panics: what cannot be read
// is reported as damage.
func decodeTerm(b []byte) (ttl.Term, error) {
	if len(b) == 0 {
		return ttl.Term{}, errs.New(errs.Corrupt, "the store holds a term without content")
	}
	rest := b[1:]
	switch b[0] {
	case termIRI:
		return ttl.NewIRI(string(rest)), nil
	case termBlank:
		return ttl.NewBlank(string(rest)), nil
	case termPlain:
		return ttl.NewString(string(rest)), nil
	case termLang, termTyped:
		n, used := binary.Uvarint(rest)
		if used <= 0 || n == 0 || n > uint64(len(rest)-used) {
			break
		}
		head, value := string(rest[used:used+int(n)]), string(rest[used+int(n):])
		if b[0] == termLang {
			return ttl.NewLang(value, head), nil
		}
		return ttl.Term{Kind: ttl.Literal, Value: value, Datatype: head}, nil
	}
	return ttl.Term{}, errs.New(errs.Corrupt, "the store holds a term that cannot be read")
}

// checkQuad refuses a quad that RDF does not allow or that could not be written
// out again as it stands: a term's text never becomes syntax.
func checkQuad(q ttl.Quad) error {
	if q.S.Kind != ttl.IRI && q.S.Kind != ttl.Blank {
		return errs.New(errs.Invalid, "the subject of a statement is an IRI or a blank node")
	}
	if q.P.Kind != ttl.IRI {
		return errs.New(errs.Invalid, "the predicate of a statement is an IRI")
	}
	if q.G.Kind != ttl.IRI && q.G.Kind != ttl.None {
		return errs.New(errs.Invalid, "the name of a graph is an IRI")
	}
	for _, t := range [...]ttl.Term{q.S, q.P, q.O} {
		if err := checkTerm(t); err != nil {
			return err
		}
	}
	if q.G == DefaultGraph || q.G.IsZero() {
		return nil
	}
	return checkTerm(q.G)
}

// checkTerm refuses a term that cannot be stored.
func checkTerm(t ttl.Term) error {
	if n := len(t.Value) + len(t.Lang) + len(t.Datatype); n > maxTermBytes {
		return errs.New(errs.TooLarge, "a term has %d bytes; at most %d can be stored", n, maxTermBytes)
	}
	switch t.Kind {
	case ttl.IRI:
		if !ttl.ValidIRI(t.Value) {
			return errs.New(errs.Invalid, "%s is not an absolute IRI", quote(t.Value))
		}
	case ttl.Blank:
		if !ttl.ValidBlankLabel(t.Value) {
			return errs.New(errs.Invalid, "%s is not a blank node's label", quote(t.Value))
		}
	case ttl.Literal:
		return checkLiteral(t)
	default:
		return errs.New(errs.Invalid, "a statement needs a subject, a predicate and an object")
	}
	return nil
}

func checkLiteral(t ttl.Term) error {
	switch {
	case !utf8.ValidString(t.Value):
		return errs.New(errs.Invalid, "the literal %s is not UTF-8", quote(t.Value))
	case t.Lang != "" && (t.Datatype != "" || !ttl.ValidLanguage(t.Lang)):
		return errs.New(errs.Invalid, "%s is not a language tag", quote(t.Lang))
	case t.Datatype == ttl.XSDString:
		return errs.New(errs.Invalid, "a plain literal carries no datatype")
	case t.Datatype != "" && !ttl.ValidIRI(t.Datatype):
		return errs.New(errs.Invalid, "the datatype %s is not an absolute IRI", quote(t.Datatype))
	}
	return nil
}

// quote shows foreign text in a message: quoted, escaped and cut.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
