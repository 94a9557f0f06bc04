import EffectiveValues
import SystemCalls
import SystemPackage

/// What is mounted a second time, or is part of a mounted overlay, in any mount namespace.
struct MountsElsewhere: Sendable {
    /// The paths of mount sources and of what is mounted over: a unit that is or contains one is
    /// kept.
    private let mounted: [[UInt8]]
    /// The paths of what is in use with everything below: a unit below one of them is kept, too.
    private let whole: [[UInt8]]
    /// Rejects most paths that contain none of ``mounted``.
    private let filter: NameFilter
    /// The names of directories of overlays that are not found at their paths: a unit that has,
    /// contains or is below such a name is kept.
    private let layerNames: Set<[UInt8]>
    /// Whether an overlay is mounted that takes changes.
    private let takesChanges: Bool

    static let none = MountsElsewhere(
        mounted: [], whole: [], layerNames: [], takesChanges: false)

    private init(
        mounted: [[UInt8]], whole: [[UInt8]], layerNames: Set<[UInt8]>, takesChanges: Bool
    ) {
        self.mounted = mounted
        self.whole = whole
        self.layerNames = layerNames
        self.takesChanges = takesChanges
        let slash = UInt8(ascii: "/")
        filter = NameFilter(
            mounted.flatMap { path in
                path.indices.filter { path[$0] == slash }.map { Array(path[..<max($0, 1)]) } + [
                    path
                ]
            })
    }

    /// - Parameters:
    ///   - views: the mounts of all processes.
    ///   - own: the mounts this process sees.
    ///   - places: the directories that are searched. A mount whose source contains none of them
    ///     is in use with everything below, unless it has the same path there as here, as in the
    ///     sandbox of a service that may write to certain directories only.
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
        let lost = Set(views.flatMap(\.namedLayers)).subtracting(views.flatMap(\.foundLayers))
        let names = lost.map { $0.path.lexicallyNormalized().lastComponent }
        // A layer without a name, such as `.`, may be anywhere.
        let isAnywhere = names.contains { $0?.kind != .regular }
        self.init(
            mounted: paths(mounted), whole: isAnywhere ? [[UInt8(ascii: "/")]] : paths(whole),
            layerNames: Set(names.compactMap { $0.map { FilePath(root: nil, [$0]).bytes } }),
            takesChanges: views.contains(where: \.takesChanges))
    }

    /// Returns the reason to keep a unit; nil when nothing in it is mounted elsewhere.
    ///
    /// - Parameter names: those of its directories, where ``mayBeOfOverlay(_:_:)`` was not asked.
    func reasonToKeep(_ path: [UInt8], holding names: Set<[UInt8]> = []) -> KeepReason? {
        let isUsed =
            path.withUnsafeBytes { filter.mayContain($0) }
            && mounted.contains { isHeld($0, by: path) }
            || whole.contains { isHeld($0, by: path) || isHeld(path, by: $0) }
            || !layerNames.isEmpty
                && (!layerNames.isDisjoint(with: names)
                    || path.split(separator: UInt8(ascii: "/"))
                        .contains { layerNames.contains(Array($0)) })
        return isUsed ? .mountedElsewhere : nil
    }

    /// Whether an item may be a directory of an overlay not found at its path, or lead there, or
    /// is what overlays make in `workdir`: a directory `work` without permissions.
    func mayBeOfOverlay(_ name: UnsafeRawBufferPointer, _ status: FileStatus) -> Bool {
        guard status.kind != .regularFile else { return false }
        return takesChanges && status.permissions == 0 && name.elementsEqual("work".utf8)
            || !layerNames.isEmpty && layerNames.contains(Array(name))
    }
}

/// A directory of an overlay, as its mount options name it.
struct OverlayLayer: Hashable {
    /// The device number of the overlay, the same in all mount namespaces.
    let device: UInt64
    let path: FilePath
}

