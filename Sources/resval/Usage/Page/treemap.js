// The map on a canvas. A tile is a directory, the files in it, or what is too small for a tile each.

class Treemap {
    constructor(canvas, view, { onSelect, onZoom }) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.brush = new Brush(this.context);
        this.view = view;
        this.zoomed = 0;
        this.selected = 0;
        this.tiles = [];
        canvas.addEventListener("click", (event) => onSelect(this.#nodeAt(event)));
        canvas.addEventListener("dblclick", (event) => onZoom(this.#nodeAt(event)));
        new ResizeObserver(() => this.layOut()).observe(canvas);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.layOut());
    }

    /** Shows a directory, growing out of its tile unless people asked for reduced motion. */
    zoom(node) {
        const from = this.tiles.find((tile) => tile.node === node);
        this.zoomed = node;
        this.layOut();
        if (from === undefined || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
        const began = performance.now();
        const { width, height } = this;
        const step = (now) => {
            if (this.zoomed !== node) return;
            const left = Math.max(0, 1 - (now - began) / 180);
            this.draw({
                x: from.box.x * left, y: from.box.y * left,
                scaleX: 1 + (from.box.width / width - 1) * left,
                scaleY: 1 + (from.box.height / height - 1) * left,
            });
            if (left > 0) requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    }

    layOut() {
        const { canvas, view } = this;
        [this.width, this.height] = [canvas.clientWidth, canvas.clientHeight];
        const density = devicePixelRatio || 1;
        canvas.width = Math.round(this.width * density);
        canvas.height = Math.round(this.height * density);
        this.density = density;
        this.tiles = [];
        this.brush.takeColours();
        if (view.total[this.zoomed] > 0) {
            this.#layOut(this.zoomed, { x: 0, y: 0, width: this.width, height: this.height });
        }
        this.draw();
        const path = view.report.path(this.zoomed);
        canvas.setAttribute(
            "aria-label",
            `Map of ${path}, ${sizeText(view.total[this.zoomed])}. The table has the same directories.`);
    }

    #layOut(node, box) {
        const { view } = this;
        const children = view.children(node).filter((child) => view.total[child] > 0);
        const hasTitle = box.height > titleHeight * 2 && box.width > 50;
        const inner = {
            x: box.x + 2, y: box.y + (hasTitle ? titleHeight : 2),
            width: box.width - 4, height: box.height - (hasTitle ? titleHeight + 2 : 4),
        };
        if (children.length === 0 || inner.width < 6 || inner.height < 6) {
            const parts = view.breakdown(node);
            this.tiles.push({ node, box, parts, title: view.report.names[node] });
            return;
        }
        this.tiles.push({ node, box, parts: null, title: hasTitle ? view.report.names[node] : "" });
        const own = view.ownParts(node).filter((part) => part.size > 0);
        const items = children.map((child) => ({ node: child, size: view.total[child] }))
            .concat(own.map((part) => ({ part, size: part.size })))
            .sort((a, b) => b.size - a.size);
        squarify(items, inner, (group, place) => this.#place(node, group, place));
    }

    #place(node, group, box) {
        const [item] = group;
        if (group.length > 1) {
            const nodes = group.filter((each) => each.node !== undefined).map((each) => each.node);
            const parts = this.view.breakdownOfAll(nodes)
                .concat(group.filter((each) => each.part).map((each) => each.part));
            this.tiles.push({ node, box, parts, title: `${group.length} smaller` });
        } else if (item.part) {
            this.tiles.push({ node, box, parts: [item.part], title: "(files)" });
        } else {
            this.#layOut(item.node, box);
        }
    }

    #nodeAt(event) {
        const [x, y] = [event.offsetX, event.offsetY];
        const hit = this.tiles.findLast(({ box }) =>
            x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height);
        return hit?.node ?? this.zoomed;
    }

    draw(move = { x: 0, y: 0, scaleX: 1, scaleY: 1 }) {
        const { context, density, brush: { colours } } = this;
        context.setTransform(density, 0, 0, density, 0, 0);
        context.fillStyle = colours.ground;
        context.fillRect(0, 0, this.width, this.height);
        context.transform(move.scaleX, 0, 0, move.scaleY, move.x, move.y);
        context.font = "12px system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif";
        context.textBaseline = "middle";
        for (const tile of this.tiles) this.#drawTile(tile);
        const chosen = this.tiles.find((tile) => tile.node === this.selected);
        if (chosen === undefined) return;
        context.strokeStyle = colours.focus;
        context.lineWidth = 3;
        const { x, y, width, height } = chosen.box;
        context.strokeRect(x + 1.5, y + 1.5, Math.max(width - 3, 1), Math.max(height - 3, 1));
    }

    #drawTile({ box, parts, title }) {
        const { context, brush: { colours } } = this;
        if (parts === null) {
            context.fillStyle = colours.box;
            context.fillRect(box.x, box.y, box.width, box.height);
        } else {
            this.brush.fillParts(parts, box);
        }
        context.strokeStyle = colours.ground;
        context.lineWidth = 1;
        context.strokeRect(box.x + 0.5, box.y + 0.5, box.width, box.height);
        if (title !== "" && box.width > 40 && box.height > 14) this.#drawTitle(box, parts, title);
    }

    #drawTitle(box, parts, title) {
        const { context, brush: { colours } } = this;
        const room = box.width - 12;
        const text = shortened(title, room, (part) => context.measureText(part).width);
        if (text === "") return;
        const y = parts === null ? box.y + 10 : box.y + Math.min(box.height / 2, 14);
        if (parts !== null) {
            // On a ground of its own, so that no pattern runs through the letters.
            context.fillStyle = parts.length > 0 ? colours[parts[0].state.colour] : colours.box;
            context.fillRect(box.x + 5, y - 7, context.measureText(text).width + 2, 14);
        }
        context.fillStyle = colours.ink;
        context.fillText(text, box.x + 6, y);
    }
}

/** Shortens a text to a width; empty where not even three characters have room. */
function shortened(text, room, widthOf) {
    if (widthOf(text) <= room) return text;
    const characters = [...text].slice(0, Math.ceil(room / 3));
    while (characters.length > 2) {
        characters.pop();
        const candidate = characters.join("") + "…";
        if (widthOf(candidate) <= room) return candidate;
    }
    return "";
}
