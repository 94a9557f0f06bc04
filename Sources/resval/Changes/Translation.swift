import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

/// The marks to write on an item, derived from the marks it has. Computed without I/O.
struct Translation: Sendable, Hashable {
    var writes: [ChangedMark] = []
    /// The kinds of marks from which ``writes`` are derived.
    var origins: Set<Marker> = []
    /// The contradiction between marks because of which nothing, or less, is written.
    var conflict: Conflict?

    struct Conflict: Sendable, Hashable {
        var excluding: Set<Marker>
        var including: Set<Marker>
        /// Whether the item's native mark decides, so that a warning suffices.
        var isSettled: Bool

        /// The contradiction in words, without a path.
        var sentence: String {
            PolicyIssue.conflict(excluding: excluding, including: including).sentence
        }
    }

    private init() {}

    /// Creates what `import` writes: the native mark with the meaning of the foreign marks.
    ///
    /// An existing native mark is left as it is, even when it is malformed or unreadable.
    init(importing markers: Set<Marker>, onto marks: ItemMarks) {
        let excluding = marks.foreign.excluding.intersection(markers)
        let including = marks.foreign.including.intersection(markers)
        switch marks.native[.isExcludedFromBackup] {
        case .value(.protection), .malformed, .unreadable:
            return
        case .value(.boolean(let value)):
            let opponents = value ? including : excluding
            guard !opponents.isEmpty else { return }
            conflict = Conflict(
                excluding: value ? [.native] : excluding,
                including: value ? including : [.native], isSettled: true)
        case .unset:
            if !excluding.isEmpty && !including.isEmpty {
                conflict = Conflict(
                    excluding: excluding, including: including, isSettled: false)
            } else if !excluding.isEmpty || !including.isEmpty {
                writes = [.key(MarkChange(.isExcludedFromBackup, to: .boolean(including.isEmpty)))]
                origins = excluding.union(including)
            }
        }
    }

    /// Creates what `export` writes: the foreign marks with the meaning of the native mark.
    ///
    /// Existing foreign marks, including unreadable ones, are left as they are.
    ///
    /// - Parameter kind: the item's kind. A directory gets no nodump flag, which most filesystems pass
    ///   on to what is made in it; what moves out keeps it.
    init(exporting markers: Set<Marker>, from marks: ItemMarks, on kind: FileKind) {
        guard let isExcluded = marks.native.isExcludedFromBackup else { return }
        let opponents = (isExcluded ? marks.foreign.including : marks.foreign.excluding)
            .intersection(markers)
        if !opponents.isEmpty {
            conflict = Conflict(
                excluding: isExcluded ? [.native] : opponents,
                including: isExcluded ? opponents : [.native], isSettled: false)
        }
        let present = marks.foreign.excluding.union(marks.foreign.including)
            .union(marks.foreign.unreadable.keys)
        let missing = markers.subtracting(present)
        if isExcluded {
            writes = ForeignMark.all.filter { mark in
                missing.contains(mark.marker) && !(mark == .nodump && kind == .directory)
            }.map { .foreign($0) }
        }
        if !writes.isEmpty { origins = [.native] }
    }
}

/// A mark of another program that `export` adds to an item.
struct ForeignMark: Sendable, Hashable {
    let marker: Marker
    /// The name of the extended attribute that stores the mark; nil for nodump.
    private let attribute: ExtendedAttributeName?
    let valueText: String
    /// The stored bytes; those of the text for nodump, which is a flag without a value.
    let bytes: [UInt8]

    /// Apple's exclusion attribute, as rsync and netatalk store it.
    static let apple = ForeignMark(
        marker: .apple, attribute: ForeignAttribute.apple.first, valueText: "set",
        bytes: appleExclusion)
    /// The attribute `user.xdg.robots.backup` with the value false. The value true is never written:
    /// programs that interpret it the wrong way round exclude such an item.
    static let xdg = ForeignMark(
        marker: .xdg, attribute: ForeignAttribute.xdg, valueText: "false",
        bytes: Array("false".utf8))
    static let nodump = ForeignMark(
        marker: .nodump, attribute: nil, valueText: "set", bytes: Array("set".utf8))

    static let all = [apple, xdg, nodump]
}

/// The value Apple's systems store: a binary property list of the string `com.apple.backupd`.
private let appleExclusion: [UInt8] = {
    let text = Array("com.apple.backupd".utf8)
    var bytes = Array("bplist00".utf8)
    // One object: an ASCII string (0x5F) whose length follows as a one-byte integer (0x10).
    bytes += [0x5F, 0x10, UInt8(text.count)] + text
    let tableOffset = UInt8(bytes.count)
    // The table of one-byte offsets: the only object follows the eight bytes of "bplist00".
    bytes += [8]
    // The trailer: sizes of offsets and references, number of objects, top object, table offset.
    bytes += [UInt8](repeating: 0, count: 6) + [1, 1]
    bytes += [UInt8](repeating: 0, count: 7) + [1]
    bytes += [UInt8](repeating: 0, count: 8)
    bytes += [UInt8](repeating: 0, count: 7) + [tableOffset]
    return bytes
}()

// All functions take an open file, so that they act on the very file that was inspected.

extension ForeignMark {
    func stored(on file: NamedDescriptor) throws(FileError) -> [UInt8]? {
        if let attribute { return try file.extendedAttribute(named: attribute) }
        return try file.fileStatus().isNodump ? bytes : nil
    }

    /// Stores the mark on an open file that does not have this kind of mark.
    ///
    /// - Throws: ``FileError``; `attributeExists` when another program has stored the attribute
    ///   since it was read.
    func store(on file: NamedDescriptor) throws(FileError) {
        if let attribute {
            return try file.setExtendedAttribute(named: attribute, to: bytes, if: .absent)
        }
        try changeNodump(to: true, file)
    }

    func remove(from file: NamedDescriptor) throws(FileError) {
        if let attribute {
            try file.removeExtendedAttribute(named: attribute)
        } else {
            try changeNodump(to: false, file)
        }
    }

    private func changeNodump(to isNodump: Bool, _ file: NamedDescriptor) throws(FileError) {
        try calls(on: file.pathForMessages, FileError.changingNodump) { () throws(Errno) in
            // ioctl(2) fails on descriptors opened with O_PATH.
            let opened = OwnedDescriptor(
                try reopenFile(file.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
            try setNodump(isNodump, of: opened.descriptor)
        }
        // Some filesystems accept inode flags without storing them.
        guard try file.fileStatus().isNodump == isNodump else {
            throw .changingNodump(.notSupported, file.pathForMessages)
        }
    }
}

extension FileError {
    fileprivate static func changingNodump(_ errno: Errno, _ path: FilePath?) -> FileError {
        switch errno {
        case .inappropriateIOCTLForDevice, .notSupported:
            FileError(
                code: .unsupportedFilesystem, message: "the filesystem has no nodump flag",
                path: path, errno: errno)
        default:
            FileError(errno, of: path)
        }
    }
}
