package main

import (
	"testing"

	"github.com/openharness/oh/ohtest"
)

func TestRun(t *testing.T) {
	server := ohtest.NewServer(t,
		ohtest.Reply(ohtest.Call("c1", "glob", `{"pattern": "*.go"}`)),
		ohtest.Reply(ohtest.Text("One program.")))
	t.Setenv("ANTHROPIC_API_KEY", "k")
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	if err := run(t.Context(), "what is here?"); err != nil {
		t.Fatal(err)
	}
	if got, _, ok := server.Requests()[1].ToolResult("c1"); !ok || got == "" {
		t.Errorf("the tool gave %q", got)
	}
}
