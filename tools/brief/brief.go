// Package brief is the tool that cuts a text to a few characters. It is purely
// mechanical: no model is asked.
package brief

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed brief.md
var doc string

type input struct {
	Text     string `json:"text"`
	MaxChars int    `json:"max_chars" oh:"min=20,max=2000,default=200"`
}

// New makes the tool brief.
func New() oh.Tool {
	return oh.NewTool(oh.ToolDef[input]{Name: "brief", Doc: doc, SelfLimited: true, Prepare: prepare})
}

func prepare(_ context.Context, _ *oh.Call, in input) (oh.Action, error) {
	whole := strings.TrimSpace(text.Clean(in.Text))
	if whole == "" {
		return oh.Action{}, errors.New("text is empty: give the text to cut")
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(context.Context, func(oh.Event)) (oh.Result, error) {
			return oh.TextResult(cut(whole, in.MaxChars)), nil
		},
	}, nil
}

// cut returns s, or its beginning and three dots, n code points in all. It ends
// at a word when there is one near.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	head := text.Head(s, n-2) // one more than fits, to see whether a word ends there
	_, last := utf8.DecodeLastRuneInString(head)
	end := strings.LastIndexFunc(head, unicode.IsSpace)
	if end < len(head)*3/4 {
		end = len(head) - last
	}
	return strings.TrimRightFunc(head[:end], unicode.IsSpace) + "..."
}
