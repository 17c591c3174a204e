// Program oracle answers what kube-scheduler would say, with kube-scheduler's own packages.
//
// It is built twice from this tree: with go.mod against the newest Kubernetes that the model knows, and with
// `-modfile=floor.mod -tags=floor` against the oldest. It starts no controllers, opens no connection and binds nothing:
// a cluster comes in as JSON, an answer goes out as JSON. What the answers are compared with, it does not know.
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

// modes are the first argument; see protocol.go for what each reads and writes.
var modes = map[string]func(io.Reader, io.Writer) error{
	"verdicts": verdicts,
	"place":    place,
	"forced":   forced,
	"plugins":  plugins,
}

func main() {
	if len(os.Args) != 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: oracle verdicts|place|forced|plugins, with requests as JSON on stdin")
		os.Exit(2)
	}
	// What the scheduler logs about a cluster is said again in the status that it returns, which we pass on.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := modes[os.Args[1]](os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
