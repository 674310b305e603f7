package agent_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// raw is a frame with any body.
func raw(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

func TestB33_FrameLengthIsNotTakenOnTrust(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     error
	}{
		{"end", "", io.EOF},
		{"huge length and nothing else", "\xff\xff\xff\xff", agent.ErrFrameSize},
		{"just over the bound", "\x00\x80\x00\x01", agent.ErrFrameSize},
		{"zero length", "\x00\x00\x00\x00", agent.ErrFrameSize},
		{"half a header", "\x00\x00", io.ErrUnexpectedEOF},
		{"claimed 10, sent 4", "\x00\x00\x00\x0aabcd", io.ErrUnexpectedEOF},
		{"the most that is allowed, and nothing", "\x00\x80\x00\x00", io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := agent.ReadFrame(strings.NewReader(tc.in), agent.MaxJobFrame)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%d bytes were allocated for a claim", n)
			}
		})
	}
}

func TestAFrameByteByByteArrivesWhole(t *testing.T) {
	body := `{"op":"done","x":"` + strings.Repeat("y", 200_000) + `"}`
	got, err := agent.ReadFrame(iotest.OneByteReader(strings.NewReader(raw(body)+"rest")), agent.MaxJobFrame)
	if err != nil || string(got) != body {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// conversation is what a job may send, and what must come of it.
func TestB33_WhatAJobSaysIsCheckedInOrder(t *testing.T) {
	job := rungs.Job{Artifacts: []string{"*.png", "d/**"}}
	started := raw(`{"op":"started"}`)
	artifact := func(path string) string { return raw(`{"op":"artifact","path":"` + path + `","data":"eA=="}`) }
	big := raw(`{"op":"artifact","path":"a.png","data":"` + strings.Repeat("AAAA", agent.ChunkBytes/3+1) + `"}`)
	for _, tc := range []struct {
		name, in string
		want     error
	}{
		{"clean end", started + raw(`{"op":"done","value":{"text/plain":"1"}}`), nil},
		{"end without done", started, nil},
		{"artifacts", started + artifact("a.png") + artifact("d/e/f") + raw(`{"op":"done"}`), nil},
		{"unknown members", raw(`{"op":"started","new":[1,{}]}`), nil},
		{"invalid JSON", raw(`{"op":"started"`), agent.ErrFrameBody},
		{"not an object", raw(`[1]`), agent.ErrFrameBody},
		{"no op", raw(`{}`), agent.ErrFrameBody},
		{"deep", raw(`{"op":"started","x":` + strings.Repeat("[", 100_000) + `}`), agent.ErrFrameBody},
		{"unknown op", raw(`{"op":"fork"}`), agent.ErrOrder},
		{"done before started", raw(`{"op":"done"}`), agent.ErrOrder},
		{"ready twice", raw(`{"op":"ready","walls":[]}`) + raw(`{"op":"ready","walls":["all"]}`), agent.ErrOrder},
		{"ready after started", started + raw(`{"op":"ready","walls":["all"]}`), agent.ErrOrder},
		{"started twice", started + started, agent.ErrOrder},
		{"fail after started", started + raw(`{"op":"fail"}`), agent.ErrOrder},
		{"flood after done", started + raw(`{"op":"done"}`) + raw(`{"op":"done"}`), agent.ErrOrder},
		{"artifact nobody asked for", started + artifact("a.txt"), agent.ErrFrameBody},
		{"endless empty chunks", started + raw(`{"op":"artifact","path":"a.png","data":"","more":true}`), agent.ErrFrameBody},
		{"a flood of frames", started + strings.Repeat(artifact("/x"), 1000), agent.ErrFrameBody},
		{"artifact twice", started + artifact("a.png") + artifact("a.png"), agent.ErrFrameBody},
		{"artifact in an artifact", started + raw(`{"op":"artifact","path":"a.png","data":"","more":true}`) + artifact("b.png"), agent.ErrFrameBody},
		{"large chunk", started + big, agent.ErrFrameBody},
		{"value of a wrong type", started + raw(`{"op":"done","value":[1]}`), agent.ErrFrameBody},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report, err := agent.Listen(strings.NewReader(tc.in), job, agent.Signs{})
			if !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v; report %+v", err, tc.want, report)
			}
		})
	}
}

