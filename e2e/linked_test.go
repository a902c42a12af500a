//go:build unix

package e2e

import (
	"debug/elf"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestLinked: the program has no code that finds methods by a name it makes up.
// With it the linker keeps every exported method there is: 4 MB.
// cobra's templates are such code when one is set.
func TestLinked(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the symbols of this system's programs are in another form")
	}
	f, err := elf.Open(binary)
	must(t, err)
	defer func() { _ = f.Close() }()
	list, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) && os.Getenv("OH_E2E_BINARY") != "" {
		t.Skip("the binary is stripped")
	}
	must(t, err)
	found := false
	for _, s := range list {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		found = found || s.Name == "main.main"
		for _, bad := range []string{"text/template.(*state)", "text/template.(*Template)", "reflect.Value.MethodByName", "reflect.(*rtype).MethodByName"} {
			if strings.HasPrefix(s.Name, bad) {
				t.Errorf("%s is linked", s.Name)
			}
		}
	}
	if !found {
		t.Error("no symbol main.main: the symbols were not understood")
	}
}
