import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A reader of native marks and of the foreign marks chosen by a set of markers.
///
/// Foreign attributes are found without an extra call: one `listxattr(2)` lists all names. The
/// nodump flag costs a `statx(2)` unless the status is known, and each tag file costs a few calls
/// per directory. A foreign mark that cannot be read is ignored, so that the item is backed up, and
/// its errno is in ``ForeignMarks/unreadable``.
public struct MarkReader: Sendable {
    /// Whether all marks are extended attributes, so that an item without attributes has no marks.
    public let readsAttributesOnly: Bool
    private let markers: Set<Marker>
    private let tagFiles: [TagFile]

    /// Creates a reader. Native marks are always read: they decide about more than exclusion.
    public init(_ markers: Set<Marker> = Marker.defaultSet) {
        self.markers = markers
        tagFiles = TagFile.all.filter { markers.contains($0.marker) }
        readsAttributesOnly = tagFiles.isEmpty && !markers.contains(.nodump)
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
        let listed = try location.listedMarks()
        found.native = listed.marks
        if listed.otherNames != [] {
            if kind != .directory {
                found.eviction = EvictionRecord(among: listed.otherNames ?? [])
            }
            read(listed.otherNames, of: location, &found.foreign)
        }
        if markers.contains(.nodump) {
            look(for: .nodump, &found.foreign) { () throws(Errno) in
                if let status { return status.isNodump }
                return try location.status().isNodump
            }
        }
        if kind == .directory {
            for tag in tagFiles {
                look(for: tag.marker, &found.foreign) { () throws(Errno) in
                    try tag.isPresent(in: location)
                }
            }
        }
        return found
    }

    private func read(
        _ names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable,
        _ found: inout ForeignMarks
    ) {
        if markers.contains(.apple) {
            look(for: .apple, &found) { () throws(Errno) in
                try ForeignAttribute.isAppleExclusion(among: names, of: location)
            }
        }
        guard markers.contains(.xdg) else { return }
        do throws(Errno) {
            switch try ForeignAttribute.xdgValue(among: names, of: location) {
            case true?: found.including.insert(.xdg)
            case false?: found.excluding.insert(.xdg)
            case nil: break
            }
        } catch {
            found.unreadable[.xdg] = error
        }
    }

    /// Records a mark that excludes by its presence. An item that was removed has no mark.
    private func look(
        for marker: Marker, _ found: inout ForeignMarks, _ isPresent: () throws(Errno) -> Bool
    ) {
        do throws(Errno) {
            if try isPresent() { found.excluding.insert(marker) }
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            found.unreadable[marker] = error
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
