package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStockClientsOfNPM puts questions to a live server with SPARQL clients that
// others wrote: queries in all three ways of the protocol, updates, the graph
// store, and answers that are cut off.
func TestStockClientsOfNPM(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	r := startGraph(t, nil)
	r.mustUpdate(manyValues(100))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, npmClient(t), r.url)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("the clients: %v", err)
	}
	if n := strings.Count(string(out), "\nok "); n < 30 {
		t.Errorf("only %d checks were run", n)
	}
}

// npmClient returns the script, in a folder that has its packages. They are
// installed once for each state of the lock file, into the user's cache.
func npmClient(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed")
	}
	const source = "testdata/npm-client"
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	cache = filepath.Join(cache, "banyan-test")
	installed := filepath.Join(cache, "npm-client-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(installed); err != nil {
		installPackages(t, npm, source, cache, installed)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(source, "client.mjs"), filepath.Join(dir, "client.mjs"))
	return filepath.Join(dir, "client.mjs")
}

// installPackages installs beside the place and moves there, so that two tests
// at the same time do not see half of it.
func installPackages(t *testing.T, npm, source, cache, installed string) {
	t.Helper()
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, name := range []string{"package.json", "package-lock.json"} {
		copyFile(t, filepath.Join(source, name), filepath.Join(tmp, name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(tmp, installed); err != nil {
		if _, there := os.Stat(installed); there != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
