import CZlib
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import UsageReporting

/// A file with a report as a page for browsers: a map and a table, which need no network.
///
/// Nothing of a report is markup or script. It is compressed JSON in Base64, which the page's script
/// reads and shows as text only. The page's own policy forbids every request, and every script and
/// style but its own.
enum UsagePage {
    /// Writes the file at once; only its owner can read it.
    static func write(
        _ report: UsageReport, _ findings: PageFindings, to path: PathArgument
    ) throws(FileError) {
        let page = page(of: report, findings)
        if path.isDash { return StandardOutput.shared.write(page) }
        var file = try OutputFile(at: path.path)
        try file.write(page)
        try file.finish()
    }

    private static func page(of report: UsageReport, _ findings: PageFindings) -> [UInt8] {
        let tree = PageTree(report, findings)
        var line = JSONLine()
        line.add("notes", strings: notes(on: report, tree))
        tree.add(to: &line)
        line.add("proposals", objects: proposals(for: report, findings)) { proposal, line in
            line.add("meaning", proposal.meaning)
            line.add("command", proposal.command)
        }
        var packed: [UInt8] = []
        Base64.append(compressed(line.ended()), to: &packed)
        return filled(
            PackageResources.page_html,
            [
                "policy": Array(policy.utf8), "style": style, "script": script, "report": packed,
            ])
    }

    /// Returns what the numbers do not say.
    private static func notes(on report: UsageReport, _ tree: PageTree) -> [String] {
        var notes = ["measured \(FileTime.now.localText)"]
        if !report.problems.isEmpty {
            let items = counted(report.problems.count, "item")
            notes.append("\(items) could not be read: sizes are missing")
        }
        if report.countsClonesInFull {
            notes.append("files that share extents count in full (--exact counts them once)")
        }
        if report.freedIsAtMost {
            notes.append("less is freed where a snapshot or a clone elsewhere has shared extents")
        }
        let folded =
            report.directoryCount + (tree.hasSumOfRoots ? 1 : 0) - tree.directories.count
        if folded > 0 {
            notes.append(
                "\(counted(folded, "smaller directory counts", "smaller directories count")) "
                    + "in those above")
        }
        return notes
    }
}

extension UsagePage {
    private static let proposalLimit = 5
    private static let smallestProposal: Int64 = 1 << 20

    /// Returns what would help most: to exclude the largest directories that tools re-create, and to
    /// delete the caches that changed last the longest time ago.
    private static func proposals(
        for report: UsageReport, _ findings: PageFindings
    ) -> [(meaning: String, command: String)] {
        var recreated: [(directory: UsageDirectory, recreation: Recreation)] = []
        report.forEachDirectory { directory in
            guard directory.allocated >= smallestProposal else { return false }
            guard let recreation = findings.recreation(of: directory) else { return true }
            if directory.entryClass?.exclusion == nil { recreated.append((directory, recreation)) }
            return false
        }
        let environment = PolicyEnvironment.current()
        var caches: [(directory: UsageDirectory, changed: FileTime)] = []
        for location in environment.locations.locations where location.kind == .caches {
            for directory in report.directory(at: location.path)?.children ?? []
            where directory.allocated >= smallestProposal {
                guard case .purgeable = directory.entryClass?.purging,
                    let status = environment.localStatus(of: directory.path)
                else { continue }
                caches.append((directory, status.contentModificationTime))
            }
        }
        let largest = recreated.sorted { $0.directory.allocated > $1.directory.allocated }
        let oldest = caches.sorted { $0.changed.seconds < $1.changed.seconds }
        return largest.prefix(proposalLimit).map { directory, recreation in
            (
                "leaves \(sizeText(directory.allocated)) out of backups: \(recreation.proof)",
                "resval exclude \(directory.path.shellWord)"
            )
        }
            + oldest.prefix(proposalLimit).map { directory, changed in
                (
                    "deletes a cache of \(sizeText(directory.allocated)), last changed "
                        + "\(changed.localText.prefix(10))",
                    "resval-purge run --free \(directory.allocated >> 20)M --partial "
                        + directory.path.shellWord
                )
            }
    }
}

extension UsagePage {
    private static let style = PackageResources.page_css
    private static let script =
        PackageResources.report_js + PackageResources.view_js + PackageResources.patterns_js
        + PackageResources.squarify_js + PackageResources.treemap_js + PackageResources.table_js
        + PackageResources.page_js

    /// The page's policy, with the SHA-256 of the script and of the style, which
    /// `scripts/generate-page-policy` writes here, so that nothing need be hashed to write a page. A
    /// browser that finds another hash runs nothing, and names it.
    private static let policy = [
        "default-src 'none'",
        "script-src 'sha256-+0rnoffPB6iOPC8ypGOtho8QPkVDIxZL6rkRLmVJJuM='",
        "style-src 'sha256-nBxzxVRnOYAFBTfPcuh7GdL+ORbZLP/bDHqnlFrCcw8='",
        "base-uri 'none'", "form-action 'none'",
        // Nothing turns text into markup or script.
        "require-trusted-types-for 'script'", "trusted-types",
    ].joined(separator: "; ")
}

