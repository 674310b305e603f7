package sparql

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// function computes a call from its arguments' values.
type function func(x *exec, args []ttl.Term) (ttl.Term, error)

// anyArgs stands for no bound on a function's arguments.
const anyArgs = math.MaxInt

// builtin is a built-in function with the number of its arguments.
type builtin struct {
	min, max int
	fn       function
}

// special returns what evaluates a functional form, which looks at its
// arguments' errors itself; nil for the other functions.
func special(name string) func(x *exec, e *expr, row []kg.ID) (ttl.Term, error) {
	switch name {
	case "BOUND":
		return evalBound
	case "IF":
		return evalIf
	case "COALESCE":
		return evalCoalesce
	case "BNODE":
		return evalBNode
	}
	return nil
}

// builtins are the functions of section 17.4.
var builtins = map[string]builtin{
	"BOUND": {1, 1, nil}, "IF": {3, 3, nil}, "COALESCE": {0, anyArgs, nil}, "BNODE": {0, 1, nil},
	"SAMETERM":  {2, 2, func(_ *exec, a []ttl.Term) (ttl.Term, error) { return boolTerm(a[0] == a[1]), nil }},
	"ISIRI":     {1, 1, isKind(ttl.IRI)},
	"ISURI":     {1, 1, isKind(ttl.IRI)},
	"ISBLANK":   {1, 1, isKind(ttl.Blank)},
	"ISLITERAL": {1, 1, isKind(ttl.Literal)},
	"ISNUMERIC": {1, 1, isNumericTerm},
	"STR":       {1, 1, fnStr},
	"LANG":      {1, 1, fnLang},
	"DATATYPE":  {1, 1, fnDatatype},
	"IRI":       {1, 1, fnIRI},
	"URI":       {1, 1, fnIRI},
	"STRDT":     {2, 2, fnStrDT},
	"STRLANG":   {2, 2, fnStrLang},
	"UUID":      {0, 0, fnUUID},
	"STRUUID":   {0, 0, fnStrUUID},

	"STRLEN":         {1, 1, fnStrLen},
	"SUBSTR":         {2, 3, fnSubstr},
	"UCASE":          {1, 1, mapText(strings.ToUpper)},
	"LCASE":          {1, 1, mapText(strings.ToLower)},
	"STRSTARTS":      {2, 2, testText(strings.HasPrefix)},
	"STRENDS":        {2, 2, testText(strings.HasSuffix)},
	"CONTAINS":       {2, 2, testText(strings.Contains)},
	"STRBEFORE":      {2, 2, fnStrBefore},
	"STRAFTER":       {2, 2, fnStrAfter},
	"ENCODE_FOR_URI": {1, 1, fnEncode},
	"CONCAT":         {0, anyArgs, fnConcat},
	"LANGMATCHES":    {2, 2, fnLangMatches},
	"REGEX":          {2, 3, fnRegex},
	"REPLACE":        {3, 4, fnReplace},

	"ABS":   {1, 1, roundWith("ABS")},
	"ROUND": {1, 1, roundWith("ROUND")},
	"CEIL":  {1, 1, roundWith("CEIL")},
	"FLOOR": {1, 1, roundWith("FLOOR")},
	"RAND":  {0, 0, func(*exec, []ttl.Term) (ttl.Term, error) { return floatNumber(rand.Float64()).term(), nil }},

	"NOW":      {0, 0, fnNow},
	"YEAR":     {1, 1, timePart("YEAR")},
	"MONTH":    {1, 1, timePart("MONTH")},
	"DAY":      {1, 1, timePart("DAY")},
	"HOURS":    {1, 1, timePart("HOURS")},
	"MINUTES":  {1, 1, timePart("MINUTES")},
	"SECONDS":  {1, 1, fnSeconds},
	"TIMEZONE": {1, 1, fnTimezone},
	"TZ":       {1, 1, fnTZ},

	"MD5":    {1, 1, digest("MD5")},
	"SHA1":   {1, 1, digest("SHA1")},
	"SHA256": {1, 1, digest("SHA256")},
	"SHA384": {1, 1, digest("SHA384")},
	"SHA512": {1, 1, digest("SHA512")},
}

func evalBound(_ *exec, e *expr, row []kg.ID) (ttl.Term, error) {
	return boolTerm(row[e.args[0].slot] != 0), nil
}