/// The mounts seen by processes with the same mount namespace and root.
struct MountView {
    /// The mounted parts of filesystems, with their mount points.
    let mounts: [(FilePath, FilesystemPart)]
    /// What is mounted, and what is mounted over.
    let parts: Set<FilesystemPart>
    let layers: Set<FilesystemPart>
    /// The directories that overlays show.
    let namedLayers: [OverlayLayer]
    /// Those that exist at their paths, there or here. Others have a relative path, or another one
    /// since a directory was renamed.
    let foundLayers: Set<OverlayLayer>
    /// Whether an overlay takes changes.
    let takesChanges: Bool
    /// The mount points of remote and FUSE filesystems, as paths of this process.
    private let remoteMountPoints: [[UInt8]]
    /// Whether ``isRemote(_:)`` can return true.
    var hasRemoteMounts: Bool { !remoteMountPoints.isEmpty }

    /// - Parameters:
    ///   - table: the mounts.
    ///   - root: the root directory of the processes, as a path of this process; nil when it
    ///     cannot be read.
    ///   - own: the mounts this process sees.
    ///   - openRoot: opens the root directory of the processes.
    init(
        _ table: MountTable, root: FilePath?, own: MountTable,
        _ openRoot: () throws(Errno) -> SharedDescriptor
    ) {
        remoteMountPoints = table.remoteMountPoints.map {
            (root ?? "/").appending($0.components).bytes
        }
        mounts = table.mounts.map { ($0.mountPoint, FilesystemPart(of: $0)) }
        parts = Set(mounts.map(\.1)).union(
            table.mounts.compactMap { FilesystemPart(beneath: $0, in: table) })
        var layers: Set<FilesystemPart> = []
        var found: Set<OverlayLayer> = []
        for mount in table.mounts {
            for path in mount.layers + mount.workDirectories where path.isAbsolute {
                // The paths are those of the process that mounted the overlay, perhaps in this
                // process's namespace.
                let there = Self.parts(of: path, table, root: root, openRoot)
                let here = Self.parts(of: path, own, root: "/") { () throws(Errno) in
                    SharedDescriptor(try openDirectoryReference("/"))
                }
                layers.formUnion(there.parts + here.parts)
                if there.exists || here.exists {
                    found.insert(OverlayLayer(device: mount.device, path: path))
                }
            }
        }
        self.layers = layers
        foundLayers = found
        namedLayers = table.mounts.flatMap { mount in
            mount.layers.map { OverlayLayer(device: mount.device, path: $0) }
        }
        takesChanges = table.mounts.contains { !$0.workDirectories.isEmpty }
    }

    /// Whether a symbolic link of `/proc` leads to a remote or FUSE filesystem, which may never
    /// answer.
    ///
    /// - Parameter target: the target of the link.
    func isRemote(_ target: [UInt8]) -> Bool {
        remoteMountPoints.contains { isHeld(target, by: $0) }
    }

    /// Returns a layer by its path as given, and by the real path, and whether it exists. One that
    /// this process may not reach, or not without a server, counts as existing.
    private static func parts(
        of layer: FilePath, _ table: MountTable, root: FilePath?,
        _ openRoot: () throws(Errno) -> SharedDescriptor
    ) -> (parts: [FilesystemPart], exists: Bool) {
        guard !table.isRemote(layer) else { return ([], true) }
        var paths = [layer]
        var exists = false
        if let root {
            do throws(Errno) {
                let directory = try openRoot()
                let opened = try openReference(layer, inRoot: directory.descriptor)
                exists = true
                let target = try SystemCalls.realPath(ofOpen: opened.descriptor)
                if let real = path(target, below: root) { paths.append(real) }
            } catch .permissionDenied {
                exists = true
            } catch {
                // The path does not exist here: the layer is found in another namespace, or not at
                // all.
            }
        }
        return (paths.compactMap { FilesystemPart($0, in: table) }, exists)
    }

    private static func path(_ path: FilePath, below root: FilePath) -> FilePath? {
        guard path.isAbsolute, path.isHeld(by: root) else { return nil }
        return FilePath("/").appending(path.components.dropFirst(root.components.count))
    }
}
