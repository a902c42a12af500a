package auth

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

func TestForget(t *testing.T) {
	if os.Getenv("OH_TEST_FORGET") == "1" {
		Forget([]string{"ANTHROPIC_API_KEY", "NOT_SET"}, func(name string) bool { return name == "FOO_TOKEN" })
		shown, err := os.ReadFile("/proc/self/environ")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(shown, []byte("sk-secret")) || os.Getenv("ANTHROPIC_API_KEY") != "" {
			t.Error("the key is still there")
		}
		if bytes.Contains(shown, []byte("other-secret")) || os.Getenv("FOO_TOKEN") != "other-secret" {
			t.Error("a token is shown, or not to be had")
		}
		if !bytes.Contains(shown, []byte("OTHER_VALUE=kept")) || os.Getenv("OTHER_VALUE") != "kept" {
			t.Error("another variable is gone")
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestForget$")
	cmd.Env = append(os.Environ(), "OH_TEST_FORGET=1", "ANTHROPIC_API_KEY=sk-secret", "FOO_TOKEN=other-secret", "OTHER_VALUE=kept")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
