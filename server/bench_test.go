package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/server"
)

// BenchmarkExecute is what the server adds to a job: one request on a kept
// connection, with an engine that does nothing.
func BenchmarkExecute(b *testing.B) {
	s, err := server.New(server.Config{
		Engine: &fake{execute: func(context.Context, banyan.Job) (*banyan.Result, error) { return &banyan.Result{Status: "ok"}, nil }},
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
	if err != nil {
		b.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	client := ts.Client()
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.Post(ts.URL+"/v1/execute", "application/json", strings.NewReader(`{"code":"import numpy; print(numpy.arange(3))","need":["numpy"]}`))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
	}
}
