// The map: nested rectangles with areas in proportion to sizes, laid out as squares as far as it goes
// (Bruls, Huizing, van Wijk: "Squarified Treemaps", 2000).

const smallestArea = 40;
const titleHeight = 18;

/**
 * Divides a box among items, which come with sizes, the largest first.
 * Items below the smallest area are given to `place` together, in one box.
 */
function squarify(items, box, place) {
    let sum = 0;
    for (const item of items) sum += item.size;
    const scale = (box.width * box.height) / sum;
    let rest = { ...box };
    let start = 0;
    while (start < items.length && rest.width > 0 && rest.height > 0) {
        if (items[start].size * scale < smallestArea && items.length - start > 1) {
            place(items.slice(start), rest);
            return;
        }
        const side = Math.min(rest.width, rest.height);
        let [end, area, worst] = [start, 0, Infinity];
        while (end < items.length) {
            const added = area + items[end].size * scale;
            const [largest, smallest] = [items[start].size * scale, items[end].size * scale];
            const ratio = Math.max(
                (side * side * largest) / (added * added), (added * added) / (side * side * smallest));
            if (ratio > worst) break;
            [end, area, worst] = [end + 1, added, ratio];
        }
        rest = placeRow(items.slice(start, end), scale, area, rest, place);
        start = end;
    }
}

/** Places a row along the shorter side of a box, and returns what remains of the box. */
function placeRow(row, scale, area, box, place) {
    const { x, y, width, height } = box;
    const isColumn = width >= height;
    const thickness = area / (isColumn ? height : width);
    let offset = 0;
    for (const item of row) {
        const length = (item.size * scale) / thickness;
        place([item], isColumn
            ? { x, y: y + offset, width: thickness, height: length }
            : { x: x + offset, y, width: length, height: thickness });
        offset += length;
    }
    return isColumn
        ? { x: x + thickness, y, width: width - thickness, height }
        : { x, y: y + thickness, width, height: height - thickness };
}
