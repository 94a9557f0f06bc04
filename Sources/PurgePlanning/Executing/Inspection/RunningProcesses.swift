import EffectiveValues
import SystemCalls
import SystemPackage

/// An inspection of the threads of all processes through `/proc`, and of what they use.
///
/// Root sees everything. Other users see their own processes, except those that hide, such as a key
/// agent, and only the mounts of the rest. A process whose descriptors cannot be read does not keep
/// a unit by them; a write lease detects files that it opened before the unit was examined.
final class RunningProcesses {
    private let places: [FilePath]
    private var known: [ViewKey: MountView] = [:]
    private var own = MountTable(mountinfo: [])
    /// The mountinfo text from which ``own`` was made.
    private var ownBytes: [UInt8] = []
    private var mounts = MountsElsewhere.none
    private var lookedAt: Duration?

    /// - Parameter places: the directories that are searched.
    init(lookingIn places: [FilePath]) { self.places = places }

    /// Returns what is mounted elsewhere, at most 50 ms old.
    ///
    /// Thousands of single files are checked in a row, so that they share the result.
    func recentMounts() throws(KeepReason) -> MountsElsewhere {
        if let lookedAt, timeSinceBoot() - lookedAt < .milliseconds(50) { return mounts }
        _ = try look(for: [])
        return mounts
    }

    /// Looks once for everything that uses any of several units.
    ///
    /// - Parameter units: what is in the units, each with the path it has now.
    /// - Returns: for each unit, `processInside` when a thread has its working directory, its root
    ///   or an open directory in it, `inUse` when one has a file of it open, `mountedElsewhere` when
    ///   something of it is mounted a second time; nil when nothing uses it. `untestable` for all
    ///   when `/proc` cannot be read even for this process.
    func reasonsToKeep(_ units: [(contents: UnitContents, path: [UInt8])]) -> [KeepReason?] {
        do throws(KeepReason) {
            var used: Set<FileIdentity> = []
            if units.contains(where: { !$0.contents.directories.isEmpty }) {
                // A file was leased when its unit was examined: a process that was told of the
                // rename may have opened it since.
                used = try look(
                    for: units.reduce(into: []) {
                        $0.formUnion($1.contents.directories)
                        $0.formUnion($1.contents.files)
                    })
            } else {
                // For a file by itself, the lease that is still held is a better test.
                _ = try recentMounts()
            }
            return units.map { contents, path in
                if !used.isDisjoint(with: contents.directories) { return .processInside }
                return used.isDisjoint(with: contents.files)
                    ? mounts.reasonToKeep(path, holding: contents.names) : .inUse
            }
        } catch {
            return units.map { _ in error }
        }
    }

    /// Looks at all threads and their mounts.
    ///
    /// - Returns: those of the items that a thread uses.
    private func look(
        for items: Set<FileIdentity>
    ) throws(KeepReason) -> Set<FileIdentity> {
        let look = try inspect { () throws(Errno) in
            let processes = OwnedDescriptor(
                try openFile(FilePath("/proc"), flags: [.readOnly, .directory]))
            defer { withExtendedLifetime(processes) {} }
            let descriptor = processes.descriptor
            _ = try identity("self/cwd", in: descriptor)
            _ = try identity("self/fd", in: descriptor)
            let bytes = try contents("self/mountinfo", in: descriptor)
            if bytes != ownBytes {
                own = MountTable(mountinfo: bytes)
                ownBytes = bytes
            }
            var look = TaskLook(items, own, known)
            try forEachNumber(inOpen: descriptor) { process, _ in
                look.visit(process: process, in: descriptor)
                return true
            }
            for mount in own.mounts where mount.isMountNamespace && effectiveUser() == 0 {
                look.visit(namespaceHeldBy: mount.mountPoint, in: descriptor)
            }
            return look
        }
        if let shortage = look.shortage { throw .untestable(shortage) }
        if look.hasNewViews || look.views.count != known.count {
            mounts = MountsElsewhere(Array(look.views.values), in: own, lookingIn: places)
            known = look.views
        }
        lookedAt = timeSinceBoot()
        return look.used
    }
}

