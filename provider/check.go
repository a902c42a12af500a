package provider

import (
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/bridge"
)

// CheckTools returns the tools that can be offered to a model, and an error for
// each that cannot: its input schema is no JSON, does not describe an object or
// is too large, or an earlier tool has its name (as [oh.LegalName] gives it).
// The codecs leave such tools out of a request without a word; who builds the
// list warns.
func CheckTools(specs []oh.ToolSpec) (kept []oh.ToolSpec, dropped []error) {
	names := make(map[string]bool, len(specs))
	for _, s := range specs {
		name := oh.LegalName(s.Name)
		_, err := bridge.Convert(s.Schema, bridge.Plain)
		switch {
		case err != nil:
			dropped = append(dropped, fmt.Errorf("the tool %q is left out: %w", s.Name, err))
		case names[name]:
			dropped = append(dropped, fmt.Errorf("the tool %q is left out: an earlier one has the name %q too", s.Name, name))
		default:
			names[name] = true
			kept = append(kept, s)
		}
	}
	return kept, dropped
}
