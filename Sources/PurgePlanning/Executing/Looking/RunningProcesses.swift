import EffectiveValues
import SystemCalls
import SystemPackage

/// The threads of all processes that can be looked at through `/proc`, and what they use.
///
/// Root sees all of them; others see their own, without those that hide (a key agent), and of the rest
/// the mounts. A process whose open files cannot be seen keeps nothing by them: leases tell of its files,
/// whoever runs it.
final class RunningProcesses {
    private let places: [FilePath]
    /// What tables of mounts that were read before tell.
    private var known: [ViewKey: MountView] = [:]
    private var own = MountTable(mountinfo: [])
    /// What ``own`` was made of.
    private var ownBytes: [UInt8] = []
    private var mounts = MountsElsewhere.none
    private var lookedAt: Duration?

    /// - Parameter places: where units are looked for.
    init(lookingIn places: [FilePath]) { self.places = places }

    /// What is mounted elsewhere, as it was a moment ago.
    ///
    /// Single files are asked for in thousands, so one look serves all of 50 ms.
    func recentMounts() throws(KeepReason) -> MountsElsewhere {
        if let lookedAt, timeSinceBoot() - lookedAt < .milliseconds(50) { return mounts }
        return try look(for: [])
    }

    /// Throws `processInside` when a thread works in a directory of a unit, has it as its root, or has it
    /// open; `mountedElsewhere` when something of the unit is mounted a second time; `untestable` where
    /// not even this process can be looked at.
    func requireOutside(_ unit: Examination, named path: [UInt8]) throws(KeepReason) {
        // A file's lease tells more than descriptors could.
        let mounts =
            unit.unit.isDirectory
            ? try look(for: unit.contents.directories) : try recentMounts()
        if let reason = mounts.reasonToKeep(path) { throw reason }
    }

    private func look(for directories: Set<FileIdentity>) throws(KeepReason) -> MountsElsewhere {
        var look: TaskLook
        do throws(Errno) {
            let processes = OwnedDescriptor(
                try openFile(FilePath("/proc"), flags: [.readOnly, .directory]))
            let descriptor = processes.descriptor
            _ = try identity("self/cwd", in: descriptor)
            _ = try identity("self/fd", in: descriptor)
            let bytes = try contents("self/mountinfo", in: descriptor)
            if bytes != ownBytes {
                own = MountTable(mountinfo: bytes)
                ownBytes = bytes
            }
            look = TaskLook(directories, own, known)
            try forEachNumber(inOpen: descriptor) { process, _ in
                look.visit(process: process, in: descriptor)
                return !look.isInside
            }
        } catch {
            throw .untestable(error)
        }
        if look.isInside { throw .processInside }
        if look.hasNewViews || look.views.count != known.count {
            mounts = MountsElsewhere(Array(look.views.values), in: own, lookingIn: places)
            known = look.views
        }
        lookedAt = timeSinceBoot()
        return mounts
    }
}

/// One look at all threads.
private struct TaskLook {
    private let directories: Set<FileIdentity>
    private let own: MountTable
    private let known: [ViewKey: MountView]
    private(set) var views: [ViewKey: MountView] = [:]
    /// Whether there are views that were not known.
    private(set) var hasNewViews = false
    private var namespaces: [NamespaceKey: MountView] = [:]
    private(set) var isInside = false
    /// The thread that was looked at last.
    private var last: Int32?

    init(
        _ directories: Set<FileIdentity>, _ own: MountTable, _ known: [ViewKey: MountView]
    ) {
        self.directories = directories
        self.own = own
        self.known = known
    }

    /// Looks at a process's threads, but for those that share all with the one looked at before, as those
    /// of the kernel and most of a process do: who shares directories shares the mount namespace, too.
    ///
    /// A thread that unshared its directories or its open files uses other ones, and the first thread may
    /// have ended before the others.
    mutating func visit(process: [UInt8], in processes: FileDescriptor) {
        do throws(Errno) {
            let threads = OwnedDescriptor(
                try openFile(
                    in: processes, FilePath(bytes: process + Array("/task".utf8)),
                    flags: [.readOnly, .directory]))
            let descriptor = threads.descriptor
            try forEachNumber(inOpen: descriptor) { name, thread in
                // Without an answer it is looked at.
                if let last, (try? shareFilesAndDirectories(last, thread)) == true { return true }
                let seen = look(at: name, in: descriptor)
                if seen == .everything { last = thread }
                return seen != .mounts && !isInside
            }
        } catch {
            // The process ended.
            return
        }
    }

