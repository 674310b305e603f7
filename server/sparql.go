package server

import (
	"context"
	"io"

	"github.com/seed-ff860830/banyan"
)

// query is GET and POST /sparql. Its answer is streamed: what fails before the
// first bytes are sent is a proper error, what fails after them breaks the
// connection off, for CSV, TSV and graphs have no end mark.
func (s *Server) query(ctx context.Context, c *call) (a answer, err error) {
	leave, err := s.graph.enter()
	if err != nil {
		return answer{}, err
	}
	done := func() {
		s.buffered.give(c.reserved)
		leave()
	}
	defer func() {
		if a.done == nil {
			done()
		}
	}()
	in, err := s.readProtocol(c, queryOperation)
	if err != nil {
		return answer{}, err
	}
	res, err := s.cfg.Engine.Query(ctx, in.text, banyan.QueryOptions{Base: in.base, DefaultGraphs: in.deflt, NamedGraphs: in.named})
	if err != nil {
		return answer{}, err
	}
	o, err := in.choose(c, offersOf(res.Formats()...))
	if err != nil {
		return answer{}, err
	}
	a = negotiated(c, o, func(_ context.Context, w io.Writer) error { return res.Write(w, o.format) })
	a.done = done
	return a, nil
}

// choose picks the form of the answer: by a parameter, else by Accept.
func (in asked) choose(c *call, from []offer) (offer, error) {
	if in.override != "" {
		return chooseFormat(in.override, in.format, from)
	}
	return choose(c.r.Header, from)
}

// update is POST /sparql/update: 200 with what was done, or 204 for a client
// that takes no JSON. It is taken from those who may import: an update can
// declare what an import can.
func (s *Server) update(ctx context.Context, c *call) (answer, error) {
	if err := s.authorizeImport(c.r); err != nil {
		return answer{}, err
	}
	leave, err := s.graph.enter()
	if err != nil {
		return answer{}, err
	}
	defer leave()
	defer func() { s.buffered.give(c.reserved) }()
	in, err := s.readProtocol(c, updateOperation)
	if err != nil {
		return answer{}, err
	}
	rep, err := s.cfg.Engine.Update(ctx, in.text, banyan.UpdateOptions{Base: in.base, UsingGraphs: in.deflt, UsingNamedGraphs: in.named})
	if err != nil {
		return answer{}, err
	}
	return reported(c, ok(rep)), nil
}
