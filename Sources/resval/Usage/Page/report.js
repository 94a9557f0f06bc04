"use strict";

// The report: a tree of directories, each with the bytes of what lies in it, by state.
//
// Directories stand in preorder, so that the subtree of one is a range. All text from the report is
// shown through textContent or drawn on a canvas. It never becomes markup.

/** Unpacks the report that the page carries. */
async function unpackReport() {
    const text = atob(document.getElementById("report").textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Report(JSON.parse(await new Response(stream).text()));
}

class Report {
    constructor(packed) {
        this.notes = packed.notes;
        this.states = packed.states.map(describeState);
        this.names = packed.names;
        if (packed.hasSumOfRoots) this.names[0] = "all roots";
        this.searchedNames = packed.names.map(searched);
        this.proposals = packed.proposals;
        this.homes = new Set(packed.homes);
        // The largest files, the largest first.
        this.files = packed.fileNames.map((name, index) => ({
            name, searched: searched(name), directory: packed.fileDirectories[index],
            size: packed.fileSizes[index], state: packed.fileStates[index],
        }));
        this.isExcluded = packed.isExcluded;
        const remarks = ["", "not read to its end", "not measured: another filesystem"];
        this.remarks = packed.remarks.map((number) => remarks[number]);
        this.sharedBelow = packed.sharedBelow;
        // Whether the first directory is only the sum of several roots.
        this.hasSumOfRoots = packed.hasSumOfRoots;
        this.count = packed.names.length;
        this.depth = packed.depths;
        this.#findParents();
        this.#placePieces(packed);
    }

    #findParents() {
        this.parent = new Int32Array(this.count);
        this.end = new Int32Array(this.count);
        const open = [];
        for (let node = 0; node < this.count; node += 1) {
            while (open.length > this.depth[node]) this.end[open.pop()] = node;
            this.parent[node] = open.length > 0 ? open[open.length - 1] : -1;
            open.push(node);
        }
        for (const node of open) this.end[node] = this.count;
    }

    /** A piece is the part of a directory's own bytes that is in one state. */
    #placePieces(packed) {
        this.firstPiece = new Int32Array(this.count + 1);
        for (let node = 0; node < this.count; node += 1) {
            this.firstPiece[node + 1] = this.firstPiece[node] + packed.pieceCounts[node];
        }
        this.pieceState = packed.pieceStates;
        this.pieceSize = packed.pieceSizes;
        this.columns = packed.columns;
    }

    /** The directories in a directory, in no order. */
    children(node) {
        const found = [];
        for (let child = node + 1; child < this.end[node]; child = this.end[child]) {
            found.push(child);
        }
        return found;
    }

    /** A directory and those above it, the outermost first. */
    lineage(node) {
        const line = [];
        for (let at = node; at >= 0; at = this.parent[at]) line.unshift(at);
        return line;
    }

    /** The words of a path: the root and names below it; none for the sum of several roots. */
    #pathNames(node) {
        const line = this.lineage(node).slice(this.hasSumOfRoots ? 1 : 0);
        return line.map((at) => this.names[at]);
    }

    filePath(file) {
        return joined([this.path(file.directory), file.name]);
    }

    path(node) {
        const names = this.#pathNames(node);
        return names.length > 0 ? joined(names) : "all roots";
    }

    /** A path as a word that bash, zsh and ksh read back to the same bytes; null for a sum of roots. */
    shellWord(node) {
        const names = this.#pathNames(node);
        return names.length > 0 ? joined(names.map(shellQuoted)) : null;
    }

    /** The outermost directory from which this one has its exclusion. */
    decidingDirectory(node) {
        let at = node;
        while (this.parent[at] >= 0 && this.isExcluded[this.parent[at]]) at = this.parent[at];
        return at;
    }
}

/** What a filter is compared with: a name as it is printed, and as it is. */
function searched(name) {
    const plain = name.startsWith("$'") ? unescaped(name.slice(2, -1)) : "";
    return (name + "\n" + plain).toLowerCase();
}

/** Reads a name that is written as by `ls`; what is not UTF-8 becomes a replacement character. */
function unescaped(text) {
    const letters = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
    const bytes = [];
    for (const [, octal, letter, other] of text.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)) {
        if (octal !== undefined) bytes.push(parseInt(octal, 8));
        else if (letter in letters) bytes.push(letters[letter]);
        else bytes.push(...new TextEncoder().encode(letter ?? other));
    }
    return new TextDecoder().decode(new Uint8Array(bytes));
}

function joined(parts) {
    return parts.reduce((path, part) => path + (path.endsWith("/") ? "" : "/") + part);
}

/** Quotes a name that is printed as by `ls`, which writes what is not plain text as `$'…'`. */
function shellQuoted(name) {
    if (name.startsWith("$'") || name === "''") return name;
    if (/^[A-Za-z0-9/._+=:@%,-]+$/.test(name)) return name;
    return "'" + name.replaceAll("'", "'\\''") + "'";
}

/** Adds the class and the words of a state: what happens to bytes in it. */
function describeState(state) {
    const words = [state.excluded === null ? "backed up" : "excluded: " + state.excluded];
    if (state.purgeable !== null) words.push("purgeable: " + state.purgeable);
    if (state.protection !== null) words.push("protected: " + state.protection);
    const colour = state.purgeable !== null ? "purgeable" : state.excluded !== null ? "excluded" : "kept";
    return { ...state, colour, text: words.join("; ") };
}

function sizeText(bytes) {
    if (bytes < 1024) return bytes + " B";
    let amount = bytes;
    for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
        amount /= 1024;
        if (amount < 1023.95) return amount.toFixed(1) + " " + unit;
    }
    return (amount / 1024).toFixed(1) + " PiB";
}

function counted(count, noun, plural) {
    return count.toLocaleString("en") + " " + (count === 1 ? noun : plural);
}

function percentText(part, whole) {
    if (whole === 0) return "0 %";
    const percent = (100 * part) / whole;
    return percent > 0 && percent < 1 ? "<1 %" : Math.floor(percent) + " %";
}
