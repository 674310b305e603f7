package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxHealth bounds the answer of a health check.
const maxHealth = 4 << 10

// IsBanyan reports whether a banyan daemon answers at the client's address: its
// health check says ok and names the request as Banyan does, "req_…". It sends
// no token, since who answers is not known yet.
func (c *Client) IsBanyan(ctx context.Context) bool {
	bare := *c
	bare.token = ""
	resp, err := bare.do(ctx, call{method: http.MethodGet, path: "/healthz"})
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	var health struct {
		Status string `json:"status"`
	}
	return err == nil && json.Unmarshal(data, &health) == nil && health.Status == "ok" &&
		strings.HasPrefix(resp.Header.Get("X-Request-Id"), "req_")
}

// UnixURL returns the URL of the socket at an absolute path.
func UnixURL(path string) string {
	return (&url.URL{Scheme: "unix", Path: path}).String()
}
