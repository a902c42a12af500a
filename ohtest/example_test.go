package ohtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// A scripted provider answers in process.
func ExampleProvider() {
	p := ohtest.NewProvider(nil,
		ohtest.Reply(ohtest.Text("Let me look."), ohtest.Call("c1", "ls", `{"path":"."}`)),
		ohtest.Reply(ohtest.Text("Two files.")),
	)
	ask := func(msgs ...oh.Message) oh.Message {
		for chunk, err := range p.Stream(context.Background(), &oh.Request{Model: "any", Messages: msgs}) {
			if err != nil {
				fmt.Println("error:", err)
			}
			if done, ok := chunk.(oh.MessageDone); ok {
				return done.Message
			}
		}
		return oh.Message{}
	}
	question := oh.Message{Role: oh.User, Content: oh.Blocks{oh.Text{Text: "What is here?"}}}
	reply := ask(question)
	fmt.Println(reply.Content.Text(), reply.Content.ToolUses()[0].Name)

	result := oh.ToolResult{ToolUseID: "c1", Content: oh.Blocks{oh.Text{Text: "a b"}}}
	fmt.Println(ask(question, reply, oh.Message{Role: oh.User, Content: oh.Blocks{result}}).Content.Text())

	// A call without its result is refused, as by a real service.
	ask(question, reply, oh.Message{Role: oh.User, Content: oh.Blocks{oh.Text{Text: "Well?"}}})
	// Output:
	// Let me look. ls
	// Two files.
	// error: scripted provider invalid: messages[2]: the call "c1" of the message before has no result here (rule call-unanswered)
}

// A scripted server speaks real HTTP.
func ExampleServer() {
	s, err := ohtest.Start(ohtest.Config{Turns: []ohtest.Turn{ohtest.Reply(ohtest.Text("Hello."))}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	post := func(body string) {
		req, _ := http.NewRequest(http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer key")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, strings.Contains(string(b), "Hello."))
	}
	post(`{"model":"m","stream":true,"messages":[{"role":"user","content":" "}]}`)
	post(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi!"}]}`)
	fmt.Println(s.Violations()[0].Rule, s.Requests()[1].LastUserText())
	// Output:
	// 400 false
	// 200 true
	// blank-text Hi!
}
