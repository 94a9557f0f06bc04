import SystemCalls
import SystemPackage

/// One thread's part of a walk.
struct TreeWorker<Visitor: TreeVisitor>: ~Copyable {
    typealias Node = DirectoryNode<Visitor.Context>

    private let pool: WorkPool<Visitor.Context>
    private let scanner: TreeScanner
    private var visitor: Visitor
    private let paths = PathBuffer()
    private let records = RecordBuffer()
    /// The process's working directory, if this thread changes to each directory it reads; nil
    /// where the kernel accepts a directory's descriptor with every call, or refuses a separate
    /// working directory.
    private let home: FileDescriptor?

    init(_ pool: WorkPool<Visitor.Context>, _ scanner: TreeScanner, visitor: Visitor) {
        self.pool = pool
        self.scanner = scanner
        self.visitor = visitor
        home = AvailableCalls.xattrat ? nil : leaveSharedWorkingDirectory()
    }

    /// Takes part until the walk is over; to be called once.
    mutating func run() {
        var next = pool.next(finished: false)
        while let work = next {
            run(work)
            next = pool.next(finished: true)
        }
        visitor.finish()
        if let home { closeIgnoringErrors(home) }
    }

    private mutating func run(_ work: WorkPool<Visitor.Context>.Work) {
        switch work {
        case .root(let root):
            visit(root)
        case .open(let parent, let name, let context):
            let isWalked = open(name, in: parent, context)
            leave(parent, pool.stoppedUsing(parent, withoutChildren: isWalked ? 0 : 1))
        case .read(let node):
            read(node)
        case .lost(let parent, let count, let errno):
            // Also when it is gone: subdirectories of it that were listed are not walked.
            let path = FilePath(bytes: parent.pathPrefix())
            visitor.cannotRead(.readingDirectory(errno, path))
            leave(parent, pool.stoppedUsing(parent, withoutChildren: count))
        }
    }

    /// Leaves so many directories, from the given one upwards.
    private mutating func leave(_ node: Node, _ count: Int) {
        // A walk that is stopped leaves entries unvisited.
        guard !pool.isStopped else { return }
        var next: Node? = node
        for _ in 0..<count {
            guard let node = next else { return }
            visitor.leave(node.context)
            next = node.parent
        }
    }

    // MARK: Roots

    private mutating func visit(_ root: TreeRoot<Visitor.Context>) {
        do throws(Errno) {
            if let home { try changeWorkingDirectory(to: home) }
            if scanner.followsRoots {
                try visit(root, at: root.path)
            } else {
                try visit(root, at: root.path.withoutFollowing)
            }
        } catch {
            visitor.cannotRead(.opening(error, root.path))
        }
    }

    private mutating func visit(
        _ root: TreeRoot<Visitor.Context>, at location: some FileLocation
    ) throws(Errno) {
        let status = try location.status()
        let length = root.path.length
        let descent = try location.withCallTarget { target throws(Errno) in
            try root.path.withPointer { name throws(Errno) in
                // For a path beyond PATH_MAX the target has only a descriptor and a rest; the name
                // is whole.
                let entry = TreeEntry(
                    target: target, name: name, nameLength: length, prefixLength: 0,
                    paths: paths, kind: status.kind, inode: status.identity.inode, depth: 0)
                return visitor.visit(entry, in: root.context)
            }
        }
        guard case .descend(let context) = descent, status.kind == .directory else { return }
        let flags: FileDescriptor.OpenOptions = [.readOnly, .directory, .nonBlocking]
        let directory = OwnedDescriptor(
            scanner.leavesAccessTimes
                ? try openPreservingAccessTime(location, flags: flags)
                : try openFile(location, flags: flags))
        if status.isEncrypted { try requireKey(directory.descriptor) }
        begin(
            Node(
                parent: nil, name: root.path, identity: status.identity, context: context,
                descriptor: directory.release()))
    }

    // MARK: Directories

