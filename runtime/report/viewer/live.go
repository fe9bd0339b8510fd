package viewer

// liveModules are the scripts of the live page: some it has in common with the page of runs.
var liveModules = []string{"scale.js", "dom.js", "paint.js", "livemodel.js", "liveedits.js", "liveapi.js", "liveforms.js", "livereason.js", "liveboard.js", "live.js"}

// Live are the files of the live page of a daemon, by name: index.html is the page.
func Live() map[string][]byte {
	files := map[string][]byte{"index.html": []byte(read("live.html"))}
	for _, name := range append([]string{"viewer.css", "live.css"}, liveModules...) {
		files[name] = []byte(lean(name))
	}
	return files
}
