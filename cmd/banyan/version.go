package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/internal/buildinfo"
)

// newVersionCmd makes "banyan version".
func newVersionCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show which build this is", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{buildinfo.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if asJSON {
				return a.printJSON(v)
			}
			return a.printf("banyan %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
