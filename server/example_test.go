package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/server"
)

// echoing stands for a *banyan.Engine here; it answers a job with its code.
type echoing struct{ server.Engine }

func (echoing) Execute(_ context.Context, j banyan.Job) (*banyan.Result, error) {
	return &banyan.Result{Status: "ok", Stdout: j.Code}, nil
}

// A daemon serves its engine until its context ends.
func Example() {
	srv, err := server.New(server.Config{Engine: echoing{}})
	if err != nil {
		panic(err)
	}
	const addr = "127.0.0.1:0"
	if err := server.CheckListen(addr, false); err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- srv.Serve(ctx, l) }()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post("http://"+l.Addr().String()+"/v1/execute", "application/json", strings.NewReader(`{"kode":"1"}`))
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	fmt.Println(res.Status, strings.Contains(string(body), "did you mean"))

	stop()
	fmt.Println(<-ended)
	// Output:
	// 400 Bad Request true
	// <nil>
}
