// Package buildinfo tells which build of Banyan is running.
package buildinfo

import "runtime/debug"

// version is set by the linker in released builds.
var version = ""

// Version returns the version the linker was given, else the module's.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
