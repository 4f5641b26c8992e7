package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"host.internal/contract/host_cap_fs_read"
	"host.internal/host"
)

func main() {}

func init() {
	host.Export(host.Tool{
		Name:        "read_together",
		Description: "Reads files in many goroutines, while others collect garbage, sleep and read the clock.",
		InputSchema: `{"type": "object"}`,
		Annotations: host.ReadOnly,
		Needs:       []host.Need{{Capability: "fs-read", Scope: "*", Reason: "to try it"}},
		Call:        host.Function(readTogether),
	}, host.Tool{
		Name:        "end",
		Description: "Ends as it is asked to.",
		InputSchema: `{"type": "object"}`,
		Annotations: host.ReadOnly,
		Call:        host.Function(end),
	})
}

func end(arguments struct {
	How string `json:"how"`
}) (host.Answer, error) {
	switch arguments.How {
	case "error":
		return host.Answer{}, errors.New("it did not work")
	case "failure":
		return host.Answer{}, fmt.Errorf("while reading: %w", host.NotFound("no file \xff"))
	case "panic":
		var none []int
		none[len(arguments.How)]++
	case "panic in a goroutine":
		go panic("it broke")
		time.Sleep(time.Hour)
	case "deadlock":
		<-make(chan int)
	case "recursion":
		deep(1 << 40)
	}
	return host.Answer{Text: "\xff is no UTF-8"}, nil
}

type arguments struct {
	Readers int    `json:"readers"`
	Times   int    `json:"times"`
	Sizes   [4]int `json:"sizes"`
	Text    string `json:"text"`
}

var garbage [][]byte

func readTogether(arguments arguments) (host.Answer, error) {
	var readers sync.WaitGroup
	failures := make(chan error, arguments.Readers)
	kept := make([][][]byte, arguments.Readers)
	for reader := range arguments.Readers {
		readers.Go(func() {
			for turn := range arguments.Times {
				file := (reader + turn) % 4
				data, err := read(file)
				if err == nil && !fits(file, arguments.Sizes, data) {
					err = fmt.Errorf("file %d is not what was read", file)
				}
				if err != nil {
					failures <- err
					return
				}
				kept[reader] = append(kept[reader], data)
				garbage = append(garbage[max(0, len(garbage)-8):], make([]byte, 20_000))
				switch turn % 5 {
				case 0:
					runtime.Gosched()
				case 1:
					time.Sleep(time.Microsecond)
				case 2:
					deep(200)
				}
			}
		})
	}
	readers.Wait()
	select {
	case err := <-failures:
		return host.Answer{}, err
	default:
	}
	// Nobody else wrote into what was received.
	for reader, all := range kept {
		for turn, data := range all {
			if file := (reader + turn) % 4; !fits(file, arguments.Sizes, data) {
				return host.Answer{}, host.Failed("file %d changed after it was read", file)
			}
		}
	}
	return host.Answer{Text: fmt.Sprintf("%d reads, %s", arguments.Readers*arguments.Times, arguments.Text)}, nil
}

func read(file int) ([]byte, error) {
	entries, err := host.FsRead(host_cap_fs_read.List("."))
	if err != nil {
		return nil, err
	}
	if len(entries) != 4 {
		return nil, host.Failed("%d entries", len(entries))
	}
	return host.ReadFile(fmt.Sprintf("%d.txt", file))
}

// fits returns whether it is what the test wrote: the number of the file, over and over.
func fits(file int, sizes [4]int, data []byte) bool {
	return len(data) == sizes[file] && len(data) == bytes.Count(data, []byte{byte('0' + file)})
}

// deep makes the goroutine's stack grow.
func deep(left int) int {
	var room [64]int
	if left == 0 {
		return room[0]
	}
	return deep(left-1) + room[left%64]
}
