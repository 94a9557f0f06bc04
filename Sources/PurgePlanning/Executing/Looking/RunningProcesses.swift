import CLinux
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
        let own: MountTable
        var look: TaskLook
        do throws(Errno) {
            _ = try FilePath("/proc/self/cwd").statusAtHand()
            _ = try FilePath("/proc/self/fd").status()
            own = MountTable(mountinfo: try contentsOfFile("/proc/self/mountinfo"))
            look = TaskLook(directories, own, known)
            try forEachNumber(in: "/proc") { process in
                look.visit(process: process)
                return !look.isInside
            }
        } catch {
            throw .untestable(error)
        }
        if look.isInside { throw .processInside }
        if Set(known.keys) != Set(look.views.keys) {
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
    private var namespaces: [NamespaceKey: MountView] = [:]
    private(set) var isInside = false

    init(
        _ directories: Set<FileIdentity>, _ own: MountTable, _ known: [ViewKey: MountView]
    ) {
        self.directories = directories
        self.own = own
        self.known = known
    }

    /// Looks at a process's threads, but for those that share all with the first one.
    ///
    /// A thread that unshared its directories or its open files uses other ones, and the first thread may
    /// have ended before the others.
    mutating func visit(process: Int32) {
        var first: Int32?
        do throws(Errno) {
            let threads = FilePath("/proc/\(process)/task")
            try forEachNumber(in: threads) { thread in
                // Without an answer it is looked at.
                if let first, (try? shareFilesAndDirectories(first, thread)) == true { return true }
                let seen = look(at: threads.appending("\(thread)"))
                if seen != .nothing, first == nil { first = thread }
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

    private mutating func look(at thread: FilePath) -> Seen {
        do throws(Errno) {
            let link = thread.appending("root")
            let root: FilePath?
            do throws(Errno) {
                root = try symbolicLinkTarget(link.withoutFollowing)
            } catch .permissionDenied {
                root = nil
            }
            let view = try view(of: thread, root, link)
            guard root != nil else { return .mounts }
            if directories.isEmpty { return .everything }
            isInside =
                leads(link, view) || leads(thread.appending("cwd"), view)
            let descriptors = thread.appending("fd")
            guard !isInside else { return .everything }
            try forEachNumber(in: descriptors) { number in
                isInside = leads(descriptors.appending("\(number)"), view)
                return !isInside
            }
            return .everything
        } catch {
            return .nothing
        }
    }

    /// Whether a link of `/proc` leads to one of the directories, which are on this machine.
    private func leads(_ link: FilePath, _ view: MountView) -> Bool {
        do throws(Errno) {
            // A socket's or a pipe's is no path.
            let target = try symbolicLinkTarget(link.withoutFollowing)
            guard target.isAbsolute, !view.isRemote(target) else { return false }
            return directories.contains(try link.statusAtHand().identity)
        } catch {
            // It was closed, the process ended, or is somebody else's.
            return false
        }
    }

    /// What a thread sees mounted; read once for each namespace and root.
    private mutating func view(
        of thread: FilePath, _ root: FilePath?, _ link: FilePath
    ) throws(Errno) -> MountView {
        var namespace: NamespaceKey?
        if let root {
            namespace = NamespaceKey(
                identity: try thread.appending("ns").appending("mnt").statusAtHand().identity,
                root: root)
        }
        if let namespace, let view = namespaces[namespace] { return view }
        let bytes = try contentsOfFile(thread.appending("mountinfo"))
        let key = ViewKey(mountinfo: bytes, root: root)
        let view =
            views[key] ?? known[key]
            ?? MountView(MountTable(mountinfo: bytes), root: root, link, own: own)
        views[key] = view
        if let namespace { namespaces[namespace] = view }
        return view
    }

    private struct NamespaceKey: Hashable {
        let identity: FileIdentity
        let root: FilePath
    }
}

/// What a view of mounts depends on.
private struct ViewKey: Hashable {
    let mountinfo: [UInt8]
    /// nil where it is out of reach.
    let root: FilePath?
}

/// Calls `body` with each entry of a directory of `/proc` that is a number, until it returns false.
private func forEachNumber(
    in directory: FilePath, _ body: (Int32) -> Bool
) throws(Errno) {
    try forEachName(in: directory) { name in
        guard let number = Int32(String(decoding: name, as: UTF8.self)) else { return true }
        return body(number)
    }
}
