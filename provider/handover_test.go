package provider_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
)

// spoken is a conversation with a service of one wire: its replies, which use
// the same ids in each turn, results of all kinds, and what a person adds.
func spoken(t *testing.T, v voice) []oh.Message {
	t.Helper()
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	do := func(ev oh.Event) {
		if err := conv.Append(oh.NewEntry(ev)); err != nil {
			t.Fatal(err)
		}
	}
	say := func(id string, content ...oh.Block) {
		do(oh.UserTurn{Message: oh.Message{ID: id, Role: oh.User, Content: content}})
	}
	say("u1", oh.Text{Text: "begin"}, picture())
	for turn := range 3 {
		got := listen(t, served(v, func(*http.Request) io.Reader { return strings.NewReader(v.full) }).Stream(t.Context(), hello()))
		if got.err != nil {
			t.Fatal(got.err)
		}
		m := *got.message
		m.ID = fmt.Sprint("a", turn)
		m.Content = append(m.Content, oh.Unknown{Type: "later", Raw: json.RawMessage(`{"type":"later"}`)},
			oh.Text{Text: " \n"}, oh.ToolUse{ID: "odd id!", Name: "mcp__x__a.b/c", Input: json.RawMessage(`{"malformed":"{"}`), Malformed: "no object"})
		m = conv.Claim(m)
		do(oh.MessageDone{Message: m})
		for i, u := range m.Content.ToolUses() {
			switch i {
			case 0:
				do(oh.ToolDone{ID: u.ID, Content: oh.Blocks{oh.Text{Text: "found it"}, picture(), oh.Document{MediaType: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.4")}}})
			case 1:
				do(oh.ToolDone{ID: u.ID, IsError: true, Content: oh.Blocks{oh.Text{Text: ""}}})
			}
		}
	}
	say("u2", oh.Document{MediaType: "text/plain", Name: "b.txt", Data: []byte("written down")}, oh.Text{Text: "go on"})
	do(oh.MessageDone{Message: oh.Message{ID: "a9", Role: oh.Assistant, Content: oh.Blocks{oh.Thinking{Text: "alone"}}}})
	say("u3", oh.Text{Text: "the end"})
	return conv.Messages()
}

func picture() oh.Image {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)))
	return oh.Image{MediaType: "image/png", Data: b.Bytes()}
}

// What was spoken with a service of any wire goes on with one of any other: the
// request is legal there, all that was said and done is in it, and nothing that
// belongs to the first alone.
func TestHandOver(t *testing.T) {
	png := base64.StdEncoding.EncodeToString(picture().Data)
	for _, from := range voices() {
		msgs := spoken(t, from)
		for to := range wires {
			for name, traits := range map[string]provider.Traits{
				"plain":     {},
				"documents": {Documents: true, ResponseImages: true},
				"text only": {NoImages: true, NoReasoning: true, NoCache: true},
				"no tools":  {NoTools: true},
				"flat":      {Schema: provider.FlatSchema, CallIDs: provider.NineID, SignedCalls: true},
			} {
				t.Run(from.wire+" to "+to+"/"+name, func(t *testing.T) {
					req := &oh.Request{Model: "other", Messages: msgs, System: "s", Memo: &oh.Memo{}}
					if !traits.NoTools {
						req.Tools = []oh.ToolSpec{{Name: "write"}, {Name: "now"}, {Name: oh.LegalName("mcp__x__a.b/c")}}
					}
					cfg := provider.Config{Profile: "q", Key: "k", Traits: func(string) provider.Traits { return traits }}
					body := sent(t, voice{wire: to}, cfg, req)
					for _, bad := range ohtest.Check(ohtest.Wire(to), []byte(body), ohtest.Rules{SignedCalls: traits.SignedCalls}) {
						t.Errorf("the service would refuse it: %v", bad)
					}
					for _, want := range []string{"begin", "你好", "found it", "written down", "the end", "quoted"} {
						if !strings.Contains(body, want) && !strings.Contains(body, base64.StdEncoding.EncodeToString([]byte(want))) {
							t.Errorf("%q is missing", want)
						}
					}
					for _, never := range []string{"why…", "c2ln", "alone", "later", "odd id!", "a.b/c"} {
						if strings.Contains(body, never) {
							t.Errorf("%q was sent", never)
						}
					}
					if has := strings.Contains(body, png); has == traits.NoImages {
						t.Errorf("pictures sent: %v", has)
					}
					if t.Failed() {
						t.Logf("%s", body)
					}
				})
			}
		}
	}
}