func evalIf(x *exec, e *expr, row []kg.ID) (ttl.Term, error) {
	b, err := x.truth(e.args[0], row)
	if err != nil {
		return ttl.Term{}, err
	}
	if b {
		return x.eval(e.args[1], row)
	}
	return x.eval(e.args[2], row)
}

func evalCoalesce(x *exec, e *expr, row []kg.ID) (ttl.Term, error) {
	for _, a := range e.args {
		if t, err := x.eval(a, row); !errors.Is(err, errEval) {
			return t, err
		}
	}
	return ttl.Term{}, errEval
}

// evalBNode makes a blank node; with an argument, the same one for the same
// text within one solution. A solution is told by the values of its row
// without those that BNODE itself gave.
func evalBNode(x *exec, e *expr, row []kg.ID) (ttl.Term, error) {
	if len(e.args) == 0 {
		return x.terms.blank(), nil
	}
	t, err := x.eval(e.args[0], row)
	if err != nil {
		return t, err
	}
	if t.Kind != ttl.Literal || t.Lang != "" || t.Datatype != "" {
		return ttl.Term{}, errEval
	}
	key := []byte(t.Value + "\x00")
	for slot, id := range row {
		if id != 0 && !x.terms.isMade(id) {
			key = appendKey(append(key, byte(slot>>8), byte(slot)), row, []int{slot})
		}
	}
	if b, ok := x.bnodes[string(key)]; ok {
		return b, nil
	}
	if x.bnodes == nil {
		x.bnodes = map[string]ttl.Term{}
	}
	b := x.terms.blank()
	x.bnodes[string(key)] = b
	return b, x.charge(160 + len(key))
}

func isKind(k ttl.Kind) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) { return boolTerm(a[0].Kind == k), nil }
}

func isNumericTerm(_ *exec, a []ttl.Term) (ttl.Term, error) {
	_, ok := numberOf(a[0])
	return boolTerm(ok), nil
}

// strOf is STR: the text of an IRI or a literal.
func strOf(t ttl.Term) (string, error) {
	if t.Kind != ttl.IRI && t.Kind != ttl.Literal {
		return "", errEval
	}
	return t.Value, nil
}

func fnStr(_ *exec, a []ttl.Term) (ttl.Term, error) {
	s, err := strOf(a[0])
	return ttl.NewString(s), err
}

func fnLang(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if a[0].Kind != ttl.Literal {
		return ttl.Term{}, errEval
	}
	return ttl.NewString(a[0].Lang), nil
}

func fnDatatype(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if a[0].Kind != ttl.Literal {
		return ttl.Term{}, errEval
	}
	return ttl.NewIRI(a[0].DatatypeIRI()), nil
}

func fnIRI(x *exec, a []ttl.Term) (ttl.Term, error) {
	t := a[0]
	if t.Kind == ttl.IRI {
		return t, nil
	}
	if t.Kind != ttl.Literal || t.Lang != "" || t.Datatype != "" {
		return ttl.Term{}, errEval
	}
	iri := t.Value
	if !ttl.ValidIRI(iri) && x.base != "" {
		iri = ttl.ResolveIRI(x.base, iri)
	}
	if !ttl.ValidIRI(iri) {
		return ttl.Term{}, errEval
	}
	return ttl.NewIRI(iri), nil
}

func fnStrDT(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !isPlain(a[0]) || a[1].Kind != ttl.IRI || a[1].Value == ttl.RDFLangString {
		return ttl.Term{}, errEval
	}
	return ttl.NewTyped(a[0].Value, a[1].Value), nil
}

func fnStrLang(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !isPlain(a[0]) || !isPlain(a[1]) || !ttl.ValidLanguage(a[1].Value) {
		return ttl.Term{}, errEval
	}
	return ttl.NewLang(a[0].Value, a[1].Value), nil
}

// isPlain reports a literal of xsd:string.
func isPlain(t ttl.Term) bool { return t.Kind == ttl.Literal && t.Lang == "" && t.Datatype == "" }

func roundWith(name string) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		n, ok := numberOf(a[0])
		if !ok {
			return ttl.Term{}, errEval
		}
		return rounded(name, n).term(), nil
	}
}
