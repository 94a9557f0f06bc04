import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Reads the marks that a set of markers chooses.
///
/// Attributes cost no call more than native marks alone: one `listxattr(2)` names them all. The
/// nodump flag costs a `statx(2)` unless the status is known, and each tag file a few calls for each
/// directory. What of a foreign mark cannot be read does not count: then the item is backed up.
public struct MarkReader: Sendable {
    private let readsAttributes: Bool
    private let markers: Set<Marker>
    private let tagFiles: [TagFile]

    /// Creates a reader. Native marks are always read, since not only exclusion depends on them.
    public init(_ markers: Set<Marker> = Marker.defaultSet) {
        self.markers = markers
        readsAttributes = markers.contains(.apple) || markers.contains(.xdg)
        tagFiles = TagFile.all.filter { markers.contains($0.marker) }
    }

    /// The marks on an item.
    ///
    /// - Parameters:
    ///   - location: the item.
    ///   - kind: the item's kind; only regular files and directories have marks.
    ///   - status: the item's status, where it is known already.
    /// - Throws: `FileError`, as `marks()` does.
    public func marks(
        of location: borrowing some FileLocation & ~Copyable, kind: FileKind,
        status: FileStatus? = nil
    ) throws(FileError) -> ItemMarks {
        guard kind.canStoreUserAttributes || kind == .unknown else { return .none }
        var found = ItemMarks()
        if readsAttributes {
            let listed = try location.listedMarks()
            found.native = listed.marks
            if listed.otherNames != [] { read(listed.otherNames, of: location, &found.foreign) }
        } else {
            found.native = try location.marks()
        }
        if markers.contains(.nodump), isNodump(location, status) {
            found.foreign.excluding.insert(.nodump)
        }
        if kind == .directory {
            for tag in tagFiles where tag.isPresent(in: location) {
                found.foreign.excluding.insert(tag.marker)
            }
        }
        return found
    }

    private func read(
        _ names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable,
        _ found: inout ForeignMarks
    ) {
        if markers.contains(.apple), ForeignAttribute.isAppleExclusion(among: names, of: location) {
            found.excluding.insert(.apple)
        }
        guard markers.contains(.xdg) else { return }
        switch ForeignAttribute.xdgValue(among: names, of: location) {
        case true?: found.including.insert(.xdg)
        case false?: found.excluding.insert(.xdg)
        case nil: break
        }
    }

    private func isNodump(
        _ location: borrowing some FileLocation & ~Copyable, _ known: FileStatus?
    ) -> Bool {
        if let known { return known.isNodump }
        do throws(Errno) {
            return try location.status().isNodump
        } catch {
            return false
        }
    }
}
