// The tree table: a treegrid of which only the rows in view exist, and the selected one.

const rowHeight = 26;

class TreeTable {
    constructor(grid, body, view, { onSelect, onZoom, onZoomOut }) {
        this.grid = grid;
        this.body = body;
        this.view = view;
        this.actions = { onSelect, onZoom, onZoomOut };
        this.toggled = new Set([0]);
        this.selected = 0;
        grid.addEventListener("scroll", () => this.#draw());
        grid.addEventListener("keydown", (event) => this.#handleKey(event));
        body.addEventListener("click", (event) => this.#handleClick(event));
        body.addEventListener("dblclick", (event) => {
            const node = nodeOfRow(event.target);
            if (node !== null) onZoom(node);
        });
        for (const heading of grid.querySelectorAll("[role=columnheader]")) {
            heading.addEventListener("click", () => this.#sort(heading.dataset.key));
            heading.addEventListener("keydown", (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                this.#sort(heading.dataset.key);
                event.stopPropagation();
                event.preventDefault();
            });
        }
        new ResizeObserver(() => this.#draw()).observe(grid);
    }

    #sort(key) {
        const { view, grid } = this;
        view.sort(key);
        for (const heading of grid.querySelectorAll("[role=columnheader]")) {
            const isOrder = heading.dataset.key === view.order.key;
            heading.setAttribute(
                "aria-sort", isOrder ? (view.order.falls ? "descending" : "ascending") : "none");
        }
        this.update();
    }

    /** Directories above one that matches a filter are open unless people closed them. */
    isExpanded(node) {
        const isOpened = this.view.nameFilter !== "" && !this.view.matches[node];
        return this.toggled.has(node) !== isOpened;
    }

    update() {
        this.rows = [];
        const { view } = this;
        const open = [{ node: 0, position: 1, siblings: 1 }];
        while (open.length > 0) {
            const row = open.pop();
            if (!view.shown[row.node]) continue;
            this.rows.push(row);
            if (!this.isExpanded(row.node)) continue;
            const children = view.children(row.node);
            for (let i = children.length - 1; i >= 0; i -= 1) {
                open.push({ node: children[i], position: i + 1, siblings: children.length });
            }
        }
        this.indexOf = new Map(this.rows.map((row, index) => [row.node, index]));
        this.grid.setAttribute("aria-rowcount", this.rows.length + 1);
        this.body.style.height = this.rows.length * rowHeight + "px";
        this.#draw();
    }

    /** Selects a directory, opens those above it, and scrolls to its row. */
    select(node) {
        this.selected = node;
        let changed = false;
        for (const above of this.view.report.lineage(node).slice(0, -1)) {
            if (!this.isExpanded(above)) changed = this.#toggle(above);
        }
        if (changed) this.update();
        this.#scrollTo(this.indexOf.get(node));
        this.#draw();
    }

    #toggle(node) {
        if (!this.toggled.delete(node)) this.toggled.add(node);
        return true;
    }

    #scrollTo(index) {
        if (index === undefined) return;
        const { grid } = this;
        const [top, room] = [index * rowHeight, grid.clientHeight - rowHeight];
        if (top < grid.scrollTop) grid.scrollTop = top;
        if (top + rowHeight > grid.scrollTop + room) grid.scrollTop = top + rowHeight - room;
    }

    #draw() {
        if (this.rows === undefined) return;
        const { grid } = this;
        const first = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - 5);
        const last = Math.min(this.rows.length, first + Math.ceil(grid.clientHeight / rowHeight) + 10);
        const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
        const selected = this.indexOf.get(this.selected);
        if (selected !== undefined && (selected < first || selected >= last)) indexes.push(selected);
        this.body.replaceChildren(...indexes.map((index) => this.#row(index)));
        if (selected === undefined) grid.removeAttribute("aria-activedescendant");
        else grid.setAttribute("aria-activedescendant", "row-" + this.selected);
    }

    #row(index) {
        const { node, position, siblings } = this.rows[index];
        const { view } = this;
        const hasChildren = view.hasChildren(node);
        const row = element("div", { class: "row", role: "row", id: "row-" + node });
        row.setAttribute("aria-rowindex", index + 2);
        row.setAttribute("aria-level", view.report.depth[node] + 1);
        row.setAttribute("aria-posinset", position);
        row.setAttribute("aria-setsize", siblings);
        row.setAttribute("aria-selected", node === this.selected);
        if (hasChildren) row.setAttribute("aria-expanded", this.isExpanded(node));
        row.style.top = index * rowHeight + "px";
        const name = element("span", { class: "name", role: "gridcell" });
        name.style.paddingInlineStart = Math.min(view.report.depth[node], 12) * 14 + "px";
        const twisty = element("span", { class: "twisty", "aria-hidden": "true" });
        twisty.textContent = hasChildren ? (this.isExpanded(node) ? "▾" : "▸") : "";
        name.append(twisty, element("bdi", {}, view.report.names[node]));
        const share = element("span", { role: "gridcell" });
        const bar = element("span", {});
        const whole = view.total[0];
        bar.style.width = (whole > 0 ? (100 * view.total[node]) / whole : 0) + "%";
        const box = element("div", { class: "share", role: "img" });
        box.setAttribute("aria-label", percentText(view.total[node], whole));
        box.append(bar);
        share.append(box);
        row.append(
            name, element("span", { class: "amount", role: "gridcell" }, sizeText(view.total[node])),
            share, element("span", { role: "gridcell" }, view.summary(node)));
        return row;
    }

    #handleClick(event) {
        const node = nodeOfRow(event.target);
        if (node === null) return;
        if (event.target.classList.contains("twisty")) {
            this.#toggle(node);
            this.update();
        }
        this.actions.onSelect(node);
    }

    #handleKey(event) {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const index = this.indexOf.get(this.selected) ?? 0;
        const page = Math.max(1, Math.floor(this.grid.clientHeight / rowHeight) - 2);
        const steps = {
            ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
            Home: -this.rows.length, End: this.rows.length,
        };
        if (event.key in steps) {
            const target = Math.min(Math.max(index + steps[event.key], 0), this.rows.length - 1);
            if (target >= 0) this.actions.onSelect(this.rows[target].node);
        } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
            this.#step(event.key === "ArrowRight");
        } else if (event.key === "Enter") {
            this.actions.onZoom(this.selected);
        } else if (event.key === "Escape" || event.key === "Backspace") {
            this.actions.onZoomOut();
        } else {
            return;
        }
        event.preventDefault();
    }

    /** Opens a closed directory, else goes into it; or closes an open one, else goes to that above. */
    #step(isInwards) {
        const { selected, view } = this;
        const [hasChildren, isExpanded] = [view.hasChildren(selected), this.isExpanded(selected)];
        if (hasChildren && isExpanded !== isInwards) {
            this.#toggle(selected);
            this.update();
            return;
        }
        const target = isInwards ? view.children(selected)[0] : view.report.parent[selected];
        if (target !== undefined && target >= 0) this.actions.onSelect(target);
    }
}

function nodeOfRow(target) {
    const row = target.closest("[role=row]");
    return row === null ? null : Number(row.id.slice("row-".length));
}

/** Makes an element with attributes and text. */
function element(tag, attributes, text) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
}
