// How states look. Nothing is told by colour alone: stripes are excluded, dots purgeable, a frame is a
// protection class.

class Brush {
    constructor(context) {
        this.context = context;
        this.takeColours();
    }

    /** Takes the colours from the style sheet, which has those of light and dark. */
    takeColours() {
        const style = getComputedStyle(document.documentElement);
        const names = ["kept", "excluded", "purgeable", "ink", "ground", "box", "frame", "focus", "pattern"];
        this.colours = Object.fromEntries(
            names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
        this.stripes = this.#pattern((brush) => {
            brush.beginPath();
            for (const start of [-8, 0, 8]) {
                brush.moveTo(start - 1, 9);
                brush.lineTo(start + 9, -1);
            }
            brush.stroke();
        });
        this.dots = this.#pattern((brush) => {
            brush.beginPath();
            brush.arc(4, 4, 1.7, 0, 2 * Math.PI);
            brush.fill();
        });
    }

    #pattern(draw) {
        const tile = new OffscreenCanvas(8, 8);
        const brush = tile.getContext("2d");
        brush.strokeStyle = brush.fillStyle = this.colours.pattern;
        draw(brush);
        return this.context.createPattern(tile, "repeat");
    }

    fill(state, { x, y, width, height }) {
        const { context } = this;
        const fills = [this.colours[state.colour]];
        if (state.excluded !== null && width > 3 && height > 3) fills.push(this.stripes);
        if (state.purgeable !== null && width > 3 && height > 3) fills.push(this.dots);
        for (const fill of fills) {
            context.fillStyle = fill;
            context.fillRect(x, y, width, height);
        }
        if (state.protection === null || width < 10 || height < 10) return;
        context.strokeStyle = this.colours.frame;
        context.lineWidth = 2;
        context.strokeRect(x + 4, y + 4, width - 8, height - 8);
    }

    /** Divides a box among states by their sizes. */
    fillParts(parts, box) {
        const sum = parts.reduce((total, part) => total + part.size, 0);
        const isWide = box.width >= box.height;
        let offset = 0;
        for (const { state, size } of parts) {
            const share = size / sum;
            this.fill(state, isWide
                ? { ...box, x: box.x + offset * box.width, width: share * box.width }
                : { ...box, y: box.y + offset * box.height, height: share * box.height });
            offset += share;
        }
    }
}

/** The entries of the legend: a text, and why bytes are excluded, purgeable and protected. */
const legend = [
    ["backed up", null, null, null], ["excluded from backups", "", null, null],
    ["purgeable", null, "", null], ["excluded and purgeable", "", "", null],
    ["protection class", null, null, ""],
];

function legendItem([text, excluded, purgeable, protection]) {
    const swatch = element("canvas", { width: 24, height: 16, "aria-hidden": "true" });
    new Brush(swatch.getContext("2d"))
        .fill(describeState({ excluded, purgeable, protection }), { x: 0, y: 0, width: 24, height: 16 });
    const item = element("li", {});
    item.append(swatch, text);
    return item;
}