/// Returns bytes in zlib's format (RFC 1950).
private func compressed(_ bytes: [UInt8]) -> [UInt8] {
    var count = compressBound(uLong(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
        let result = compress(buffer.baseAddress, &count, bytes, uLong(bytes.count))
        precondition(result == Z_OK, "zlib has no memory")
        initialized = Int(count)
    }
}

/// Returns a template with each `{{name}}` replaced. What is put in is not searched again.
///
/// No package does this, since swift-mustache imports Foundation, which a program here does not link.
private func filled(_ template: [UInt8], _ values: [String: [UInt8]]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = template[...]
    while let start = rest.firstRange(of: "{{".utf8), let end = rest.firstRange(of: "}}".utf8) {
        let name = String(decoding: rest[start.upperBound..<end.lowerBound], as: UTF8.self)
        guard let value = values[name] else { preconditionFailure("\(name) has no value") }
        output += rest[..<start.lowerBound]
        output += value
        rest = rest[end.upperBound...]
    }
    return output + rest
}

struct PageTree: Sendable {
    /// What happens to bytes: each value is the reason in words.
    struct State: Sendable, Hashable {
        /// Why backups exclude them; nil for what is backed up.
        var excluded: String?
        /// Why they may be deleted when space is short; nil for what may not.
        var purgeable: String?
        /// Their protection class, and whether anything enforces it; nil for none.
        var protection: String?
    }

    /// A directory, with the sizes of what is in it but in no directory below.
    struct Directory: Sendable {
        /// The path of a root, else the name.
        let name: [UInt8]
        /// 0 for the first directory of the tree.
        let depth: Int
        /// Whether backups exclude what is in it.
        let isExcluded: Bool
        /// What the sizes do not say; nil for a directory that was read.
        let remark: Remark?
        /// The bytes on disk by what happens to them.
        let allocated: [State: Int64]
        /// The bytes of each titled column; below 0 where directories in it share files.
        let columns: [Int64]
        /// The bytes on disk that several directories in it share.
        let sharedBelow: Int64
    }

    enum Remark: Int, Sendable {
        /// The directory was not read to its end.
        case unread = 1
        /// It is a filesystem that was not measured.
        case foreignMount = 2
    }

    /// The directories, each after the one it is in and before the next beside it (preorder). If
    /// there are several roots, the first directory is only their sum.
    var directories: [Directory]
    /// The largest files, the largest first, each with the index of its directory.
    var files: [(file: PageFindings.LargeFile, directory: Int)] = []
    /// The indexes of the home and of the directories above it, of which nothing is proposed.
    var homes: [Int] = []
    var hasSumOfRoots: Bool
}

extension PageTree {
    /// Adds the tree to an object, as columns, which compress best.
    func add(to line: inout JSONLine) {
        let states = Set(directories.flatMap(\.allocated.keys))
            .union(files.map { State($0.file.value) }).sorted { $0.words < $1.words }
        line.add("states", objects: states) { state, line in
            line.add("excluded", state.excluded)
            line.add("purgeable", state.purgeable)
            line.add("protection", state.protection)
        }
        line.add("hasSumOfRoots", hasSumOfRoots)
        line.add("names", strings: directories.lazy.map { NameEscaping.text($0.name) })
        line.add("depths", numbers: directories.lazy.map(\.depth))
        line.add("isExcluded", numbers: directories.lazy.map { $0.isExcluded ? 1 : 0 })
        line.add("remarks", numbers: directories.lazy.map { $0.remark?.rawValue ?? 0 })
        line.add("columns", objects: UsageColumn.titled.enumerated()) { column, line in
            line.add("title", column.element.title)
            line.add("values", numbers: directories.lazy.map { $0.columns[column.offset] })
        }
        line.add("sharedBelow", numbers: directories.lazy.map(\.sharedBelow))
        let numbers = Dictionary(uniqueKeysWithValues: zip(states, states.indices))
        let pieces = directories.flatMap { directory in
            directory.allocated.map { (state: numbers[$0.key, default: 0], size: $0.value) }
                .sorted { $0.state < $1.state }
        }
        line.add("pieceCounts", numbers: directories.lazy.map(\.allocated.count))
        line.add("pieceStates", numbers: pieces.lazy.map(\.state))
        line.add("pieceSizes", numbers: pieces.lazy.map(\.size))
        line.add("fileNames", strings: files.lazy.map { NameEscaping.text($0.file.name) })
        line.add("fileDirectories", numbers: files.lazy.map(\.directory))
        line.add("fileSizes", numbers: files.lazy.map(\.file.allocated))
        line.add(
            "fileStates",
            numbers: files.lazy.map { numbers[State($0.file.value), default: 0] })
        line.add("homes", numbers: homes)
    }
}

extension PageTree.State {
    /// The order of states in the page.
    fileprivate var words: String {
        [excluded, purgeable, protection].map { $0 ?? "" }.joined(separator: "\0")
    }
}

extension PageTree {
    /// The most directories that a page has, so that it opens at once.
    static let directoryLimit = 100_000

    /// Creates the tree of a report. Beyond the limit, each of the smallest directories counts in the
    /// one above it.
    init(_ report: UsageReport, _ findings: PageFindings) {
        hasSumOfRoots = report.roots.count != 1
        directories = []
        var size = ShownSize(report, limit: Self.directoryLimit)
        let first = hasSumOfRoots ? report.total : report.roots[0]
        let home = currentBaseDirectories().home.flatMap { try? realPath(of: $0) }
        /// By the numbers of the directories.
        var indexes: [UInt32: Int] = [:]
        var open = [(directory: first, depth: 0, mayHoldHome: home != nil)]
        while let (directory, depth, mayHoldHome) = open.popLast() {
            let children = directory.children.filter { size.admits($0) }
            indexes[directory.number] = directories.count
            let holdsHome = mayHoldHome && home?.isHeld(by: directory.path) == true
            if holdsHome { homes.append(directories.count) }
            directories.append(Directory(directory, depth: depth, without: children))
            open += children.map { ($0, depth + 1, holdsHome) }
        }
        // Those in directories that are too small for the page are left out with them.
        files = findings.files.compactMap { file in
            indexes[file.directory].map { (file, $0) }
        }
    }
}

/// The size from which directories are shown. No directory is larger than the one it is in, so what is
/// shown is a tree.
private struct ShownSize {
    /// Larger ones are shown.
    private var limit: Int64 = -1
    /// How many are shown of those with exactly this size.
    private var remaining = 0

    init(_ report: UsageReport, limit: Int) {
        guard report.directoryCount > limit else { return }
        var sizes: [Int64] = []
        var open = report.roots
        while let directory = open.popLast() {
            sizes.append(directory.allocated)
            open += directory.children
        }
        sizes.sort(by: >)
        self.limit = sizes[limit]
        remaining = limit - (sizes.firstIndex(of: self.limit) ?? 0)
    }

    mutating func admits(_ directory: UsageDirectory) -> Bool {
        if directory.allocated == limit, remaining > 0 {
            remaining -= 1
            return true
        }
        return directory.allocated > limit
    }
}

extension PageTree.Directory {
    /// Creates a directory of a report, with the sizes of all but some of the directories in it.
    fileprivate init(
        _ directory: UsageDirectory, depth: Int, without children: [UsageDirectory]
    ) {
        func own(_ size: (UsageDirectory) -> Int64) -> Int64 {
            children.reduce(size(directory)) { $0.subtractingSaturating(size($1)) }
        }
        let reasons = PageTree.State(directory.entryClass)
        let excluded = own { $0.allocated(.excluded) }
        let purgeable = own { $0.allocated(.purgeable) }
        let both = own { $0.excluded } - excluded
        // Where the directory's own reason is another, items have marks of their own.
        let exclusion = reasons.excluded ?? "marks of single items"
        let purging = reasons.purgeable ?? "marks of single items"
        let protection = reasons.protection ?? "marks of single items"
        let sizes: [(PageTree.State, Int64)] = [
            (PageTree.State(), own { $0.allocated(.backedUp) }),
            (PageTree.State(protection: protection), own { $0.allocated(.protected) }),
            (PageTree.State(excluded: exclusion), excluded),
            (PageTree.State(excluded: exclusion, purgeable: purging), both),
            (PageTree.State(purgeable: purging), purgeable - both),
        ]
        self.init(
            name: directory.name, depth: depth, isExcluded: reasons.excluded != nil,
            remark: directory.isForeignMount ? .foreignMount : directory.wasRead ? nil : .unread,
            allocated: Dictionary(uniqueKeysWithValues: sizes.filter { $0.1 > 0 }),
            columns: UsageColumn.titled.map { own($0.sum) },
            sharedBelow: directory.sharedBelow)
    }
}

extension PageTree.State {
    /// Creates the reasons that a class gives; none for nil.
    fileprivate init(_ value: UsageClass?) {
        if let exclusion = value?.exclusion {
            let detail = exclusion.detail ?? ""
            excluded =
                Marker(rawValue: detail)?.meaning ?? StorageLocation.Kind(rawValue: detail)?.meaning
                ?? exclusion.name
        }
        if case .purgeable = value?.purging { purgeable = value?.purging.name }
        if let value, value.protection ?? .none != .none { protection = value.protectionWords }
    }
}
