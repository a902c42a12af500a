package provider_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
)

var updateWire = flag.String("wire", "", "the wire whose request bodies -update writes into testdata/matrix; the events are written from the first wire only")

// A behaviour is an archive under testdata/matrix: one thing that every wire
// does, told once. Its sections:
//
//	request.json         the question, an oh.Request; without it a plain one, whose bodies are not compared again
//	traits.json          provider.Traits of the model
//	answer.WIRE          what the service says, see script; "answer" for all
//	head.WIRE            status and headers of the answer; "head" for all
//	wire.WIRE.json       the request body
//	events               the outcome of every wire, see outcome
//	says                 words that an error holds on every wire
//	then.json            a user message: with the reply before it, it is asked again. "#1" as the
//	                     id of a result is that of the first call of the reply
//	then.answer.WIRE, then.wire.WIRE.json, then.events   of the second request
//	skip.WIRE            why a wire cannot
//	bytes                how many bytes come at a time
//	abort                the answer does not end; after its first event "leave" or "cancel" happens
//	handover             see handOver
//	prefix               see prefix
type behaviour struct {
	file string
	ar   *txtar.Archive
	in   map[string]string
}

// first returns the wire whose outcome -update may write.
func (b *behaviour) first() ohtest.Wire {
	all := ohtest.Wires()
	return all[slices.IndexFunc(all, func(w ohtest.Wire) bool { return b.in["skip."+string(w)] == "" })]
}

// TestBehaviour runs each behaviour on each wire. A wire has to have a part in
// each: a new one joins by telling, in its own events, what the others tell.
func TestBehaviour(t *testing.T) {
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && f.Name() != "testdata" && f.Name() != "internal" && wires[f.Name()] == nil {
			t.Errorf("the wire %s takes no part: name it in wires", f.Name())
		}
	}
	for _, w := range ohtest.Wires() {
		if wires[string(w)] == nil {
			t.Errorf("the wire %s takes no part: name it in wires", w)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "matrix", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			b := readBehaviour(t, file)
			switch {
			case b.has("handover"):
				b.handOver(t)
			case b.has("prefix"):
				b.each(t, b.prefix)
			default:
				b.each(t, b.run)
			}
			b.save(t)
		})
	}
}

func (b *behaviour) each(t *testing.T, f func(t *testing.T, wire string)) {
	t.Helper()
	for _, w := range ohtest.Wires() {
		t.Run(string(w), func(t *testing.T) {
			if why := b.in["skip."+string(w)]; why != "" {
				t.Skip(strings.TrimSpace(why))
			}
			f(t, string(w))
		})
	}
}

func readBehaviour(t *testing.T, file string) *behaviour {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &behaviour{file: file, ar: ar, in: map[string]string{}}
	for _, f := range ar.Files {
		if _, twice := b.in[f.Name]; twice || !known(f.Name) {
			t.Errorf("section %s is unknown or comes twice", f.Name)
		}
		b.in[f.Name] = string(f.Data)
	}
	return b
}

// known reports names of sections, so that none is left out by a slip.
func known(name string) bool {
	for _, w := range ohtest.Wires() {
		name = strings.Replace(name, "."+string(w), ".WIRE", 1)
	}
	switch name {
	case "request.json", "traits.json", "answer", "answer.WIRE", "head", "head.WIRE", "wire.WIRE.json", "events", "says",
		"then.json", "then.answer.WIRE", "then.wire.WIRE.json", "then.events", "skip.WIRE", "bytes", "abort", "handover", "prefix":
		return true
	}
	return false
}

func (b *behaviour) has(name string) bool { _, ok := b.in[name]; return ok }

// of returns the section of a wire, or that for all.
func (b *behaviour) of(name, wire string) string {
	if s, ok := b.in[name+"."+wire]; ok {
		return s
	}
	return b.in[name]
}

// run asks the question of one wire, and the second one if there is one.
func (b *behaviour) run(t *testing.T, wire string) {
	req := b.request(t)
	if !b.asksOnly() && !b.has("answer."+wire) && !b.has("answer") {
		t.Fatalf("%s takes no part: answer.%s or skip.%s is missing", wire, wire, wire)
	}
	out := b.ask(t, wire, "", "p", req)
	if !b.has("then.json") {
		return
	}
	if out.message == nil {
		t.Fatal("no reply to go on with")
	}
	b.ask(t, wire, "then.", "p", b.following(t, req, *out.message))
}

