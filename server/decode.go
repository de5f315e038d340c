package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// maxBody is the largest JSON body taken, in bytes: an environment may be long.
const maxBody = 256 << 10

// decode reads the JSON object of a request into v, and answers with a problem and returns false if it cannot. It
// takes no unknown fields and nothing after the object.
func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		problem(w, http.StatusUnsupportedMediaType, "the body must be application/json")
		return false
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			err = errors.New("something follows the JSON object")
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		problem(w, http.StatusRequestEntityTooLarge, "the body is larger than 256 KiB")
	} else {
		problem(w, http.StatusBadRequest, "the body cannot be read: "+err.Error())
	}
	return false
}
