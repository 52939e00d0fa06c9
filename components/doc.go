// Package components holds the pieces that pages and event frames are made of:
// each is a templ component whose props carry plain values, already decided.
package components
