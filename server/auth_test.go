package server_test

import (
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/server"
)

func TestTokenIsNeededEverywhereButForHealth(t *testing.T) {
	r := start(t, &fake{}, func(c *server.Config) { c.TokenHash = server.HashToken("s3cret") })
	paths := []string{"GET /readyz", "GET /", "GET /v1/status", "POST /v1/execute", "GET /nope", "BREW /v1/status", "PUT /graphs", "OPTIONS /v1/execute"}
	for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Bearer s3cret2", "bearer", "Basic s3cret", "s3cret", "Bearer s3crets3cret"} {
		for _, p := range paths {
			method, path, _ := strings.Cut(p, " ")
			a := r.do(method, path, "", "Authorization: "+auth)
			r.trouble(a, 401)
			if a.header.Get("WWW-Authenticate") == "" || a.header.Get("Allow") != "" {
				t.Errorf("%s: %v", p, a.header)
			}
		}
	}
	for _, auth := range []string{"Bearer s3cret", "bearer s3cret", "BEARER  s3cret"} {
		if a := r.do("GET", "/readyz", "", "Authorization: "+auth); a.status != 200 {
			t.Errorf("%q: %d %s", auth, a.status, a.body)
		}
	}
	if a := r.do("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("/healthz: %d", a.status)
	}
	// Who has the token may come by any name: through a proxy, from elsewhere.
	if a := r.do("GET", "/readyz", "", "Authorization: Bearer s3cret", "Host: banyan.example.org"); a.status != 200 {
		t.Errorf("by another name: %d", a.status)
	}
	if strings.Contains(r.log.String(), "s3cret") {
		t.Error("the log has the token")
	}
}

func TestWithoutTokenHostAndOriginAreChecked(t *testing.T) {
	r := start(t, &fake{}, func(c *server.Config) { c.AllowHosts = []string{"banyan.local"} })
	port := r.url[strings.LastIndex(r.url, ":"):]
	for _, tc := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Host: localhost"}, 200},
		{[]string{"Host: LOCALHOST:9999"}, 200},
		{[]string{"Host: localhost."}, 200},
		{[]string{"Host: 127.0.0.1" + port}, 200},
		{[]string{"Host: 127.9.9.9"}, 200},
		{[]string{"Host: [::1]:7878"}, 200},
		{[]string{"Host: banyan.local:80"}, 200},
		{[]string{"Host: evil.example"}, 403},
		{[]string{"Host: localhost.evil.example"}, 403},
		{[]string{"Host: 127.0.0.1.evil.example"}, 403},
		{[]string{"Host: 10.0.0.1"}, 403},
		{[]string{"Host: 0.0.0.0"}, 403},
		{[]string{"Host: [::]"}, 403},
		{[]string{"Host: x.banyan.local"}, 403},
		{[]string{"Host: localhost" + port, "Origin: http://localhost" + port}, 200},
		{[]string{"Host: localhost" + port, "Origin: http://127.0.0.1" + port}, 403},
		{[]string{"Host: localhost" + port, "Origin: http://localhost:1"}, 403},
		{[]string{"Host: localhost" + port, "Origin: https://evil.example"}, 403},
		{[]string{"Host: localhost" + port, "Origin: null"}, 403},
		{[]string{"Host: localhost" + port, "Origin: file://"}, 403},
		{[]string{"Host: localhost" + port, "Origin: http://localhost" + port + "@evil.example"}, 403},
		{[]string{"Sec-Fetch-Site: same-origin"}, 200},
		{[]string{"Sec-Fetch-Site: none"}, 200},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403},
		{[]string{"Sec-Fetch-Site: same-site"}, 403},
	} {
		a := r.do("GET", "/readyz", "", tc.headers...)
		if a.status != tc.status {
			t.Errorf("%v: %d, want %d", tc.headers, a.status, tc.status)
		}
		if a.status == 403 {
			r.trouble(a, 403)
		}
	}
	if a := r.do("GET", "/healthz", "", "Host: evil.example"); a.status != 200 {
		t.Errorf("/healthz: %d", a.status)
	}
}

func TestCheckListen(t *testing.T) {
	for _, tc := range []struct {
		addr     string
		hasToken bool
		want     error
	}{
		{"127.0.0.1:7878", false, nil},
		{"127.1.2.3:0", false, nil},
		{"[::1]:7878", false, nil},
		{"[::ffff:127.0.0.1]:1", false, nil},
		{"localhost:7878", false, nil},
		{"unix:/run/banyan.sock", false, nil},
		{"0.0.0.0:7878", true, nil},
		{":7878", true, nil},
		{":7878", false, &errs.Error{Kind: errs.Denied}},
		{"0.0.0.0:7878", false, &errs.Error{Kind: errs.Denied}},
		{"[::]:7878", false, &errs.Error{Kind: errs.Denied}},
		{"10.0.0.1:7878", false, &errs.Error{Kind: errs.Denied}},
		{"localhost.evil.example:7878", false, &errs.Error{Kind: errs.Denied}},
		{"myhost:7878", false, &errs.Error{Kind: errs.Denied}},
		{"127.0.0.1", false, &errs.Error{Kind: errs.Invalid}},
		{"", true, &errs.Error{Kind: errs.Invalid}},
	} {
		err := server.CheckListen(tc.addr, tc.hasToken)
		if tc.want == nil && err != nil || tc.want != nil && (err == nil || errs.KindOf(err) != errs.KindOf(tc.want)) {
			t.Errorf("CheckListen(%q, %v) = %v, want %v", tc.addr, tc.hasToken, err, tc.want)
		}
		if err != nil && errs.HintOf(err) == "" {
			t.Errorf("CheckListen(%q): no hint", tc.addr)
		}
	}
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		cfg  server.Config
		want string
	}{
		{server.Config{}, "Engine is missing"},
		{server.Config{Engine: &fake{}, TokenHash: []byte("plain")}, "TokenHash has 5 bytes"},
		{server.Config{Engine: &fake{}, MaxQueue: -1}, "MaxQueue is negative"},
		{server.Config{Engine: &fake{}, DrainTimeout: -1}, "DrainTimeout is negative"},
		{server.Config{Engine: &fake{}, MaxBodyBytes: 100, MaxBufferedBytes: 100}, "MaxBufferedBytes is not more"},
	} {
		_, err := server.New(tc.cfg)
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(errs.Public(err), tc.want) {
			t.Errorf("New = %v, want %q", err, tc.want)
		}
	}
	d := server.Default()
	d.Engine = &fake{}
	if err := d.Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}