    /// Opens and reads a directory.
    ///
    /// - Returns: whether it is walked.
    private mutating func open(
        _ name: FilePath, in parent: Node, _ context: Visitor.Context
    ) -> Bool {
        guard let directory = parent.descriptor else { return false }
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openDirectory(
                    in: directory, name, leavesAccessTime: scanner.leavesAccessTimes))
            let status = try opened.descriptor.status()
            if status.isEncrypted { try requireKey(opened.descriptor) }
            if scanner.staysOnFilesystem, status.identity.device != parent.identity.device {
                return false
            }
            begin(
                Node(
                    parent: parent, name: name, identity: status.identity, context: context,
                    descriptor: opened.release()))
            return true
        } catch {
            report(error, FilePath(bytes: parent.pathPrefix()).appending(name.components))
            return false
        }
    }

    private mutating func begin(_ node: Node) {
        pool.began(node)
        read(node)
    }

    private mutating func read(_ node: Node) {
        guard let descriptor = node.descriptor else { return }
        do throws(Errno) {
            let directory = try enter(descriptor)
            let buffer = records.bytes
            while !pool.isStopped {
                let count = try readDirectory(descriptor, into: buffer)
                if count == 0 { break }
                paths.enter { node.pathPrefix() }
                // More entries are likely to follow a buffer that is more than half full: any free
                // worker may read them.
                let isHandedOver = count > buffer.count / 2 && pool.handOver(node)
                visitEntries(UnsafeRawBufferPointer(buffer)[..<count], of: node, directory)
                if isHandedOver { return leave(node, pool.stoppedUsing(node)) }
            }
        } catch {
            report(error, FilePath(bytes: node.pathPrefix()))
        }
        leave(node, pool.finishedReading(node))
    }

    /// Prepares for calls on a directory's entries by the fastest way.
    ///
    /// - Returns: the directory descriptor for such calls, or `AT_FDCWD`.
    private func enter(_ descriptor: FileDescriptor) throws(Errno) -> CInt {
        guard home != nil else { return descriptor.rawValue }
        do throws(Errno) {
            try changeWorkingDirectory(to: descriptor)
            return FileDescriptor.workingDirectory.rawValue
        } catch .permissionDenied {
            // The directory may be read but not entered: its entries can at least be named.
            return descriptor.rawValue
        }
    }

    private mutating func visitEntries(
        _ records: Slice<UnsafeRawBufferPointer>, of node: Node, _ directory: CInt
    ) {
        var children = ChildBatch(parent: node)
        var iterator = DirectoryRecords(UnsafeRawBufferPointer(rebasing: records))
        let context = node.context
        while let record = iterator.next(), !pool.isStopped {
            let target = CallTarget(
                directory: directory, path: record.name, followsSymbolicLink: false)
            let entry = TreeEntry(
                target: target, name: record.name, nameLength: record.nameLength,
                prefixLength: node.prefixLength, paths: paths,
                kind: record.kind ?? kindByStatus(target), inode: record.inode,
                depth: node.depth + 1)
            let descent = visitor.visit(entry, in: context)
            // The kind first: the context of most entries is then not even copied.
            if entry.kind == .directory, case .descend(let context) = descent {
                children.append(record.name, length: record.nameLength, context: context)
            }
        }
        if !children.isEmpty { pool.add(children) }
    }

    private mutating func report(_ errno: Errno, _ path: FilePath) {
        // A directory removed before its turn is not an error.
        if errno != .noSuchFileOrDirectory { visitor.cannotRead(.readingDirectory(errno, path)) }
    }
}

/// Returns the kind of file where the directory does not report it; unknown if the status cannot be
/// read, which the next call on the entry reports.
private func kindByStatus(_ target: CallTarget) -> FileKind {
    (try? target.status().kind) ?? .unknown
}

/// Gives the calling thread a working directory of its own.
///
/// - Returns: a descriptor of the working directory; nil where this is not permitted, so that calls
///   go the slower way through `/proc`.
private func leaveSharedWorkingDirectory() -> FileDescriptor? {
    guard (try? separateWorkingDirectory()) != nil else { return nil }
    return try? openDirectoryReference(".")
}

/// A buffer of 64 KiB that directories are read into.
///
/// A class, since Swift 6.3's optimiser omits the deinit of a generic noncopyable structure.
final class RecordBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 8)

    deinit { bytes.deallocate() }
}
