// What is shown: the sizes on disk of what passes the filter.

class View {
    constructor(report) {
        this.report = report;
        this.nameFilter = "";
        this.acceptsState = () => true;
        this.order = { key: "size", falls: true };
    }

    get isFiltered() {
        return this.nameFilter !== "" || this.accepted.includes(false);
    }

    /** Computes sizes anew. A directory whose name matches is shown with everything below it. */
    update() {
        const { report } = this;
        const wanted = this.nameFilter.toLowerCase();
        this.accepted = report.states.map(this.acceptsState);
        this.total = new Float64Array(report.count);
        this.matches = new Uint8Array(report.count);
        this.shown = new Uint8Array(report.count);
        this.foundCount = 0;
        const allStates = !this.accepted.includes(false);
        for (let node = 0; node < report.count; node += 1) {
            const above = report.parent[node];
            const matchesName = report.searchedNames[node].includes(wanted);
            this.matches[node] = matchesName || (above >= 0 && this.matches[above]) ? 1 : 0;
            if (!this.matches[node]) continue;
            this.shown[node] = allStates ? 1 : 0;
            for (let piece = report.firstPiece[node]; piece < report.firstPiece[node + 1]; piece += 1) {
                if (!this.accepted[report.pieceState[piece]]) continue;
                this.total[node] += report.pieceSize[piece];
                this.shown[node] = 1;
            }
            this.foundCount += this.shown[node];
        }
        for (let node = report.count - 1; node > 0; node -= 1) {
            const above = report.parent[node];
            if (above < 0) continue;
            this.total[above] += this.total[node];
            this.shown[above] |= this.shown[node];
        }
        this.sortedChildren = new Map();
        this.breakdowns = new Map();
    }

    /** Sorts directories by another column, or the other way round. */
    sort(key) {
        const { order } = this;
        this.order = { key, falls: key === order.key ? !order.falls : key === "size" };
        this.sortedChildren = new Map();
    }

    #compare(a, b) {
        const { total, report, order } = this;
        const texts = { name: (node) => report.searchedNames[node], state: (node) => this.summary(node) };
        const text = texts[order.key];
        const [first, second] = order.falls ? [b, a] : [a, b];
        if (text === undefined) return total[first] - total[second] || a - b;
        return text(first).localeCompare(text(second)) || total[b] - total[a] || a - b;
    }

    /** The largest of the outermost directories that the filter finds; the first one without. */
    firstFound() {
        let best = 0;
        for (let node = this.nameFilter === "" ? this.report.count : 1; node < this.report.count;) {
            if (!this.matches[node]) { node += 1; continue; }
            if (this.shown[node] && (best === 0 || this.total[node] > this.total[best])) best = node;
            node = this.report.end[node];
        }
        return best;
    }

    /** The largest hundred files below a directory that the filter finds. */
    largestFiles(node) {
        const { report } = this;
        const wanted = this.nameFilter.toLowerCase();
        const found = [];
        for (const file of report.files) {
            if (file.directory < node || file.directory >= report.end[node]) continue;
            if (!this.accepted[file.state]) continue;
            if (!this.matches[file.directory] && !file.searched.includes(wanted)) continue;
            found.push(file);
            if (found.length === 100) break;
        }
        return found;
    }

    /** The shown directories in a directory, in the order of the table. */
    children(node) {
        let children = this.sortedChildren.get(node);
        if (children === undefined) {
            children = this.report.children(node).filter((child) => this.shown[child])
                .sort((a, b) => this.#compare(a, b));
            this.sortedChildren.set(node, children);
        }
        return children;
    }

    hasChildren(node) {
        const { report } = this;
        for (let child = node + 1; child < report.end[node]; child = report.end[child]) {
            if (this.shown[child]) return true;
        }
        return false;
    }

    /** The bytes of a directory and everything below it by state, the largest first. */
    breakdown(node) {
        let parts = this.breakdowns.get(node);
        if (parts === undefined) {
            parts = this.#parts([[node, this.report.end[node]]]);
            this.breakdowns.set(node, parts);
        }
        return parts;
    }

    /** The bytes of what lies in a directory itself. */
    ownParts(node) {
        return this.#parts([[node, node + 1]]);
    }

    breakdownOfAll(nodes) {
        return this.#parts(nodes.map((node) => [node, this.report.end[node]]));
    }

    #parts(ranges) {
        const { report } = this;
        const sums = new Map();
        for (const [start, end] of ranges) {
            for (let node = start; node < end; node += 1) {
                if (!this.matches[node]) continue;
                for (let piece = report.firstPiece[node]; piece < report.firstPiece[node + 1]; piece += 1) {
                    const state = report.pieceState[piece];
                    if (this.accepted[state]) sums.set(state, (sums.get(state) ?? 0) + report.pieceSize[piece]);
                }
            }
        }
        return [...sums].map(([state, size]) => ({ state: report.states[state], size }))
            .sort((a, b) => b.size - a.size);
    }

    /** What happens to a hundredth of a directory or more. */
    mainParts(node) {
        return this.breakdown(node).filter(({ size }) => size >= this.total[node] / 100);
    }

    /** What happens to a directory, in a few words. */
    summary(node) {
        const parts = this.mainParts(node);
        const words = parts.length === 1 ? [parts[0].state.text]
            : parts.map(({ state, size }) => percentText(size, this.total[node]) + " " + state.text);
        const remark = this.report.remarks[node];
        return (remark === "" ? words : [remark, ...words]).join(", ");
    }
}
