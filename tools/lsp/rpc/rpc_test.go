package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadMessage(t *testing.T) {
	tests := []struct {
		name, in, want, err string
	}{
		{"plain", "Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"more headers", "content-length:3\r\nContent-Type: x; charset=utf-8\r\n\r\n[1]", "[1]", ""},
		{"bare newlines", "Content-Length: 2\n\n{}", "{}", ""},
		{"noise before", "hello\n\nHTTP: no\n\nContent-Length: 2\r\n\r\n{}", "{}", ""},
		{"empty", "Content-Length: 0\r\n\r\n", "", ""},
		{"end", "", "", "EOF"},
		{"end in a header", "Content-Length: 2\r\n", "", "unexpected EOF"},
		{"end in a body", "Content-Length: 5\r\n\r\n{}", "", "a message of 5 bytes was cut after 2: unexpected EOF"},
		{"no number", "Content-Length: two\r\n\r\n{}", "", `a message of "two" bytes: the length must be a number up to 67108864`},
		{"negative", "Content-Length: -2\r\n\r\n{}", "", `a message of "-2" bytes: the length must be a number up to 67108864`},
		{"too long", "Content-Length: 67108865\r\n\r\n{}", "", `a message of "67108865" bytes: the length must be a number up to 67108864`},
		{"no header", strings.Repeat("x", 2*maxNoise), "", "20480 bytes without the header of a message: \"" + strings.Repeat("x", 100) + `"`},
	}
	for _, tt := range tests {
		got, err := ReadMessage(bufio.NewReaderSize(strings.NewReader(tt.in), 4096))
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if string(got) != tt.want || msg != tt.err {
			t.Errorf("%s: got %q, %q", tt.name, got, msg)
		}
	}
}

func FuzzReadMessage(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("noise\n\nContent-Length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: 0\r\n\r\n"))
	f.Add([]byte("Content-Length: 99999999\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		total := 0
		for {
			body, err := ReadMessage(r)
			if err != nil {
				break
			}
			if total += len(body); total > len(data) {
				t.Fatal("more was read than there is")
			}
			again, err := ReadMessage(bufio.NewReader(bytes.NewReader(frame(body))))
			if err != nil || !bytes.Equal(again, body) {
				t.Fatalf("%q became %q, %v", body, again, err)
			}
		}
	})
}

// peer is the other side of a connection.
type peer struct {
	t   *testing.T
	in  *bufio.Reader
	out *io.PipeWriter
	end *io.PipeReader
}

func dial(t *testing.T, h Handler) (*Conn, *peer) {
	t.Helper()
	ourIn, theirOut := io.Pipe()
	theirIn, ourOut := io.Pipe()
	return NewConn(ourIn, ourOut, h), &peer{t, bufio.NewReader(theirIn), theirOut, theirIn}
}

func (p *peer) read() string {
	p.t.Helper()
	body, err := ReadMessage(p.in)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

func (p *peer) write(body string) {
	p.t.Helper()
	if _, err := p.out.Write(frame([]byte(body))); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) close() {
	_ = p.out.Close()
	_ = p.end.Close()
}

func nobody(string, json.RawMessage) (any, error) { return nil, nil }

func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dial(t, nobody)
		var got struct{ A string }
		var err error
		go func() { err = c.Call(t.Context(), "ask", map[string]string{"q": "<&>"}, &got) }()
		if s := p.read(); s != `{"jsonrpc":"2.0","id":1,"method":"ask","params":{"q":"<&>"}}` {
			t.Error(s)
		}
		p.write(`{"jsonrpc":"2.0","id":77,"result":"nobody asked"}`)
		p.write(`{"jsonrpc":"2.0","id":"1","result":{"a":"yes"}}`)
		synctest.Wait()
		if err != nil || got.A != "yes" {
			t.Errorf("%+v, %v", got, err)
		}
		go func() { err = c.Call(t.Context(), "ask", nil, &got) }()
		p.read()
		p.write(`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}`)
		synctest.Wait()
		var answer *Error
		if !errors.As(err, &answer) || answer.Code != -1 || err.Error() != "no" {
			t.Errorf("got %v", err)
		}
		go func() { err = c.Call(t.Context(), "ask", nil, &got) }()
		p.read()
		p.write(`{"jsonrpc":"2.0","id":3,"result":[]}`)
		synctest.Wait()
		if err == nil || !strings.HasPrefix(err.Error(), "the answer to ask does not fit the protocol: ") {
			t.Errorf("got %v", err)
		}
		p.close()
		c.Wait()
	})
}

func TestCancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dial(t, nobody)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var err error
		go func() { err = c.Call(ctx, "ask", nil, nil) }()
		p.read()
		if s := p.read(); s != `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` {
			t.Error(s)
		}
		synctest.Wait()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		p.write(`{"jsonrpc":"2.0","id":1,"result":1}`) // too late, and no harm
		p.close()
		c.Wait()
	})
}

func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		c, p := dial(t, func(method string, params json.RawMessage) (any, error) {
			told = append(told, method+string(params))
			switch method {
			case "bad":
				return nil, &Error{Code: CodeNoMethod, Message: "no"}
			case "worse":
				return nil, errors.New("oh")
			}
			return map[string]int{"n": 1}, nil
		})
		tests := []struct{ in, want string }{
			{`{"jsonrpc":"2.0","id":"<x>","method":"good","params":[1]}`, `{"jsonrpc":"2.0","id":"<x>","result":{"n":1}}`},
			{`{"jsonrpc":"2.0","id":5,"method":"bad"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no"}}`},
			{`{"jsonrpc":"2.0","id":6,"method":"worse"}`, `{"jsonrpc":"2.0","id":6,"error":{"code":-32603,"message":"oh"}}`},
		}
		p.write(`{"jsonrpc":"2.0","method":"note"}`)
		for _, tt := range tests {
			p.write(tt.in)
			if got := p.read(); got != tt.want {
				t.Errorf("got %s", got)
			}
		}
		if diff := cmp.Diff([]string{"note", "good[1]", "bad", "worse"}, told); diff != "" {
			t.Error(diff)
		}
		p.close()
		c.Wait()
	})
}

// Each way in which a connection ends, ends a call.
func TestEnds(t *testing.T) {
	tests := []struct {
		name, want string
		end        func(*Conn, *peer)
	}{
		{"closed here", "the connection is closed", func(c *Conn, _ *peer) { c.Close() }},
		{"closed there", "EOF", func(_ *Conn, p *peer) { p.close() }},
		{"no JSON", `a message is not JSON-RPC: unexpected end of JSON input: "{"`, func(_ *Conn, p *peer) { p.write("{") }},
		{"no message", `a message is not JSON-RPC: it has neither method nor id: "{}"`, func(_ *Conn, p *peer) { p.write("{}") }},
		{"other JSON", `a message is not JSON-RPC: json: cannot unmarshal array into Go value of type rpc.message: "[]"`, func(_ *Conn, p *peer) { p.write("[]") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := dial(t, nobody)
				var err error
				go func() { err = c.Call(t.Context(), "ask", nil, nil) }()
				p.read()
				tt.end(c, p)
				synctest.Wait()
				if err == nil || err.Error() != tt.want {
					t.Errorf("got %v", err)
				}
				if again := c.Call(t.Context(), "ask", nil, nil); again == nil || again.Error() != tt.want {
					t.Errorf("afterwards: %v", again)
				}
				p.close()
				c.Wait()
			})
		})
	}
}

// Who does not read cannot make the queue grow for ever.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dial(t, nobody)
		big := strings.Repeat("x", 10<<20)
		var err error
		for range 10 {
			if err = c.Notify("tell", big); err != nil {
				break
			}
		}
		if err == nil || err.Error() != "67108864 bytes wait to be read by the other side" {
			t.Errorf("got %v", err)
		}
		p.close()
		c.Wait()
	})
}
