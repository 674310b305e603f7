package kg

import (
	"bytes"
	"os"
	"testing"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// A folder that is a mount cannot be exchanged. The restore that fails of it
// leaves nothing beside that would keep a store from the folder.
func TestRestoreIntoAMountChangesNothing(t *testing.T) {
	s := memory(t)
	add(t, s, quad("a", "p", "b", "g"))
	b, _ := mustBackup(t, s)
	dir := smallDisk(t, 1024)
	_, err := Restore(t.Context(), dir, bytes.NewReader(b), RestoreOptions{})
	wantKind(t, err, errs.Unavailable)
	if _, err := os.Lstat(dir + restoreSuffix); !os.IsNotExist(err) {
		t.Errorf("the restore left a folder beside: %v", err)
	}
	mustClose(t, onDisk(t, dir))
}
