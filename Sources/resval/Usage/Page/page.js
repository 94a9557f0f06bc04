// The page: the map, the table and the details show one selection, one zoom and one filter.

class Page {
    constructor(report) {
        this.report = report;
        this.view = new View(report);
        const actions = {
            onSelect: (node) => this.select(node),
            onZoom: (node) => this.zoom(node),
            onZoomOut: () => this.zoom(Math.max(0, report.parent[this.map.zoomed])),
        };
        this.map = new Treemap(part("map"), this.view, actions);
        this.table = new TreeTable(part("tree"), part("rows"), this.view, actions);
        part("notes").replaceChildren(...report.notes.map((note) => element("li", {}, note)));
        part("proposals").replaceChildren(
            ...report.proposals.map(({ meaning, command }) => commandItem([meaning, command])));
        part("proposals-title").hidden = report.proposals.length === 0;
        this.#fillControls();
        this.#drawLegend();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#drawLegend());
        this.refresh();
        this.select(0);
        performance.mark("drawn");
    }

    /** Shows everything anew, after the filter changed. */
    refresh() {
        this.view.update();
        this.table.update();
        this.zoom(this.view.shown[this.map.zoomed] ? this.map.zoomed : 0);
        const { selected } = this.table;
        const isFound = this.view.shown[selected] && this.view.matches[selected];
        if (isFound || !this.view.isFiltered) this.#showDetails();
        else this.select(this.view.firstFound());
        const total = sizeText(this.view.total[0]);
        part("summary").textContent = `${this.report.path(0)}: ${total}`;
        const found = counted(this.view.foundCount, "directory", "directories");
        part("found").textContent = this.view.isFiltered ? `${found}, ${total}` : "";
    }

    select(node) {
        this.map.selected = node;
        this.table.select(node);
        this.map.draw();
        this.#showDetails();
    }

    zoom(node) {
        this.map.zoom(node);
        this.#showFiles(node);
        document.title = `${sizeText(this.view.total[node])} – Where the space goes`;
        part("crumbs").replaceChildren(...this.report.lineage(node).map((above) => {
            const button = element("button", { type: "button" });
            if (above === node) button.setAttribute("aria-current", "true");
            button.append(element("bdi", {}, this.report.names[above]));
            button.addEventListener("click", () => this.zoom(above));
            return button;
        }));
    }

    #showFiles(node) {
        const files = this.view.largestFiles(node);
        part("files-title").textContent =
            `Largest ${files.length === 1 ? "file" : files.length + " files"} below ${this.report.path(node)}`;
        part("files").replaceChildren(...files.map((file) => {
            const item = element("li", {});
            const button = element("button", { type: "button" });
            button.append(element("bdi", {}, this.report.filePath(file)));
            button.addEventListener("click", () => this.select(file.directory));
            item.append(element("span", { class: "amount" }, sizeText(file.size)), button);
            return item;
        }));
    }

    #fillControls() {
        const { view, report } = this;
        const choices = [
            ["everything", () => true],
            ["backed up", (state) => state.excluded === null],
            ["excluded", (state) => state.excluded !== null],
        ];
        const words = { excluded: "excluded", purgeable: "purgeable", protection: "protected" };
        for (const [key, word] of Object.entries(words)) {
            const values = new Set(report.states.map((state) => state[key]));
            values.delete(null);
            for (const value of [...values].sort()) {
                choices.push([`${word}: ${value}`, (state) => state[key] === value]);
            }
        }
        const list = part("state-filter");
        list.replaceChildren(...choices.map(([text]) => element("option", {}, text)));
        list.addEventListener("change", () => {
            view.acceptsState = choices[list.selectedIndex][1];
            this.refresh();
        });
        let waiting = 0;
        part("name-filter").addEventListener("input", () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => {
                view.nameFilter = part("name-filter").value;
                this.table.toggled = new Set(view.nameFilter === "" ? [0] : []);
                this.refresh();
            }, 120);
        });
        part("controls").addEventListener("submit", (event) => event.preventDefault());
    }

    #showDetails() {
        const { report, view } = this;
        const node = this.table.selected;
        part("selected-path").textContent = report.path(node);
        const sizes = report.columns.map(({ title, values }) => {
            let total = 0;
            for (let at = node; at < report.end[node]; at += 1) total += values[at];
            return `${sizeText(total)} ${title}`;
        });
        const shared = report.sharedBelow[node];
        if (shared > 0) sizes.push(`${sizeText(shared)} shared by directories in it`);
        if (report.remarks[node] !== "") sizes.push(report.remarks[node]);
        part("selected-sizes").textContent = sizes.join(", ");
        part("selected-states").replaceChildren(...view.breakdown(node).map(({ state, size }) =>
            element("li", {}, `${sizeText(size)} (${percentText(size, view.total[node])}) ${state.text}`)));
        part("commands").replaceChildren(...this.#commands(node).map(commandItem));
    }

    /** The commands that change what happens to a directory. */
    #commands(node) {
        const { report } = this;
        const word = report.shellWord(node);
        if (word === null) return [];
        const explain = ["shows what applies, and why", "resval explain " + word];
        if (report.homes.has(node)) return [explain];
        const commands = [];
        if (report.isExcluded[node]) {
            const deciding = report.shellWord(report.decidingDirectory(node));
            commands.push(["backs it up again", "resval include " + deciding]);
        } else {
            commands.push(["excludes it from backups", "resval exclude " + word]);
        }
        if (this.view.mainParts(node).some(({ state }) => state.purgeable === null)) {
            commands.push(["lets it be deleted when space is short", "resval purgeable " + word]);
        }
        commands.push(explain);
        return commands;
    }

    #drawLegend() {
        part("legend").replaceChildren(...legend.map(legendItem));
    }
}

function part(id) {
    return document.getElementById(id);
}

function commandItem([meaning, command]) {
    const item = element("li", {});
    const button = element("button", { type: "button", "aria-label": "Copy: " + command }, "Copy");
    const code = element("code", {}, command);
    button.addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(command);
            button.textContent = "Copied";
        } catch {
            // Not allowed here: selected, it can be copied by key.
            getSelection().selectAllChildren(code);
        }
    });
    item.append(code, button, element("span", {}, meaning));
    return item;
}

unpackReport().then((report) => new Page(report)).catch((error) => {
    part("summary").textContent = "This report cannot be read: " + error.message;
});