    private enum Seen {
        /// All that it uses.
        case everything
        /// What it sees mounted, since it is another user's.
        case mounts
        /// It has ended, or ends.
        case nothing
    }

    private mutating func look(at name: [UInt8], in threads: FileDescriptor) -> Seen {
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openFile(in: threads, FilePath(bytes: name), flags: [.reference, .directory]))
            let thread = opened.descriptor
            let root: FilePath?
            do throws(Errno) {
                root = try target(of: rootName, in: thread)
            } catch .permissionDenied {
                root = nil
            }
            let view = try view(of: thread, root)
            guard root != nil else { return .mounts }
            if directories.isEmpty { return .everything }
            isInside = leads(rootName, in: thread, view) || leads(workingName, in: thread, view)
            guard !isInside else { return .everything }
            let descriptors = OwnedDescriptor(
                try openFile(in: thread, descriptorsName, flags: [.readOnly, .directory]))
            let links = descriptors.descriptor
            try forEachEntry(inOpen: links) { name, _ in
                isInside = leads(FilePath(bytes: name), in: links, view)
                return !isInside
            }
            return .everything
        } catch {
            return .nothing
        }
    }

    /// Whether a link of `/proc` leads to one of the directories, which are on this machine.
    private func leads(_ link: FilePath, in directory: FileDescriptor, _ view: MountView) -> Bool {
        do throws(Errno) {
            if view.hasRemoteMounts, view.isRemote(try target(of: link, in: directory).bytes) {
                return false
            }
            return directories.contains(try identity(link, in: directory))
        } catch {
            // It was closed, the process ended, or is somebody else's.
            return false
        }
    }

    /// What a thread sees mounted; read once for each namespace and root.
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
        let view: MountView
        if let seen = views[key] ?? known[key] {
            view = seen
        } else {
            view = MountView(MountTable(mountinfo: key.mountinfo), root: root, of: thread, own: own)
            hasNewViews = true
        }
        views[key] = view
        if let namespace { namespaces[namespace] = view }
        return view
    }

    private struct NamespaceKey: Hashable {
        let identity: FileIdentity
        let root: [UInt8]
    }
}

/// What a view of mounts depends on.
private struct ViewKey: Hashable {
    let mountinfo: [UInt8]
    /// The path of the root; nil where it is out of reach.
    let root: [UInt8]?
}

// Made once: a look at all processes asks for them in thousands.
private let rootName: FilePath = "root"
private let workingName: FilePath = "cwd"
private let descriptorsName: FilePath = "fd"
private let namespaceName: FilePath = "ns/mnt"

/// What a link of `/proc` leads to, as far as this machine knows it.
private func identity(
    _ link: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileIdentity {
    try link.withPointer { link throws(Errno) in
        try readStatusAtHand(CallTarget(directory: directory.rawValue, path: link, flags: 0))
            .identity
    }
}

/// The path that a link of `/proc` tells.
private func target(of link: FilePath, in directory: FileDescriptor) throws(Errno) -> FilePath {
    try symbolicLinkTarget(DirectoryEntryLocation(directory: directory, name: link))
}

/// The contents of a file of `/proc`.
private func contents(_ name: FilePath, in directory: FileDescriptor) throws(Errno) -> [UInt8] {
    let file = OwnedDescriptor(try openFile(in: directory, name, flags: .readOnly))
    return try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: 64 << 20)
}

/// Calls `body` with each entry of an open directory of `/proc` that is a number, until it returns false.
private func forEachNumber(
    inOpen directory: FileDescriptor, _ body: ([UInt8], Int32) -> Bool
) throws(Errno) {
    try forEachEntry(inOpen: directory) { name, _ in
        guard let number = Int32(String(decoding: name, as: UTF8.self)) else { return true }
        return body(name, number)
    }
}