private struct TaskLook {
    private let items: Set<FileIdentity>
    private let own: MountTable
    private let known: [ViewKey: MountView]
    private(set) var views: [ViewKey: MountView] = [:]
    private(set) var hasNewViews = false
    private var namespaces: [NamespaceKey: MountView] = [:]
    private(set) var used: Set<FileIdentity> = []
    /// The error that kept a thread from being inspected although it may still run.
    private(set) var shortage: Errno?
    /// The tid of the last thread that was inspected completely.
    private var last: Int32?

    init(
        _ items: Set<FileIdentity>, _ own: MountTable, _ known: [ViewKey: MountView]
    ) {
        self.items = items
        self.own = own
        self.known = known
    }

    /// Inspects the threads of a process, except those that share everything with the thread
    /// before, as kernel threads and most threads of a process do: threads that share directories
    /// also share the mount namespace.
    ///
    /// All threads are needed: one may have unshared its directories or its descriptors, and the
    /// first may have ended before the others.
    mutating func visit(process: [UInt8], in processes: FileDescriptor) {
        do throws(Errno) {
            let threads = OwnedDescriptor(
                try openFile(
                    in: processes, FilePath(bytes: process + Array("/task".utf8)),
                    flags: [.readOnly, .directory]))
            defer { withExtendedLifetime(threads) {} }
            let descriptor = threads.descriptor
            try forEachNumber(inOpen: descriptor) { name, thread in
                // When the comparison fails, the thread is inspected.
                if let last, (try? shareFilesAndDirectories(last, thread)) == true { return true }
                let seen = look(at: name, in: descriptor)
                if seen == .everything { last = thread }
                return seen != .mounts
            }
        } catch {
            // Otherwise the process ended.
            note(error)
        }
    }

    private mutating func note(_ error: Errno) {
        let shortages: [Errno] = [
            .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .badFileDescriptor,
        ]
        if shortages.contains(error) { shortage = error }
    }

    private enum Seen {
        /// Everything the thread uses.
        case everything
        /// Only its mounts: the thread belongs to another user.
        case mounts
        /// Nothing: the thread ended or is ending.
        case nothing
    }