// asksOnly reports a behaviour of requests alone: no wire has an answer.
func (b *behaviour) asksOnly() bool {
	return !slices.ContainsFunc(b.ar.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "answer") })
}

func (b *behaviour) request(t *testing.T) *oh.Request {
	t.Helper()
	req := hello()
	if raw, ok := b.in["request.json"]; ok {
		*req = oh.Request{}
		if err := json.Unmarshal([]byte(raw), req); err != nil {
			t.Fatalf("request.json: %v", err)
		}
	}
	return req
}

// following is the request after a reply.
func (b *behaviour) following(t *testing.T, req *oh.Request, reply oh.Message) *oh.Request {
	t.Helper()
	var user oh.Message
	if err := json.Unmarshal([]byte(b.in["then.json"]), &user); err != nil {
		t.Fatalf("then.json: %v", err)
	}
	reply = claimed(t, reply)
	calls := reply.Content.ToolUses()
	for i, block := range user.Content {
		r, ok := block.(oh.ToolResult)
		n, err := strconv.Atoi(strings.TrimPrefix(r.ToolUseID, "#"))
		if !ok || !strings.HasPrefix(r.ToolUseID, "#") || err != nil {
			continue
		}
		if n < 1 || n > len(calls) {
			t.Fatalf("there is no call %d in %+v", n, reply.Content)
		}
		r.ToolUseID = calls[n-1].ID
		user.Content[i] = r
	}
	next := *req
	reply.ID = "reply"
	next.Messages = append(slices.Clone(req.Messages), reply, user)
	return &next
}

// claimed is a reply as a conversation takes it in: its calls have ids that are
// legal and their own, whatever the service gave.
func claimed(t *testing.T, reply oh.Message) oh.Message {
	t.Helper()
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return conv.Claim(reply)
}

// ask makes one request and compares what was sent and what came of it.
func (b *behaviour) ask(t *testing.T, wire, step, profile string, req *oh.Request) outcome {
	t.Helper()
	out := b.script(t, wire, step).play(t, b.config(t, profile), req)
	for _, bad := range ohtest.Check(ohtest.Wire(wire), out.sent, ohtest.Rules{}) {
		t.Errorf("the service would refuse the request: %v\n%s", bad, out.sent)
	}
	if b.has("request.json") {
		b.compareBody(t, wire, step, out.sent)
	}
	if !b.asksOnly() {
		b.compareOutcome(t, wire, step, out)
	}
	return out
}

func (b *behaviour) config(t *testing.T, profile string) provider.Config {
	t.Helper()
	cfg := provider.Config{Profile: profile, Key: "sk-secret"}
	if raw := b.in["traits.json"]; raw != "" {
		var traits provider.Traits
		if err := json.Unmarshal([]byte(raw), &traits); err != nil {
			t.Fatalf("traits: %v", err)
		}
		cfg.Traits = func(string) provider.Traits { return traits }
	}
	return cfg
}

func (b *behaviour) compareBody(t *testing.T, wire, step string, sent []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, sent, "", " "); err != nil {
		t.Fatalf("the request body is no JSON: %v\n%s", err, sent)
	}
	pretty.WriteByte('\n')
	name := step + "wire." + wire + ".json"
	if *update && *updateWire == wire {
		b.put(name, pretty.String())
		return
	}
	if d := cmp.Diff(b.in[name], pretty.String()); d != "" {
		t.Errorf("%s (-want +got)\n%s", name, d)
	}
}

func (b *behaviour) compareOutcome(t *testing.T, wire, step string, out outcome) {
	t.Helper()
	got := out.text(t, b.of(step+"answer", wire))
	if *update && *updateWire == wire && ohtest.Wire(wire) == b.first() {
		b.put(step+"events", got)
	}
	if d := cmp.Diff(b.in[step+"events"], got); d != "" {
		t.Errorf("%sevents (-want +got)\n%s", step, d)
	}
	for word := range strings.Lines(b.in["says"]) {
		if word = strings.TrimSpace(word); out.err == nil || !strings.Contains(out.err.Error(), word) {
			t.Errorf("%q is not said: %v", word, out.err)
		}
	}
}

// put changes a section, or adds it at the end.
func (b *behaviour) put(name, data string) {
	b.in[name] = data
	i := slices.IndexFunc(b.ar.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		b.ar.Files = append(b.ar.Files, txtar.File{Name: name})
		i = len(b.ar.Files) - 1
	}
	b.ar.Files[i].Data = []byte(data)
}

