//go:build race

package search_test

// raceEnabled tells the tests of quality to stay away: they look for no races, and
// take minutes under the detector.
const raceEnabled = true
