package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// oxigraphDir is the folder of the Node.js program, beside this file.
func oxigraphDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "oxigraph")
}

// InstallOxigraph installs the npm package that package-lock.json pins, if it
// is not there. The error says in a sentence what is missing.
func InstallOxigraph() error {
	if OxigraphInstalled() == nil {
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("npm is not installed")
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
	cmd.Dir = oxigraphDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci failed: %w: %.300s", err, out)
	}
	return OxigraphInstalled()
}

// OxigraphInstalled reports why Oxigraph cannot be started as it is; nil if it
// can.
func OxigraphInstalled() error {
	if _, err := exec.LookPath("node"); err != nil {
		return fmt.Errorf("node is not installed")
	}
	if _, err := os.Stat(filepath.Join(oxigraphDir(), "node_modules", "oxigraph", "package.json")); err != nil {
		return fmt.Errorf("the npm package oxigraph is not installed: run npm ci in bench/peer/oxigraph")
	}
	return nil
}

// StartOxigraph runs Oxigraph, which must be installed, in a child process. It
// holds everything in memory: the npm package is WebAssembly and has no disk.
func StartOxigraph() (*Peer, error) {
	if err := OxigraphInstalled(); err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "--max-old-space-size=8192", "serve.mjs")
	cmd.Dir = oxigraphDir()
	return start(cmd)
}
