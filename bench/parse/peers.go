package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	geordf "github.com/geoknoesis/rdf-go/rdf"
	"github.com/knakk/rdf"
	"github.com/tggo/goRDFlib/graph"
	"github.com/tggo/goRDFlib/nt"
	"github.com/tggo/goRDFlib/turtle"

	"github.com/seed-ff860830/banyan/ttl"
)

// peers are the readers, ours first: the ratios are against it.
var peers = []peer{
	{"banyan", readBanyan},
	{"knakk/rdf", readKnakk},
	{"goRDFlib", readGoRDFlib},
	{"rdf-go", readRDFGo},
}

func readBanyan(doc []byte, f ttl.Format) (n int, err error) {
	r := ttl.NewReader(bytes.NewReader(doc), ttl.Options{Format: f})
	for {
		if _, err := r.Read(); err != nil {
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			return n, err
		}
		n++
	}
}

func readKnakk(doc []byte, f ttl.Format) (n int, err error) {
	format := rdf.Turtle
	if f == ttl.NTriples {
		format = rdf.NTriples
	}
	d := rdf.NewTripleDecoder(bytes.NewReader(doc), format)
	for {
		if _, err := d.Decode(); err != nil {
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			return n, err
		}
		n++
	}
}

func readGoRDFlib(doc []byte, f ttl.Format) (int, error) {
	g := graph.NewGraph()
	var err error
	if f == ttl.NTriples {
		err = nt.Parse(g, bytes.NewReader(doc))
	} else {
		err = turtle.Parse(g, bytes.NewReader(doc))
	}
	return g.Len(), err
}

func readRDFGo(doc []byte, f ttl.Format) (n int, err error) {
	format := geordf.FormatTurtle
	if f == ttl.NTriples {
		format = geordf.FormatNTriples
	}
	err = geordf.Parse(context.Background(), bytes.NewReader(doc), format, func(geordf.Statement) error {
		n++
		return nil
	})
	return n, err
}
