// Renders the chart with Go's text/template and the functions that Helm adds, for machines without helm:
//
//	apt-get install golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev
//	GO111MODULE=off GOPATH=/usr/share/gocode go run test/deploy/helm/render.go <chart> <values>...
//
// It prints the rendered templates as one YAML stream. Source: docs/shipping.md#helm
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type files struct{ root string }

func (f files) Get(name string) string {
	return string(read(filepath.Join(f.root, name)))
}

func read(path string) []byte {
	text, err := os.ReadFile(path)
	stopOn(err)
	return text
}

func stopOn(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func parse(text []byte) map[string]interface{} {
	value := map[string]interface{}{}
	stopOn(yaml.Unmarshal(text, &value))
	return value
}

// Like Helm: maps are merged, other values are replaced.
func merge(into, from map[string]interface{}) {
	for key, value := range from {
		old, isOldMap := into[key].(map[string]interface{})
		next, isMap := value.(map[string]interface{})
		if isOldMap && isMap {
			merge(old, next)
		} else {
			into[key] = value
		}
	}
}

func toYaml(value interface{}) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	stopOn(encoder.Encode(value))
	return strings.TrimSuffix(out.String(), "\n")
}

func main() {
	chart := os.Args[1]
	values := parse(read(filepath.Join(chart, "values.yaml")))
	for _, path := range os.Args[2:] {
		merge(values, parse(read(path)))
	}
	about := parse(read(filepath.Join(chart, "Chart.yaml")))
	data := map[string]interface{}{
		"Values":  values,
		"Files":   files{chart},
		"Release": map[string]interface{}{"Name": "signalbox", "Namespace": "signalbox", "Service": "Helm"},
		"Chart": map[string]interface{}{
			"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"],
		},
	}

	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYaml
	functions["fromYaml"] = func(text string) map[string]interface{} { return parse([]byte(text)) }
	functions["include"] = func(name string, value interface{}) (string, error) {
		var out bytes.Buffer
		err := root.ExecuteTemplate(&out, name, value)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	root.Funcs(functions)

	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	stopOn(err)
	sort.Strings(paths)
	for _, path := range paths {
		_, err := root.New(filepath.Base(path)).Parse(string(read(path)))
		stopOn(err)
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "_") {
			continue
		}
		var out bytes.Buffer
		stopOn(root.ExecuteTemplate(&out, filepath.Base(path), data))
		// The notes are text for the person who installs, as comments here.
		if strings.HasSuffix(path, ".txt") {
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			fmt.Printf("---\n# %s\n", strings.Join(lines, "\n# "))
			continue
		}
		if text := strings.TrimSpace(out.String()); text != "" {
			fmt.Printf("---\n%s\n", text)
		}
	}
}
