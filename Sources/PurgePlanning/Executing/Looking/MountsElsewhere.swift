import EffectiveValues
import SystemCalls
import SystemPackage

/// What is mounted a second time, or is part of a mounted overlay, in any mount namespace.
struct MountsElsewhere: Sendable {
    /// Paths of what is mounted, or mounted over: a unit that is, or holds, one of them is kept.
    private let mounted: [[UInt8]]
    /// Paths of what is in use with all that is in it: a unit in one of them is kept, too.
    private let whole: [[UInt8]]

    static let none = MountsElsewhere(mounted: [], whole: [])

    private init(mounted: [[UInt8]], whole: [[UInt8]]) {
        self.mounted = mounted
        self.whole = whole
    }

    /// - Parameters:
    ///   - views: the mounts of all processes.
    ///   - own: the mounts this process sees.
    ///   - places: where units are looked for. What is mounted from deep inside them is in use as a whole,
    ///     unless it has the path there that it has here, as for a service that may write nothing else.
    init(_ views: [MountView], in own: MountTable, lookingIn places: [FilePath]) {
        let looked = places.compactMap { FilesystemPart($0, in: own) }
        var mounted: Set<FilesystemPart> = []
        var whole: Set<FilesystemPart> = []
        for view in views {
            mounted.formUnion(view.parts)
            whole.formUnion(view.layers)
            for (mountPoint, part) in view.mounts
            where !whole.contains(part) && !looked.contains(where: { $0.isIn(part) }) {
                if FilesystemPart(mountPoint, in: own) != part { whole.insert(part) }
            }
        }
        func paths(_ parts: Set<FilesystemPart>) -> [[UInt8]] {
            parts.flatMap { $0.paths(in: own) }.map(\.bytes)
        }
        self.init(mounted: paths(mounted), whole: paths(whole))
    }

    /// What keeps a unit.
    func reasonToKeep(_ path: [UInt8]) -> KeepReason? {
        let isUsed =
            mounted.contains { isHeld($0, by: path) }
            || whole.contains { isHeld($0, by: path) || isHeld(path, by: $0) }
        return isUsed ? .mountedElsewhere : nil
    }
}

/// The mounts that processes with one mount namespace and one root see.
struct MountView {
    /// What is mounted, by where.
    let mounts: [(FilePath, FilesystemPart)]
    /// What is mounted, or mounted over.
    let parts: Set<FilesystemPart>
    /// The directories of overlays.
    let layers: Set<FilesystemPart>
    /// Where servers and programs behind FUSE mounts answer for files, as this process names it.
    private let remoteMountPoints: [[UInt8]]
    /// Whether ``isRemote(_:)`` may be true.
    var hasRemoteMounts: Bool { !remoteMountPoints.isEmpty }

    /// - Parameters:
    ///   - table: the mounts.
    ///   - root: the processes' root, as this process names it; nil where that is out of reach.
    ///   - thread: the directory in `/proc` of a thread with that root.
    ///   - own: the mounts this process sees.
    init(_ table: MountTable, root: FilePath?, of thread: FileDescriptor, own: MountTable) {
        remoteMountPoints = table.remoteMountPoints.map {
            (root ?? "/").appending($0.components).bytes
        }
        mounts = table.mounts.map { ($0.mountPoint, FilesystemPart(of: $0)) }
        parts = Set(mounts.map(\.1)).union(
            table.mounts.compactMap { FilesystemPart(beneath: $0, in: table) })
        var layers: Set<FilesystemPart> = []
        for layer in table.mounts.flatMap(\.layers) where layer.isAbsolute {
            // They were named by whoever mounted the overlay: perhaps in this process's namespace.
            layers.formUnion(Self.parts(of: layer, table, root: root, "root", in: thread))
            layers.formUnion(Self.parts(of: layer, own, root: "/", "/", in: thread))
        }
        self.layers = layers
    }

    /// Whether a link of `/proc` leads to a file of a server, or of a program behind a FUSE mount, which
    /// perhaps never answers.
    ///
    /// - Parameter target: what the link holds.
    func isRemote(_ target: [UInt8]) -> Bool {
        remoteMountPoints.contains { isHeld(target, by: $0) }
    }

    /// A layer as it is named, and as what the name leads to.
    private static func parts(
        of layer: FilePath, _ table: MountTable, root: FilePath?, _ link: FilePath,
        in thread: FileDescriptor
    ) -> [FilesystemPart] {
        guard !table.isRemote(layer) else { return [] }
        var paths = [layer]
        if let root {
            do throws(Errno) {
                let directory = SharedDescriptor(
                    try openFile(in: thread, link, flags: [.reference, .directory]))
                let opened = SharedDescriptor(
                    try openReference(layer, inRoot: directory.descriptor))
                let target = try symbolicLinkTarget(
                    FilePath("/proc/self/fd/\(opened.descriptor.rawValue)"))
                if let real = path(target, below: root) { paths.append(real) }
            } catch {
                // It is not there by this name: where it is, is found in another namespace, or nowhere.
            }
        }
        return paths.compactMap { FilesystemPart($0, in: table) }
    }

    private static func path(_ path: FilePath, below root: FilePath) -> FilePath? {
        guard path.isAbsolute, path.isHeld(by: root) else { return nil }
        return FilePath("/").appending(path.components.dropFirst(root.components.count))
    }
}
