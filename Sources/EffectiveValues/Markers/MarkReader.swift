import ResourceValues
import StoragePolicy
import SystemPackage

/// A reader of native marks and of the foreign marks chosen by a set of markers.
///
/// Foreign attributes are found without an extra call: one `listxattr(2)` lists all names. The
/// nodump flag costs a `statx(2)` unless the status is known, and each tag file costs a few calls
/// per directory. What the rules for re-creation say costs one look-up of the name of each directory;
/// one that a rule fits, or that git ignores, is walked for work trees in it, and git is asked once for
/// each work tree around. A foreign mark that cannot be read is ignored, so that the item is backed
/// up, and its errno is in ``ForeignMarks/unreadable``.
public struct MarkReader: Sendable {
    private let markers: Set<Marker>
    private let attributes: [(marker: Marker, names: [ExtendedAttributeName])]
    private let tagFiles: [TagFile]
    private let derived: DerivedMarkReader?
    private let readsAttributesOfFilesOnly: Bool
    private let readsAttributesOfDirectoriesOnly: Bool

    /// Creates a reader of the marks that are stored with items, and so of none for
    /// ``Marker/rules`` and ``Marker/gitignore``. Native marks are always read: they decide about
    /// more than exclusion.
    public init(_ markers: Set<Marker> = Marker.defaultSet) { self.init(markers, nil) }

    init(_ markers: Set<Marker>, _ derived: DerivedMarkReader?) {
        self.markers = markers
        self.derived = derived
        let known: [(marker: Marker, names: [ExtendedAttributeName])] = [
            (.apple, ForeignAttribute.apple), (.duplicati, [ForeignAttribute.duplicati]),
            (.duplicacy, [ForeignAttribute.duplicacy]),
        ]
        attributes = known.filter { markers.contains($0.marker) }
        tagFiles = TagFile.all.filter { markers.contains($0.marker) }
        readsAttributesOfFilesOnly = markers.isDisjoint(with: [.nodump, .gitignore])
        readsAttributesOfDirectoriesOnly =
            readsAttributesOfFilesOnly && tagFiles.isEmpty && derived == nil
    }

    /// Creates a reader of all marks, with the rules of this package and those of the user in
    /// `$XDG_CONFIG_HOME/resval/rules.tsv`, if ``Marker/rules`` is among the markers.
    ///
    /// - Throws: ``FileError`` when that file cannot be read or is not to be trusted, with the number
    ///   of a line that is not valid.
    public static func current(
        _ markers: Set<Marker> = Marker.defaultSet
    ) throws(FileError) -> MarkReader {
        guard markers.contains(.rules) || markers.contains(.gitignore) else {
            return MarkReader(markers)
        }
        return MarkReader(markers, try .current(markers))
    }

    /// The work trees that are asked about what the rules fit; nil where no rules apply.
    package var workTrees: WorkTrees? { derived?.workTrees }

    /// Whether all marks of items of a kind are extended attributes, so that an item without
    /// attributes has no marks.
    public func readsAttributesOnly(of kind: FileKind) -> Bool {
        kind == .directory || kind == .unknown
            ? readsAttributesOfDirectoriesOnly : readsAttributesOfFilesOnly
    }

    /// Returns the marks on an item.
    ///
    /// - Parameters:
    ///   - location: the item.
    ///   - kind: the item's kind; only regular files and directories have marks.
    ///   - status: the item's status, if already known.
    /// - Throws: `FileError`, as `marks()` does.
    public func marks(
        of location: borrowing some FileLocation & ~Copyable, kind: FileKind,
        status: FileStatus? = nil
    ) throws(FileError) -> ItemMarks {
        guard kind.canStoreUserAttributes || kind == .unknown else { return .none }
        var found = ItemMarks()
        if let listed = try location.listedMarks() {
            found.native = listed.marks
            if listed.otherNames != [] {
                if kind != .directory {
                    found.eviction = EvictionRecord(among: listed.otherNames ?? [])
                }
                read(listed.otherNames, of: location, &found.foreign)
            }
        }
        if markers.contains(.nodump) {
            found.foreign.read(.nodump) { () throws(Errno) in
                if let status { return status.isNodump }
                return try location.status().isNodump
            }
        }
        if kind == .directory {
            for tag in tagFiles {
                found.foreign.read(tag.marker) { foreign throws(Errno) in
                    guard let isValid = try tag.isValid(in: location) else { return }
                    if isValid {
                        foreign.excluding.insert(tag.marker)
                    } else {
                        foreign.uncertain[tag.marker] = "it does not begin with the signature"
                    }
                }
            }
        }
        if let derived, found.native.isExcludedFromBackup != false {
            derived.read(location, kind, status, into: &found.foreign)
        }
        return found
    }

    private func read(
        _ names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable,
        _ found: inout ForeignMarks
    ) {
        for attribute in attributes {
            found.read(attribute.marker) { () throws(Errno) in
                try ForeignAttribute.hasOne(of: attribute.names, among: names, at: location)
            }
        }
        guard markers.contains(.xdg) else { return }
        found.read(.xdg) { found throws(Errno) in
            switch try ForeignAttribute.xdgValue(among: names, of: location) {
            case .included?: found.including.insert(.xdg)
            case .excluded?: found.excluding.insert(.xdg)
            case .meaningless(let value)?:
                let text = NameEscaping.text(Array(value.prefix(64)))
                let quoted = text.hasSuffix("'") ? text : "'\(text)'"
                found.uncertain[.xdg] = "its value \(quoted) is neither true nor false"
            case nil: break
            }
        }
    }
}

extension ForeignMarks {
    /// Reads a mark, and notes why it cannot be read. An item that was removed has no mark.
    mutating func read(_ marker: Marker, _ body: (inout ForeignMarks) throws(Errno) -> Void) {
        do throws(Errno) {
            _ = try ifPresent { () throws(Errno) in try body(&self) }
        } catch {
            unreadable[marker] = error
        }
    }

    /// Reads a mark that excludes by its presence.
    fileprivate mutating func read(_ marker: Marker, ifPresent isPresent: () throws(Errno) -> Bool)
    {
        read(marker) { found throws(Errno) in
            if try isPresent() { found.excluding.insert(marker) }
        }
    }
}

/// All marks on one item, this package's and those of other programs.
public struct ItemMarks: Sendable, Hashable {
    /// This package's own marks.
    public var native: Marks
    /// The marks of other programs, limited to the chosen markers.
    public var foreign: ForeignMarks
    /// The record of an evicted file; nil on an ordinary item.
    public var eviction: EvictionRecord?

    /// Creates the marks of an item.
    public init(
        native: Marks = .none, foreign: ForeignMarks = .none, eviction: EvictionRecord? = nil
    ) {
        self.native = native
        self.foreign = foreign
        self.eviction = eviction
    }

    /// No marks.
    public static let none = ItemMarks()
}
