// Command floor is the least that does what oh -p does: it sends the requests,
// reads the streamed replies, runs the commands the model asks for, and prints
// the last text. It has no permissions, no sessions, no retries, no settings
// and no checks. What oh costs is measured against it.
//
// The first request's body comes from a file; what is said later is appended
// to its messages.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
)

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type result struct {
	Type    string  `json:"type"`
	ID      string  `json:"tool_use_id"`
	Content []block `json:"content"`
}

type event struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block block  `json:"content_block"`
	Delta struct {
		Text string `json:"text"`
		JSON string `json:"partial_json"`
	} `json:"delta"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: floor BASE-URL FILE, where FILE holds the body of the first request")
		os.Exit(2)
	}
	if err := run(os.Args[1]+"/v1/messages", os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(url, file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	body = bytes.TrimSuffix(body, []byte("]}")) // the messages are open at the end
	for {
		blocks, err := ask(url, append(body, "]}"...))
		if err != nil {
			return err
		}
		var results []result
		var text string
		for _, b := range blocks {
			switch b.Type {
			case "text":
				text += b.Text
			case "tool_use":
				results = append(results, result{"tool_result", b.ID, []block{{Type: "text", Text: call(b)}}})
			}
		}
		if len(results) == 0 {
			fmt.Println(text)
			return nil
		}
		body = say(say(body, "assistant", blocks), "user", results)
	}
}

func say(body []byte, role string, content any) []byte {
	raw, _ := json.Marshal(content) // plain data: it cannot fail
	return append(append(append(body, `,{"role":"`+role+`","content":`...), raw...), '}')
}

// call runs a call and returns its output, or what went wrong.
func call(b block) string {
	var in struct{ Command, Path string }
	if err := json.Unmarshal(b.Input, &in); err != nil {
		return err.Error()
	}
	var out []byte
	var err error
	if b.Name == "read_file" {
		out, err = os.ReadFile(in.Path)
	} else {
		out, err = exec.Command("bash", "-c", in.Command).CombinedOutput()
	}
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

// ask sends a request and puts the reply together as it streams.
func ask(url string, body []byte) ([]block, error) {
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("%s: %s", resp.Status, raw)
	}
	var blocks []block
	var grown [][]byte // text or input of each block
	for r := bufio.NewReader(resp.Body); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var ev event
		if err := json.Unmarshal(data, &ev); err != nil {
			return nil, err
		}
		switch ev.Type {
		case "content_block_start":
			blocks, grown = append(blocks, ev.Block), append(grown, nil)
		case "content_block_delta":
			grown[ev.Index] = append(append(grown[ev.Index], ev.Delta.Text...), ev.Delta.JSON...)
		}
	}
	for i, b := range blocks {
		if b.Type == "text" {
			blocks[i].Text = string(grown[i])
		} else {
			blocks[i].Input = grown[i]
		}
	}
	return blocks, nil
}
