package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readBuffer is how many bytes are read at once; a line may be longer.
const readBuffer = 1 << 20

// serve answers each line of the input with a line, until the input ends. An answer is there before the next line is read.
func serve[Q, A any](in io.Reader, out io.Writer, answer func(Q) (A, error), failed func(error) A) error {
	reader := bufio.NewReaderSize(in, readBuffer)
	for {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := writeLine(out, answerLine(line, answer, failed)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answerLine never fails: what a plugin panics about is an answer, too.
func answerLine[Q, A any](line []byte, answer func(Q) (A, error), failed func(error) A) (said A) {
	defer func() {
		if cause := recover(); cause != nil {
			said = failed(fmt.Errorf("the scheduler panicked: %v", cause))
		}
	}()
	var question Q
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&question); err != nil {
		return failed(fmt.Errorf("expected a request, found: %w", err))
	}
	said, err := answer(question)
	if err != nil {
		return failed(err)
	}
	return said
}

func writeLine(out io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