func (b *behaviour) save(t *testing.T) {
	t.Helper()
	if !*update || *updateWire == "" {
		return
	}
	if err := os.WriteFile(b.file, txtar.Format(b.ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// handOver speaks the first question with a service of each wire and asks the
// second of each, of another profile: whoever spoke before, the body is the
// same, since nothing that belongs to one service alone goes to another.
func (b *behaviour) handOver(t *testing.T) {
	for _, from := range ohtest.Wires() {
		first := b.script(t, string(from), "").play(t, b.config(t, "q"), b.request(t))
		if first.message == nil {
			t.Fatalf("%s: %v", from, first.err)
		}
		b.compareOutcome(t, string(from), "", first)
		next := b.following(t, b.request(t), *first.message)
		b.each(t, func(t *testing.T, to string) {
			for _, profile := range []string{"p", "q"} {
				if string(from) != to || profile == "p" {
					req := *next
					req.Model = "other"
					out := (&script{wire: to, answer: nil}).play(t, b.config(t, profile), &req)
					for _, bad := range ohtest.Check(ohtest.Wire(to), out.sent, ohtest.Rules{}) {
						t.Errorf("from %s: the service would refuse the request: %v", from, bad)
					}
					b.compareBody(t, to, "", out.sent)
				}
			}
		})
	}
}

// prefix asks again and again as the conversation of request.json grows: each
// body begins as the one before it did, but for what closes it and for the
// marks in the section "prefix", which move. It does so with what a memo keeps
// and without. With then.json the conversation is spoken first, see talk.
func (b *behaviour) prefix(t *testing.T, wire string) {
	all := b.request(t)
	if b.has("then.json") {
		all = b.talk(t, wire, all)
	}
	memo, last := &oh.Memo{}, ""
	for n := 1; n <= len(all.Messages); n += 2 {
		req := *all
		req.Messages = all.Messages[:n]
		fresh := (&script{wire: wire}).play(t, b.config(t, "p"), &req)
		req.Memo = memo
		out := (&script{wire: wire}).play(t, b.config(t, "p"), &req)
		if !bytes.Equal(fresh.sent, out.sent) {
			t.Fatalf("%d messages: the memo changes the body:\n%s\n%s", n, fresh.sent, out.sent)
		}
		for _, bad := range ohtest.Check(ohtest.Wire(wire), out.sent, ohtest.Rules{}) {
			t.Errorf("%d messages: the service would refuse the request: %v", n, bad)
		}
		body := string(out.sent)
		for mark := range strings.Lines(b.in["prefix"]) {
			body = strings.ReplaceAll(body, strings.TrimSpace(mark), "")
		}
		head, tail := splitTail(t, body)
		if !strings.HasPrefix(head, last) {
			t.Fatalf("%d messages: %s\nis no continuation of %s", n, head, last)
		}
		if n > 1 && len(head) == len(last) || len(tail) > 300 {
			t.Fatalf("%d messages: nothing was added, or it ends in %s", n, tail)
		}
		last = head
	}
}

// talk goes on with what a service says until the conversation has 61 messages.
// ROUND in an answer stands for five digits that no other reply has; the ids of
// calls may well be the same in each.
func (b *behaviour) talk(t *testing.T, wire string, req *oh.Request) *oh.Request {
	t.Helper()
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for len(req.Messages) < 61 {
		s := b.script(t, wire, "")
		s.answer = rendered(wire, strings.ReplaceAll(b.of("answer", wire), "ROUND", fmt.Sprintf("%05d", len(req.Messages))))
		out := s.play(t, b.config(t, "p"), req)
		if out.message == nil {
			t.Fatal(out.err)
		}
		reply := conv.Claim(*out.message)
		if err := conv.Append(oh.NewEntry(oh.MessageDone{Message: reply})); err != nil {
			t.Fatal(err)
		}
		req = b.following(t, req, reply)
		for i := range req.Messages {
			req.Messages[i].ID = fmt.Sprint("m", i)
		}
	}
	return req
}

// splitTail takes off a body what follows its messages.
func splitTail(t *testing.T, body string) (head, tail string) {
	t.Helper()
	i := strings.LastIndex(body, "}]")
	if i < 0 {
		t.Fatalf("no messages in %s", body)
	}
	return body[:i+1], body[i+1:]
}