// An artifact whose name no result may have is dropped and said to be; what
// comes behind it is still read.
func TestAnArtifactWithABadNameLosesNothingElse(t *testing.T) {
	job := rungs.Job{Artifacts: []string{"**"}}
	in := raw(`{"op":"started"}`)
	for _, path := range []string{"d/../../x", "/etc/x.png", `b\n.txt`, "", "good.txt"} {
		in += raw(`{"op":"artifact","path":"` + path + `","data":"eA==","more":true}`)
		in += raw(`{"op":"artifact","path":"` + path + `","data":"eQ=="}`)
	}
	in += raw(`{"op":"done","value":{"text/plain":"42"},"skipped":["s"]}`)
	report, err := agent.Listen(strings.NewReader(in), job, agent.Signs{})
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Report{
		Value:     map[string]string{"text/plain": "42"},
		Artifacts: []rungs.Artifact{{Path: "good.txt", Data: []byte("xy")}},
		Skipped:   []string{"s", "4 artifacts with names that cannot be taken"},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
}

// A frame full of what nobody wants costs about what the frame itself costs.
func TestAReportDoesNotInflate(t *testing.T) {
	members := make([]string, 0, 300_000)
	for i := range cap(members) {
		members = append(members, fmt.Sprintf(`"%x":"v"`, i))
	}
	for name, body := range map[string]string{
		"value":   `{"op":"done","value":{` + strings.Join(members, ",") + `}}`,
		"skipped": `{"op":"done","skipped":["a"` + strings.Repeat(`,""`, 1_000_000) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := raw(`{"op":"started"}`) + raw(body)
			allocated := testing.AllocsPerRun(1, func() {
				if _, err := agent.Listen(strings.NewReader(in), rungs.Job{}, agent.Signs{}); err != nil {
					t.Fatal(err)
				}
			})
			if allocated > 2000 {
				t.Errorf("%.0f allocations for one frame", allocated)
			}
		})
	}
}

func TestAReportIsBounded(t *testing.T) {
	long := strings.Repeat("ü", 300_000)
	frame, err := agent.AppendFrame(nil, map[string]any{
		"op": "done", "skipped": make([]string, 1000),
		"value":     map[string]string{"text/plain": "v", "application/x-evil": "e", "image/png": strings.Repeat("A", 2<<20)},
		"exception": map[string]string{"name": long, "message": long, "traceback": long},
	}, agent.MaxJobFrame)
	if err != nil {
		t.Fatal(err)
	}
	report, err := agent.Listen(strings.NewReader(raw(`{"op":"started"}`)+string(frame)), rungs.Job{}, agent.Signs{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"text/plain": "v"}, report.Value); diff != "" {
		t.Error(diff)
	}
	if e := report.Exception; len(e.Name) > 256 || len(e.Message) > 128<<10 || len(e.Traceback) > 128<<10 {
		t.Errorf("texts of %d, %d and %d bytes", len(e.Name), len(e.Message), len(e.Traceback))
	}
	if len(report.Skipped) > agent.MaxSkipped {
		t.Errorf("%d skipped", len(report.Skipped))
	}
}

func TestAJobsArtifactsAreBoundedTogether(t *testing.T) {
	var in bytes.Buffer
	in.WriteString(raw(`{"op":"started"}`))
	data := make([]byte, agent.ChunkBytes)
	for range agent.MaxArtifactBytes/agent.ChunkBytes + 1 {
		frame, err := agent.AppendFrame(nil, map[string]any{"op": "artifact", "path": "a", "data": data, "more": true}, agent.MaxJobFrame)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(frame)
	}
	if _, err := agent.Listen(&in, rungs.Job{Artifacts: []string{"a"}}, agent.Signs{}); !errors.Is(err, agent.ErrFrameBody) {
		t.Errorf("error %v", err)
	}
}

func FuzzListen(f *testing.F) {
	f.Add([]byte(raw(`{"op":"ready","walls":["pid"]}`) + raw(`{"op":"started"}`) + raw(`{"op":"artifact","path":"a","data":"eA==","more":false}`) + raw(`{"op":"done","value":{"text/plain":"1"},"exception":{"name":"E"},"skipped":["x"]}`)))
	f.Add([]byte(raw(`{"op":"fail","step":"uid","errno":1,"message":"m"}`)))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		job := rungs.Job{Artifacts: []string{"**"}}
		begun, failed := 0, 0
		report, err := agent.Listen(bytes.NewReader(in), job, agent.Signs{
			Started: func() { begun++ },
			Failed:  func(agent.Fail) { failed++ },
		})
		if begun+failed > 1 {
			t.Errorf("started %d times, failed %d times", begun, failed)
		}
		if len(report.Artifacts) > agent.MaxArtifacts || begun == 0 && (report.Artifacts != nil || report.Value != nil) {
			t.Errorf("report %+v, %v", report, err)
		}
		for _, a := range report.Artifacts {
			if rungs.CheckPath(a.Path) != nil {
				t.Errorf("artifact %q", a.Path)
			}
		}
	})
}

func TestWriteJobCutsFilesAndKeepsTheFrameBound(t *testing.T) {
	var out bytes.Buffer
	job := rungs.Job{
		Code:  strings.Repeat("\x01", rungs.MaxCodeBytes), // six bytes each in JSON
		Files: []rungs.File{{Path: "a", Data: make([]byte, 2*agent.ChunkBytes)}, {Path: "empty"}, {Path: "b", Data: make([]byte, agent.ChunkBytes+1)}},
	}
	if err := agent.WriteJob(&out, job, agent.JobLimits{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		body, err := agent.ReadFrame(&out, agent.MaxHostFrame)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var f agent.File
		if err := agent.Decode(body, &f); err != nil {
			t.Fatal(err)
		}
		more := ""
		if f.More {
			more = "+"
		}
		got = append(got, f.Op+" "+f.Path+more)
	}
	want := []string{"file a+", "file a", "file empty", "file b+", "file b", "job "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSourceIsWhatIsEmbedded(t *testing.T) {
	onDisk, err := os.ReadFile("agent.py")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(onDisk, agent.Source) {
		t.Error("agent.py and the embedded source differ")
	}
}
