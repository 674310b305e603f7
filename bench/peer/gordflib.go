package peer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tggo/goRDFlib/graph"
	"github.com/tggo/goRDFlib/sparql"
	"github.com/tggo/goRDFlib/term"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// childEnv makes a program that calls Child another program.
const childEnv = "BANYAN_BENCH_PEER"

// Child must be called first in the main function of a program that starts
// goRDFlib: in the child process it serves and does not return.
func Child() {
	if os.Getenv(childEnv) != "goRDFlib" {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "goRDFlib child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// StartGoRDFlib runs goRDFlib in a child process of this program.
func StartGoRDFlib() (*Peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"=goRDFlib")
	return start(cmd)
}

// engine is goRDFlib with the data it holds.
type engine struct{ data *sparql.Dataset }

func serve(in io.Reader, out io.Writer) error {
	e := &engine{}
	e.clear()
	lines, enc := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		r := e.answer(q)
		r.RSS = peakRSS()
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
}

func (e *engine) clear() {
	e.data = &sparql.Dataset{Default: graph.NewGraph(), NamedGraphs: map[string]*graph.Graph{}}
}

// answer also turns a panic of the engine into a refusal.
func (e *engine) answer(q Request) (r Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = Reply{Error: fmt.Sprint("panic: ", p)}
		}
	}()
	var err error
	switch q.Op {
	case OpLoad:
		r, err = e.load(q)
	case OpQuery:
		r, err = e.query(q)
	case OpUpdate:
		begin := time.Now()
		err = sparql.Update(e.data, q.Text)
		r.Nanos = time.Since(begin).Nanoseconds()
	case OpDump:
		r.Result, err = e.dump()
	default:
		err = fmt.Errorf("no such request: %q", q.Op)
	}
	if err != nil {
		return Reply{Error: err.Error()}
	}
	return r
}

// load reads with Banyan's reader, so that this measures and tests the engine
// alone.
func (e *engine) load(q Request) (r Reply, err error) {
	var src io.Reader = strings.NewReader(q.Text)
	if q.File != "" {
		f, err := os.Open(q.File)
		if err != nil {
			return r, err
		}
		defer f.Close()
		src = f
	}
	e.clear()
	begin := time.Now()
	quads := ttl.NewReader(src, ttl.Options{Format: ttl.NQuads, Limits: ttl.Limits{Bytes: 1 << 40, Triples: 1 << 40}})
	for {
		s, err := quads.ReadQuad()
		if errors.Is(err, io.EOF) {
			r.Nanos = time.Since(begin).Nanoseconds()
			return r, nil
		}
		if err != nil {
			return r, err
		}
		g := e.data.Default
		if !s.G.IsZero() {
			if g = e.data.NamedGraphs[s.G.Value]; g == nil {
				g = graph.NewGraph()
				e.data.NamedGraphs[s.G.Value] = g
			}
			if q.Union {
				g = e.data.Default
			}
		}
		subject, ok := theirs(s.S).(term.Subject)
		if !ok {
			return r, errors.New("a literal as subject")
		}
		g.Add(subject, term.NewURIRefUnsafe(s.P.Value), theirs(s.O))
	}
}

func (e *engine) query(q Request) (r Reply, err error) {
	begin := time.Now()
	parsed, err := sparql.Parse(q.Text)
	if err != nil {
		return r, err
	}
	parsed.NamedGraphs = e.data.NamedGraphs
	res, err := sparql.EvalQuery(e.data.Default, parsed, nil)
	if err != nil {
		return r, err
	}
	r.Nanos = time.Since(begin).Nanoseconds()
	if q.Quiet {
		return r, nil
	}
	r.Result, err = written(res)
	return r, err
}

// written is a result as the wire has it.
func written(res *sparql.Result) (string, error) {
	var out bytes.Buffer
	switch res.Type {
	case "ASK":
		err := (&results.Set{Boolean: &res.AskResult}).Write(&out, results.JSON)
		return out.String(), err
	case "SELECT":
		set := results.Set{Vars: res.Vars}
		for _, b := range res.Bindings {
			row := make([]ttl.Term, len(res.Vars))
			for i, v := range res.Vars {
				row[i] = ours(b[v])
			}
			set.Rows = append(set.Rows, row)
		}
		err := set.Write(&out, results.JSON)
		return out.String(), err
	}
	return quads(res.Graph, ttl.Term{})
}

func (e *engine) dump() (string, error) {
	out, err := quads(e.data.Default, ttl.Term{})
	for name, g := range e.data.NamedGraphs {
		more, err := quads(g, ttl.NewIRI(name))
		if err != nil {
			return "", err
		}
		out += more
	}
	return out, err
}

// quads is a graph as N-Quads. A literal as subject, which a careless
// CONSTRUCT can make, is an error.
func quads(g *graph.Graph, name ttl.Term) (string, error) {
	var out bytes.Buffer
	w := ttl.NewWriter(&out, ttl.WriterOptions{Format: ttl.NQuads})
	var err error
	g.Triples(nil, nil, nil)(func(t term.Triple) bool {
		err = w.WriteQuad(ttl.Quad{S: ours(t.Subject), P: ours(t.Predicate), O: ours(t.Object), G: name})
		return err == nil
	})
	err = errors.Join(err, w.Close())
	return out.String(), err
}

// theirs is a term as goRDFlib has it.
func theirs(t ttl.Term) term.Term {
	switch {
	case t.Kind == ttl.IRI:
		return term.NewURIRefUnsafe(t.Value)
	case t.Kind == ttl.Blank:
		return term.NewBNode(t.Value)
	case t.Lang != "":
		return term.NewLiteral(t.Value, term.WithLang(t.Lang))
	}
	return term.NewLiteral(t.Value, term.WithDatatype(term.NewURIRefUnsafe(t.DatatypeIRI())))
}

// ours is a term of goRDFlib's as Banyan has it; nil is no term.
func ours(t term.Term) ttl.Term {
	switch t := t.(type) {
	case term.URIRef:
		return ttl.NewIRI(t.Value())
	case term.BNode:
		return ttl.NewBlank(t.Value())
	case term.Literal:
		if t.Language() != "" {
			return ttl.NewLang(t.Lexical(), t.Language())
		}
		return ttl.NewTyped(t.Lexical(), t.Datatype().Value())
	}
	return ttl.Term{}
}

// peakRSS is this process's, in bytes.
func peakRSS() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss << 10
}
