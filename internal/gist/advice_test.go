package gist

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/openharness/oh"
)

func TestAdvice(t *testing.T) {
	service := func(k oh.Kind, status int, code string) error {
		return fmt.Errorf("ask: %w", &oh.Error{Op: "x", Kind: k, Status: status, Code: code, Err: errors.New("words")})
	}
	refused := &oh.Error{Op: "x", Kind: oh.KindUnavailable, Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errRefused)}}
	key := func(source string) Place { return Place{KeySource: source, Profile: "claude-api"} }
	tests := []struct {
		name        string
		err         error
		at          Place
		after, line string
	}{
		{"unclassified", errors.New("x"), Place{}, "", ""},
		{"no key", service(oh.KindAuth, 0, ""), key("K"), "", ""},
		{"variable", service(oh.KindAuth, 401, ""), key("ANTHROPIC_API_KEY"),
			"The key from ANTHROPIC_API_KEY was refused: correct or unset it", "same"},
		{"variable in a file", service(oh.KindAuth, 403, ""), key("MY_KEY2 in /c/settings.json"),
			"The key from MY_KEY2 in /c/settings.json was refused: correct or unset it", "same"},
		{"store", service(oh.KindAuth, 401, ""), key("/c/credentials.json"),
			"The key from /c/credentials.json was refused. Store another with: oh auth login claude-api", "same"},
		{"a cloud", service(oh.KindAuth, 403, ""), Place{KeySource: "Google credentials: /c/adc.json", Profile: "vertex"},
			"The service refused the Google credentials: /c/adc.json. Renew them, or see whether the account may use this model", "same"},
		{"settings", service(oh.KindAuth, 401, ""), Place{KeySource: "settings"},
			"The key from settings was refused. Store another with: oh auth login", "same"},
		{"flag", service(oh.KindAuth, 401, ""), key("--api-key"), "The key from --api-key was refused: give another", "same"},
		{"key wanted", service(oh.KindAuth, 401, ""), key(""), "Store a key with: oh auth login claude-api", "same"},
		{"quota", service(oh.KindQuota, 429, ""), Place{},
			"Check the account's plan, or choose another profile with --profile",
			"Check the account's plan, or leave and choose another profile with: oh -c --profile NAME"},
		{"too long", service(oh.KindTooLong, 400, ""), Place{},
			"Begin a new session, or choose a model with a larger window", "/clear begins anew, /model chooses one with a larger window"},
		{"no such page", service(oh.KindInvalid, 404, ""), Place{}, "Check --model", "Check the model: /model NAME chooses another"},
		{"no such model", service(oh.KindInvalid, 400, "model_not_found"), Place{Model: "opus-99"},
			"Check --model (opus-99 was asked for)", "Check the model (opus-99 was asked for): /model NAME chooses another"},
		{"invalid", service(oh.KindInvalid, 400, ""), Place{},
			"The request itself was refused; --debug shows more", "The request itself was refused; started with --debug, oh shows more"},
		{"certificate", service(oh.KindInvalid, 0, ""), Place{}, "--debug shows more", "Started with --debug, oh shows more"},
		{"overloaded", service(oh.KindOverloaded, 529, ""), Place{}, `Try later. Go on with: oh -c -p "continue"`, "/continue tries again"},
		{"limited, not saved", service(oh.KindLimited, 429, ""), Place{NoSave: true}, "Try later", "/continue tries again"},
		{"away", service(oh.KindUnavailable, 502, ""), Place{NoSave: true}, "Try later", "/continue tries again"},
		{"nothing listens", refused, Place{}, "Is it running? --base-url sets the address", "Is it running? --base-url sets the address; /continue tries again"},
		{"nothing listens there", fmt.Errorf("ask: %w", refused), Place{BaseURL: "http://me:secret@127.0.0.1:11434/v1?key=secret", BaseURLSource: "OLLAMA_HOST"},
			"Is it running at http://127.0.0.1:11434/v1? The address comes from OLLAMA_HOST",
			"Is it running at http://127.0.0.1:11434/v1? The address comes from OLLAMA_HOST; /continue tries again"},
		{"cancelled", service(oh.KindCancelled, 0, ""), Place{}, "", ""},
	}
	for _, tt := range tests {
		if tt.line == "same" {
			tt.line = tt.after
		}
		if got := Advice(tt.err, tt.at); got != tt.after {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.after)
		}
		tt.at.Line = true
		if got := Advice(tt.err, tt.at); got != tt.line {
			t.Errorf("%s, in line mode: %q, want %q", tt.name, got, tt.line)
		}
	}
}

func TestReasonAdvice(t *testing.T) {
	const goOn = `Go on with: oh -c -p "continue"`
	tests := []struct {
		reason               oh.Reason
		after, unsaved, line string
	}{
		{oh.ReasonEnd, "", "", ""},
		{oh.ReasonMaxTurns, goOn + " (--max-turns sets the limit)", "--max-turns sets the limit", "/continue goes on, /continue N for N turns at most"},
		{oh.ReasonBudget, goOn + " (--max-budget-usd sets the limit)", "--max-budget-usd sets the limit", "Leave and go on with more: oh -c --max-budget-usd USD"},
		{oh.ReasonCancelled, goOn, "", "/continue goes on, or type on"},
		{oh.ReasonFailed, goOn, "", "/continue goes on"},
		{oh.ReasonMaxTokens, goOn, "", "/continue goes on"},
		{oh.ReasonEmptyReply, goOn, "", "/continue goes on"},
		{oh.ReasonLoop, `Say what to do instead with: oh -c -p "..."`, "", "Say what to do instead"},
		{oh.ReasonRefusal, "", "", ""},
		{oh.ReasonBlocked, "", "", ""},
	}
	for _, tt := range tests {
		got := [...]string{ReasonAdvice(tt.reason, Place{}), ReasonAdvice(tt.reason, Place{NoSave: true}), ReasonAdvice(tt.reason, Place{Line: true})}
		if want := [...]string{tt.after, tt.unsaved, tt.line}; got != want {
			t.Errorf("%s: %q, want %q", tt.reason, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	tests := [][3]string{
		{"it failed", "", "it failed."}, {"it failed.", "Try.", "it failed. Try."}, {"it failed", "Try", "it failed. Try"},
		{"why?", "", "why?"}, {"cut…", "Try", "cut… Try"}, {"", "", ""}, {"", "Try", "Try"},
	}
	for _, tt := range tests {
		if got := Sentence(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Sentence(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