    private mutating func look(at name: [UInt8], in threads: FileDescriptor) -> Seen {
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openFile(in: threads, FilePath(bytes: name), flags: [.reference, .directory]))
            defer { withExtendedLifetime(opened) {} }
            let thread = opened.descriptor
            let root: FilePath?
            do throws(Errno) {
                root = try target(of: rootName, in: thread)
            } catch .permissionDenied {
                root = nil
            }
            let view = try view(of: thread, root)
            guard root != nil else { return .mounts }
            if items.isEmpty { return .everything }
            note(rootName, in: thread, view)
            note(workingName, in: thread, view)
            let descriptors = OwnedDescriptor(
                try openFile(in: thread, descriptorsName, flags: [.readOnly, .directory]))
            defer { withExtendedLifetime(descriptors) {} }
            let links = descriptors.descriptor
            try forEachEntry(inOpen: links) { name, _ in
                note(FilePath(bytes: name), in: links, view)
                return true
            }
            return .everything
        } catch {
            note(error)
            return .nothing
        }
    }

    /// Notes the target of a symbolic link of `/proc`, if it is one of the items. Remote targets are not
    /// followed: the items are local.
    private mutating func note(_ link: FilePath, in directory: FileDescriptor, _ view: MountView) {
        do throws(Errno) {
            if view.hasRemoteMounts, view.isRemote(try target(of: link, in: directory).bytes) {
                return
            }
            let target = try identity(link, in: directory)
            if items.contains(target) { used.insert(target) }
        } catch {
            // The descriptor was closed, the process ended, or it belongs to another user.
        }
    }

    /// Returns the mounts a thread sees; read once for each namespace and root.
    private mutating func view(
        of thread: FileDescriptor, _ root: FilePath?
    ) throws(Errno) -> MountView {
        var namespace: NamespaceKey?
        if let root {
            namespace = NamespaceKey(
                identity: try identity(namespaceName, in: thread), root: root.bytes)
        }
        if let namespace, let view = namespaces[namespace] { return view }
        let key = ViewKey(mountinfo: try contents("mountinfo", in: thread), root: root?.bytes)
        let view = view(key, root) { () throws(Errno) in
            SharedDescriptor(try openFile(in: thread, rootName, flags: [.reference, .directory]))
        }
        if let namespace { namespaces[namespace] = view }
        return view
    }

    private mutating func view(
        _ key: ViewKey, _ root: FilePath?, _ openRoot: () throws(Errno) -> SharedDescriptor
    ) -> MountView {
        let seen = views[key] ?? known[key]
        let view =
            seen
            ?? MountView(MountTable(mountinfo: key.mountinfo), root: root, own: own, openRoot)
        hasNewViews = hasNewViews || seen == nil
        views[key] = view
        return view
    }

    /// Adds the mounts of a namespace that a file keeps when no process is in it, as
    /// `unshare --mount=FILE` and snapd make it. Only root can enter one; others know no more of it than
    /// of the processes of others.
    mutating func visit(namespaceHeldBy file: FilePath, in processes: FileDescriptor) {
        guard let (mountinfo, root) = Self.enter(file, processes) else { return }
        _ = view(ViewKey(mountinfo: mountinfo, root: []), "/") { root }
    }

    /// Reads the mounts of a namespace, and opens its root, on a thread that ends with it.
    private static func enter(
        _ file: FilePath, _ processes: FileDescriptor
    ) -> (mountinfo: [UInt8], root: SharedDescriptor)? {
        let found = Monitor<(mountinfo: [UInt8], root: SharedDescriptor)?>(nil)
        startThread {
            do throws(Errno) {
                let namespace = OwnedDescriptor(try openFile(file, flags: .readOnly))
                try separateWorkingDirectory()
                try enterMountNamespace(namespace.descriptor)
                let root = SharedDescriptor(try openDirectoryReference("/"))
                let bytes = try contents("thread-self/mountinfo", in: processes)
                found.withLock { $0 = (bytes, root) }
            } catch {
                // Not permitted here, or the namespace is gone.
            }
        }?.join()
        return found.withLock { $0 }
    }

    private struct NamespaceKey: Hashable {
        let identity: FileIdentity
        let root: [UInt8]
    }
}

private struct ViewKey: Hashable {
    let mountinfo: [UInt8]
    /// The path of the root directory; nil when it cannot be read, empty for a namespace that a file
    /// keeps.
    let root: [UInt8]?
}

// Created once: a pass over all processes uses them thousands of times.
private let rootName: FilePath = "root"
private let workingName: FilePath = "cwd"
private let descriptorsName: FilePath = "fd"
private let namespaceName: FilePath = "ns/mnt"

/// Returns the identity of a `/proc` link's target, without waiting for a remote filesystem.
private func identity(
    _ link: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileIdentity {
    try link.withPointer { link throws(Errno) in
        let target = CallTarget(directory: directory.rawValue, path: link, flags: 0)
        return try readStatus(target, atHand: true).identity
    }
}

private func target(of link: FilePath, in directory: FileDescriptor) throws(Errno) -> FilePath {
    try symbolicLinkTarget(DirectoryEntryLocation(directory: directory, name: link))
}

private func contents(_ name: FilePath, in directory: FileDescriptor) throws(Errno) -> [UInt8] {
    let file = OwnedDescriptor(try openFile(in: directory, name, flags: .readOnly))
    defer { withExtendedLifetime(file) {} }
    return try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: 64 << 20)
}

/// Calls `body` with each entry of an open `/proc` directory whose name is a number, until it
/// returns false.
func forEachNumber(
    inOpen directory: FileDescriptor, _ body: ([UInt8], Int32) -> Bool
) throws(Errno) {
    try forEachEntry(inOpen: directory) { name, _ in
        guard let number = Int32(String(decoding: name, as: UTF8.self)) else { return true }
        return body(name, number)
    }
}
