package server_test

import (
	"bytes"
	"context"
	"io"
	"mime"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
)

func TestBackupCanBeRestored(t *testing.T) {
	r := startGraph(t, nil)
	r.mustUpdate(manyValues(2000))
	a := r.do("GET", "/v1/backup", "")
	if a.status != 200 || a.err != nil || a.header.Get("Content-Type") != "application/octet-stream" {
		t.Fatalf("%d %v %v", a.status, a.err, a.header)
	}
	kind, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
	if err != nil || kind != "attachment" || !strings.HasSuffix(params["filename"], ".backup") {
		t.Errorf("Content-Disposition %q", a.header.Get("Content-Disposition"))
	}
	rep, err := kg.Restore(t.Context(), t.TempDir()+"/graph", strings.NewReader(a.body), kg.RestoreOptions{})
	if err != nil || int64(rep.Triples) != r.triples() {
		t.Errorf("restored %+v, %v; want %d triples", rep, err, r.triples())
	}
	if a := r.do("HEAD", "/v1/backup", ""); a.status != 200 || a.body != "" {
		t.Errorf("HEAD: %d", a.status)
	}
	r.trouble(r.do("GET", "/v1/backup?x=1", ""), 400)
	r.trouble(r.do("GET", "/v1/backup", "", "Accept: text/html"), 406)
}

func TestBackupThatFails(t *testing.T) {
	long, letGo := false, make(chan struct{})
	begun := make(chan struct{})
	f := &fake{backup: func(_ context.Context, w io.Writer) (banyan.BackupReport, error) {
		if long {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return banyan.BackupReport{}, err
			}
			close(begun)
			<-letGo
		}
		return banyan.BackupReport{}, errs.New(errs.Corrupt, "a table is damaged")
	}}
	r := start(t, f, nil)
	r.trouble(r.do("GET", "/v1/backup", ""), 500)
	long = true
	got := make(chan reply, 1)
	go func() { got <- r.do("GET", "/v1/backup", "") }()
	<-begun
	if a := r.do("GET", "/v1/backup", ""); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("a second one at the same time: %d", a.status)
	}
	close(letGo)
	if a := <-got; a.err == nil {
		t.Errorf("half a backup looks whole: %d, %d bytes", a.status, len(a.body))
	}
	long = false
	r.trouble(r.do("GET", "/v1/backup", ""), 500) // and not 429
}
